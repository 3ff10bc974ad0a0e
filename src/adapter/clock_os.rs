//! The operating system's clocks: the one place that reads them.

use std::num::NonZeroU64;

use rustix::time::{ClockId, clock_gettime};

use crate::domain::{BootTime, Moment, Now};
use crate::port::Clock;

/// `CLOCK_REALTIME` and `CLOCK_BOOTTIME`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClockOs;

impl Clock for ClockOs {
    #[expect(clippy::disallowed_methods, reason = "this is the clock adapter")]
    fn now(&self) -> Now {
        let wall = clock_gettime(ClockId::Realtime);
        let boot = clock_gettime(ClockId::Boottime);
        // The kernel keeps both within range: nanoseconds below 10^9, boot time from zero, years far from a billion.
        let nanos = u32::try_from(wall.tv_nsec).unwrap_or(0);
        let seconds = u64::try_from(boot.tv_sec).unwrap_or(0);
        let boot =
            seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(boot.tv_nsec).unwrap_or(0));
        Now {
            wall: Moment::new(wall.tv_sec, nanos).unwrap_or(Moment::EPOCH),
            boot: BootTime::from_nanos(boot),
        }
    }

    /// Lowers the thread's timer slack from 50 µs to 1 ns, so that it is woken when it asked to be.
    fn sharpen_thread(&self) {
        // Where the system refuses, wake-ups are 50 µs late, and still never early.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    }
}
