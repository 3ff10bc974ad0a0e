//! Pauses of single schedules, and the holds of everything: the one in force, and the latest that are over.
//!
//! Holds are one row of the store, so an explanation of a past slot names the hold also after a restart.

use std::collections::VecDeque;

use crate::domain::{Actor, Moment};

/// A pause of one schedule, or the hold of everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The actor who paused.
    pub(crate) by: Actor,
    /// Why, in that actor's words.
    pub reason: Option<Box<str>>,
    /// When the pause began.
    pub(crate) since: Moment,
}

/// The hold in force, and the latest that are over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holds {
    /// Who holds everything, and why; `None` if nothing is held.
    pub(crate) present: Option<Pause>,
    /// The latest that are over, oldest first, each with when it ended.
    pub(crate) past: VecDeque<(Pause, Moment)>,
}

impl Holds {
    /// Begins a hold. A hold that was in force ends at that moment.
    pub(super) fn begin(&mut self, hold: Pause) {
        self.end(hold.since);
        self.present = Some(hold);
    }

    pub(super) fn end(&mut self, at: Moment) {
        self.past.extend(self.present.take().map(|hold| (hold, at)));
        if self.past.len() > PAST_MAX {
            self.past.pop_front();
        }
    }
}

/// Each hold and release writes all of them.
const PAST_MAX: usize = 16;
