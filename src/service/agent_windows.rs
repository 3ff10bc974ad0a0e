//! Which conversations an agent has open in a process of its own, as its hooks have said: a window.
//!
//! A session with a window is not given to the host of agents, which would begin a second process in the conversation. What is
//! due goes to the window's waiter, or is left in the inbox until a hook takes it. Once the process is gone, by its own word or
//! without one, the host of agents is told.
//!
//! What lives elsewhere: the table of processes and waiters (`agents.rs`), and what the host of agents does with what it is told
//! (`app/serve/hosted_agents.rs`). Invariant: a process of an agent with many conversations at a time says nothing of one of them.

use std::sync::mpsc::{Receiver, channel};

use super::Service;
use super::agents::{AgentProcess, Probe};
use crate::domain::{Address, AgentKind, SessionId};

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
