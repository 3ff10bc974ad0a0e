//! The JSON Schema of psi's tool is true: what the tool takes is valid, and what is no argument of it is not.
//!
//! A client that checks calls against the schema must not refuse what SEED-002 promises. What providers of models take of
//! JSON Schema is in `tool_schemas.rs`.

use reveille::dialect::{Notation, REQUEST_CAPS, json};
use reveille::service::{Service, TOOLBOX};
use serde_json::{Value, json as value};

use crate::simulated;

/// The example of SEED-002, and what else the tool takes as a configuration.
fn configs() -> Vec<Value> {
    let parts = value!([{"type": "text", "text": "Context for the session"}]);
    vec![
        value!({}),
        value!({
            "session-name": "Morning review", "thinking-level": "high", "cache-breakpoints": ["system", "tools"],
            "preloaded-messages": [{"role": "user", "content": parts, "timestamp": "2026-04-22T12:59:00Z"}]
        }),
        value!({"preloaded-messages": [{"role": "assistant", "content": "a text alone"}]}),
        value!({"prompt-component-selection": {"agents-md?": true, "components": ["skills"], "tool-names": ["t"]}}),
        value!({
            "system-prompt": "s", "developer-prompt": "d", "developer-prompt-source": "explicit", "tool-ids": ["read"],
            "model": {"provider": "p", "id": "m", "reasoning": true},
            "skills": [{"name": "n", "description": "d", "source": "user", "disable-model-invocation": false}]
        }),
        value!("{:session-name \"x\" :prompt-component-selection {:agents-md? false}}"),
    ]
}

fn create(config: &Value) -> Value {
    value!({
        "action": "scheduler", "op": "create", "kind": "session", "delay-ms": 60_000, "message": "m",
        "session-config": config
    })
}

/// Whether the tool takes the call.
fn is_taken(args: &Value) -> bool {
    let (handle, _) = simulated::engine(&["s"]);
    let args = json::read(args.to_string().as_bytes(), &REQUEST_CAPS).expect("JSON");
    let answer = Service::new(handle).call_tool("psi-tool", &simulated::token("s"), &args, Notation::Json);
    !answer.expect("admitted").expect("a tool").is_error
}

fn schema() -> Value {
    let tool = TOOLBOX.iter().find(|tool| tool.name == "psi-tool").expect("it is there");
    let mut text = String::new();
    json::write(&tool.input_schema(), &mut text);
    serde_json::from_str(&text).expect("JSON")
}

/// What the schema has against a value; as much of JSON Schema as the schema uses.
fn fault(schema: &Value, value: &Value, at: &str) -> Option<String> {
    if let Some(either) = schema["anyOf"].as_array() {
        let faults: Vec<Option<String>> = either.iter().map(|branch| fault(branch, value, at)).collect();
        return if faults.contains(&None) { None } else { Some(format!("{at}: {faults:?}")) };
    }
    let is_of = match schema["type"].as_str() {
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    };
    if !is_of || schema["enum"].as_array().is_some_and(|all| !all.contains(value)) {
        return Some(format!("{at}: {value}"));
    }
    let mut required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.find(|name| value.get(*name).is_none()) {
        return Some(format!("{at}: without {missing}"));
    }
    let items = value.as_array().into_iter().flatten().map(|item| fault(&schema["items"], item, at));
    let fields = value.as_object().into_iter().flatten().map(|(name, field)| {
        let at = format!("{at}.{name}");
        match (schema["properties"].get(name), &schema["additionalProperties"]) {
            (Some(schema), _) => fault(schema, field, &at),
            (None, Value::Object(_)) => fault(&schema["additionalProperties"], field, &at),
            (None, _) => Some(format!("{at} is not declared")),
        }
    });
    items.chain(fields).flatten().next()
}

#[test]
fn what_the_tool_takes_is_valid() {
    let schema = schema();
    for config in configs() {
        let args = create(&config);
        assert!(is_taken(&args), "{args}");
        assert_eq!(fault(&schema, &args, "it"), None, "{args}");
    }
}

#[test]
fn what_the_tool_refuses_is_not_valid() {
    let schema = schema();
    for config in [
        value!({"workflow-run-id": 1}),
        value!({"thinking-level": "extreme"}),
        value!({"prompt-component-selection": {"agents-md?": 1}}),
        value!({"preloaded-messages": [{"role": "user", "content": [{"type": "image", "text": "x"}]}]}),
        value!({"preloaded-messages": [{"role": "user"}]}),
        value!(5),
    ] {
        let args = create(&config);
        assert!(!is_taken(&args), "{args}");
        assert!(fault(&schema, &args, "it").is_some(), "{args}");
    }
}
