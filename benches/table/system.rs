//! Readings of the system: boot clock, memory and processor time.
//!
//! Invariant: a competitor is timed with the clock that its deadlines use, or one that advances
//! equally.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds since the machine's start, suspended time included.
pub(crate) fn boot_nanos() -> u64 {
    read(ClockId::Boottime)
}

/// The processor time of this process so far, all threads together.
pub(crate) fn processor_time() -> Duration {
    Duration::from_nanos(read(ClockId::ProcessCPUTime))
}

/// The resident memory of this process in bytes.
#[cfg(target_os = "linux")]
pub(crate) fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    number.unwrap_or(0) * 1_024
}

/// The resident memory of this process: 0, because it is known on Linux only.
#[cfg(not(target_os = "linux"))]
pub(crate) fn resident_bytes() -> u64 {
    0
}

/// Waits in real time, which some measurements need.
#[expect(clippy::disallowed_methods, reason = "a benchmark lets real time pass")]
pub(crate) fn wait(time: Duration) {
    std::thread::sleep(time);
}

#[expect(clippy::disallowed_methods, reason = "a benchmark times the real thing")]
fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}
