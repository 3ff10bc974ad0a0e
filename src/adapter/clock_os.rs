//! Adapter: the operating system's clocks. This is the one place that reads them.

use std::num::NonZeroU64;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

use crate::domain::{BootTime, Moment, Now, Span};
use crate::port::Clock;

/// Reads the system's wall clock, and `CLOCK_BOOTTIME`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClockOs;

impl Clock for ClockOs {
    fn now(&self) -> Now {
        Now { wall: wall(), boot: boot() }
    }

    /// Lowers the thread's timer slack from 50 µs to 1 ns, so that its sleeps end when they should.
    fn sharpen_thread(&self) {
        // If the system refuses, wake-ups are up to 50 µs late, but still never early.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
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
    let boot = clock_gettime(ClockId::Boottime);
    // The kernel guarantees both ranges: nanoseconds below 10^9, boot time from zero.
    let seconds = u64::try_from(boot.tv_sec).unwrap_or(0);
    BootTime::from_nanos(
        seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(boot.tv_nsec).unwrap_or(0)),
    )
}
