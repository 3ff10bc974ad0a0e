//! What was seen of an engine, in one order: its facts, what reached its hosts, what its callers were told.
//!
//! Hosts and callers note what they see from outside, so the laws judge the engine by its deeds and not by its word.

use std::sync::{Arc, Mutex, PoisonError};

use crate::domain::{Cursor, Fact, HostId, Now, Phase, RunId, ScheduleId, Scope, SessionId};

/// One thing seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// When.
    pub now: Now,
    /// What.
    pub seen: Seen,
}

/// What can be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The journal was given a fact.
    Fact(Fact),
    /// A host was asked to do something for a run.
    Received(Reception),
    /// A caller was told that a schedule is cancelled.
    CancelAcknowledged {
        /// Who had asked.
        scope: Scope,
        /// The schedule.
        schedule: ScheduleId,
    },
    /// The engine was told that a connected host is gone, and has dealt with it.
    HostLost(HostId),
    /// A caller was told that the engine has stopped.
    ShutDown,
    /// The engine is about to hear that its store has failed, or has refused something.
    DiskFailed {
        /// The last fact that was known to be kept by then; at a refusal, the last that was let in, which may be kept yet.
        kept: Cursor,
    },
}

/// Something that reached a host, to create a session or to put a prompt into one; or that went outside by a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reception {
    /// The host.
    pub host: HostId,
    /// The run that it is for.
    pub run: RunId,
    /// What the host was asked to do.
    pub phase: Phase,
    /// The session; of what goes outside, the one that it belongs to.
    pub session: SessionId,
    /// The prompt; empty where a session is to be created. Of what goes outside, all that is the same at each attempt.
    pub text: Box<str>,
}

/// What was seen so far. Copies share one list.
#[derive(Clone, Debug, Default)]
pub struct History {
    observations: Arc<Mutex<Vec<Observation>>>,
}

impl History {
    /// Nothing yet.
    pub fn new() -> History {
        History::default()
    }

    /// Notes what was seen at `now`.
    pub fn note(&self, now: Now, seen: Seen) {
        self.with(|observations| observations.push(Observation { now, seen }));
    }

    /// How much was seen.
    pub fn len(&self) -> usize {
        self.with(|observations| observations.len())
    }

    /// Whether nothing was seen yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Everything after the first `skip` observations.
    pub fn after(&self, skip: usize) -> Vec<Observation> {
        self.with(|observations| observations.get(skip..).unwrap_or_default().to_vec())
    }

    /// What reached the hosts, in order, with the time of each.
    pub fn receptions(&self) -> Vec<(Now, Reception)> {
        let all = self.after(0).into_iter();
        all.filter_map(|observation| match observation.seen {
            Seen::Received(reception) => Some((observation.now, reception)),
            Seen::Fact(_)
            | Seen::CancelAcknowledged { .. }
            | Seen::HostLost(_)
            | Seen::ShutDown
            | Seen::DiskFailed { .. } => None,
        })
        .collect()
    }

    fn with<R>(&self, work: impl FnOnce(&mut Vec<Observation>) -> R) -> R {
        // Observations are only ever pushed whole: a panic elsewhere leaves nothing half done.
        work(&mut self.observations.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
