//! One run as the steps see it: whether it is in the state already or is being claimed in this very step.

use crate::domain::{Cause, Checks, Moment, Reason, RunId, Schedule};
use crate::engine::draft::Draft;
use crate::engine::place::Place;
use crate::engine::record::{RunRecord, ScheduleRecord};
use crate::engine::slab::Key;
use crate::engine::state::State;

/// A run, with what was asked for.
#[derive(Clone, Debug)]
pub(super) struct Occurrence<'a> {
    pub(super) id: RunId,
    pub(super) schedule: &'a Schedule,
    pub(super) record: &'a ScheduleRecord,
    pub(super) owner: Option<Key>,
    pub(super) slot: Moment,
    pub(super) cause: Cause,
    pub(super) folded: u64,
    /// Which try this is, from 1.
    pub(super) attempt: u16,
    /// How often its schedule has been defined, paused and resumed, this step included.
    pub(super) revision: u32,
    /// What is remembered of the guard.
    pub(super) checks: Option<Checks>,
    /// Whether the next slot counts from the end of this run.
    pub(super) arms: bool,
}

impl<'a> Occurrence<'a> {
    /// A run that is in the state.
    pub(super) fn of(state: &'a State, run: &'a RunRecord) -> Option<Occurrence<'a>> {
        let record = state.schedules.get(run.schedule)?;
        Some(Occurrence {
            id: state.run_id(run)?,
            schedule: state.asked(run)?,
            record,
            owner: record.owner,
            slot: run.run.slot,
            cause: run.run.cause,
            folded: run.run.folded,
            attempt: run.run.attempt,
            revision: record.course().revision,
            checks: run.run.checks.as_deref().cloned(),
            arms: record.course().awaits_finish && run.run.cause != Cause::Manual,
        })
    }

    /// Whether somebody asked for it to be run at once.
    pub(super) fn is_by_hand(&self) -> bool {
        self.cause == Cause::Manual
    }

    /// Where it goes, at this moment.
    pub(super) fn place(&self, state: &'a State) -> Place<'a> {
        state.place(self.schedule, self.owner)
    }

    /// Whether it has to wait for its schedule to be resumed. A run by hand was asked for all the same.
    pub(super) fn is_paused(&self) -> bool {
        self.record.course().paused.is_some() && self.cause != Cause::Manual
    }

    /// Whether it has to wait for the store.
    pub(super) fn is_frozen(&self, state: &State) -> bool {
        state.frozen && self.schedule.is_durable()
    }

    /// Why it cannot be handed over right now, if it cannot.
    pub(super) fn blocked(&self, draft: &Draft<'_>) -> Option<Reason> {
        match self.place(draft.state) {
            // It goes nowhere, and there is nowhere to wait: it fails at once.
            Place::Nowhere(_) => None,
            Place::Lane(..) | Place::Fresh(..) | Place::Outside(_) if draft.held => Some(Reason::Held),
            Place::Lane(..) | Place::Fresh(..) | Place::Outside(_) if self.is_paused() => {
                Some(Reason::Paused)
            }
            Place::Lane(..) | Place::Fresh(..) | Place::Outside(_) if self.is_frozen(draft.state) => {
                Some(Reason::StoreUnavailable)
            }
            place @ (Place::Lane(..) | Place::Fresh(..) | Place::Outside(_)) => place.blocks(),
        }
    }
}
