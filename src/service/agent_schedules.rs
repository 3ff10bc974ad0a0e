//! The schedules that an agent holds itself for its conversation: its hooks name them at the end of each turn.
//!
//! What lives elsewhere: the processes of agents (`agents.rs`), and what is shown (`graph/attr/agent_schedules.rs`). Invariant:
//! what a process said is shown until it is known that the process has left the conversation, and not longer.

use super::Service;
use super::hosting::HostError;
use crate::domain::{AgentSchedules, Caller, Op, SessionId};
use crate::engine::{Input, Report, SessionRecord};

impl Service {
    /// Notes the schedules that an agent holds itself, in place of those that it named before.
    ///
    /// # Errors
    /// [`HostError`]: the caller may not say so, or the session is not open.
    pub(crate) fn note_agent_schedules(
        &self,
        caller: &Caller,
        session: SessionId,
        said: AgentSchedules,
    ) -> Result<(), HostError> {
        let _admitted = self.admit(caller, Op::BindAgent, None)?;
        let report = Report::AgentSchedules { session, said: Some(said) };
        Ok(self.handle().submit(Input::Report(report))?)
    }

    /// Forgets what the agent of a session said of its own schedules.
    pub(super) fn forget_agent_schedules(&self, session: &SessionId) {
        // Most sessions have none. They are not worth the lock that a change needs.
        let is_known = |record: &SessionRecord| record.agent_schedules().is_some();
        if self.handle().view(|state| state.session(session).is_some_and(is_known)) {
            let report = Report::AgentSchedules { session: session.clone(), said: None };
            // Refused if the session was closed meanwhile, and with it everything was forgotten.
            let _ = self.handle().submit(Input::Report(report));
        }
    }

    /// Forgets what the agent of a session said of its own schedules, if no process of the agent is there any more: the one
    /// that held them ended without a word.
    pub(crate) fn forget_agent_schedules_if_gone(&self, session: &SessionId) {
        if !self.has_agent_process(session) {
            self.forget_agent_schedules(session);
        }
    }
}
