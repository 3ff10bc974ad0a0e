//! What the families of SEED-001 share that have other tools called: a tool's name, its arguments, lengths of time.

use super::args::{Arg, ArgError, wordings};
use super::{Answer, echo, names, tool_error};
use crate::domain::{Code, Span, ToolName, nearest};
use crate::edn::{Keyword, Map, Value};
use crate::limits;

/// The name of a tool, in any of its spellings.
pub(crate) fn tool(arg: Arg<'_>) -> Result<ToolName, ArgError> {
    let text = names::canonical(arg.filled_text(limits::TOOL_NAME_BYTES)?);
    ToolName::new(text).map_err(|error| arg.breaks(NOT_A_TOOL, error.to_string()))
}

/// The arguments of a call: a map with string keys, without keys that begin with `_`.
pub(crate) fn arguments(arg: Arg<'_>) -> Result<Value, ArgError> {
    let expected = "an object";
    let map = arg.parse(expected, Value::as_map)?;
    let mut arguments = Map::new();
    for (key, value) in map {
        let name = key.as_str().or_else(|| key.as_keyword().map(Keyword::as_str));
        match name {
            // Such keys are between the scheduler and an executor, so a caller must not set them.
            Some(name) if name.starts_with('_') => {}
            Some(name) => drop(arguments.insert(name.into(), value.clone())),
            None => return Err(arg.breaks(NOT_A_KEY, key.to_string())),
        }
    }
    Ok(Value::Map(arguments))
}

/// A length of time: a number of seconds, or a text such as `90s`, `5m`, `2h` or `1d`.
pub(crate) fn span(arg: Arg<'_>) -> Result<Span, ArgError> {
    let wrong = || arg.breaks(NOT_A_SPAN, "");
    let millis = match arg.value().as_str() {
        Some(text) => spelled(text.trim()),
        None => millis(arg.value()),
    };
    let millis = millis.filter(|millis| *millis <= limits::WATCH_SPAN_MS.value).ok_or_else(wrong)?;
    Ok(Span::from_millis(millis))
}

/// A number of seconds in milliseconds; `None` if it is none, is negative, or has a part of a millisecond.
pub(crate) fn millis(value: &Value) -> Option<u64> {
    let seconds = match (value, value.as_int()) {
        (Value::Float(seconds), _) if seconds.is_finite() => format!("{seconds}"),
        (Value::BigDec(seconds), _) => seconds.to_string().trim_end_matches('M').to_owned(),
        (_, seconds) => seconds?.to_string(),
    };
    // By its digits: in binary arithmetic 0.3 s would not be exactly 300 ms.
    let (whole, fraction) = seconds.split_once('.').unwrap_or((&seconds, ""));
    let fraction = fraction.trim_end_matches('0');
    let thousandths = match fraction.len() {
        0..=3 => format!("{fraction:0<3}").parse::<u64>().ok()?,
        _ => return None,
    };
    whole.parse::<u64>().ok()?.checked_mul(1_000)?.checked_add(thousandths)
}

/// `<digits><unit>`, with blanks between them or not.
fn spelled(text: &str) -> Option<u64> {
    let (digits, unit) = text.split_at(text.find(|next: char| !next.is_ascii_digit())?);
    let unit = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// The answer to a call that names a tool which no executor offers to the session.
pub(crate) fn unknown_tool(field: &'static str, tool: &ToolName, names: &[&str]) -> Answer {
    let message = format!("Tool '{tool}' not found.");
    let meant = nearest(names.iter().map(|name| (*name, *name)), tool.as_str());
    let of_module = |name: &&&str| name.split_once('.').is_some_and(|(module, _)| module == tool.module());
    let error = tool_error::error("unknown_tool", Code::NotFound, &message)
        .with("field", field)
        .with("value", echo(&tool.as_str().into()));
    let error = match meant {
        Some(meant) => error.with("did_you_mean", meant),
        None => {
            let beside: Vec<Value> =
                names.iter().filter(of_module).take(NAMED).map(|name| (*name).into()).collect();
            if beside.is_empty() { error } else { error.with("tools", beside) }
        }
    };
    tool_error::finish(error.with("hint", "name a tool that this session can call"), Code::NotFound)
}

/// The answer to a call that names a tool which the session may not have called.
pub(crate) fn blocked_tool(field: &'static str, tool: &ToolName) -> Answer {
    let message = format!("Tool '{tool}' is blocked by security policy.");
    let error = tool_error::error("tool_blocked", Code::Forbidden, &message)
        .with("field", field)
        .with("value", echo(&tool.as_str().into()))
        .with("hint", "an operator can open a tool to sessions");
    tool_error::finish(error, Code::Forbidden)
}

/// Tools of the same module that an error names.
const NAMED: usize = 5;

wordings! {
    /// What is no name of a tool.
    NOT_A_TOOL "invalid_tool_name" "{field} is no name of a tool: {detail}" "name the tool as module.action, such as http.get";
    /// A key that no tool could read.
    NOT_A_KEY "invalid_key" "a key in {field} is not a string: {detail}" "write keys as strings";
    /// What is no length of time.
    NOT_A_SPAN "invalid_span" "{field} is no length of time" "write seconds, or a text such as 90s, 5m, 2h or 1d, up to 365d";
}
