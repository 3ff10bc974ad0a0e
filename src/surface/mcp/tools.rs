//! The scheduler's tools in the protocol's shape: their descriptions with JSON Schemas, and calls.
//!
//! The tools are declared in `service/tools/catalog.rs`, their answers in `dialect`. Invariants: descriptions are constant;
//! a refusal by a tool is a result that the model reads.

use super::fault::denied;
use super::features::{Begun, Tool};
use crate::dialect::{Answer, Notation, json, names};
use crate::domain::{Caller, Span};
use crate::edn::{Map, Value};
use crate::limits;
use crate::service::{CallStyle, Called, Service, ToolInfo};

/// Calls a tool; `None` if there is none of this name.
pub(super) fn begin(service: &Service, caller: &Caller, name: &str, args: &Value) -> Option<Begun> {
    let patience = Some(Span::from_millis(limits::MCP_WAIT_MS.value));
    let style = CallStyle { notation: Notation::Json, patience };
    // A model speaks through this connection, even if its program has an operator's token.
    match service.begin_tool(name, &caller.as_model(), args, style) {
        Err(denial) => Some(Begun::Now(shown(denied(&denial)))),
        Ok(called) => Some(match called? {
            Called::Now(answer) => Begun::Now(shown(answer)),
            Called::Later(pending) => Begun::Later(pending, shown),
        }),
    }
}

/// Describes a tool to a client.
pub(super) fn describe(tool: &'static ToolInfo) -> Tool {
    Tool {
        name: names::undotted(tool.name),
        description: tool.description(),
        input_schema: tool.input_schema(),
        annotations: Some(tool.effect.annotations()),
    }
}

/// Prints an answer as text, which every client shows to its model, and as data if both are within the bound on answers. The
/// protocol wants the text whole wherever there is data, and a client may pass both to its model.
fn shown(answer: Answer) -> Map {
    let mut text = String::new();
    match answer.value.as_str() {
        Some(words) => text.push_str(words),
        None => json::write(&answer.value, &mut text),
    }
    let is_data = answer.value.as_map().is_some();
    // Twice the text, because the data beside it is about as long.
    let fits = 2 * text.len() as u64 <= limits::TOOL_ANSWER_BYTES.value;
    let content = Map::new().with("type", "text").with("text", text);
    let result = Map::new().with("content", vec![Value::from(content)]);
    let result = if is_data && fits { result.with("structuredContent", answer.value) } else { result };
    result.with("isError", answer.is_error)
}
