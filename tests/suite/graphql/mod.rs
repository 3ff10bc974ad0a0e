//! GraphQL over the toy world: what is asked, answered, refused.
//!
//! Lives here: `check` and its tables. Nulls on their way up are held to graphql-js in `nulls.rs`.

mod limits;
mod nulls;
mod roots;

use std::sync::Arc;

use crate::toy::{LIMITS, Tasks, Toy};
use reveille::graph::eql::Limits;
use reveille::graph::registry::Viewer;
use reveille::surface::graphql::{
    Graphql, GraphqlCaller, GraphqlReply, GraphqlRequest, QueryKind, QueryRoot,
};
use roots::{roots, toy};

fn caller() -> GraphqlCaller<'static> {
    GraphqlCaller {
        viewer: Viewer::Operator,
        may_introspect: true,
        is_reading: false,
        limits: LIMITS,
        stop: &|| false,
    }
}

fn service(toy: &Toy) -> Graphql<Tasks> {
    Graphql::new(Arc::clone(&toy.registry), &roots()).expect("sound roots")
}

fn ask(request: &GraphqlRequest) -> GraphqlReply {
    let mut toy = toy();
    service(&toy).execute(request, &caller(), &mut toy)
}

#[track_caller]
fn check(query: &str, expected: &str) {
    check_with(query, "{}", expected);
}

#[track_caller]
fn check_with(query: &str, variables: &str, expected: &str) {
    let body = serde_json::json!({ "query": query, "variables": json(variables) }).to_string();
    let request = GraphqlRequest::from_json(body.as_bytes()).expect(query);
    assert_eq!(ask(&request).body, expected, "{query}");
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect(text)
}

#[test]
fn queries_are_answered_in_the_order_of_the_selection() {
    check("{ allSlugs }", r#"{"data":{"allSlugs":["T1","T2"]}}"#);
    check(
        "{ b: task(id: 2) { __typename title id k: kind } }",
        r#"{"data":{"b":{"__typename":"Task","title":"t2","id":"2","k":"EVEN"}}}"#,
    );
    check("{ task(id: 100) { title } }", r#"{"data":{"task":null}}"#);
    check(
        "{ list { id kids { id parent { id } } } }",
        concat!(
            r#"{"data":{"list":[{"id":"1","kids":[{"id":"2","parent":{"id":"3"}},{"id":"3","parent":null}]},"#,
            r#"{"id":"2","kids":[{"id":"4","parent":null},{"id":"5","parent":null}]}]}}"#
        ),
    );
    check(
        "{ all { allSlugs } __typename }",
        r#"{"data":{"all":{"allSlugs":["T1","T2"]},"__typename":"Query"}}"#,
    );
}

#[test]
fn one_attribute_under_many_aliases() {
    check(
        r#"{ a: p(text: "x") b: p(text: "y") c: p d: p(text: "x") all { p(kind: ODD) q: p(text: "y") } }"#,
        concat!(
            r#"{"data":{"a":{"text":"x"},"b":{"text":"y"},"c":{},"d":{"text":"x"},"#,
            r#""all":{"p":{"kind":"odd"},"q":{"text":"y"}}}}"#
        ),
    );
    check(
        "{ task(id: 1) { a: kids { id } b: kids { title x: kids { id } } } }",
        concat!(
            r#"{"data":{"task":{"a":[{"id":"2"},{"id":"3"}],"b":[{"title":"t2","x":[{"id":"4"},{"id":"5"}]},"#,
            r#"{"title":"t3","x":[{"id":"6"},{"id":"7"}]}]}}}"#
        ),
    );
}

#[test]
fn fragments_and_directives() {
    check_with(
        "query($yes: Boolean!, $no: Boolean = false) { task(id: 1) { ...A ... on Task { kind } ... @skip(if: $yes) \
         { slug } id @include(if: $no) title @skip(if: $no) } } fragment A on Task { title kids { id } ...B } \
         fragment B on Task { kids { title } }",
        r#"{"yes": true}"#,
        concat!(
            r#"{"data":{"task":{"title":"t1","kids":[{"id":"2","title":"t2"},{"id":"3","title":"t3"}],"#,
            r#""kind":"ODD"}}}"#
        ),
    );
}

#[test]
fn arguments_and_variables_are_taken_in() {
    check_with(
        "query($k: TaskKind, $t: String = \"d\", $at: DateTime, $any: Json, $n: Long) \
         { p(kind: $k, text: $t, at: $at, any: $any, number: $n) }",
        r#"{"k": "EVEN", "at": "2026-04-22T15:00:00+02:00", "any": {"a": [1, null]}, "n": "9007199254740993"}"#,
        concat!(
            r#"{"data":{"p":{"kind":"even","text":"d","at":"2026-04-22T13:00:00Z","any":{"a":[1,null]},"#,
            r#""number":9007199254740993}}}"#
        ),
    );
    let fault = |message: &str, place: &str| {
        let code = r#""extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}"#;
        format!(r#"{{"errors":[{{"message":"{message}","locations":[{place}],{code}}}]}}"#)
    };
    check_with(
        "query($k: TaskKind) { p(kind: $k) }",
        r#"{"k": "BLUE"}"#,
        &fault(
            r#"Variable \"$k\" got invalid value \"BLUE\"; Value \"BLUE\" does not exist in \"TaskKind\" enum."#,
            r#"{"line":1,"column":7}"#,
        ),
    );
    check_with(
        "query($id: ID!) { task(id: $id) { id } }",
        "{}",
        &fault(r#"Variable \"$id\" of required type \"ID!\" was not provided."#, r#"{"line":1,"column":7}"#),
    );
}

#[test]
fn mutations_run_one_after_the_other() {
    let mut toy = toy();
    let service = service(&toy);
    let query = "mutation($i: FinishInput!) { a: finish(input: {taskId: 7}) { task { id title } } fail { task { id } } \
                 b: finish(input: $i) { task { kind } __typename } }";
    let mut request = GraphqlRequest::new(query);
    request.variables = [("i", 8)]
        .into_iter()
        .map(|(key, id)| {
            let input: reveille::edn::Map = [("taskId".into(), id.into())].into_iter().collect();
            (key.into(), input.into())
        })
        .collect();
    let reply = service.execute(&request, &caller(), &mut toy);
    assert_eq!(
        reply.body,
        concat!(
            r#"{"data":{"a":{"task":{"id":"7","title":"t7"}},"fail":null,"b":{"task":{"kind":"EVEN"},"#,
            r#""__typename":"FinishPayload"}},"errors":[{"message":"nope","locations":[{"line":1,"column":82}],"#,
            r#""path":["fail"],"extensions":{"code":"INTERNAL"}}]}"#
        )
    );
    assert_eq!(toy.done, [7, 8]);
    let reading = GraphqlCaller { is_reading: true, ..caller() };
    let reply = service.execute(&request, &reading, &mut toy);
    assert_eq!(toy.done, [7, 8], "{}", reply.body);
}

#[test]
fn a_mutation_that_was_carried_out_is_answered_though_its_payload_cannot_be_read() {
    let mut toy = toy();
    let query = "mutation { a: finish(input: {taskId: 7}) { task { id } } \
                 b: finish(input: {taskId: 1}) { task { kids { kids { id } } } } }";
    let limits = Limits { rows: 3, ..LIMITS };
    let narrow = GraphqlCaller { limits, ..caller() };
    let reply = service(&toy).execute(&GraphqlRequest::new(query), &narrow, &mut toy);
    assert_eq!(toy.done, [7, 1]);
    let body = json(&reply.body);
    assert_eq!(body["data"]["a"]["task"]["id"], "7", "{body}");
    let error = &body["errors"][0];
    assert_eq!(error["path"], json(r#"["b"]"#), "{body}");
    assert_eq!(error["extensions"]["code"], "LIMIT", "{body}");
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("the mutation was carried out, but its payload cannot be read: "), "{body}");
}

#[test]
fn introspection_is_the_schema_s_and_mixes() {
    let request = GraphqlRequest::new(
        "{ t: __type(name: \"Task\") { name fields { name type { kind ofType { name } } } } list { id } __schema { \
         queryType { name } } }",
    );
    let body = json(&ask(&request).body);
    assert_eq!(body["data"]["t"]["name"], "Task", "{body}");
    assert_eq!(body["data"]["list"][0]["id"], "1");
    assert_eq!(body["data"]["__schema"]["queryType"]["name"], "Query");
    let mut toy = toy();
    let session = GraphqlCaller { may_introspect: false, ..caller() };
    let reply = service(&toy).execute(&request, &session, &mut toy);
    assert!(reply.body.contains("FORBIDDEN"), "{}", reply.body);
}

#[test]
fn lists_are_answered_in_pages() {
    check(
        "{ tasks(first: 1) { totalCount edges { cursor node { title } } nodes { id } pageInfo { hasNextPage endCursor } } }",
        concat!(
            r#"{"data":{"tasks":{"totalCount":2,"edges":[{"cursor":"T1","node":{"title":"t1"}}],"#,
            r#""nodes":[{"id":"1"}],"pageInfo":{"hasNextPage":true,"endCursor":"1"}}}}"#
        ),
    );
    check(
        "{ a: tasks { nodes { id } pageInfo { endCursor } } b: tasks(first: 1) { nodes { id } } }",
        r#"{"data":{"a":{"nodes":[{"id":"1"},{"id":"2"}],"pageInfo":{"endCursor":"50"}},"b":{"nodes":[{"id":"1"}]}}}"#,
    );
}

#[test]
fn a_root_that_names_no_attribute_is_a_fault() {
    let mut roots = roots();
    roots.queries.push(QueryRoot { name: "x", doc: "X.", kind: QueryKind::Attribute("all-slgus") });
    let faults = Graphql::new(toy().registry, &roots).err().expect("a fault");
    let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["a root or an entity names all-slgus, which is missing or of another kind"]);
}

#[test]
fn the_schema_is_printed_sorted_and_alike() {
    let sdl = service(&toy()).sdl();
    assert_eq!(sdl, service(&toy()).sdl());
    let task = "type Task {\n  \"Of the toy world.\"\n  id: ID!\n  \"Of the toy world.\"\n  kids: [Task!]!\n";
    for part in [task, "  parent: Task\n", "enum TaskKind {\n  EVEN\n  ODD\n}", "type TaskConnection {"] {
        assert!(sdl.contains(part), "{part} in\n{sdl}");
    }
}
