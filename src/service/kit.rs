//! Which tools a caller's session can have called, as data.

use super::Service;
use crate::domain::{Caller, CallerRole};
use crate::edn::{Map, Value};

impl Service {
    /// The tools that the caller's session can have called, each with who carries it out and whether this caller may call it.
    pub fn kit(&self, caller: &Caller) -> Value {
        let kit = match caller.scope.session() {
            Some(session) => self.handle().kit(session),
            None => self.handle().kit_of_nobody(),
        };
        let is_agent = caller.role == CallerRole::Session;
        let tool = |tool: crate::runtime::KnownTool| {
            let is_open = tool.is_open_to_agents() || !is_agent;
            let spec = tool.spec;
            Map::new()
                .with("name", spec.name.as_str())
                .with("executor", Value::keyword(tool.kind.name()))
                .with("description", &*spec.description)
                .with("input-schema", Value::clone(&spec.input_schema))
                .with("risk", Value::keyword(spec.risk.name()))
                .with("approval?", spec.approval)
                .with("idempotent?", spec.idempotent)
                .with("callable?", is_open && !spec.approval)
                .into()
        };
        Map::new().with("tools", kit.known().map(tool).collect::<Vec<Value>>()).into()
    }
}
