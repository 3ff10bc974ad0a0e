//! Fuzzes GraphQL documents. Variables follow a zero byte, the operation's name a second one. An
//! operation that runs is within the limits, counted on the parsed document with every fragment
//! expanded; the scan before parsing finds no less depth than there is; each answer is JSON with
//! data or errors, and equal when repeated.

use std::sync::LazyLock;

use async_graphql::parser::parse_query;
use async_graphql::parser::types::{Directive, ExecutableDocument, Field, Selection, SelectionSet};
use async_graphql::{Name, Positioned};
use async_graphql_value::Value;
use reveille::dialect::{REQUEST_CAPS, json};
use reveille::domain::{Caller, Scope};
use reveille::edn::Map;
use reveille::graph::view::{Scheduler, viewer};
use reveille::limits;
use reveille::service::{QUERY_LIMITS, Service, registry};
use reveille::surface::graphql::{self, Graphql, GraphqlReply, GraphqlRequest, Outcome, roots};
use reveille::surface::http::{Syntax, depth};

use super::scene::{Scene, callers};

/// The schema does not depend on the engine, so one is built for all inputs.
static GRAPHQL: LazyLock<Graphql<Scheduler>> =
    LazyLock::new(|| Graphql::new(registry(), &roots()).expect("a test makes the schema and finds no fault"));

/// Panics if one of these properties does not hold for `input`.
pub fn run(input: &[u8]) {
    let mut parts = input.splitn(3, |byte| *byte == 0);
    let Ok(query) = std::str::from_utf8(parts.next().unwrap_or_default()) else { return };
    let variables = parts.next().and_then(|text| json::read(text, &REQUEST_CAPS).ok());
    let name = parts.next().and_then(|text| std::str::from_utf8(text).ok());
    let request = GraphqlRequest {
        operation_name: name.map(str::to_owned),
        variables: variables.and_then(|value| value.as_map().cloned()).unwrap_or_else(Map::new),
        ..GraphqlRequest::new(query)
    };
    let scanned = depth(query.as_bytes(), Syntax::GraphQl);
    // The server refuses deeper documents unparsed, so they are not parsed here either.
    let is_shallow = scanned as u64 <= limits::REQUEST_DEPTH.value;
    let document = is_shallow.then(|| parse_query(query).ok()).flatten();
    if let Some(document) = &document {
        let found = depth_of(document);
        assert!(found <= scanned, "{scanned} levels were scanned, and {found} are there");
    }
    for caller in callers() {
        let answer = ask(&request, &caller);
        assert_eq!(ask(&request, &caller), answer, "asked again");
        check(&answer);
        if answer.outcome == Outcome::Ran {
            bounded(document.as_ref().expect("what was run was scanned and parsed"));
        }
    }
}

fn ask(request: &GraphqlRequest, caller: &Caller) -> GraphqlReply {
    // A new engine each time, because a mutation changes something.
    let scene = Scene::new();
    let asking = graphql::GraphqlCaller {
        viewer: viewer(&caller.scope),
        may_introspect: caller.scope == Scope::Operator,
        is_reading: false,
        limits: QUERY_LIMITS,
        stop: &|| false,
    };
    let service = Service::new(scene.handle.clone());
    let mut access = service.admit_query(caller, None).expect("everybody may query");
    GRAPHQL.execute(request, &asking, &mut access)
}

fn check(answer: &GraphqlReply) {
    let body: serde_json::Value = serde_json::from_str(&answer.body).expect("an answer is JSON");
    let errors = body.get("errors").map(|errors| errors.as_array().expect("a list"));
    assert_eq!(body.get("data").is_some(), answer.outcome == Outcome::Ran, "{}", answer.body);
    assert!(body.get("data").is_some() || errors.is_some(), "{}", answer.body);
    let has_message =
        |error: &serde_json::Value| error["message"].as_str().is_some_and(|text| !text.is_empty());
    assert!(
        errors.is_none_or(|errors| !errors.is_empty() && errors.iter().all(has_message)),
        "{}",
        answer.body
    );
}

/// The size of an operation with every fragment expanded at each use.
#[derive(Default)]
struct Opened {
    fields: u64,
    aliases: u64,
    depth: u64,
}

fn bounded(document: &ExecutableDocument) {
    let mut total = 0;
    for (_, operation) in document.operations.iter() {
        let mut opened = Opened::default();
        let set = &operation.node.selection_set.node;
        open(set, document, 0, &mut opened);
        // Fields are limited per document, everything else per operation.
        total += opened.fields;
        assert!(total <= limits::GRAPHQL_FIELDS.value, "fields");
        assert!(opened.aliases <= limits::GRAPHQL_ALIASES.value, "{} aliases", opened.aliases);
        assert!(opened.depth <= limits::GRAPHQL_DEPTH.value, "{} levels", opened.depth);
        assert!(width(set, document) <= limits::GRAPHQL_ROOT_FIELDS.value, "root");
    }
}

fn open(set: &SelectionSet, document: &ExecutableDocument, level: u64, opened: &mut Opened) {
    for selection in &set.items {
        // Beyond the limit already: stop, because nested fragments grow exponentially.
        if opened.fields > limits::GRAPHQL_FIELDS.value {
            return;
        }
        match &selection.node {
            Selection::Field(field) => {
                opened.fields += 1;
                opened.aliases += u64::from(field.node.alias.is_some());
                opened.depth = opened.depth.max(level + 1);
                // Introspection has a depth limit of its own.
                let is_introspection = field.node.name.node.starts_with("__");
                let depth = opened.depth;
                open(&field.node.selection_set.node, document, level + 1, opened);
                if is_introspection {
                    opened.depth = depth;
                }
            }
            Selection::InlineFragment(inline) => {
                open(&inline.node.selection_set.node, document, level, opened);
            }
            Selection::FragmentSpread(spread) => {
                open(fragment(document, &spread.node.fragment_name.node), document, level, opened);
            }
        }
    }
}

fn width(set: &SelectionSet, document: &ExecutableDocument) -> u64 {
    let of = |selection: &Positioned<Selection>| match &selection.node {
        Selection::Field(_) => 1,
        Selection::InlineFragment(inline) => width(&inline.node.selection_set.node, document),
        Selection::FragmentSpread(spread) => {
            width(fragment(document, &spread.node.fragment_name.node), document)
        }
    };
    set.items.iter().map(of).sum()
}

fn fragment<'d>(document: &'d ExecutableDocument, name: &Name) -> &'d SelectionSet {
    &document.fragments.get(name).expect("what was run has its fragments").node.selection_set.node
}

/// The least bracket depth that a document's text can have; fragments are not expanded.
fn depth_of(document: &ExecutableDocument) -> usize {
    let operations = document.operations.iter().map(|(_, operation)| {
        let variables = operation.node.variable_definitions.iter().map(|variable| {
            let default = variable.node.default_value.as_ref();
            1 + default.map_or(0, |value| depth_of_value(&value.node.clone().into_value()))
        });
        variables.max().unwrap_or(0).max(depth_of_set(&operation.node.selection_set.node))
    });
    #[expect(clippy::disallowed_methods, reason = "a maximum is the same in any order")]
    let fragments = document.fragments.values().map(|it| depth_of_set(&it.node.selection_set.node));
    operations.chain(fragments).max().unwrap_or(0)
}

fn depth_of_set(set: &SelectionSet) -> usize {
    let of = |selection: &Positioned<Selection>| match &selection.node {
        Selection::Field(field) => depth_of_field(&field.node),
        Selection::InlineFragment(inline) => {
            depth_of_directives(&inline.node.directives).max(depth_of_set(&inline.node.selection_set.node))
        }
        Selection::FragmentSpread(spread) => depth_of_directives(&spread.node.directives),
    };
    // A field without a selection has no braces.
    if set.items.is_empty() { 0 } else { 1 + set.items.iter().map(of).max().unwrap_or(0) }
}

fn depth_of_field(field: &Field) -> usize {
    let arguments = depth_of_arguments(&field.arguments);
    arguments.max(depth_of_directives(&field.directives)).max(depth_of_set(&field.selection_set.node))
}

fn depth_of_directives(directives: &[Positioned<Directive>]) -> usize {
    directives.iter().map(|it| depth_of_arguments(&it.node.arguments)).max().unwrap_or(0)
}

fn depth_of_arguments(arguments: &[(Positioned<Name>, Positioned<Value>)]) -> usize {
    arguments.iter().map(|(_, value)| 1 + depth_of_value(&value.node)).max().unwrap_or(0)
}

fn depth_of_value(value: &Value) -> usize {
    match value {
        Value::List(items) => 1 + items.iter().map(depth_of_value).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth_of_value).max().unwrap_or(0),
        Value::Variable(_) | Value::Null | Value::Number(_) | Value::String(_) => 0,
        Value::Boolean(_) | Value::Binary(_) | Value::Enum(_) => 0,
    }
}
