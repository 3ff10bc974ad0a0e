//! The history of a schedule: what the fold of its facts counts and remembers of it, beside its definition and its runs.

use super::last_approval::LastApproval;
use super::pause::Pause;
use crate::domain::{Moment, Reason, Run};

/// The history of a schedule since its creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How often it was defined, from 1.
    pub(crate) revision: u32,
    /// Which trigger it has: 1 for the first, one more for each replacement.
    pub incarnation: u32,
    /// The first trigger since the schedule was made anew under its id; 1 if it never was.
    pub(crate) first_incarnation: u32,
    /// When its definition last changed.
    pub(crate) updated_at: Option<Moment>,
    /// Slots before this moment count as missed: the last resume or change of trigger. `None` if
    /// there was none.
    pub(crate) armed_since: Option<Moment>,
    /// The last slot that was consumed.
    pub(crate) consumed: Option<Moment>,
    /// The slot that was next when the schedule was cancelled.
    pub(crate) withdrawn: Option<Moment>,
    /// Whether its next slot will be computed when the current run ends.
    pub(crate) awaits_finish: bool,
    /// Whether its slot depends on an event that has not happened.
    pub(crate) awaits_event: bool,
    /// Whether a session armed its next slot: brought it forward, or resumed the schedule.
    pub(crate) by_session: bool,
    /// Why it has no further slot, if it has none.
    pub(crate) never: Option<Reason>,
    /// When it was cancelled. Known for durable schedules only.
    pub(crate) cancelled_at: Option<Moment>,
    /// Who paused it; `None` if it is not paused.
    pub(crate) paused: Option<Box<Pause>>,
    /// The last approval of one of its runs under the present owner; `None` if there was none, or only by an earlier release.
    pub(crate) approved: Option<Box<LastApproval>>,
    /// Number of runs claimed for its slots.
    pub runs: u64,
    /// Number of delivered runs.
    pub delivered: u64,
    /// Number of failed runs.
    pub(crate) failed: u64,
    /// Number of slots that passed without a run of their own.
    pub skipped: u64,
    /// Number of failed runs since the last delivered one.
    pub(crate) failures_in_row: u64,
    /// The last slot that was skipped, and why.
    pub last_skip: Option<(Moment, Reason)>,
}

impl Progress {
    /// Returns whether it has no further slot because it was cancelled, and not because its slots ran out.
    pub(super) fn is_called_off(&self) -> bool {
        // The reasons for which steps cancel a schedule. With any other reason the slots ran out, and a change can add some.
        let called_off = [
            Reason::Cancelled,
            Reason::Replaced,
            Reason::UserActivity,
            Reason::SessionClosed,
            Reason::Shutdown,
        ];
        self.never.is_some_and(|reason| called_off.contains(&reason))
    }

    /// Returns whether a run is of the schedule as it was last made, and not of one that had its id before.
    pub(super) fn is_since_anew(&self, run: &Run) -> bool {
        run.incarnation >= self.first_incarnation
    }

    /// Returns whether a slot is expected whose time is not known yet.
    pub(crate) fn awaits(&self) -> bool {
        self.awaits_finish || self.awaits_event
    }

    pub(super) const FRESH: Progress = Progress {
        revision: 1,
        incarnation: 1,
        first_incarnation: 1,
        updated_at: None,
        armed_since: None,
        consumed: None,
        withdrawn: None,
        awaits_finish: false,
        awaits_event: false,
        by_session: false,
        never: None,
        cancelled_at: None,
        paused: None,
        approved: None,
        runs: 0,
        delivered: 0,
        failed: 0,
        skipped: 0,
        failures_in_row: 0,
        last_skip: None,
    };
}

impl Default for Progress {
    fn default() -> Progress {
        Progress::FRESH
    }
}
