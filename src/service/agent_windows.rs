//! Which conversations an agent has open in a process of its own, as its hooks have said: a window.
//!
//! A session with a window is not given to the host of agents, which would begin a second process in the conversation. What is
//! due goes to the window's waiter, or is left in the inbox until a hook takes it. Once the process is gone, by its own word or
//! without one, the host of agents is told.
//!
//! What lives elsewhere: the table of processes and waiters (`agents.rs`), and what the host of agents does with what it is
//! told (`app/serve/hosted_agents.rs`). Invariant: a process of an agent with many conversations at a time says nothing of one
//! of them.

#[cfg(feature = "cli")]
use std::sync::mpsc::{Receiver, channel};

use super::Service;
#[cfg(feature = "cli")]
use super::agents::Probe;
use super::agents::{AgentProcess, Shown};
use super::hosting::HostError;
#[cfg(feature = "cli")]
use crate::domain::{Address, AgentKind};
use crate::domain::{Caller, HostId, RunId, RunState, SessionId};
use crate::engine::{Command, Input, Report, SessionRecord, State};

#[cfg(feature = "cli")]
impl Service {
    /// Sets how the processes of agents are looked for.
    pub(crate) fn set_agent_probe(&self, probe: Probe) {
        // Set once, by the program, before anybody asks.
        let _ = self.shared.agents.probe.set(probe);
    }

    /// Returns where the sessions come that have lost the process of their agent. It can be asked for once.
    pub(crate) fn sessions_left_by_agents(&self) -> Receiver<SessionId> {
        let (left, told) = channel();
        // A second one would never be told anything.
        let _ = self.shared.agents.left.set(left);
        told
    }

    /// Looks for processes of agents that have ended without a word, and tells what they have left.
    pub(crate) fn look_for_agents(&self) {
        let Some(probe) = self.shared.agents.probe.get() else { return };
        let processes: Vec<AgentProcess> =
            self.shared.agents.table().processes.keys().map(|(process, _)| process.clone()).collect();
        // Without the lock: the probe asks the operating system.
        let gone: Vec<AgentProcess> = processes.into_iter().filter(|process| !probe(process)).collect();
        if gone.is_empty() {
            return;
        }
        // One that has named another conversation meanwhile is not there either.
        let left = self.shared.agents.table().unbind(|process, _| gone.contains(process));
        for session in &left {
            self.forget_agent_schedules(session);
            self.tell_left(session);
        }
    }

    /// Returns the process that has the conversation at an address open, and no other.
    pub(crate) fn window_at(&self, address: &Address) -> Option<AgentProcess> {
        if AgentKind::of(address.agent().as_str()).has_many_conversations {
            return None;
        }
        // Hooks bind their process to the session that is named as the conversation is, whatever other sessions have it.
        let session = SessionId::new(&address.to_string()).ok()?;
        let probe = self.shared.agents.probe.get()?;
        self.processes_of(&session).into_iter().find(|process| probe(process))
    }
}

impl Service {
    /// Leaves what is due in a session to the hooks of a window that has its conversation open: the host of agents hands nothing
    /// over to a process of ours any more. While such a process is in a turn, the session stays with it: the host of agents finds
    /// the window after that.
    pub(crate) fn leave_to_window(&self, session: &SessionId) {
        let is_theirs = |record: &SessionRecord| record.host() == HostId::AGENTS;
        if self.handle().view(|state| state.session(session).is_some_and(is_theirs)) {
            self.leave_in_inbox(session);
        }
    }

    /// Leaves what is due in a session in its inbox.
    pub(crate) fn leave_in_inbox(&self, session: &SessionId) {
        let is_in_turn =
            self.handle().view(|state| state.session(session).is_some_and(SessionRecord::is_in_turn));
        let sessions = vec![session.clone()];
        // A turn that goes on ends when the agent says so.
        let busy = is_in_turn.then_some(true);
        let back = Command::HostSessions { host: HostId::INBOX, sessions, busy, by: None };
        // Written all the same, but not waited for: a hook gives up before a slow disk has answered.
        let _ = self.handle().submit_unawaited(Input::Command(back));
    }

    /// Notes that an agent shows a prompt that no waiter has handed over. A daemon that was killed has forgotten its waiters, and
    /// the next one has left in the inbox what they had handed over: the agent has it.
    pub(super) fn show_left(
        &self,
        caller: &Caller,
        session: &SessionId,
        run: RunId,
    ) -> Result<Shown, HostError> {
        let state_at = |host: HostId| {
            self.handle().view(|state| {
                let record = state.run(&run)?;
                let is_here = state.session(session)?.host() == host;
                Some(record.run().state).filter(|_| is_here && record.run().session.as_ref() == Some(session))
            })
        };
        let state_of = || state_at(HostId::INBOX);
        // The next daemon may have given the session to the host of agents, which waits for the window to end. In a turn of a
        // process of ours it stays there.
        let waits = |state: &State| {
            let record = state.session(session)?;
            let is_waiting = state.run(&run)?.run().state == RunState::Queued;
            Some(is_waiting && (record.host() == HostId::AGENTS || !record.is_hosted()))
        };
        if self.handle().view(waits) == Some(true) {
            self.leave_in_inbox(session);
        }
        if state_at(HostId::AGENTS) == Some(RunState::InFlight) {
            // The host of agents asks who has the conversation before it sends anything, and the hook has named the window before
            // it shows the prompt. So nothing is sent, unless the host had asked just before. The session stays with it until
            // its next prompt finds the window.
            self.handle().submit(Input::Report(Report::Accepted { run }))?;
            return Ok(Shown::InPlace);
        }
        if state_of() == Some(RunState::InFlight) {
            // It is on its way into the inbox, and the disk may be slow. Refused if it has arrived meanwhile.
            let _ = self.handle().submit(Input::Report(Report::Accepted { run: run.clone() }));
        }
        if state_of() != Some(RunState::Left) {
            return Ok(Shown::Unknown);
        }
        let take = Command::TakeLeft { session: session.clone(), runs: vec![run], by: Some(caller.actor()) };
        self.handle().submit(Input::Command(take))?;
        Ok(Shown::InPlace)
    }

    /// Tells that a session has lost the process of its agent.
    pub(super) fn tell_left(&self, session: &SessionId) {
        if let Some(told) = self.shared.agents.left.get() {
            // An error means that the receiver is gone, because the program ends.
            let _ = told.send(session.clone());
        }
    }

    /// Whether a process of the agent is in the conversation of a session; also if nothing can tell.
    pub(super) fn has_agent_process(&self, session: &SessionId) -> bool {
        let processes = self.processes_of(session);
        // Without the lock: the probe asks the operating system.
        self.shared.agents.probe.get().is_none_or(|probe| processes.iter().any(probe))
    }

    fn processes_of(&self, session: &SessionId) -> Vec<AgentProcess> {
        let table = self.shared.agents.table();
        let bound = table.processes.keys().filter(|(_, bound)| bound == session);
        bound.map(|(process, _)| process.clone()).collect()
    }
}
