//! The laws that every engine must obey: each is one function with a name.
//!
//! Laws in `event_laws` judge each observation; laws in `state_laws` judge the state after a step.
//! [`Laws`] runs them all. Invariant: a law never changes the engine.

use super::checks::event_laws;
use super::checks::law::{StateLaw, StateView};
use super::checks::state_laws;
use super::history::Observation;
use super::reference::model::ReferenceModel;
use super::reference::process_log::ProcessLog;
use crate::domain::{Cursor, Decision, Fact, ScheduleId};
use crate::engine::State;
use crate::runtime::Handle;

/// A law that was broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{law} is broken: {detail}")]
pub struct Broken {
    /// The law's name.
    pub law: &'static str,
    /// What broke it.
    pub detail: String,
}

/// The laws, with their model of one engine's history from its first fact on.
#[derive(Debug, Default)]
pub struct Laws {
    pub(super) model: ReferenceModel,
    pub(super) past: ProcessLog,
}

impl Laws {
    /// Laws with an empty model.
    pub fn new() -> Laws {
        Laws::default()
    }

    /// The names of the laws that `Laws` and the feed check, in the order of evaluation.
    pub fn names() -> Vec<&'static str> {
        let sight = event_laws::ALL.iter().map(|(name, _)| *name);
        let standing = state_laws::ALL.iter().chain(state_laws::DEEP).map(|(name, _)| *name);
        // These laws are functions of their own: they judge more than one observation or state.
        let rest = [FEED_TELLS_ALL, READS_CHANGE_NOTHING, EVERYTHING_ENDS, WHAT_IS_KEPT_IS_THERE];
        sight.chain(standing).chain(rest).collect()
    }

    /// Judges the next observation, then adds it to the model.
    ///
    /// # Errors
    /// [`Broken`], by the first law that it breaks.
    pub fn observe(&mut self, observation: &Observation) -> Result<(), Broken> {
        for (law, judge) in event_laws::ALL {
            judge(&self.model, observation).map_err(|detail| Broken { law, detail })?;
        }
        // Only now: a law compares the observation with everything before it.
        self.model.enter(observation);
        self.past.note(observation);
        Ok(())
    }

    /// Judges the state by the laws that are cheap enough for every step.
    ///
    /// # Errors
    /// [`Broken`], by the first law that does not hold.
    pub fn stand(&self, standing: &StateView<'_>) -> Result<(), Broken> {
        self.ask(state_laws::ALL, standing)
    }

    /// Judges the state by its whole text: it must equal the fold of the facts seen.
    ///
    /// # Errors
    /// [`Broken`], with the first law that does not hold.
    pub fn stand_deep(&self, standing: &StateView<'_>) -> Result<(), Broken> {
        self.ask(state_laws::DEEP, standing)
    }

    fn ask(&self, laws: &[(&'static str, StateLaw)], standing: &StateView<'_>) -> Result<(), Broken> {
        for (law, judge) in laws {
            judge(&self.model, standing).map_err(|detail| Broken { law, detail })?;
        }
        Ok(())
    }

    /// Liveness: nothing is left unfinished once faults have stopped, receipts are in, sessions are
    /// idle, hosts are back, and enough time has passed.
    ///
    /// # Errors
    /// [`Broken`], with the first schedule that has not ended.
    pub fn everything_ends(&self) -> Result<(), Broken> {
        let left = self.model.schedules.iter().find(|(_, plan)| plan.end.is_none());
        left.map_or(Ok(()), |(id, plan)| {
            let detail = format!("{id} has not ended: {plan:?}");
            Err(Broken { law: EVERYTHING_ENDS, detail })
        })
    }

    /// Notes that somebody waits for the end of a call from now on. Everything before this has been judged.
    pub(super) fn note_waiting(&mut self, schedule: &ScheduleId) {
        self.model.waiting.begin(schedule);
    }

    /// Notes that nobody waits for the end of a call any more. Everything before this has been judged.
    pub(super) fn note_stopped_waiting(&mut self, schedule: &ScheduleId) {
        self.model.waiting.stop(schedule);
    }

    /// Returns whether somebody may wait for the end of a call.
    pub(super) fn may_be_awaited(&self, schedule: &ScheduleId) -> bool {
        self.model.waiting.awaits(schedule) != Some(false)
    }
}

/// Checks that every fact became one decision in the feed, in order and with consecutive cursors.
///
/// # Errors
/// [`Broken`], with the first decision that differs.
pub fn feed_tells_all(facts: &[Fact], decisions: &[Decision]) -> Result<(), Broken> {
    let first = decisions.first().map_or(Cursor::START, |decision| decision.cursor);
    let cursors = std::iter::successors(Some(first), |cursor| Some(cursor.next()));
    feed_tells(&cursors.zip(facts.iter().cloned()).collect::<Vec<_>>(), decisions)
}

/// Checks that the feed shows exactly these facts at these cursors. Rolled-back facts leave gaps.
pub(super) fn feed_tells(facts: &[(Cursor, Fact)], decisions: &[Decision]) -> Result<(), Broken> {
    let broken = |detail| Err(Broken { law: FEED_TELLS_ALL, detail });
    if facts.len() != decisions.len() {
        return broken(format!("{} facts became {} decisions", facts.len(), decisions.len()));
    }
    for ((cursor, fact), decision) in facts.iter().zip(decisions) {
        if (*cursor, fact.kind(), fact.reason(), fact.detail())
            != (decision.cursor, decision.kind, decision.reason, decision.detail.clone())
        {
            return broken(format!("{fact:?} at {cursor} became {decision:?}"));
        }
    }
    Ok(())
}

/// Checks that reading everything that can be read leaves the state unchanged.
///
/// # Errors
/// [`Broken`], with the first line that changed.
pub fn reads_change_nothing(handle: &Handle) -> Result<(), Broken> {
    // The results of the reads are ignored: only the state's text before and after them matters.
    let before = handle.view(State::to_string);
    handle.view(|state| {
        for session in state.sessions() {
            let _ =
                (state.session(session.id()), state.waiting(session), state.live_schedules_of(session.id()));
            let _ =
                (session.config(), session.provenance(), session.live_count(), session.last_user_activity());
        }
        for record in state.schedules() {
            let id = &record.schedule().id;
            let _ = (state.schedule(id), state.deadline(id), state.runs_of(record).count(), record.fire_at());
        }
        let _ =
            (state.ledger(), state.cursor(), state.mode(), state.next_wake(handle.now()), state.live_count());
    });
    let sessions =
        handle.view(|state| state.sessions().iter().map(|session| session.id().clone()).collect::<Vec<_>>());
    for session in &sessions {
        let _ = handle.sessions().transcript(session);
    }
    let _ = handle.subscribe(Cursor::START).poll(usize::MAX);
    let after = handle.view(State::to_string);
    let change = state_laws::first_difference(&before, &after);
    change.map_or(Ok(()), |detail| Err(Broken { law: READS_CHANGE_NOTHING, detail }))
}

const FEED_TELLS_ALL: &str = "feed_tells_all";
const READS_CHANGE_NOTHING: &str = "reads_change_nothing";
/// Every acknowledged fact is in the store, and its rows are the fold of its facts.
pub(super) const WHAT_IS_KEPT_IS_THERE: &str = "what_is_kept_is_there";
const EVERYTHING_ENDS: &str = "everything_ends";
