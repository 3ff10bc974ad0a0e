//! One call of a tool of memory: arguments in, the tool's own answer out.
//!
//! What lives elsewhere: words and shapes (`dialect::memory`), rules (`engine`). Invariant: a session changes its own memory
//! only.

use super::super::Service;
use super::super::admission::Admitted;
use super::super::mutations::CallerMutator;
use crate::dialect::memory::{self, Call, Tool};
use crate::dialect::{Answer, Notation};
use crate::domain::{Dialect, MemoryChange, Refusal, SessionId, redacted};
use crate::edn::Value;
use crate::engine::SessionRecord;

/// A call of a tool of memory.
pub(super) struct MemoryCall<'a> {
    pub(super) service: &'a Service,
    pub(super) admitted: Admitted<'a>,
}

impl MemoryCall<'_> {
    pub(super) fn call(&self, tool: Tool, args: &Value, notation: Notation) -> Answer {
        let call = match memory::parse(tool, args, notation) {
            Ok(call) => call,
            Err(answer) => return answer,
        };
        let Some(session) = self.admitted.caller().scope.session() else { return memory::no_session() };
        self.carry_out(call, session).unwrap_or_else(|refusal| memory::refused(&refusal))
    }

    fn carry_out(&self, call: Call, session: &SessionId) -> Result<Answer, Refusal> {
        let mutator =
            CallerMutator { service: self.service, admitted: self.admitted, tool: Some(Dialect::Memory) };
        match call {
            Call::Remember { content } => {
                // The engine stores the fact with its secrets replaced, so it is found in that form only.
                let known = redacted(&content).into_owned();
                let is_known = self.service.handle().view(|state| {
                    let record: Option<&SessionRecord> = state.session(session);
                    record.is_some_and(|record| record.memory().number_of(&known).is_some())
                });
                mutator.change_memory(session, MemoryChange::Remembered { content }, |memory| {
                    // It was stored with the change, or was there before.
                    memory::remembered(memory, memory.number_of(&known).unwrap_or_default(), !is_known)
                })
            }
            Call::SetGoal { goal } => {
                mutator.change_memory(session, MemoryChange::GoalSet { goal }, memory::goal)
            }
            Call::TaskCreate { subject, description } => {
                let change = MemoryChange::TaskCreated { subject, description };
                mutator.change_memory(session, change, memory::todos)
            }
            Call::TaskUpdate { task, status } => {
                mutator.change_memory(session, MemoryChange::TaskUpdated { task, status }, memory::todos)
            }
        }
    }
}
