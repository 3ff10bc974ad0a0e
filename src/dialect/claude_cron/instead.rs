//! Finds a call of `Monitor` that works in the place of one that asks for a program: a tool that may be watched, with arguments
//! that the command or the tool's own schema names.
//!
//! Which tools a caller may watch is decided in `service`. Invariant: no argument is made up: each comes from the caller's call
//! or from an example, a default or a list in the schema of the tool.

use crate::domain::ToolSpec;
use crate::edn::{Keyword, Map, Value};

/// A call of `Monitor` that asks for a program or a connection, which the engine does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramCall {
    /// The argument that asks for it.
    pub(super) field: &'static str,
    /// The value of that argument.
    pub(super) value: Value,
    /// The other arguments, in the caller's spelling.
    pub(super) rest: Map,
}

/// A tool, the arguments for it, and whether one of them is what the command looks at.
struct Lead<'a> {
    spec: &'a ToolSpec,
    arguments: Map,
    is_of_command: bool,
}

/// The caller's call with a tool in the place of the program: one that can look at what the command looks at, or else the first
/// of `tools` whose arguments are known. `None` if there is none.
pub fn instead(call: &ProgramCall, tools: &[&ToolSpec]) -> Option<Value> {
    if named(&call.rest, "tool").is_some() {
        return Some(Value::Map(call.rest.clone()));
    }
    let command = call.value.as_str().unwrap_or_default();
    let mut leads: Vec<Lead<'_>> = tools.iter().filter_map(|spec| lead(spec, command)).collect();
    // Without such a tool, the first one is shown.
    let best = leads.iter().position(|lead| lead.is_of_command).unwrap_or(0);
    if best >= leads.len() {
        return None;
    }
    let Lead { spec, arguments, .. } = leads.swap_remove(best);
    let is_text = call.rest.keys().next().is_none_or(|key| key.as_str().is_some());
    let key = |name: &str| if is_text { Value::string(name) } else { Value::keyword(name) };
    let mut example = call.rest.clone();
    example.insert(key("tool"), spec.name.as_str().into());
    if named(&call.rest, "arguments").is_none() {
        example.insert(key("arguments"), Value::Map(arguments));
    }
    Some(Value::Map(example))
}

/// The arguments that a tool requires, if all are known.
fn lead<'a>(spec: &'a ToolSpec, command: &str) -> Option<Lead<'a>> {
    let schema = spec.input_schema.as_map();
    let required = schema.and_then(|schema| named(schema, "required")?.as_items()).unwrap_or_default();
    let properties = schema.and_then(|schema| named(schema, "properties")?.as_map());
    let mut lead = Lead { spec, arguments: Map::new(), is_of_command: false };
    for name in required.iter().filter_map(word) {
        let of_command = match name {
            "url" | "uri" => address(command),
            "path" | "file" => path(command),
            _ => None,
        };
        lead.is_of_command |= of_command.is_some();
        let shown = || shown(named(properties?, name)?.as_map()?);
        let value = of_command.map(Value::from).or_else(shown)?;
        lead.arguments.insert(name.into(), value);
    }
    Some(lead)
}

/// A value that the schema of an argument shows as right.
fn shown(schema: &Map) -> Option<Value> {
    let first = |key: &str| named(schema, key)?.as_items()?.first();
    first("examples").or_else(|| named(schema, "default")).or_else(|| first("enum")).cloned()
}

/// The first web address in a command.
fn address(command: &str) -> Option<&str> {
    let at = ["https://", "http://"].iter().filter_map(|scheme| command.find(scheme)).min()?;
    let rest = command.get(at..)?;
    let end = rest.find(|next: char| next.is_whitespace() || "\"'`;|<>()\\".contains(next));
    Some(rest.get(..end.unwrap_or(rest.len()))?.trim_end_matches(['.', ',']))
}

/// The first word of a command that looks like the path of a file below the working directory.
fn path(command: &str) -> Option<&str> {
    let mut words = command.split(|next: char| next.is_whitespace() || "\"'`;|<>()&=".contains(next));
    let is_path = |word: &&str| {
        let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte));
        let (name, extension) = word.rsplit_once('.').unwrap_or_default();
        let is_file = !name.is_empty() && !extension.is_empty();
        let is_file = is_file && extension.bytes().all(|byte| byte.is_ascii_alphabetic());
        is_plain && is_file && !word.starts_with(['-', '/', '.'])
    };
    words.find(is_path)
}

/// An entry under a key that is a string or a keyword; nil counts as absent.
fn named<'m>(map: &'m Map, name: &str) -> Option<&'m Value> {
    map.text(name).or_else(|| map.keyword(name)).filter(|value| !value.is_nil())
}

fn word(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.as_keyword().map(Keyword::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_looks_at() {
        for (command, of_address, of_path) in [
            ("curl -sf \"https://a.example/x?y=1\" | jq .", Some("https://a.example/x?y=1"), None),
            ("while :; do curl http://localhost:1; done", Some("http://localhost:1"), None),
            ("tail -F logs/build.log | grep --line-buffered E", None, Some("logs/build.log")),
            ("tail -F /var/log/syslog", None, None),
            ("tail -F /var/log/x.log", None, None),
            ("sleep 0.5; gh pr checks 12", None, None),
            ("cat ../x.txt ./y.txt", None, None),
            ("", None, None),
        ] {
            assert_eq!((address(command), path(command)), (of_address, of_path), "{command}");
        }
    }
}
