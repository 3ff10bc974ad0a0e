//! One run as the transitions see it, whether it is in the state already or being claimed in this
//! step.

use std::sync::Arc;

use crate::domain::{
    Actor, Cause, Checks, Moment, Reason, RunFact, RunId, Schedule, ScheduleFact, Span, Target, TaskEnd,
};
use crate::engine::bulletin_text::{Details, error_line};
use crate::engine::destination::Destination;
use crate::engine::record::{RunRecord, ScheduleRecord};
use crate::engine::slab::Key;
use crate::engine::state::State;
use crate::engine::step::run::bulletin::announce;
use crate::engine::step::run::check::check_failed;
use crate::engine::step::schedule::next_slot::{slot_after_finish, slot_after_wait};
use crate::engine::step_builder::StepBuilder;

/// A run and the definition that it was claimed by.
#[derive(Clone, Debug)]
pub(in crate::engine::step) struct Occurrence<'a> {
    pub(in crate::engine::step) id: RunId,
    pub(in crate::engine::step) schedule: &'a Schedule,
    pub(in crate::engine::step) record: &'a ScheduleRecord,
    pub(in crate::engine::step) owner: Option<Key>,
    /// The session that its prompt was left in, if it created that one.
    pub(in crate::engine::step) back: Option<Key>,
    pub(in crate::engine::step) slot: Moment,
    pub(in crate::engine::step) cause: Cause,
    /// Whether a session caused it, or this attempt of it.
    pub(in crate::engine::step) by_session: bool,
    pub(in crate::engine::step) folded: u64,
    /// The number of the attempt, from 1.
    pub(in crate::engine::step) attempt: u16,
    /// The revision of its schedule, including changes in this step.
    pub(in crate::engine::step) revision: u32,
    /// What is on record about the guard and approvals.
    pub(in crate::engine::step) checks: Option<Checks>,
    /// Whether the next slot counts from the end of this run.
    pub(in crate::engine::step) arms: bool,
    /// Who reported what ends it or the attempt; `None` if the engine decides that.
    pub(in crate::engine::step) by: Option<Arc<Actor>>,
}

impl<'a> Occurrence<'a> {
    /// Returns the occurrence of a run that is in the state.
    pub(in crate::engine::step) fn of(state: &'a State, run: &'a RunRecord) -> Option<Occurrence<'a>> {
        let record = state.schedules.get(run.schedule)?;
        Some(Occurrence {
            id: state.run_id(run)?,
            schedule: state.definition_of(run)?,
            record,
            owner: record.owner,
            back: run.run.session.as_ref().filter(|_| run.goes_back()).and_then(|id| state.session_key(id)),
            slot: run.run.slot,
            cause: run.run.cause,
            by_session: run.run.by_session,
            folded: run.run.folded,
            attempt: run.run.attempt,
            revision: record.progress().revision,
            checks: run.run.checks.as_deref().cloned(),
            // A manual run leaves the slots as they are, and so does one of a replaced definition: their ends arm none.
            arms: record.progress().awaits_finish
                && !run.run.cause.is_beside_slots()
                && record.is_own(&run.run),
            by: None,
        })
    }

    /// Returns the occurrence of a slot that has no run yet.
    pub(in crate::engine::step) fn of_slot(record: &'a ScheduleRecord, slot: Moment) -> Occurrence<'a> {
        Occurrence {
            id: record.run_id(slot),
            schedule: &record.schedule,
            record,
            owner: record.owner,
            back: None,
            slot,
            cause: Cause::Slot,
            by_session: false,
            folded: 0,
            attempt: 1,
            revision: record.progress().revision,
            checks: None,
            arms: false,
            by: None,
        }
    }

    /// Returns this occurrence with who reported what ends it or the attempt.
    pub(in crate::engine::step) fn reported_by(self, by: Option<Arc<Actor>>) -> Occurrence<'a> {
        Occurrence { by, ..self }
    }

    /// Returns whether it is a manual run.
    pub(in crate::engine::step) fn is_manual(&self) -> bool {
        self.cause == Cause::Manual
    }

    /// Returns whether it may use what is reserved for operators. The schedule's record counts, because the definition of a
    /// bulletin may name no author. What a session causes is the session's, also of an operator's schedule.
    pub(in crate::engine::step) fn is_operators(&self) -> bool {
        self.record.schedule.is_by_operators() && !self.by_session
    }

    /// Returns where it goes, as of now.
    pub(in crate::engine::step) fn destination(&self, state: &'a State) -> Destination<'a> {
        let back = self.back.and_then(|key| Some(Destination::Session(key, state.sessions.get(key)?)));
        back.unwrap_or_else(|| state.destination(self.schedule, self.owner))
    }

    /// Returns whether it is a message for this channel, be that open or not.
    pub(in crate::engine::step) fn is_for(&self, channel: &str) -> bool {
        // The target in the settings of a call does not apply.
        let is_message = self.schedule.payload.call().is_none();
        is_message && matches!(self.schedule.target(), Target::Route(route) if *route.channel == *channel)
    }

    /// Returns whether it has to wait until its schedule is resumed. Manual runs were requested
    /// regardless of a pause, and a bulletin is of what came before it.
    pub(in crate::engine::step) fn is_paused(&self) -> bool {
        self.record.progress().paused.is_some() && !self.cause.is_beside_slots()
    }

    /// Returns whether it has to wait for the store.
    pub(in crate::engine::step) fn is_frozen(&self, state: &State) -> bool {
        state.is_frozen() && self.schedule.is_durable()
    }

    /// Returns why it cannot be handed over now; `None` if it can.
    pub(in crate::engine::step) fn blocked(&self, step: &StepBuilder<'_>) -> Option<Reason> {
        let place = self.destination(step.state);
        // There is nothing to wait for, so it is not blocked: the hand-over fails at once.
        if matches!(place, Destination::Unreachable(_)) {
            return None;
        }
        // From the widest reason to the narrowest, as `State::run_waits_for` reports them.
        if step.held {
            Some(Reason::Held)
        } else if self.is_paused() {
            Some(Reason::Paused)
        } else if self.is_frozen(step.state) {
            Some(Reason::StoreUnavailable)
        } else {
            place.blocks()
        }
    }

    /// Ends the run with this fact, and arms the next slot if it counts from the end of the run. Of a call that failed, the
    /// session is told, unless it is closed or the engine stops.
    pub(in crate::engine::step) fn finish(&self, step: &mut StepBuilder<'_>, end: RunFact) {
        // After these two ends there is nobody to tell.
        if let (Some(call), RunFact::Failed(failure)) = (self.schedule.payload.call(), &end)
            && !matches!(failure.reason, Reason::SessionClosed | Reason::Shutdown)
        {
            if self.record.watch().is_some() {
                check_failed(step, self, failure);
                return;
            }
            // The caller that waits gets the failure as its answer.
            if step.is_awaited(&self.id.schedule) {
                return self.end(step, end);
            }
            let lines = error_line(&failure.message);
            announce(step, self, call, TaskEnd::Failed, Details { lines: &lines, ..Details::default() });
        }
        self.end(step, end);
    }

    /// Ends the run with this fact, and arms the next slot if it counts from the end of the run.
    pub(in crate::engine::step) fn end(&self, step: &mut StepBuilder<'_>, end: RunFact) {
        self.end_before(step, end, None);
    }

    /// As [`Occurrence::end`], but the next slot comes after this wait, if it counts from the end of the run.
    pub(in crate::engine::step) fn end_before(
        &self,
        step: &mut StepBuilder<'_>,
        end: RunFact,
        wait: Option<Span>,
    ) {
        step.run_fact_by(&self.id, end, self.by.clone());
        // Several runs of the schedule may end in one step; the slot is armed once.
        let arms = self.arms && !step.has_armed(&self.id.schedule);
        if arms && !self.record.status.is_terminal() {
            // The slots of a trigger that was replaced bound nothing.
            let progress = self.record.progress();
            let own = Some(self.slot).filter(|_| self.id.incarnation == progress.incarnation);
            let consumed = own.max(progress.consumed).unwrap_or(step.now.wall);
            let next = match wait {
                Some(wait) => slot_after_wait(step, &self.record.schedule, consumed, wait),
                None => slot_after_finish(step, &self.record.schedule, consumed),
            };
            step.schedule_fact(&self.id.schedule, ScheduleFact::Armed { next, by: None });
        }
    }
}
