//! Runs: one run is one occurrence of a schedule.

use std::num::NonZeroU32;
use std::sync::Arc;

use crate::domain::{
    Checks, EarlierAttempts, FailedAttempt, Failure, HostId, Moment, Outcome, Phase, Reason, RunId, Schedule,
    SessionId, names,
};

names! {
    /// What caused a run.
    Cause {
        /// Its slot was due.
        Slot = "slot",
        /// Its slot passed while it could not be claimed, and is caught up.
        Missed = "missed",
        /// A caller asked for a run at once; the slots of the schedule stay as they were.
        Manual = "manual",
        /// A call of the schedule ended, and a session's model or a channel is told.
        Bulletin = "bulletin",
    }
}

names! {
    /// The state of a run. It ends in exactly one of the last four states. It never leaves the last three; a run that was left
    /// goes on if its message is taken, or if a host takes its session over.
    RunState {
        /// It waits, for example for its session or its host.
        Queued = "queued",
        /// It was handed to the host, and the receipt is outstanding.
        InFlight = "in-flight",
        /// The host accepted the prompt, and the turn that the prompt began has not ended.
        Running = "running",
        /// Its message is in the inbox of a session in which nobody listens, and nobody has taken it.
        Left = "left",
        /// The delivery was acknowledged, or the turn that it began ended; the schedule's policy
        /// says which.
        Delivered = "delivered",
        /// It was cancelled while it waited.
        Cancelled = "cancelled",
        /// It ended in an error.
        Failed = "failed",
    }
}

/// One occurrence, from the claim of its slot to its one terminal state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Which trigger of the schedule the slot belongs to: 1 for the first, one more for each
    /// replacement.
    pub incarnation: u32,
    /// The nominal instant; for a manual run, the instant of the request.
    pub slot: Moment,
    /// How many more slots the run stands for.
    pub folded: u64,
    /// What caused the run.
    pub cause: Cause,
    /// Whether a session caused it: it asked for the run or armed its slot, or the run tells of one that it caused. Such a run
    /// uses the share of its session, and nothing that is reserved for operators.
    pub(crate) by_session: bool,
    /// The check of a watch that a bulletin tells of, with those before it that have not arrived; `None` if it tells of none, or
    /// has arrived.
    pub(crate) told_check: Option<NonZeroU32>,
    /// The state of the run.
    pub state: RunState,
    /// The number of the current attempt, from 1.
    pub attempt: u16,
    /// The attempts before the current one; `None` if it is the first.
    pub(crate) earlier: Option<Box<EarlierAttempts>>,
    /// When the slot was claimed.
    pub claimed_at: Moment,
    /// When the run was first handed to the host; `None` while it waits.
    pub started_at: Option<Moment>,
    /// When the host acknowledged the prompt.
    pub delivered_at: Option<Moment>,
    /// When the next attempt is due; `None` unless the run waits for it.
    pub retry_at: Option<Moment>,
    /// When the run reached its terminal state.
    pub ended_at: Option<Moment>,
    /// How far the delivery came; `None` before it began.
    pub phase: Option<Phase>,
    /// Why the run ended without a delivery. Why a run waits is computed from the state, because it
    /// changes.
    pub reason: Option<Reason>,
    /// The host that the run was handed to.
    pub host: Option<HostId>,
    /// The session whose lane the run occupies, or the fresh session that it opens.
    pub session: Option<SessionId>,
    /// Whether the fresh session was created.
    pub session_created: bool,
    /// The error of a failed run, or of the last attempt if the run is tried again.
    pub failure: Option<Box<Failure>>,
    /// The run in whose delivery this one goes, if it does not go in one of its own.
    pub lead: Option<Box<RunId>>,
    /// What the call of the run came to; `None` if it called nothing, or the call has not ended.
    pub outcome: Option<Arc<Outcome>>,
    /// What the run remembers of the guard; `None` if that is nothing.
    pub checks: Option<Box<Checks>>,
    /// The definition under which the slot was claimed, if the schedule was redefined since.
    pub definition: Option<Arc<Schedule>>,
}

/// One attempt of a run, as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt<'a> {
    /// Its number, from 1.
    pub(crate) number: u16,
    /// The state of the run during the attempt; an earlier attempt has failed.
    pub(crate) state: RunState,
    /// When it was first handed over; `None` if it failed before that.
    pub started_at: Option<Moment>,
    /// When it ended; `None` while it goes on.
    pub ended_at: Option<Moment>,
    /// The host that it was handed to.
    pub(crate) host: Option<HostId>,
    /// Why it failed.
    pub(crate) failure: Option<&'a Failure>,
    /// When the next attempt is due, or was; `None` if there is none.
    pub next_at: Option<Moment>,
}

impl Run {
    /// When the run was first handed to somebody: to its host, or to the reader who took its message out of the inbox.
    pub(crate) fn handed_at(&self) -> Option<Moment> {
        // It ended when it was left, and was delivered after that.
        let taken =
            self.delivered_at.filter(|delivered| self.ended_at.is_some_and(|ended| ended < *delivered));
        taken.or(self.started_at)
    }

    /// Makes a run whose slot has just been claimed.
    pub fn claimed(incarnation: u32, slot: Moment, cause: Cause, folded: u64, at: Moment) -> Run {
        Run {
            incarnation,
            slot,
            folded,
            cause,
            by_session: false,
            told_check: None,
            // Until the next fact about the run, which is a dispatch in the same step if nothing stands in its way.
            state: RunState::Queued,
            attempt: 1,
            earlier: None,
            claimed_at: at,
            started_at: None,
            delivered_at: None,
            retry_at: None,
            ended_at: None,
            phase: None,
            reason: None,
            host: None,
            session: None,
            session_created: false,
            failure: None,
            lead: None,
            outcome: None,
            checks: None,
            definition: None,
        }
    }
}

impl FailedAttempt {
    fn shown(&self) -> Attempt<'_> {
        Attempt {
            number: self.number,
            state: RunState::Failed,
            started_at: self.started_at,
            ended_at: Some(self.ended_at),
            host: self.host,
            failure: Some(&self.failure),
            next_at: Some(self.next_at),
        }
    }
}

impl Run {
    /// Returns the attempts that were made, oldest first. The current one is among them once it was handed over or has failed.
    pub fn attempts(&self) -> impl Iterator<Item = Attempt<'_>> {
        let failed = self.earlier.iter().flat_map(|earlier| &earlier.failed);
        failed.map(FailedAttempt::shown).chain(self.current())
    }

    /// Returns the current attempt; `None` if it was not made. One that a pace holds back waits as well, whenever it was first
    /// handed over.
    fn current(&self) -> Option<Attempt<'_>> {
        let started_at = self.current_started_at();
        let has_failed = self.state == RunState::Failed;
        if self.state == RunState::Queued || started_at.is_none() && !has_failed {
            return None;
        }
        Some(Attempt {
            number: self.attempt,
            state: self.state,
            started_at,
            ended_at: self.ended_at,
            host: self.host,
            failure: self.failure.as_deref().filter(|_| has_failed),
            next_at: None,
        })
    }

    /// Returns when the current attempt was first handed over; `None` if it was not.
    fn current_started_at(&self) -> Option<Moment> {
        self.earlier.as_ref().map_or(self.started_at, |earlier| earlier.current_started_at)
    }

    /// Counts the hand-over of the current attempt. Only the first one counts.
    pub(crate) fn note_handed_over(&mut self, at: Moment) {
        // Lateness is measured from the first attempt.
        self.started_at.get_or_insert(at);
        if let Some(earlier) = &mut self.earlier {
            earlier.current_started_at.get_or_insert(at);
        }
    }

    /// Takes the hand-over of the current attempt back: its host never had it.
    pub(crate) fn take_hand_over_back(&mut self) {
        // With a failure on record, this may be the moment of an earlier attempt, from which lateness counts.
        self.started_at = self.started_at.filter(|_| self.failure.is_some());
        if let Some(earlier) = &mut self.earlier {
            earlier.current_started_at = None;
        }
    }

    /// Ends the current attempt, which failed; the next one is due at `next_at`. What a pace holds back, the channel's or the
    /// disk's, was not tried and is no attempt.
    pub(crate) fn fail_attempt(&mut self, failure: &Failure, ended_at: Moment, next_at: Moment) {
        if failure.reason == Reason::OverBudget {
            return;
        }
        let started_at = self.current_started_at();
        let earlier = self.earlier.get_or_insert_default();
        earlier.failed.push(FailedAttempt {
            number: self.attempt,
            started_at,
            ended_at,
            host: self.host,
            failure: failure.clone(),
            next_at,
        });
        self.attempt = self.attempt.saturating_add(1);
        earlier.current_started_at = None;
    }
}

impl RunState {
    /// Returns whether the run has ended: nothing more becomes of it by itself.
    pub const fn is_terminal(self) -> bool {
        match self {
            RunState::Left | RunState::Delivered | RunState::Cancelled | RunState::Failed => true,
            RunState::Queued | RunState::InFlight | RunState::Running => false,
        }
    }
}

impl Cause {
    /// Returns whether the run consumes no slot: it leaves the slots of its schedule as they are.
    pub const fn is_beside_slots(self) -> bool {
        match self {
            Cause::Manual | Cause::Bulletin => true,
            Cause::Slot | Cause::Missed => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Span;

    #[test]
    fn a_wait_for_a_pace_is_no_attempt() {
        let at =
            |seconds: u64| Moment::EPOCH.checked_add(Span::from_millis(seconds * 1_000)).expect("it is near");
        let mut run = Run::claimed(1, at(0), Cause::Slot, 0, at(0));
        let failed = |reason| Failure::new(Phase::Outside, reason, "no");
        for (reason, made) in [(Reason::OverBudget, 0), (Reason::HostRefused, 1), (Reason::OverBudget, 1)] {
            (run.state, run.phase) = (RunState::InFlight, Some(Phase::Outside));
            run.note_handed_over(at(1));
            run.fail_attempt(&failed(reason), at(2), at(3));
            run.state = RunState::Queued;
            assert_eq!(run.attempts().count(), made, "{reason:?}");
        }
    }
}
