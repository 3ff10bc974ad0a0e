//! What the tools declare is taken by every provider of models, and is short.
//!
//! The restrictions are those that the providers publish for tools: Anthropic (no `oneOf`, `allOf` or `anyOf` at the root, which
//! all take further below, and names of properties), OpenAI (length of a description, depth, number of properties), Google
//! (types, no `$ref`, no `const`, no object without properties). `additionalProperties`, `default` and `examples` are JSON
//! Schema: of Google's two fields for a schema, `parametersJsonSchema` takes them, and `parameters`, a subset of OpenAPI, does
//! not. A schema that one of them does not take spoils the whole request, with all other tools in it.

use reveille::dialect::names;
use serde_json::{Map, Value};

/// Names and descriptions and schemas of all tools, as bytes of compact JSON: four make a token. Source: the tools' texts are
/// in each request of a model.
const TOOLS_BYTES: usize = 18_400;

/// As above, of the tools in Claude Code's words. They are offered in the place of the crate's own, never with all others, so
/// they have a bound of their own: a third of the 10,319 bytes of Claude Code's own declarations (2.1.330). `Monitor`, which
/// exists only where watches are switched on, has another one.
const CLAUDE_CRON_BYTES: usize = 3_600;
const MONITOR_BYTES: usize = 1_700;

/// As above, of the tools that call tools.
const PRIMITIVES_BYTES: usize = 2_600;

/// As above, of the tools of memory and of channels, which exist only where an operator asks for them.
const MEMORY_BYTES: usize = 5_400;

/// As above, of the tools that watch and those that schedule calls, which exist only where they are switched on.
const WATCH_BYTES: usize = 5_600;
const SCHEDULER_BYTES: usize = 2_400;

type Faults = Vec<String>;

fn tools() -> Vec<Value> {
    let printed: Value =
        serde_json::from_str(&std::fs::read_to_string("schema/tools.json").expect("it is there"))
            .expect("JSON");
    printed["tools"].as_array().expect("a list").clone()
}

fn name(tool: &Value) -> &str {
    tool["name"].as_str().expect("a name")
}

fn is_name(name: &str, marks: &str) -> bool {
    let is_in = |letter: char| letter.is_ascii_alphanumeric() || marks.contains(letter);
    (1..=64).contains(&name.len()) && name.chars().all(is_in)
}

#[test]
fn every_provider_takes_the_tools() {
    let mut faults = Faults::new();
    for tool in tools() {
        let mut fault = |why: String| faults.push(format!("{}: {why}", name(&tool)));
        // Where a provider takes no dot, it is shown as a low line.
        if !is_name(&names::undotted(name(&tool)), "_-") {
            fault("its name".to_owned());
        }
        let description = tool["description"].as_str().unwrap_or_default();
        if description.is_empty() || description.len() > 1_024 {
            fault(format!("a description of {} bytes", description.len()));
        }
        let schema = &tool["inputSchema"];
        // An object without properties is refused by Google, and a tool without an example is called wrongly first. A default
        // is an example, too.
        let text = schema.to_string();
        let shows = text.contains("\"examples\":[") || text.contains("\"default\":");
        if schema["properties"].as_object().is_none_or(Map::is_empty) || !shows {
            fault("no properties, or no example".to_owned());
        }
        check(schema, name(&tool), 1, &mut faults);
        if schema["type"] != "object" || count(schema) > 100 {
            faults.push(format!("{}: {} properties", name(&tool), count(schema)));
        }
    }
    assert_eq!(faults, Faults::new());
}

/// What some provider refuses, or what leaves a model to guess.
fn check(schema: &Value, at: &str, depth: usize, faults: &mut Faults) {
    let Some(node) = schema.as_object() else { return faults.push(format!("{at}: no object")) };
    if let Some(either) = node.get("anyOf").and_then(Value::as_array) {
        if depth == 1 || node.len() > 1 || either.len() < 2 {
            faults.push(format!("{at}: anyOf"));
        }
        either.iter().for_each(|branch| check(branch, at, depth, faults));
        return;
    }
    const KEYS: [&str; 14] = [
        "type",
        "description",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "minItems",
        "maxItems",
        "enum",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "format",
    ];
    let is_known = |key: &String| KEYS.contains(&key.as_str()) || key == "default" || key == "examples";
    faults.extend(node.keys().filter(|key| !is_known(key)).map(|key| format!("{at}: {key}")));
    if node.get("description").and_then(Value::as_str).is_some_and(|text| text.contains('\n')) {
        faults.push(format!("{at}: a line break in its description"));
    }
    let has = |key: &str| node.contains_key(key);
    let is_bounded = match node.get("type").and_then(Value::as_str) {
        Some("object") => {
            properties(node, at, depth, faults);
            // The arguments of another tool have that tool's own schema.
            let is_anothers = [".params", ".args", ".arguments"].iter().any(|end| at.ends_with(end));
            // The name `agents-md?` is none that all providers take, so it is declared by its type alone.
            let has_unnamed = at.ends_with(".prompt-component-selection");
            let further = match has_unnamed {
                true => serde_json::json!({"type": "boolean"}),
                false => Value::Bool(is_anothers),
            };
            node.get("additionalProperties") == Some(&further) && depth <= 5
        }
        Some("array") => {
            check(&node["items"], &format!("{at}[]"), depth, faults);
            has("maxItems")
        }
        Some("string") => {
            has("enum") || has("maxLength") || node.get("format").is_some_and(|it| it == "date-time")
        }
        Some("integer" | "number") => has("minimum") && has("maximum"),
        Some("boolean") => true,
        _ => false,
    };
    if !is_bounded {
        faults.push(format!("{at}: no type, or no bound"));
    }
}

fn properties(node: &Map<String, Value>, at: &str, depth: usize, faults: &mut Faults) {
    let named = node.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, schema) in &named {
        if !is_name(name, "_.-") {
            faults.push(format!("{at}: the name {name}"));
        }
        check(schema, &format!("{at}.{name}"), depth + 1, faults);
    }
    let required = node.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let is_missing = |name: &&Value| name.as_str().is_none_or(|name| !named.contains_key(name));
    faults.extend(required.iter().filter(is_missing).map(|name| format!("{at}: requires {name}")));
}

fn count(schema: &Value) -> usize {
    let either: usize =
        schema.get("anyOf").and_then(Value::as_array).map_or(0, |all| all.iter().map(count).sum());
    let of = |value: &Value| value.as_object().map_or(0, |map| map.values().map(count).sum::<usize>());
    schema.get("properties").map_or(0, |named| named.as_object().map_or(0, Map::len) + of(named))
        + schema.get("items").map_or(0, count)
        + either
}

/// The name of each tool, and the bytes of what a model is told of it.
pub(crate) fn sizes() -> Vec<(String, usize)> {
    let size = |tool: &Value| {
        let told = [&tool["name"], &tool["description"], &tool["inputSchema"]];
        told.iter().map(|part| part.to_string().len()).sum()
    };
    tools().iter().map(|tool| (name(tool).to_owned(), size(tool))).collect()
}

/// `docs/ANSWERS.md` has the table.
#[test]
fn the_tools_are_told_in_few_words() {
    let is_claudes = |name: &str| name.starts_with("Cron") || name == "ScheduleWakeup";
    let sum = |of: &dyn Fn(&str) -> bool| -> usize {
        sizes().iter().filter(|(name, _)| of(name)).map(|(_, bytes)| bytes).sum()
    };
    let is_primitive = |name: &str| matches!(name, "run_parallel" | "background_run");
    let is_watch = |name: &str| name.starts_with("watch_") || name == "ping.age";
    let is_scheduler = |name: &str| matches!(name, "schedule" | "cancel_schedule" | "remind");
    let is_memory = |name: &str| name.starts_with("memory.") || name.starts_with("channels.");
    let (claudes, memory) = (sum(&is_claudes), sum(&is_memory));
    let (watch, scheduler) = (sum(&is_watch), sum(&is_scheduler));
    assert!(watch <= WATCH_BYTES && scheduler <= SCHEDULER_BYTES, "{watch} and {scheduler} bytes");
    assert!(sum(&is_primitive) <= PRIMITIVES_BYTES, "{} bytes", sum(&is_primitive));
    let is_monitor = |name: &str| name == "Monitor";
    assert!(sum(&is_monitor) <= MONITOR_BYTES, "{} bytes", sum(&is_monitor));
    let is_of_watches = |name: &str| is_watch(name) || is_monitor(name);
    let is_gated =
        |name: &str| is_memory(name) || is_primitive(name) || is_of_watches(name) || is_scheduler(name);
    let others = sum(&|name| !is_claudes(name) && !is_gated(name));
    assert!(others <= TOOLS_BYTES && claudes <= CLAUDE_CRON_BYTES, "{others} and {claudes} bytes");
    assert!(memory <= MEMORY_BYTES, "{memory} bytes");
}

#[test]
fn what_a_provider_refuses_is_seen() {
    let faulty = serde_json::json!({
        "type": "object", "additionalProperties": false, "allOf": [], "required": ["absent"],
        "properties": {"agents-md?": {"type": "boolean"}, "free": {"type": "string"}, "either": {"type": ["string", "null"]}}
    });
    let mut faults = Faults::new();
    check(&faulty, "it", 1, &mut faults);
    let expected = [
        "it: allOf",
        "it: the name agents-md?",
        "it.either: no type, or no bound",
        "it.free: no type, or no bound",
        "it: requires \"absent\"",
    ];
    assert_eq!(faults, expected);
}
