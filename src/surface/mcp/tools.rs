//! The scheduler's tools as the protocol has them: described with JSON Schemas, and called.
//!
//! What lives elsewhere: what a tool is (`runtime/toolbox.rs`), what it answers (`dialect`). Invariants: descriptions are
//! constant; what a tool refuses is a result that the model reads.

use super::fault::denied;
use super::features::Tool;
use super::scheduler::Scheduler;
use crate::dialect::{Answer, Notation, json, native};
use crate::domain::{Caller, Scope};
use crate::edn::{Map, Value};
use crate::runtime::ToolInfo;

/// Calls a tool, if it is offered.
pub(super) fn call(scheduler: &Scheduler<'_>, name: &str, args: &Value) -> Option<Map> {
    let tool = scheduler.offer.find(name)?;
    let caller = &as_model(scheduler.caller);
    let answer = match scheduler.handle.admit_call(caller, tool.name, args) {
        Err(denial) => denied(denial),
        Ok(()) => scheduler.handle.call_tool(tool.name, caller, args, Notation::Json)?,
    };
    Some(shown(answer))
}

/// Who calls: a model, even where it came with an operator's token that speaks for a session. It keeps to a session's pace, and
/// goes out only by the channels that are open to sessions.
fn as_model(caller: &Caller) -> Caller {
    Caller { metered: matches!(caller.scope, Scope::Session(_)), ..caller.clone() }
}

/// A tool as a client is shown it.
pub(super) fn describe(tool: &'static ToolInfo) -> Tool {
    Tool {
        name: tool.name.to_owned(),
        description: tool.description(),
        input_schema: tool.input_schema(),
        annotations: native::Tool::parse(tool.name).map(annotations),
    }
}

/// What a host may want to know before it asks a person.
fn annotations(tool: native::Tool) -> Map {
    let takes_away = match tool {
        native::Tool::Cancel | native::Tool::Update => true,
        native::Tool::Create | native::Tool::List | native::Tool::Explain | native::Tool::Query => false,
    };
    Map::new()
        .with("readOnlyHint", tool.only_reads())
        .with("destructiveHint", takes_away)
        .with("openWorldHint", false)
}

/// An answer as text, which every client shows its model, and as data.
fn shown(answer: Answer) -> Map {
    let mut text = String::new();
    match answer.value.as_str() {
        Some(words) => text.push_str(words),
        None => json::write(&answer.value, &mut text),
    }
    let content = Map::new().with("type", "text").with("text", text);
    let result = Map::new().with("content", vec![Value::from(content)]);
    let result =
        if answer.value.as_map().is_some() { result.with("structuredContent", answer.value) } else { result };
    result.with("isError", answer.is_error)
}
