//! What a waiter leaves: a prompt that it does not deliver any more waits again, in the inbox of its session.
//!
//! Without a word about it the engine would take it for lost with its host, and not every policy sends again what is lost.
//!
//! What lives elsewhere: when a waiter is released (`agents.rs`).

use super::Service;
use crate::domain::{Actor, HostId, Reason, RunId, SessionId};
use crate::engine::{Command, Input, Report, SessionRecord};

impl Service {
    /// Queues the run again whose prompt is in flight with a host that is about to go, unless the agent has shown it.
    pub(super) fn queue_again(&self, session: &SessionId, host: HostId, shown: Option<&RunId>) {
        let run = self.handle().view(|state| {
            let record = state.session(session).filter(|record| record.host() == host)?;
            state.run_id(state.run_at(record.in_flight_key()?)?)
        });
        let Some(run) = run.filter(|run| shown != Some(run)) else { return };
        // Written all the same, but not waited for: a hook gives up before a slow disk has answered. Refused if the receipt has
        // come meanwhile.
        let unreached = Report::Unreached { run, reason: Reason::HostGone };
        let _ = self.handle().submit_unawaited(Input::Report(unreached));
    }

    /// Nobody listens in a session any more that this host has left. One that another host has taken over meanwhile, or that was
    /// closed, stays as it is.
    pub(super) fn leave_unheard(&self, session: &SessionId, host: HostId, by: Actor) {
        let is_gone = |record: &SessionRecord| record.host() == host;
        if self.handle().view(|state| state.session(session).is_some_and(is_gone)) {
            let sessions = vec![session.clone()];
            let (host, busy, by) = (HostId::INBOX, Some(false), Some(by));
            let back = Command::HostSessions { host, sessions, busy, by };
            // Written all the same, but not waited for: a hook gives up before a slow disk has answered.
            let _ = self.handle().submit_unawaited(Input::Command(back));
        }
    }
}
