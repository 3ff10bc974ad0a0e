//! What a server's tools are here: its own words for what they do, the operator's for who may call them.
//!
//! Invariant: nothing that a server says opens a tool to sessions, frees it of an approval, or lets it be called twice.

use std::collections::BTreeSet;
use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};

use super::McpTerms;
use crate::dialect::{REQUEST_CAPS, json};
use crate::domain::{Risk, ToolName, ToolSpec};
use crate::edn::{Map, Value};
use crate::limits;

/// The tools of a server that can be offered, and what is wrong with the others.
pub(super) fn specs(
    server: &str,
    terms: &McpTerms,
    tools: Vec<Tool>,
    taken: &dyn Fn(&ToolName) -> Option<String>,
) -> (Vec<ToolSpec>, Vec<String>) {
    let (mut specs, mut faults, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
    for tool in tools {
        let name = match ToolName::new(&format!("{server}.{}", tool.name)) {
            Ok(name) => name,
            Err(fault) => {
                let shown: String = tool.name.chars().take(ToolName::BYTES).collect();
                faults.push(format!("{shown:?} is left out: {fault}"));
                continue;
            }
        };
        if let Some(other) = taken(&name) {
            faults.push(format!(
                "the tool {name} is offered twice: {other} A server of the Model Context Protocol."
            ));
        } else if names.insert(name.clone()) {
            specs.push(spec(name, terms, &tool, &mut faults));
        } else {
            faults.push(format!("the tool {name} is offered twice by its server"));
        }
    }
    (specs, faults)
}

fn spec(name: ToolName, terms: &McpTerms, tool: &Tool, faults: &mut Vec<String>) -> ToolSpec {
    let own = terms.tools.get(&*tool.name).cloned().unwrap_or_default();
    let is_named = |pattern: &str| match pattern.strip_suffix('*') {
        Some(beginning) => tool.name.starts_with(beginning),
        None => tool.name == pattern,
    };
    // What is configured for the single tool goes before what is configured for all.
    let agents = own.agents.unwrap_or_else(|| terms.agents.iter().any(|pattern| is_named(pattern)));
    let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
    let input_schema = schema(tool).unwrap_or_else(|why| {
        faults.push(format!("the input schema of {name} is not shown: {why}"));
        Map::new().with("type", "object").into()
    });
    ToolSpec {
        description: beginning(description).into(),
        input_schema: Arc::new(input_schema),
        risk: own.risk.or(terms.risk).unwrap_or_else(|| risk(tool.annotations.as_ref())),
        approval: own.approval.unwrap_or(terms.approval),
        // The server's own hint does not count: a tool that is marked so may be called a second time.
        idempotent: own.idempotent,
        agents,
        time_max: own.time_max.or(terms.time_max),
        name,
    }
}

/// What a call can do, if the operator does not say it: a hint for people and models, by which nothing is decided.
fn risk(hints: Option<&ToolAnnotations>) -> Risk {
    let hints = hints.map(|hints| (hints.read_only_hint, hints.destructive_hint)).unwrap_or_default();
    // The second hint has a meaning only without the first. Source: Model Context Protocol, `ToolAnnotations`.
    match hints {
        (Some(true), _) => Risk::Read,
        (_, Some(true)) => Risk::Danger,
        _ => Risk::Change,
    }
}

fn schema(tool: &Tool) -> Result<Value, String> {
    let text = serde_json::to_vec(&*tool.input_schema).map_err(|error| error.to_string())?;
    if text.len() as u64 > limits::SERVER_SCHEMA_BYTES.value {
        return Err(format!("it has more than {} bytes", limits::SERVER_SCHEMA_BYTES.value));
    }
    json::read(&text, &REQUEST_CAPS).map_err(|error| error.to_string())
}

/// As much of a description as is kept.
fn beginning(text: &str) -> &str {
    let max = usize::try_from(limits::TOOL_DESCRIPTION_BYTES.value).unwrap_or(usize::MAX);
    &text[..text.floor_char_boundary(max)]
}

#[cfg(test)]
mod tests {
    use super::super::McpToolTerms;
    use super::*;

    fn tools(json: serde_json::Value) -> Vec<Tool> {
        serde_json::from_value(json).expect("tools")
    }

    fn free(_name: &ToolName) -> Option<String> {
        None
    }

    #[test]
    fn the_operator_decides_who_may_call_and_the_server_only_says_what_it_does() {
        let listed = tools(serde_json::json!([
            {"name": "get_a", "description": "reads", "inputSchema": {"type": "object"},
             "annotations": {"readOnlyHint": true, "idempotentHint": true}},
            {"name": "drop", "inputSchema": {}, "annotations": {"destructiveHint": true}},
            {"name": "get_b", "title": "b", "inputSchema": {}},
        ]));
        let own = McpToolTerms { agents: Some(false), risk: Some(Risk::Danger), ..McpToolTerms::default() };
        let mut terms = McpTerms { agents: vec!["get_*".into()], ..McpTerms::default() };
        terms.tools.insert("get_b".into(), own);
        let (specs, faults) = specs("s", &terms, listed, &free);
        let told: Vec<_> =
            specs.iter().map(|spec| (spec.name.as_str(), spec.agents, spec.risk, spec.idempotent)).collect();
        let expected = [
            ("s.get_a", true, Risk::Read, false),
            ("s.drop", false, Risk::Danger, false),
            ("s.get_b", false, Risk::Danger, false),
        ];
        assert_eq!((told.as_slice(), faults.len()), (&expected[..], 0));
        assert_eq!((&*specs[0].description, &*specs[2].description), ("reads", "b"));
    }

    #[test]
    fn what_cannot_be_offered_is_left_out_and_named() {
        let long = "é".repeat(8_000);
        let listed = tools(serde_json::json!([
            {"name": "a/b", "inputSchema": {}},
            {"name": "taken", "inputSchema": {}},
            {"name": "one", "inputSchema": {"enum": [long]}, "description": long},
            {"name": "one", "inputSchema": {}},
            {"name": "big", "inputSchema": {"enum": [long, long, long]}},
        ]));
        let taken = |name: &ToolName| (name.as_str() == "s.taken").then(|| "A program.".to_owned());
        let (specs, faults) = specs("s", &McpTerms::default(), listed, &taken);
        let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
        assert_eq!(names, ["s.one", "s.big"]);
        assert_eq!(
            (specs[0].description.len(), specs[1].input_schema.to_string().as_str()),
            (8_192, "{:type \"object\"}")
        );
        assert_eq!(
            faults,
            [
                "\"a/b\" is left out: the name of a tool must not contain blanks, slashes or control characters",
                "the tool s.taken is offered twice: A program. A server of the Model Context Protocol.",
                "the tool s.one is offered twice by its server",
                "the input schema of s.big is not shown: it has more than 32768 bytes",
            ]
        );
    }
}
