//! Watches, tasks and tools in the graph: it says what the tools say (T74). That GraphQL says what EQL says is in `agreement`.

use reveille::dialect::Notation;
use reveille::domain::{Caller, Outcome, Span};
use reveille::edn::{Map, Value, read};
use reveille::service::CallStyle;

use crate::simulated::{ask_service, session, token};
use crate::watching::Scene;

/// The only entity that a query answers with, below one attribute.
fn only(scene: &Scene, caller: &Caller, list: &str, wanted: &str) -> Map {
    let all = listed(scene, caller, list, wanted);
    assert_eq!(all.len(), 1, "{all:?}");
    all[0].clone()
}

fn listed(scene: &Scene, caller: &Caller, list: &str, wanted: &str) -> Vec<Map> {
    let text = ask_service(&scene.service, caller, &format!("[{{:{list} [{wanted}]}}]"), false);
    let answer = read(text.as_bytes(), &reveille::dialect::REQUEST_CAPS).expect("EDN");
    let entries = answer.as_map().and_then(|map| map.keyword(list)?.as_items()).unwrap_or_else(|| {
        unreachable!("{text}");
    });
    entries.iter().filter_map(Value::as_map).cloned().collect()
}

const WATCH: &str = ":reveille.watch/id :reveille.watch/tool :reveille.watch/status :reveille.watch/check-count \
                     :reveille.watch/told-count :reveille.watch/last-error :reveille.watch/last-value \
                     :reveille.watch/failed-in-row :reveille.watch/interval-ms :reveille.watch/checks \
                     {:reveille.watch/schedule [:psi.scheduler/kind {:psi.scheduler/watch [:reveille.watch/id]}]}";

/// T74.
#[test]
fn a_watch_is_in_the_graph_as_its_tool_shows_it() {
    let scene = Scene::new();
    let took = Span::from_millis(20);
    let value = Value::from(Map::new().with("status", 200));
    scene.script(&[Outcome::of_value(value.clone(), 20, took), Outcome::of_error("down", took)]);
    let id = scene.start(r#"{"name" "http.get" "params" {"url" "u"} "interval" 10}"#);
    scene.pass(11);
    let first = only(&scene, &token("s"), "reveille/watches", WATCH);
    assert_eq!(first.keyword("reveille.watch/last-value"), Some(&value));
    scene.pass(10);
    let shown = scene.status(&id);
    let graph = only(&scene, &token("s"), "reveille/watches", WATCH);
    for (tool, attribute) in [
        ("watcher_id", "id"),
        ("tool_name", "tool"),
        ("status", "status"),
        ("check_count", "check-count"),
        ("notify_count", "told-count"),
        ("last_error", "last-error"),
    ] {
        let attribute = graph.keyword(&format!("reveille.watch/{attribute}"));
        assert_eq!(shown.keyword(tool), attribute, "{tool}: {shown:?} {graph:?}");
    }
    assert_eq!(graph.keyword("reveille.watch/failed-in-row"), Some(&Value::Int(1)));
    assert_eq!(graph.keyword("reveille.watch/interval-ms"), Some(&Value::Int(10_000)));
    let checks = graph.keyword("reveille.watch/checks").and_then(Value::as_items).expect("a list");
    let texts: Vec<String> = checks.iter().map(ToString::to_string).collect();
    assert!(texts[0].contains(r#":result "{\"status\": 200}""#), "{texts:?}");
    assert!(texts[1].contains(r#":result nil :error "down""#), "{texts:?}");
    let schedule = graph.keyword("reveille.watch/schedule").map(ToString::to_string).expect("a schedule");
    assert!(schedule.contains(":psi.scheduler/kind :call") && schedule.contains(&id), "{schedule}");
    assert!(listed(&scene, &token("t"), "reveille/watches", WATCH).is_empty(), "of another session");
    let of_session = "[{[:psi.agent-session/session-id \"s\"] [{:reveille/watches [:reveille.watch/id]}]}]";
    assert!(ask_service(&scene.service, &Caller::OPERATOR, of_session, false).contains(&id));
    scene.call("watch_pause", &format!("{{\"watcher_id\" \"{id}\"}}"));
    let paused = only(&scene, &token("s"), "reveille/watches", ":reveille.watch/status");
    assert_eq!(paused.keyword("reveille.watch/status"), Some(&Value::keyword("paused")));
}

/// T74.
#[test]
fn a_task_is_in_the_graph_as_its_tool_shows_it() {
    let scene = Scene::new();
    scene.script(&[Outcome::of_error("no disk", Span::from_millis(20))]);
    for _ in 0..2 {
        let args = read(br#"{"name" "http.get" "params" {"url" "u"}}"#, &reveille::dialect::REQUEST_CAPS);
        let style = CallStyle { notation: Notation::Json, patience: None };
        let called = scene.service.begin_tool("background_run", &token("s"), &args.expect("EDN"), style);
        drop(called.expect("admitted").expect("it is switched on"));
        scene.pass(1);
    }
    let wanted = ":reveille.task/id :reveille.task/tool :reveille.task/state :reveille.task/error :reveille.task/value \
                  :reveille.task/args :reveille.task/ended-at";
    let tasks = listed(&scene, &token("s"), "reveille/tasks", wanted);
    let status = |task: &Map| task.keyword("reveille.task/state").map(ToString::to_string);
    let [failed, done] = ["failed", "completed"].map(|wanted| {
        let found = tasks.iter().find(|task| status(task).as_deref() == Some(&format!(":{wanted}")));
        found.unwrap_or_else(|| unreachable!("{wanted}: {tasks:?}")).clone()
    });
    assert_eq!(failed.keyword("reveille.task/error"), Some(&Value::from("no disk")));
    assert_eq!(done.keyword("reveille.task/value"), Some(&Value::from(Map::new().with("ok", true))));
    let id = done.keyword("reveille.task/id").and_then(Value::as_str).expect("an id").to_owned();
    let shown = scene.call("background_run", &format!("{{\"task_id\" \"{id}\"}}"));
    assert_eq!(shown.keyword("status"), Some(&Value::from("completed")), "{shown:?}");
    assert!(listed(&scene, &token("t"), "reveille/tasks", wanted).is_empty(), "of another session");
}

/// T74.
#[test]
fn the_tools_of_a_session_are_in_the_graph_as_the_kit_has_them() {
    let scene = Scene::new();
    let wanted = ":reveille.tool/name :reveille.tool/executor :reveille.tool/risk :reveille.tool/approval? \
                  :reveille.tool/callable? :reveille.tool/description :reveille.tool/idempotent? :reveille.tool/input-schema";
    for caller in [token("s"), Caller::OPERATOR, Caller::session(session("s"))] {
        let graph = listed(&scene, &caller, "reveille/tools", wanted);
        let kit = scene.service.kit(&caller);
        let kit = kit.as_map().and_then(|kit| kit.keyword("tools")?.as_items()).expect("a list").to_vec();
        assert_eq!(graph.len(), kit.len());
        for (graph, kit) in graph.iter().zip(&kit) {
            for (name, value) in kit.as_map().expect("a map") {
                let name = name.as_keyword().expect("a keyword").as_str();
                assert_eq!(graph.keyword(&format!("reveille.tool/{name}")), Some(value), "{name}");
            }
        }
    }
    let one = "[{[:reveille.tool/name \"ops.deploy\"] [:reveille.tool/callable?]}]";
    assert!(ask_service(&scene.service, &token("s"), one, false).contains("callable? false"));
    assert!(ask_service(&scene.service, &Caller::OPERATOR, one, false).contains("callable? true"));
    let none = "[{[:reveille.tool/name \"ops.deplay\"] [:reveille.tool/callable?]}]";
    assert!(!ask_service(&scene.service, &Caller::OPERATOR, none, true).contains("callable? true"));
}

#[test]
fn what_became_of_a_tools_calls_is_for_who_sees_all_sessions() {
    let scene = Scene::new();
    let took = Span::from_millis(20);
    let fine = || Outcome::of_value(Value::from(Map::new().with("status", 200)), 20, took);
    scene.script(&[fine(), Outcome::of_error("the secret of s", took), fine()]);
    scene.start(r#"{"name" "http.get" "params" {"url" "u"} "interval" 10}"#);
    let wanted = ":reveille.tool/name :reveille.tool/calls :reveille.tool/failures :reveille.tool/last-error";
    let counts = |caller: &Caller| {
        let tools = listed(&scene, caller, "reveille/tools", wanted);
        let tool =
            tools.iter().find(|tool| tool.keyword("reveille.tool/name") == Some(&Value::from("http.get")));
        let tool = tool.expect("it is offered").clone();
        ["calls", "failures", "last-error"].map(|of| {
            tool.keyword(&format!("reveille.tool/{of}")).map(ToString::to_string).unwrap_or_default()
        })
    };
    assert_eq!(counts(&Caller::OPERATOR), ["0", "0", "nil"]);
    scene.pass(11);
    assert_eq!(counts(&Caller::OPERATOR), ["1", "0", "nil"]);
    scene.pass(40);
    assert_eq!(counts(&Caller::OPERATOR), ["5", "1", "\"the secret of s\""]);
    for caller in [token("s"), token("t"), Caller::OPERATOR.acting_for(session("s"))] {
        assert_eq!(counts(&caller), ["nil", "nil", "nil"]);
    }
}
