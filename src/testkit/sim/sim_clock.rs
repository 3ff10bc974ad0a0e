//! A clock that moves only when a test says so.
//!
//! Invariant: the boot clock never goes back. The wall clock advances with it, and can also be set.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::domain::{BootTime, Moment, Now, Span};
use crate::port::Clock;

/// Both clocks of a simulated machine.
#[derive(Debug)]
pub struct SimClock {
    now: Mutex<Now>,
    /// How much faster the wall clock runs than the boot clock, in millionths.
    drift_ppm: AtomicI32,
}

impl SimClock {
    /// A machine that was started an hour ago, on the first of January 2026.
    pub fn new() -> SimClock {
        // 2026-01-01T00:00:00Z. The clocks differ, so that mixing them up shows in a test.
        let wall = Moment::new(1_767_225_600, 0).unwrap_or(Moment::EPOCH);
        let boot = BootTime::ZERO.after(Span::from_millis(3_600_000));
        SimClock::starting_at(Now { wall, boot })
    }

    /// A machine whose clocks show this.
    pub fn starting_at(now: Now) -> SimClock {
        SimClock { now: Mutex::new(now), drift_ppm: AtomicI32::new(0) }
    }

    /// Lets the wall clock run `ppm` millionths faster than the boot clock from now on; slower if
    /// negative.
    pub fn drift(&self, ppm: i32) {
        self.drift_ppm.store(ppm, Ordering::Relaxed);
    }

    /// Advances both clocks by `span`; the wall clock also drifts.
    pub fn advance(&self, span: Span) {
        self.change(|now| {
            now.boot = now.boot.after(span);
            now.wall = now.wall.checked_add(self.on_the_wall(span)).unwrap_or(now.wall);
        });
    }

    /// Advances both clocks until the boot clock shows `boot`; does nothing if it already does.
    pub fn advance_to(&self, boot: BootTime) {
        self.change(|now| {
            let span = boot.since(now.boot);
            now.boot = now.boot.after(span);
            now.wall = now.wall.checked_add(self.on_the_wall(span)).unwrap_or(now.wall);
        });
    }

    /// The machine sleeps for `span`. This is [`advance`](SimClock::advance): the boot clock counts suspended time.
    pub fn suspend(&self, span: Span) {
        self.advance(span);
    }

    /// Sets the wall clock forward; the boot clock stays.
    pub fn step_wall_on(&self, span: Span) {
        // At the end of the calendar the clock stops instead of wrapping.
        self.change(|now| now.wall = now.wall.checked_add(span).unwrap_or(now.wall));
    }

    /// Sets the wall clock back; the boot clock stays.
    pub fn step_wall_back(&self, span: Span) {
        self.change(|now| now.wall = now.wall.checked_sub(span).unwrap_or(now.wall));
    }

    /// The span by which the drifting wall clock advances while `span` passes.
    fn on_the_wall(&self, span: Span) -> Span {
        let rate = MILLION + i128::from(self.drift_ppm.load(Ordering::Relaxed));
        let nanos = i128::from(span.nanos()) * rate.max(0) / MILLION;
        Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    fn change(&self, change: impl FnOnce(&mut Now)) {
        // A reading is copied in and out whole: no panic can leave it half changed.
        change(&mut self.now.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Default for SimClock {
    fn default() -> SimClock {
        SimClock::new()
    }
}

impl Clock for SimClock {
    fn now(&self) -> Now {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const MILLION: i128 = 1_000_000;
