//! The harness that all sessions live in: outside the scheduler, so it outlives every process, and sees what it sees.

use std::sync::{Arc, Mutex, PoisonError};

use reveille::domain::{Message, Moment, RunId, SessionConfig, SessionId, Transcript};
use reveille::engine::{Delivery, Opening};
use reveille::port::{Clock, Host, HostAnswer};
use reveille::testkit::SimClock;

/// A delivery, as the harness saw it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) at: Moment,
    pub(crate) run: RunId,
    pub(crate) session: SessionId,
}

/// The harness.
pub(crate) struct Target {
    clock: Arc<SimClock>,
    seen: Mutex<Vec<Seen>>,
}

impl Target {
    pub(crate) fn new(clock: Arc<SimClock>) -> Target {
        Target { clock, seen: Mutex::default() }
    }

    /// What it saw since it was asked last.
    pub(crate) fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Host for Target {
    fn opened(&self, _: &SessionId, _: &SessionConfig) {}

    fn create(&self, _: &Opening) -> HostAnswer {
        HostAnswer::Done
    }

    fn deliver(&self, delivery: &Delivery) -> HostAnswer {
        let (run, session) = (delivery.run.clone(), delivery.session.clone());
        let seen = Seen { at: self.clock.now().wall, run, session };
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
        HostAnswer::Done
    }

    fn record(&self, _: &SessionId, _: &Message) {}

    fn forget(&self, _: &SessionId) {}

    fn transcript(&self, _: &SessionId) -> Option<Transcript> {
        None
    }
}
