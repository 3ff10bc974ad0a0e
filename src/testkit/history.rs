//! Everything observed of an engine, in one sequence: facts, deliveries to hosts, answers to
//! callers.
//!
//! Simulated hosts and callers record what they see from outside. So the laws judge what the engine
//! did, and not what it reports about itself.

use std::sync::{Arc, Mutex, PoisonError};

use crate::domain::{Cursor, Fact, HostId, Now, Phase, RunFact, RunId, ScheduleId, Scope, SessionId};
use crate::engine::LocalFact;

/// One observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The clocks at that time.
    pub now: Now,
    /// What was observed.
    pub seen: Seen,
}

impl Observation {
    /// The run and its fact, if this is one.
    pub(super) fn run_fact(&self) -> Option<(&RunId, &RunFact)> {
        if let Seen::Fact(Fact::Run(id, fact, _)) = &self.seen { Some((id, fact)) } else { None }
    }
}

/// The kinds of observations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The engine decided a fact.
    Fact(Fact),
    /// The journal was shown a local fact.
    Local(LocalFact),
    /// A host was asked to do something for a run.
    Received(Reception),
    /// A caller was told that a schedule is cancelled.
    CancelAcknowledged {
        /// The caller's scope.
        scope: Scope,
        /// The schedule.
        schedule: ScheduleId,
    },
    /// The engine has processed the loss of a connected host.
    HostLost(HostId),
    /// A caller was told that the engine has stopped.
    ShutDown,
    /// The store has failed or refused a batch, and the engine is about to learn of it.
    DiskFailed {
        /// After a failure, the last committed fact. After a refusal, the last accepted one, which
        /// may still be committed.
        kept: Cursor,
    },
}

/// A request that reached a host (create a session, submit a prompt) or was sent by a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reception {
    /// The host that received it; the built-in one for a channel.
    pub host: HostId,
    /// The run that it belongs to.
    pub run: RunId,
    /// What the host was asked to do.
    pub phase: Phase,
    /// The session that it is about; for a channel, the owner's session.
    pub session: SessionId,
    /// The prompt; empty for the creation of a session. For a channel, the part that is equal at
    /// each attempt.
    pub text: Box<str>,
}

/// All observations so far. Clones share one list.
#[derive(Clone, Debug, Default)]
pub struct History {
    observations: Arc<Mutex<Vec<Observation>>>,
}

impl History {
    /// An empty history.
    pub fn new() -> History {
        History::default()
    }

    /// Appends an observation made at `now`.
    pub fn note(&self, now: Now, seen: Seen) {
        self.with(|observations| observations.push(Observation { now, seen }));
    }

    /// The number of observations.
    pub fn len(&self) -> usize {
        self.with(|observations| observations.len())
    }

    /// The number of observations without local facts, which no other process could know.
    pub(super) fn shared_len(&self) -> usize {
        let is_shared = |it: &&Observation| !matches!(it.seen, Seen::Local(_));
        self.with(|observations| observations.iter().filter(is_shared).count())
    }

    /// Whether nothing was seen yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The observations after the first `skip`.
    pub fn after(&self, skip: usize) -> Vec<Observation> {
        self.with(|observations| observations.get(skip..).unwrap_or_default().to_vec())
    }

    /// What reached hosts and channels, in order, with the time of each.
    pub fn receptions(&self) -> Vec<(Now, Reception)> {
        let all = self.after(0).into_iter();
        all.filter_map(|observation| match observation.seen {
            Seen::Received(reception) => Some((observation.now, reception)),
            Seen::Fact(_)
            | Seen::Local(_)
            | Seen::CancelAcknowledged { .. }
            | Seen::HostLost(_)
            | Seen::ShutDown
            | Seen::DiskFailed { .. } => None,
        })
        .collect()
    }

    fn with<R>(&self, work: impl FnOnce(&mut Vec<Observation>) -> R) -> R {
        // A panic elsewhere cannot leave the list inconsistent: observations are pushed whole.
        work(&mut self.observations.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
