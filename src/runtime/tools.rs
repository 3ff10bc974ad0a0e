//! Tools by a handle: who carries them out, which a session can have called, and which tell of changes.
//!
//! What lives elsewhere: the table of executors (`kit`), calls under way (`calls`), the watches that hear (`listeners`).

use std::sync::Arc;

use super::handle::Handle;
use super::kit::{NameClash, Resolved, SessionKit};
use super::shared::Shared;
use crate::domain::{ExecutorKind, HostId, Primitives, ScheduleId, SessionId, ToolName};
use crate::edn::Value;
use crate::engine::{Report, SessionRecord};
use crate::port::Executor;

/// The tools of an engine.
pub struct Tools<'a>(pub(super) &'a Handle);

impl Tools<'_> {
    /// Adds an executor, whose tools every session can have called.
    ///
    /// # Errors
    /// [`NameClash`] if another one offers a tool of one of its names; nothing is added then.
    pub fn add_executor(&self, kind: ExecutorKind, executor: Arc<dyn Executor>) -> Result<(), NameClash> {
        self.0.shared.kit.add(kind, executor, &SessionId::of_nobody())
    }

    /// Adds the tools of an attached host, which its own sessions can have called, in the place of those that it offered before.
    /// Returns the names by which its sessions get tools of others.
    pub fn offer(&self, host: HostId, executor: Arc<dyn Executor>) -> Vec<ToolName> {
        self.0.shared.kit.offer(host, executor)
    }

    /// The tools that a session can have called.
    pub fn of(&self, session: &SessionId) -> SessionKit {
        let host = self.0.shared.core().state.session(session).map(SessionRecord::host);
        self.0.shared.kit.of_session(session, host)
    }

    /// The tools that every session can have called.
    pub(crate) fn of_nobody(&self) -> SessionKit {
        self.0.shared.kit.of_session(&SessionId::of_nobody(), None)
    }

    /// Switches families of tools on and off, for as long as the process lives.
    pub fn switch(&self, primitives: Primitives) {
        self.0.shared.submit_fact(Report::Switched(primitives));
    }

    /// Lets a watch hear of changes of what it looks at, if the executor of its tool can tell.
    ///
    /// # Errors
    /// Why it cannot tell now though it could, in words.
    pub(crate) fn listen(
        &self,
        watch: &ScheduleId,
        session: &SessionId,
        (tool, args): (&ToolName, &Value),
    ) -> Result<(), &'static str> {
        // A rehearsed watch is not made, so nobody would hear.
        if self.0.is_rehearsal() {
            return Ok(());
        }
        match self.of(session).resolve(tool.as_str()) {
            Resolved::Known(tool) => self.0.shared.listen(watch, &tool, args),
            Resolved::Ambiguous(_) | Resolved::Unknown(_) => Ok(()),
        }
    }

    /// Lets a watch hear of nothing any more.
    pub(crate) fn stop_listening(&self, watch: &ScheduleId) {
        if !self.0.is_rehearsal() {
            self.0.shared.stop_listening(watch);
        }
    }
}

impl Shared {
    /// Takes the tools of a host away, and ends its calls.
    pub(super) fn withdraw_tools(self: &Arc<Self>, host: HostId) {
        if let Some(gone) = self.kit.withdraw(host) {
            self.lose_executor(gone.number);
        }
    }
}
