//! A slot of a forecast, and what becomes of it.

use crate::domain::{Moment, Reason, RunId, ScheduleId, names};

names! {
    /// What becomes of a slot, as far as can be foreseen.
    SlotOutcome {
        /// It gets a run, which is handed over at once.
        Fires = "fires",
        /// It gets a run, which waits for a host that is not connected, or for a store that cannot be written.
        Waits = "waits",
        /// It gets a run, whose message is left in the inbox, because nobody listens in the session.
        Left = "left",
        /// It gets a run, which fails because its target does not exist.
        Fails = "fails",
        /// It gets a run, which the guard refuses.
        Refused = "refused",
        /// It gets a run, which waits until an operator approves it.
        NeedsApproval = "needs-approval",
        /// It passes without a run of its own.
        Skipped = "skipped",
        /// Its schedule is paused: whether it gets a run is decided on resume.
        Paused = "paused",
        /// Everything is held: whether it gets a run is decided on release.
        AllHeld = "held",
        /// It is lost with the memory of the process.
        Lost = "lost",
        /// It does not exist. Only used for a hypothetical future that lacks a slot of the present one.
        Gone = "gone",
    }
}

/// A slot to come, or several of one schedule that are handled together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForecastSlot {
    /// The schedule.
    pub schedule: ScheduleId,
    /// The number of the schedule's trigger, from 1.
    pub(crate) incarnation: u32,
    /// The first of the slots; equals `slot` if there is only one.
    pub since: Moment,
    /// The last of the slots. The others are folded into it, or skipped with it.
    pub slot: Moment,
    /// The number of slots.
    pub count: u64,
    /// When the slot is handled: later than the slot itself if that is overdue.
    pub at: Moment,
    /// What becomes of it.
    pub outcome: SlotOutcome,
    /// Why, unless it simply fires.
    pub reason: Option<Reason>,
    /// The guard's rule that decides so, if one does.
    pub rule: Option<Box<str>>,
}

impl ForecastSlot {
    /// Returns the id of its run, if it gets one.
    pub(crate) fn run(&self) -> Option<RunId> {
        let gets_one = matches!(
            self.outcome,
            SlotOutcome::Fires
                | SlotOutcome::Waits
                | SlotOutcome::Left
                | SlotOutcome::Fails
                | SlotOutcome::Refused
                | SlotOutcome::NeedsApproval
        );
        let id = || RunId { schedule: self.schedule.clone(), incarnation: self.incarnation, slot: self.slot };
        gets_one.then(id)
    }
}
