//! Changes what a session remembers.

use super::{CallerMutator, refused};
use crate::domain::{Memory, MemoryChange, Refusal, SessionId, redacted};
use crate::edn::{Map, Value};
use crate::engine::{Command, Input, SessionRecord};
use crate::graph::mutation::{GoalRequest, NewTask, RememberRequest, TaskChange};
use crate::graph::registry::ResolverError;

impl CallerMutator<'_> {
    pub(super) fn remember(&self, request: RememberRequest) -> Result<Value, ResolverError> {
        let session = self.session(request.of.session, "session-id")?;
        let content = request.fact.content;
        // The engine stores the fact with its secrets replaced, so it is found in that form only.
        let known = redacted(&content).into_owned();
        let number = |memory: &Memory| memory.number_of(&known);
        let number = self.change_memory(&session, MemoryChange::Remembered { content }, number);
        let number = number.map_err(|refusal| refused(&refusal))?;
        Ok(noted(&session, number.map(|number| format!("f{number}"))))
    }

    pub(super) fn set_goal(&self, request: GoalRequest) -> Result<Value, ResolverError> {
        let session = self.session(request.of.session, "session-id")?;
        let change = MemoryChange::GoalSet { goal: request.goal.goal };
        self.change_memory(&session, change, |_| ()).map_err(|refusal| refused(&refusal))?;
        Ok(Map::new().with("psi.agent-session/session-id", session.as_str()).into())
    }

    pub(super) fn create_task(&self, request: NewTask) -> Result<Value, ResolverError> {
        let session = self.session(request.of.session, "session-id")?;
        let (subject, description) = (request.task.subject, request.task.description);
        let change = MemoryChange::TaskCreated { subject, description };
        // A task is known by its place, and a new one is the last.
        let count = self.change_memory(&session, change, |memory| memory.tasks.len());
        let count = count.map_err(|refusal| refused(&refusal))?;
        Ok(noted(&session, Some(format!("t{count}"))))
    }

    pub(super) fn update_task(&self, request: &TaskChange) -> Result<Value, ResolverError> {
        let session = self.session(request.of.session.clone(), "session-id")?;
        let (task, status) = (request.to.task, request.to.status);
        let changed = self.change_memory(&session, MemoryChange::TaskUpdated { task, status }, |_| ());
        changed.map_err(|refusal| refused(&refusal))?;
        Ok(noted(&session, Some(format!("t{task}"))))
    }

    /// Makes a change, and reads the memory as the change left it.
    pub(in crate::service) fn change_memory<R>(
        &self,
        session: &SessionId,
        change: MemoryChange,
        read: impl FnOnce(&Memory) -> R,
    ) -> Result<R, Refusal> {
        let command = Command::ChangeMemory { session: session.clone(), change, by: Some(self.actor()) };
        self.handle().submit_with(Input::Command(command), |state| {
            let memory = state.session(session).map(SessionRecord::memory).unwrap_or_default();
            read(&memory)
        })
    }
}

fn noted(session: &SessionId, id: Option<String>) -> Value {
    Map::new()
        .with("psi.agent-session/session-id", session.as_str())
        .with("psi.agent-session/noted-id", id)
        .into()
}
