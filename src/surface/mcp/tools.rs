//! Tools as the protocol has them: a list with JSON Schemas, and calls.
//!
//! What lives elsewhere: what a tool is (`runtime/toolbox.rs`), what it answers (`dialect`). Invariants: descriptions are
//! constant; what a tool refuses is a result that the model reads.

use super::fault::{Fault, denied};
use super::message::Request;
use super::service::{Service, whole};
use crate::dialect::{Answer, Notation, echo, json, native};
use crate::edn::{Map, Value};
use crate::runtime::ToolInfo;

/// Every tool that is offered.
///
/// # Errors
/// A cursor: the list is one page.
pub(super) fn list(service: &Service<'_>, request: &Request) -> Result<Map, Fault> {
    whole(request)?;
    let tools: Vec<Value> = service.offer.tools().map(describe).collect();
    Ok(Map::new().with("tools", tools))
}

/// Calls a tool.
///
/// # Errors
/// A tool that is not offered, or arguments that are no object.
pub(super) fn call(service: &Service<'_>, request: &Request) -> Result<Map, Fault> {
    let name = request.text("name")?;
    let absent = || Fault::NoTool {
        name: echo(&name.into()),
        tools: service.offer.tools().map(|tool| tool.name).collect(),
    };
    let tool = service.offer.find(name).ok_or_else(absent)?;
    let args = request.param("arguments").cloned().unwrap_or_else(|| Map::new().into());
    if args.as_map().is_none() {
        return Err(Fault::BadParams { why: "params.arguments must be an object".to_owned() });
    }
    let answer = match service.handle.admit_call(service.caller, tool.name, &args) {
        Err(denial) => denied(denial),
        Ok(()) => {
            let answer = service.handle.call_tool(tool.name, service.caller, &args, Notation::Json);
            answer.ok_or_else(absent)?
        }
    };
    Ok(shown(answer))
}

fn describe(tool: &'static ToolInfo) -> Value {
    let described = Map::new()
        .with("name", tool.name)
        .with("description", tool.description())
        .with("inputSchema", tool.input_schema());
    match native::Tool::parse(tool.name) {
        Some(own) => described.with("annotations", annotations(own)).into(),
        None => described.into(),
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
