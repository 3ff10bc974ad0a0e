//! The operating system's clocks: the one place that reads them.

use std::num::NonZeroU64;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

use crate::domain::{BootTime, Moment, Now, Span};
use crate::port::Clock;

/// The wall clock, and `CLOCK_BOOTTIME`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClockOs;

impl Clock for ClockOs {
    fn now(&self) -> Now {
        Now { wall: wall(), boot: boot() }
    }

    /// Lowers the thread's timer slack from 50 µs to 1 ns, so that it is woken when it asked to be.
    fn sharpen_thread(&self) {
        // Where the system refuses, wake-ups are 50 µs late, and still never early.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    }
}

/// Asked through the C library, as every program asks it, so that a library preloaded in front of that one can set it: the
/// only way to see a whole daemon live through a clock that jumps. So is boot time: the only way to see one live through a year.
#[expect(clippy::disallowed_methods, reason = "this is the clock adapter")]
fn wall() -> Moment {
    let (since, before) = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => (since, false),
        Err(before) => (before.duration(), true),
    };
    let span = Span::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
    let moment = if before { Moment::EPOCH.checked_sub(span) } else { Moment::EPOCH.checked_add(span) };
    moment.unwrap_or(Moment::EPOCH)
}

/// The standard library has no clock that counts suspended time.
#[expect(clippy::disallowed_methods, reason = "this is the clock adapter")]
fn boot() -> BootTime {
    let boot = clock_gettime(ClockId::Boottime);
    // The kernel keeps both within range: nanoseconds below 10^9, boot time from zero.
    let seconds = u64::try_from(boot.tv_sec).unwrap_or(0);
    BootTime::from_nanos(
        seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(boot.tv_nsec).unwrap_or(0)),
    )
}
