//! Adapter: the operating system's clocks. This is the one place that reads them.

use std::time::{SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

use crate::domain::{BootTime, Moment, Now, Span};
use crate::port::Clock;

/// Reads the system's wall clock, and the clock since boot that counts suspended time.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClockOs;

impl Clock for ClockOs {
    fn now(&self) -> Now {
        Now { wall: wall(), boot: boot() }
    }

    /// Lowers the thread's timer slack from 50 µs to 1 ns, so that its sleeps end when they should. Only Linux has such a
    /// setting for each thread.
    fn sharpen_thread(&self) {
        // If the system refuses, wake-ups are up to 50 µs late, but still never early.
        #[cfg(target_os = "linux")]
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    }
}

/// Reads the wall clock through the C library, as every program does, so that a preloaded library
/// can replace it: the only way to test a whole daemon on a clock that jumps. Boot time is read in
/// the same way, so that a test can let a year pass.
#[expect(clippy::disallowed_methods, reason = "this is the clock adapter")]
fn wall() -> Moment {
    let (since, before) = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => (since, false),
        // A clock set to a time before 1970 is an error of the standard library, but a valid moment
        // here.
        Err(before) => (before.duration(), true),
    };
    let span = Span::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
    let moment = if before { Moment::EPOCH.checked_sub(span) } else { Moment::EPOCH.checked_add(span) };
    moment.unwrap_or(Moment::EPOCH)
}

/// Reads boot time. The standard library has no clock that counts suspended time.
#[expect(clippy::disallowed_methods, reason = "this is the clock adapter")]
fn boot() -> BootTime {
    let boot = clock_gettime(SINCE_BOOT);
    // The kernel guarantees both ranges: nanoseconds below 10^9, boot time from zero.
    let seconds = u64::try_from(boot.tv_sec).unwrap_or(0);
    BootTime::from_nanos(
        seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(boot.tv_nsec).unwrap_or(0)),
    )
}

/// The clock that counts from boot, suspended time included. macOS has no `CLOCK_BOOTTIME`; its `CLOCK_MONOTONIC` goes on while
/// the machine sleeps, unlike that of Linux. Source: clock_gettime(3) of both.
#[cfg(target_vendor = "apple")]
const SINCE_BOOT: ClockId = ClockId::Monotonic;
#[cfg(not(target_vendor = "apple"))]
const SINCE_BOOT: ClockId = ClockId::Boottime;
