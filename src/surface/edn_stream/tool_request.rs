//! Parses what a harness says of its tools: which it offers, and what a call came to.
//!
//! What lives elsewhere: carrying calls out (`adapter/host_attached/tools.rs`, `runtime`).

use std::sync::Arc;

use super::error::RequestError;
use super::request_fields::read;
use crate::dialect::args::{Arg, Args};
use crate::domain::{Outcome, Risk, Span, ToolName, ToolSpec};
use crate::edn::{Keyword, Map, Value};
use crate::limits;

/// The keys of `:tools/offer`.
pub(super) const OFFER: &[&str] = &["op", "id", "tools"];
/// The keys of `:tool/result`.
pub(super) const RESULT: &[&str] = &["op", "id", "call-id", "ok", "error", "code"];

const TOOL: &[&str] =
    &["name", "description", "input-schema", "risk", "approval?", "idempotent?", "timeout-ms"];

/// Reads the tools of an offer.
pub(super) fn offer(args: &Args<'_>) -> Result<Vec<ToolSpec>, RequestError> {
    let given = args
        .get("tools")
        .ok_or_else(|| RequestError::invalid("tools is required: a list of tools", Map::new()))?;
    let specs = given.items(limits::OFFERED_TOOLS, Ok)?;
    let specs: Vec<ToolSpec> = specs.into_iter().map(spec).collect::<Result<_, _>>()?;
    let mut names: Vec<&ToolName> = specs.iter().map(|spec| &spec.name).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => {
            let data = Map::new().with("name", pair[0].as_str());
            Err(RequestError::invalid(format!("the tool {} is offered twice", pair[0]), data))
        }
        None => Ok(specs),
    }
}

fn spec(arg: Arg<'_>) -> Result<ToolSpec, RequestError> {
    let args = arg.map(TOOL)?;
    let name: Box<str> = read(&args, "name", "a tool's name", |value| value.as_str().map(Box::from))?;
    let name = ToolName::new(&name).map_err(|fault| {
        RequestError::invalid(
            format!("the tool {}: {fault}", crate::dialect::echo(&(&*name).into())),
            Map::new(),
        )
    })?;
    let description = args.opt("description", |arg| arg.raw_text(limits::TOOL_DESCRIPTION_BYTES))?;
    let schema =
        args.opt("input-schema", |arg| arg.parse("a map", |value| value.as_map().map(|_| value.clone())))?;
    let risk =
        |value: &Value| Risk::parse(value.as_keyword().map(Keyword::as_str).or_else(|| value.as_str())?);
    let risk = args.opt("risk", |arg| arg.parse(":read, :change or :danger", risk))?;
    let flag = |key| args.opt(key, Arg::flag).map(|flag| flag.unwrap_or(false));
    let time = args.opt("timeout-ms", |arg| arg.int_in(1, limits::CALL_MS_MAX.value))?;
    Ok(ToolSpec {
        name,
        description: description.unwrap_or_default().into(),
        input_schema: Arc::new(schema.unwrap_or_else(|| Map::new().with("type", "object").into())),
        risk: risk.unwrap_or(Risk::Change),
        approval: flag("approval?")?,
        idempotent: flag("idempotent?")?,
        // What its host offers, its session could do anyway.
        agents: true,
        time_max: time.map(Span::from_millis),
    })
}

/// Reads what a call came to, with the id of the call.
pub(super) fn result(args: &Args<'_>) -> Result<(Box<str>, Outcome), RequestError> {
    let id: Box<str> =
        read(args, "call-id", "the id of a pushed call", |value| value.as_str().map(Box::from))?;
    let code =
        args.opt("code", |arg| arg.parse("an integer", |value| i32::try_from(value.as_int()?).ok()))?;
    let outcome = match (args.get("ok"), args.get("error")) {
        // With both a result and an error, the call has failed.
        (_, Some(error)) => {
            // An error of any type is accepted, because it is only shown.
            let error = error.value();
            Outcome::of_error(error.as_str().map_or_else(|| error.to_string(), str::to_owned), Span::ZERO)
        }
        (Some(ok), None) => Outcome::of_value(ok.value().clone(), 0, Span::ZERO),
        (None, None) => Outcome::of_value(Value::Nil, 0, Span::ZERO),
    };
    Ok((id, Outcome { code, ..outcome }))
}
