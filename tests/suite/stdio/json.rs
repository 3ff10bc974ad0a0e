//! The stream in JSON: every conversation of the table again, and what only JSON can do wrong.
//!
//! Two engines of one seed go through the same steps, one with clients that speak EDN and one with clients that speak JSON.
//! Each line of the second has to be the JSON of the line of the first.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use reveille::dialect::{Notation, json};
use reveille::edn::{Keyword, Map, Value};

use super::{CAPS, Client, Done, World, forms};
use crate::psi_rows::pattern::Bindings;

/// A request in JSON; `None` for bytes that only a reader of EDN could make something of.
pub(crate) fn request(form: &Value) -> Option<String> {
    let map = form.as_map()?;
    let is_call = map.keyword("op").is_some_and(|op| *op == Value::keyword("call"));
    let is_psis = map.keyword("tool").is_none_or(|tool| tool.as_str() == Some("psi-tool"));
    let entry = |(key, value): (&Value, &Value)| {
        let value = match (key.as_keyword().map(Keyword::as_str), value) {
            // Queries have no form in JSON.
            (Some("query" | "entity"), form) if form.as_str().is_none() => Value::from(form.to_string()),
            (Some("args"), Value::Map(args)) if is_call => arguments(args, is_psis).into(),
            (_, value) => value.clone(),
        };
        (key.clone(), value)
    };
    Some(text(&map.iter().map(entry).collect::<Map>().into()))
}

/// The arguments of a tool, which in JSON have one spelling.
fn arguments(args: &Map, is_psis: bool) -> Map {
    let entry = |(key, value): (&Value, &Value)| match key.as_keyword().map(Keyword::as_str) {
        Some(name) if !is_psis => (Value::keyword(&name.replace('-', "_")), value.clone()),
        Some("query" | "entity") if value.as_str().is_none() => (key.clone(), value.to_string().into()),
        _ => (key.clone(), value.clone()),
    };
    args.iter().map(entry).collect()
}

pub(crate) fn read(line: &str) -> Result<Value, json::JsonError> {
    json::read(line.as_bytes(), &CAPS)
}

pub(crate) fn text(value: &Value) -> String {
    let mut text = String::new();
    json::write(value, &mut text);
    text
}

#[test]
fn a_conversation_in_json_is_the_one_in_edn() {
    let (rows, ops) = (Cell::new(0), RefCell::new(BTreeSet::new()));
    let faults = super::each_row(include_str!("../../../fixtures/stdio/protocol.edn"), |row| {
        let mut first = World::new();
        let steps = row.keyword("steps").and_then(Value::as_items).expect("a row has steps");
        first.play(steps, &mut Bindings::default())?;
        let said =
            |done: &Done| ["ask", "send"].contains(&&*done.0).then(|| done.1.get(1).cloned()).flatten();
        let said: Vec<Value> = first.done.iter().filter_map(said).collect();
        if said.iter().any(|form| request(form).is_none()) {
            // It is about bytes that only a reader of EDN could make something of.
            return Ok(());
        }
        rows.set(rows.get() + 1);
        let op = |form: &Value| form.as_map()?.keyword("op").map(ToString::to_string);
        ops.borrow_mut().extend(said.iter().filter_map(op));
        again_in_json(&first.done)
    });
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert!(rows.get() >= 30 && ops.borrow().len() >= 12, "{} {:?}", rows.get(), ops.borrow());
}

/// Goes through the same steps in JSON.
fn again_in_json(done: &[Done]) -> Result<(), String> {
    let mut world = World::speaking(Notation::Json);
    for (place, Done(verb, args, said)) in done.iter().enumerate() {
        let found = world.act(verb, args).map_err(|fault| format!("step {place}, {verb}: {fault}"))?;
        let said = read(&text(said)).map_err(|error| error.to_string())?;
        if without_words(&found) != without_words(&said) {
            let (found, said) = (text(&found), text(&said));
            return Err(format!("step {place}, {verb} {}:\n  {found}\n  {said}", Value::from(args.clone())));
        }
    }
    Ok(())
}

/// An answer without the words of the error of a request, which show a value as it was written.
fn without_words(answer: &Value) -> String {
    let error = answer.as_map().and_then(|map| map.text("error")?.as_map());
    let is_of_request =
        error.is_some_and(|error| error.text("class").and_then(Value::as_str) == Some("request"));
    match (answer.as_map(), error) {
        (Some(answer), Some(error)) if is_of_request => {
            let error = error.iter().filter(|(key, _)| key.as_str() != Some("message"));
            let error: Map = error.map(|(key, value)| (key.clone(), value.clone())).collect();
            let answer = answer.iter().map(|(key, value)| match key.as_str() {
                Some("error") => (key.clone(), error.clone().into()),
                _ => (key.clone(), value.clone()),
            });
            text(&answer.collect::<Map>().into())
        }
        _ => text(answer),
    }
}

#[test]
fn json_that_cannot_be_read_is_answered_and_loses_nothing() {
    let mut world = World::speaking(Notation::Json);
    let open = "[[:connect \"a\"] [:ask \"a\" {:op :session/open :session-id \"s1\"}]]";
    world.play(forms(open)[0].as_items().expect("steps"), &mut Bindings::default()).expect("it is open");
    let client = world.client("a").expect("it is connected");
    let reader = |message: &str, offset: usize| {
        let column = offset + 1;
        format!(
            "{{\"error\":{{\"message\":\"{message}\",\"class\":\"reader\",\"phase\":\"read\",\
             \"data\":{{\"offset\":{offset},\"line\":1,\"column\":{column},\"hint\":\"this connection reads JSON, \
             by its first form: one object a line\"}}}}}}"
        )
    };
    let mut check = |sent: &str, answer: &str| {
        client.send(sent.as_bytes());
        assert_eq!(text(&client.answer().expect("it answers")), answer, "{sent}");
    };
    check("{\"op\":", &reader("the line ends inside a value", 6));
    check("  {:op :host/attach}", &reader("key must be a string", 1));
    check("{\"op\":1,\"op\":2}", &reader("duplicate key \\\"op\\\"", 14));
    check("{\"op\":1} {\"op\":2}", &reader("trailing characters", 9));
    check("\u{feff}{\"op\":1}", &reader("expected value", 0));
    check("\"\u{e9}\" x", &reader("trailing characters", 5).replace("\"column\":6", "\"column\":5"));
    check(
        "[1]",
        "{\"error\":{\"message\":\"a request is a map with :op, or a psi-tool call with :action\",\
                 \"class\":\"request\",\"phase\":\"validate\",\"data\":{\"value\":[1],\"expected\":\"a map\"}}}",
    );
    check("{\"id\":7,\"op\":\"session/busy\",\"session-id\":\"s1\",\"busy?\":true}", "{\"id\":7,\"ok\":{}}");
    // Over a bound the stream ends, as in EDN.
    check(&"[".repeat(70), &reader("the input exceeds the limit of 64 levels of nesting", 64));
    let client = world.clients.remove("a").expect("it is connected");
    assert_eq!(Client::end(client, false), Ok(Value::from(Vec::<Value>::new())));
}
