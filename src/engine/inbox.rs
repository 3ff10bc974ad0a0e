//! The inbox of a session: the runs whose messages were put there while nobody listened, and that nobody has taken.
//!
//! What lives elsewhere: leaving (`step/run/accepted.rs`), taking (`step/session/take_left.rs`), and handing over to a host that
//! attaches (`step/session/host_sessions.rs`).
//!
//! Invariant: a run is in the inbox of the session in its lane if and only if its state is `left` and that session is open.
//! `State::volatile_left` has those of volatile schedules.

use super::record::{RunRecord, SessionRecord};
use super::slab::Key;
use super::state::State;
use crate::domain::{HostId, Phase, RunState, Schedule, names};

names! {
    /// Who takes what is put into a session.
    Reception {
        /// A connected host, which runs its turns and acknowledges each delivery.
        Host = "host",
        /// A host that is not connected; what is due waits until one is.
        HostGone = "host-gone",
        /// The embedding program, or somebody who reads along.
        Listener = "listener",
        /// Nobody: what is due is left in the inbox.
        Nobody = "nobody",
    }
}

impl SessionRecord {
    /// Returns who takes what is put into the session.
    pub(crate) fn reception(&self) -> Reception {
        match self.host {
            HostId::LOCAL => Reception::Listener,
            HostId::INBOX => Reception::Nobody,
            _ if self.hosted => Reception::Host,
            _ => Reception::HostGone,
        }
    }
}

impl SessionRecord {
    /// Returns whether there are messages in its inbox although a host has the session: it took the session over while that could
    /// not be stored of durable messages. A restart hands them over.
    pub(super) fn has_strays(&self) -> bool {
        self.host != HostId::INBOX && !self.left.is_empty()
    }

    /// Returns the number of messages in its inbox.
    pub(crate) fn inbox_len(&self) -> usize {
        self.left.len()
    }
}

impl RunRecord {
    /// Returns whether the prompt goes into a fresh session that the run created before, because it was left there and a host
    /// has taken that session over since. Any other waiting run has not submitted its prompt yet.
    pub(crate) fn goes_back(&self) -> bool {
        // In flight: the receipt of the built-in host may come when another host has the session already.
        let may_wait = matches!(self.run.state, RunState::Queued | RunState::Left | RunState::InFlight);
        may_wait && self.run.session_created && self.run.phase == Some(Phase::PromptSubmit)
    }
}

impl State {
    /// Returns whether somebody can take the message of a run that was left: not after its session was closed.
    pub(crate) fn is_in_inbox(&self, record: &RunRecord) -> bool {
        record.lane.is_some_and(|lane| self.sessions.get(lane).is_some())
    }

    /// Returns whether a run has to wait for the store, whatever it could do otherwise.
    pub(super) fn stands_still(&self, record: &RunRecord) -> bool {
        self.is_frozen() && self.definition_of(record).is_some_and(Schedule::is_durable)
    }

    /// Returns the runs in a session's inbox, in delivery order.
    pub fn inbox(&self, session: &SessionRecord) -> Vec<&RunRecord> {
        self.in_delivery_order(session.left.iter())
    }

    /// Puts a run that was left into the inbox of the session in its lane.
    pub(super) fn enter_inbox(&mut self, run: Key, session: Key) {
        let Some(record) = self.runs.get_mut(run) else { return };
        debug_assert!(record.run.state == RunState::Left, "{:?} is not left", record.run.state);
        let Some(inbox) = self.sessions.get_mut(session).map(|session| &mut session.left) else { return };
        record.lane = Some(session);
        inbox.push(run);
        if !self.schedules.get(record.schedule).is_some_and(|it| it.schedule.is_durable()) {
            self.volatile_left.insert(run);
        }
    }

    /// Removes a run from the inbox that it is in, if it is in one; returns the session of that inbox.
    pub(super) fn leave_inbox(&mut self, run: Key) -> Option<Key> {
        let record = self.runs.get_mut(run).filter(|record| record.run.state == RunState::Left)?;
        let key = record.lane.take()?;
        self.volatile_left.remove(&run);
        self.sessions.get_mut(key)?.left.retain(|left| *left != run);
        Some(key)
    }
}
