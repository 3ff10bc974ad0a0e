//! Attempts: how often a run was handed over, and what each attempt came to.

use crate::domain::{Failure, HostId, Moment, Reason, Run, RunState};

/// An attempt that failed and was followed by another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedAttempt {
    /// Its number, from 1.
    pub number: u16,
    /// When it was first handed over; `None` if it failed before that.
    pub started_at: Option<Moment>,
    /// When it failed.
    pub ended_at: Moment,
    /// The host that it was handed to.
    pub host: Option<HostId>,
    /// Why it failed.
    pub failure: Failure,
    /// When the next attempt was to be made.
    pub next_at: Moment,
}

/// The attempts of a run before its current one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlierAttempts {
    /// The attempts that failed, oldest first: at most [`limits::ATTEMPTS`](crate::limits::ATTEMPTS) - 1.
    pub failed: Vec<FailedAttempt>,
    /// When the current attempt was first handed over; `None` while it waits.
    pub current_started_at: Option<Moment>,
}

/// One attempt of a run, as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt<'a> {
    /// Its number, from 1.
    pub number: u16,
    /// The state of the run during the attempt; an earlier attempt has failed.
    pub state: RunState,
    /// When it was first handed over; `None` if it failed before that.
    pub started_at: Option<Moment>,
    /// When it ended; `None` while it goes on.
    pub ended_at: Option<Moment>,
    /// The host that it was handed to.
    pub host: Option<HostId>,
    /// Why it failed.
    pub failure: Option<&'a Failure>,
    /// When the next attempt is due, or was; `None` if there is none.
    pub next_at: Option<Moment>,
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

    /// Returns the current attempt; `None` if it has not begun.
    fn current(&self) -> Option<Attempt<'_>> {
        let started_at = self.current_started_at();
        let has_failed = self.state == RunState::Failed;
        if started_at.is_none() && !has_failed {
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
