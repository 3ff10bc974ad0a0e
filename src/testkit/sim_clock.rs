//! A clock that moves only when a test says so.
//!
//! Invariant: the boot clock never goes back. The wall clock goes with it, and can be stepped either way besides.

use std::sync::{Mutex, PoisonError};

use crate::domain::{BootTime, Moment, Now, Span};
use crate::port::Clock;

/// Both clocks of a simulated machine.
#[derive(Debug)]
pub struct SimClock {
    now: Mutex<Now>,
}

impl SimClock {
    /// A machine that was started an hour ago, on the first of January 2026.
    pub fn new() -> SimClock {
        let wall = Moment::new(1_767_225_600, 0).unwrap_or(Moment::EPOCH);
        let boot = BootTime::ZERO.after(Span::from_millis(3_600_000));
        SimClock::starting_at(Now { wall, boot })
    }

    /// A machine whose clocks show this.
    pub fn starting_at(now: Now) -> SimClock {
        SimClock { now: Mutex::new(now) }
    }

    /// Time passes: both clocks go on by `span`.
    pub fn advance(&self, span: Span) {
        self.change(|now| {
            now.boot = now.boot.after(span);
            now.wall = now.wall.checked_add(span).unwrap_or(now.wall);
        });
    }

    /// Time passes until the boot clock shows `boot`; nothing happens if it does or is past it.
    pub fn advance_to(&self, boot: BootTime) {
        self.change(|now| {
            let span = boot.since(now.boot);
            now.boot = now.boot.after(span);
            now.wall = now.wall.checked_add(span).unwrap_or(now.wall);
        });
    }

    /// The machine sleeps for `span`. This is [`advance`](SimClock::advance): the boot clock counts suspended time.
    pub fn suspend(&self, span: Span) {
        self.advance(span);
    }

    /// Somebody puts the wall clock forward; the boot clock stays.
    pub fn step_wall_on(&self, span: Span) {
        self.change(|now| now.wall = now.wall.checked_add(span).unwrap_or(now.wall));
    }

    /// Somebody puts the wall clock back; the boot clock stays.
    pub fn step_wall_back(&self, span: Span) {
        self.change(|now| now.wall = now.wall.checked_sub(span).unwrap_or(now.wall));
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
