//! What floods: each is refused, with the limit's name, and quickly.

use std::time::Duration;

use reveille::adapter::ClockOs;
use reveille::port::Clock;
use reveille::surface::graphql::GraphqlRequest;

use super::{ask, json};

/// A bomb is refused within this. A debug build on a busy machine is slower than what is promised, by far less than
/// what a bomb would take that goes off.
const PATIENCE: Duration = Duration::from_millis(500);

#[track_caller]
fn check(query: &str, limit: &str) {
    let body = timed(query);
    let head: String = query.chars().take(60).collect();
    let error = &json(&body)["errors"][0];
    assert_eq!(error["extensions"]["code"], "LIMIT", "{head}: {body}");
    assert_eq!(error["extensions"]["data"]["limit"], limit, "{head}: {body}");
}

/// Asks, and holds the answer to the time that it may take.
#[track_caller]
fn timed(query: &str) -> String {
    let clock = ClockOs;
    let before = clock.now().boot;
    let body = ask(&GraphqlRequest::new(query)).body;
    let took = Duration::from_nanos(clock.now().boot.nanos().saturating_sub(before.nanos()));
    let head: String = query.chars().take(60).collect();
    assert!(took < PATIENCE, "{head} took {took:?}");
    body
}

/// A document of fragments, each of which spreads the next one several times.
fn bomb(fragments: usize, times: usize, leaf: &str) -> String {
    let mut text = String::from("{ task(id: 1) { ...F0 } } ");
    for number in 0..fragments {
        let next = format!("...F{} ", number + 1).repeat(times);
        text.push_str(&format!("fragment F{number} on Task {{ {next} }} "));
    }
    text.push_str(&format!("fragment F{fragments} on Task {{ {leaf} }}"));
    text
}

#[test]
fn deep_text_never_reaches_the_parser() {
    check(&"{a".repeat(100_000), "request-depth");
    check(&format!("{{ p(any: {}) }}", "[".repeat(100_000)), "request-depth");
    check(&format!("{{ p(any: {}1{}) }}", "{a:".repeat(20_000), "}".repeat(20_000)), "request-depth");
    check(&format!("query($a: {}Int{}) {{ p }}", "[".repeat(70), "]".repeat(70)), "request-depth");
    check(&format!("# {}\n{{ a }}", "x".repeat(300_000)), "request-bytes");
}

#[test]
fn what_multiplies_is_counted_before_it_is_opened() {
    check(&bomb(40, 2, "id"), "graphql-fields");
    check(&bomb(20, 50, "id"), "graphql-fields");
    check(&bomb(70, 1, "id"), "request-depth");
    check(&format!("{{ {} }}", "p ".repeat(21)), "graphql-root-fields");
    check(&format!("{{ task(id: 1) {{ {} }} }}", "id ".repeat(20_000)), "graphql-tokens");
    check(&format!("{{ task(id: 1) {{ {} }} }}", "id ".repeat(8_000)), "graphql-fields");
    let aliases: String = (0..1_000).map(|number| format!("a{number}: id ")).collect();
    check(&format!("{{ task(id: 1) {{ {aliases} }} }}"), "graphql-fields");
    let aliases: String = (0..31).map(|number| format!("a{number}: id ")).collect();
    check(&format!("{{ task(id: 1) {{ {aliases} }} }}"), "graphql-aliases");
    check(&format!("{{ p {} }}", "@skip(if: false) ".repeat(10_000)), "graphql-tokens");
    check(&format!("{{ p {} }}", "@skip(if: false) ".repeat(1_000)), "graphql-directives");
    check(&format!("{{ p({}) }}", "text: \"a\" ".repeat(2_000)), "graphql-arguments");
    let variables: String = (0..2_000).map(|number| format!("$v{number}: Int ")).collect();
    check(&format!("query({variables}) {{ p }}"), "graphql-arguments");
    let operations: String = (0..1_500).map(|number| format!("query Q{number} {{ p }} ")).collect();
    check(&operations, "graphql-fields");
}

#[test]
fn an_operation_is_as_deep_and_as_large_as_the_limits_allow() {
    let deep = |levels: usize| {
        format!("{{ task(id: 1) {{ {} id {} }} }}", "parent { ".repeat(levels), "} ".repeat(levels))
    };
    assert!(!timed(&deep(10)).contains("LIMIT"));
    check(&deep(11), "graphql-depth");
    check("{ list { kids { kids { kids { id title } } } } }", "graphql-complexity");
    assert!(!timed("{ list { kids { id title } } }").contains("LIMIT"));
    assert!(!timed("{ tasks(first: 100) { edges { node { id title kind slug } } } }").contains("LIMIT"));
    check("{ tasks(first: 2500) { edges { node { id title kind slug } cursor } } }", "graphql-complexity");
}

#[test]
fn introspection_is_as_deep_as_tools_ask_it() {
    check(
        "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }",
        "graphql-introspection-lists",
    );
    let tools = include_str!("../../../fixtures/graphql/introspection.graphql");
    let body = timed(tools);
    assert!(
        json(&body)["data"]["__schema"]["types"].as_array().is_some_and(|types| types.len() > 20),
        "{body}"
    );
}

#[test]
fn what_is_no_document_is_refused_quickly() {
    for (query, message) in [
        (bomb(3, 1, "...F0"), "Cannot spread fragment"),
        (format!("{} fragment X on Task {{ id }}", bomb(3, 1, "id")), "never used"),
        ("{ p".to_owned(), "Syntax Error"),
        (String::new(), "Syntax Error"),
        ("{ nope }".to_owned(), "nope"),
        ("query($x: Nope = 1) { p }".to_owned(), "Nope"),
        ("{ task { id } }".to_owned(), "id"),
        ("{ task(id: 1) { id: title id } }".to_owned(), "conflict"),
        ("{ task(id: 1) { parent { a: id } parent { a: title } } }".to_owned(), "conflict"),
        ("subscription { p }".to_owned(), "no subscription"),
        ("query A { p } query B { p }".to_owned(), "operation name"),
        (format!("{{ p(text: \"{}\") ", "a".repeat(200_000)), "Syntax Error"),
        (format!("{{ p(number: {}) }}", "9".repeat(200_000)), "errors"),
        (",".repeat(250_000), "graphql-tokens"),
        (" ".repeat(250_000), "Syntax Error"),
        ("{ p } ".repeat(40_000), "errors"),
    ] {
        let body = timed(&query);
        let head: String = query.chars().take(60).collect();
        assert!(body.contains(message) && body.starts_with("{\"errors\""), "{head}: {body}");
    }
}
