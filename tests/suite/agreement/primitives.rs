//! Channels and memory: the tools, EQL and GraphQL say the same of them. Watches, tasks and tools are in `primitives_graph`.

use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{Caller, Primitives, Span};
use reveille::edn::{Map, Value, read};
use reveille::service::{Service, registry};
use reveille::surface::graphql::{GraphqlRequest, GraphqlService};

use super::graphql::Tree;
use super::{agree, lenient};
use crate::channel_tools::Scene;
use crate::simulated::{self, token};

/// The answer of a tool.
#[track_caller]
fn call(service: &Service, caller: &Caller, tool: &str, args: &str) -> Map {
    let args = read(args.as_bytes(), &REQUEST_CAPS).expect("EDN");
    let answer = service.call_tool(tool, caller, &args, Notation::Edn).expect("admitted");
    answer.expect("there is the tool").value.as_map().expect("a map").clone()
}

fn items(map: &Map, key: &str) -> Vec<Map> {
    let items = map.keyword(key).and_then(Value::as_items).unwrap_or_else(|| unreachable!("{key}: {map:?}"));
    items.iter().filter_map(Value::as_map).cloned().collect()
}

fn part<'a>(map: &'a Map, key: &str) -> &'a Value {
    map.keyword(key).unwrap_or(&Value::Nil)
}

/// T74.
#[test]
fn tools_and_both_languages_say_the_same_of_channels() {
    let scene = Scene::new();
    let service = &scene.service;
    for (who, tool, args) in [
        ("s", "channels.send_message", "{:channel \"ops\" :message \"one\"}"),
        ("s", "channels.send_message", "{:channel \"broken\" :message \"two\"}"),
        ("other", "channels.send_message", "{:channel \"ops\" :message \"three\"}"),
        ("s", "channels.pause_provider", "{:provider \"ops\" :direction \"outbound\"}"),
    ] {
        scene.clock.advance(Span::from_millis(1_000));
        call(service, &token(who), tool, args);
    }
    let graphql = GraphqlService::new(service).expect("no faults");
    let tree = Tree::of(&registry(), &["reveille.engine/channels"]);
    let query = format!("{{ engine {} }}", tree.graphql());
    let mut errors = Vec::new();
    for (name, caller, shown) in
        [("operator", Caller::OPERATOR, 3), ("s", token("s"), 2), ("other", token("other"), 2)]
    {
        let asked = lenient(service, &caller, &tree.eql());
        let answer = graphql.answer(&caller, &GraphqlRequest::new(query.as_str()), true).body;
        let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!(answer["data"]["engine"], tree.expected(&asked), "{name}: {answer}");
        let channels = items(&asked, "reveille.engine/channels");
        let providers = items(&call(service, &caller, "channels.list_providers", "{}"), "providers");
        assert_eq!((channels.len(), providers.len()), (shown, shown), "{name}");
        for (channel, provider) in channels.iter().zip(&providers) {
            let about = format!("{name}: {channel:?} {provider:?}");
            assert_eq!(part(channel, "name"), part(provider, "name"), "{about}");
            assert_eq!(part(channel, "last-error"), part(provider, "last_error"), "{about}");
            let kind = part(channel, "kind").as_keyword().map(|kind| Value::from(kind.as_str()));
            assert_eq!(kind.as_ref(), provider.keyword("adapter"), "{about}");
            for (since, said) in [
                ("disabled-at", part(provider, "enabled") == &Value::Bool(false)),
                ("inbound-paused-at", part(provider, "inbound_paused") == &Value::Bool(true)),
                ("outbound-paused-at", part(provider, "outbound_paused") == &Value::Bool(true)),
                ("last-delivery-at", part(provider, "events_sent") != &Value::Int(0)),
            ] {
                assert_eq!(!part(channel, since).is_nil(), said, "{since}, {about}");
            }
            errors.extend(part(channel, "last-error").as_str().map(|error| format!("{name}: {error}")));
        }
    }
    assert_eq!(errors, ["operator: no such door", "s: no such door"], "a session sees its own attempts only");
    assert_eq!(scene.desk.texts(), ["one", "two", "three"]);
}

/// T74.
#[test]
fn tools_and_both_languages_say_the_same_of_a_memory() {
    let (handle, clock) = simulated::engine(&["s", "other"]);
    handle.tools().switch(Primitives::all());
    let service = Service::new(handle);
    let mut facts = Vec::new();
    for content in ["The build is slow.", "Grüße \\\"\\n", "Three"] {
        clock.advance(Span::from_millis(1_000));
        let noted = call(&service, &token("s"), "memory.remember", &format!("{{:content \"{content}\"}}"));
        facts.insert(0, ["id", "content"].map(|key| part(&noted, key).clone()));
    }
    let mut shown = Map::new();
    for (tool, args) in [
        ("memory.set_goal", "{:goal \"Ship it\"}"),
        ("memory.task_create", "{:subject \"Sign\" :description \"Both\"}"),
        ("memory.task_create", "{:subject \"Send\"}"),
        ("memory.task_create", "{:subject \"Celebrate\"}"),
        ("memory.task_update", "{:taskId \"t1\" :status \"completed\"}"),
        ("memory.task_update", "{:taskId \"t2\" :status \"in_progress\"}"),
    ] {
        clock.advance(Span::from_millis(1_000));
        shown = call(&service, &token("s"), tool, args);
    }
    let graphql = GraphqlService::new(&service).expect("no faults");
    let tree = Tree::of(&registry(), &["psi.agent-session/memory", "psi.agent-session/memory-block"]);
    let (ident, field) = (":psi.agent-session/session-id \"s\"", "session(sessionId: \"s\")");
    for (name, caller, sees) in
        [("operator", Caller::OPERATOR, true), ("s", token("s"), true), ("other", token("other"), false)]
    {
        assert_eq!(agree(&graphql, &caller, (&tree, ident, field), name), sees, "{name}");
    }
    let asked = lenient(&service, &token("s"), &format!("[{{[{ident}] {}}}]", tree.eql()));
    let (_, found) = asked.iter().next().expect("one join");
    let memory =
        part(found.as_map().expect("a session"), "psi.agent-session/memory").as_map().expect("a memory");
    let of = |key: &str| part(memory, &format!("reveille.memory/{key}"));
    assert_eq!(of("goal"), part(&shown, "goal"));
    let remembered = items(memory, "reveille.memory/facts");
    let remembered: Vec<_> =
        remembered.iter().map(|fact| ["id", "content"].map(|key| part(fact, key).clone())).collect();
    assert_eq!((remembered, of("fact-count")), (facts, &Value::Int(3)), "newest first");
    let progress = part(&shown, "progress").as_map().expect("numbers");
    assert_eq!((of("task-count"), of("done-count")), (part(progress, "total"), part(progress, "done")));
    let (tasks, todos) = (items(memory, "reveille.memory/tasks"), items(&shown, "todos"));
    assert_eq!((tasks.len(), todos.len()), (3, 3));
    for (task, todo) in tasks.iter().zip(&todos) {
        let of = |key: &str| part(task, &format!("reveille.task-note/{key}"));
        let about = format!("{task:?} {todo:?}");
        let id = part(todo, "id").as_str().expect("an id");
        assert_eq!(of("id").as_str(), Some(&*format!("s#{id}")), "{about}");
        assert_eq!(
            (of("subject"), of("description").as_str().unwrap_or_default()),
            (part(todo, "content"), part(todo, "notes").as_str().expect("a text")),
            "{about}"
        );
        let status = of("status").as_keyword().expect("a status").as_str().replace('-', "_");
        assert_eq!(Some(&*status), part(todo, "status").as_str(), "{about}");
    }
}
