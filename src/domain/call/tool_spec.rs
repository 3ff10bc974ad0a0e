//! What an executor says of a tool that it offers.

use std::sync::Arc;

use crate::domain::{Span, ToolName, names};
use crate::edn::Value;

names! {
    /// What a call of a tool can do to the world.
    Risk {
        /// It only reads.
        Read = "read",
        /// It changes something.
        Change = "change",
        /// It changes something that cannot be undone.
        Danger = "danger",
    }
}

/// One tool of an executor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSpec {
    /// Its name.
    pub name: ToolName,
    /// What it does, for a model that chooses.
    pub description: Box<str>,
    /// The JSON Schema of its arguments.
    pub input_schema: Arc<Value>,
    /// What a call can do to the world.
    pub risk: Risk,
    /// Whether an operator approves each call.
    pub approval: bool,
    /// Whether a second call with the same arguments does no harm. A call whose end is unknown is made again only then, or if
    /// the tool only reads.
    pub idempotent: bool,
    /// Whether sessions may call it with their own tokens. An attached host's tools are open to its own sessions anyway.
    pub agents: bool,
    /// How long a call may take; `None` for `limits::CALL_MS`.
    pub time_max: Option<Span>,
}

impl ToolSpec {
    /// A tool that only reads, that sessions may call, and that has the usual time.
    pub fn reading(name: ToolName, description: &str, input_schema: Value) -> ToolSpec {
        ToolSpec {
            name,
            description: description.into(),
            input_schema: Arc::new(input_schema),
            risk: Risk::Read,
            approval: false,
            idempotent: true,
            agents: true,
            time_max: None,
        }
    }
}
