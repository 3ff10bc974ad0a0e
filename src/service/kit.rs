//! Which tools a session can have called, and which of them a caller may call.

use super::Service;
use crate::domain::{Caller, CallerRole, SessionId};
use crate::edn::{Map, Value};
use crate::graph::tool_offers::OfferedTool;
use crate::runtime::KnownTool;

impl Service {
    /// The tools that a session can have called, or every session; each with whether this caller may call it.
    pub(super) fn offered_tools(&self, session: Option<&SessionId>, caller: &Caller) -> Vec<OfferedTool> {
        let kit = match session {
            Some(session) => self.handle().tools().of(session),
            None => self.handle().tools().of_nobody(),
        };
        let is_agent = caller.role == CallerRole::Session;
        let offered = |tool: KnownTool| {
            let is_open = tool.is_open_to_agents() || !caller.is_bound();
            let is_callable = is_open && !tool.spec.approval;
            // The counts are about everybody's calls, and an error may quote what another session has asked for.
            let shows = !is_agent && caller.scope.session().is_none();
            let counts = shows.then(|| self.handle().calls().counts_of(&tool));
            OfferedTool { executor: tool.kind, spec: tool.spec, is_callable, counts }
        };
        kit.known().map(offered).collect()
    }

    /// The tools that the caller's session can have called, each with who carries it out and whether this caller may call it.
    pub fn kit(&self, caller: &Caller) -> Value {
        let tool = |tool: OfferedTool| {
            let OfferedTool { spec, executor, is_callable, counts: _ } = tool;
            Map::new()
                .with("name", spec.name.as_str())
                .with("executor", Value::keyword(executor.name()))
                .with("description", &*spec.description)
                .with("input-schema", Value::clone(&spec.input_schema))
                .with("risk", Value::keyword(spec.risk.name()))
                .with("approval?", spec.approval)
                .with("idempotent?", spec.idempotent)
                .with("callable?", is_callable)
                .into()
        };
        let tools = self.offered_tools(caller.scope.session(), caller);
        Map::new().with("tools", tools.into_iter().map(tool).collect::<Vec<Value>>()).into()
    }
}
