//! Watches that are refused, at their start or at a check: what the refusal says, and what is left of the watch.

use std::sync::Arc;

use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{Actor, GuardPolicy, Reason, Rule, RuleScope, Ruling, ScheduleId, Scope};
use reveille::edn::{Keyword, Value, read};
use reveille::engine::{Command, Input};
use reveille::limits;

use crate::simulated::bound;
use crate::watching::{Scene, fine};

/// Kind, class and field of the error that the start of a watch is answered with, which has a hint.
#[track_caller]
fn refused(scene: &Scene, args: &str) -> (String, String, Option<String>) {
    let answer = scene.call("watch_start", args);
    let error = answer.keyword("error").and_then(Value::as_map).expect("it is refused").clone();
    let text = |key: &str| {
        let value = error.keyword(key)?;
        value.as_str().or_else(|| value.as_keyword().map(Keyword::as_str)).map(str::to_owned)
    };
    assert!(text("hint").is_some_and(|hint| !hint.is_empty()), "{args}: {error:?}");
    (text("kind").unwrap_or_default(), text("class").unwrap_or_default(), text("field"))
}

fn set_rule(scene: &Scene, then: Ruling) {
    let of = RuleScope { tools: vec!["http.get".into()], ..RuleScope::default() };
    let rule = Rule { name: "no-network".into(), of, then, why: None };
    let policy = Some(Arc::new(GuardPolicy { rules: vec![rule], ..GuardPolicy::default() }));
    let by = Actor { scope: Scope::Operator, via: None, tool: None, as_model: false };
    scene.handle().submit(Input::Command(Command::SetGuard { policy, by })).expect("an operator may");
}

/// T28, what needs the tools that there are.
#[test]
fn only_what_can_be_called_unattended_can_be_watched() {
    let scene = Scene::new();
    let error = |args: &str| scene.error("s", "watch_start", args);
    assert_eq!(error(r#"{"name" "http.gte"}"#), "Tool 'http.gte' not found.");
    for (who, caller) in bound("s") {
        let closed = read(br#"{"name" "ops.deploy"}"#, &REQUEST_CAPS).expect("EDN");
        let answer = scene.service.call_tool("watch_start", &caller, &closed, Notation::Json);
        let answer = answer.expect("it may").expect("there is such a tool").value.to_string();
        assert!(answer.contains("is blocked by security policy"), "{who}: {answer}");
    }
    assert!(error(r#"{"name" "mail.send"}"#).contains("requires user approval"));
    let meant = scene.call("watch_start", r#"{"name" "http.gte"}"#);
    assert!(format!("{meant:?}").contains(":did_you_mean \"http.get\""), "{meant:?}");
}

/// T28: what the tools and the rules that there are refuse. What the arguments alone decide is in `fixtures/watch/calls.edn`.
#[test]
fn a_start_that_is_refused_says_its_kind_its_class_and_its_field() {
    let scene = Scene::new();
    let name = || Some("name".to_owned());
    for (args, kind, class, field) in [
        (r#"{"name" "http.gte"}"#, "unknown_tool", "NOT_FOUND", name()),
        (r#"{"name" "nothing.like_it"}"#, "unknown_tool", "NOT_FOUND", name()),
        (r#"{"name" "ops.deploy"}"#, "tool_blocked", "FORBIDDEN", name()),
        (r#"{"name" "mail.send"}"#, "needs_approval", "FORBIDDEN", name()),
        (r#"{"name" "http.head"}"#, "wrong_arguments", "VALIDATION", Some("params.url".to_owned())),
        (
            r#"{"name" "http.head" "params" {"url" 1}}"#,
            "wrong_arguments",
            "VALIDATION",
            Some("params.url".to_owned()),
        ),
    ] {
        assert_eq!(refused(&scene, args), (kind.to_owned(), class.to_owned(), field), "{args}");
    }
    set_rule(&scene, Ruling::Refuse);
    let by_rule = refused(&scene, r#"{"name" "http.get"}"#);
    assert_eq!(by_rule, ("tool_blocked".to_owned(), "FORBIDDEN".to_owned(), name()));
    set_rule(&scene, Ruling::Hold);
    let held = refused(&scene, r#"{"name" "http.get"}"#);
    assert_eq!(held, ("needs_approval".to_owned(), "FORBIDDEN".to_owned(), name()));
}

/// T28: a session has two hundred watches, and the next one is refused until one of them is stopped.
#[test]
fn the_two_hundred_and_first_watch_is_refused() {
    let scene = Scene::new();
    let start = r#"{"name" "http.get" "interval" 3600}"#;
    let ids: Vec<String> = (0..limits::SESSION_WATCHES.value).map(|_| scene.start(start)).collect();
    let full = refused(&scene, start);
    assert_eq!(full, ("too_many_watchers".to_owned(), "LIMIT".to_owned(), None));
    assert!(scene.error("s", "watch_start", start).contains("200"), "the bound is named");
    // Of another session it is not the bound.
    scene.answer("t", "watch_start", start).keyword("watcher_id").expect("it has room");
    scene.call("watch_stop", &format!("{{\"watcher_id\" \"{}\"}}", ids[0]));
    scene.start(start);
}

/// Why the newest check of a watch came to nothing, and how many checks it has made.
fn last(scene: &Scene, id: &str) -> (Option<Reason>, u64) {
    scene.handle().view(|state| {
        let record = state.schedule(&ScheduleId::new(id).expect("an id"));
        let watch = record.and_then(|record| record.watch()).expect("it is a watch");
        (watch.last.as_ref().and_then(|last| last.reason), watch.tally.checks)
    })
}

/// T40: a rule that comes later refuses the next check, which calls nothing and has failed for that reason. The watch goes on,
/// and looks again once the rule is gone.
#[test]
fn a_rule_that_comes_later_refuses_the_next_check() {
    let scene = Scene::new();
    let id = scene.start(r#"{"name" "http.get" "notify_when" "on_error"}"#);
    scene.script(&[fine("1")]);
    scene.pass(31);
    assert_eq!((last(&scene, &id), scene.executor.calls().len()), ((None, 1), 1));
    set_rule(&scene, Ruling::Refuse);
    scene.pass(30);
    assert_eq!((last(&scene, &id), scene.executor.calls().len()), ((Some(Reason::RefusedByRule), 2), 1));
    assert_eq!(Reason::RefusedByRule.name(), "refused-by-rule");
    let told = scene.told();
    assert!(told.len() == 1 && told[0].contains("Error: ") && told[0].contains("no-network"), "{told:?}");
    scene.rest();
    let by = Actor { scope: Scope::Operator, via: None, tool: None, as_model: false };
    scene.handle().submit(Input::Command(Command::SetGuard { policy: None, by })).expect("an operator may");
    scene.pass(30);
    assert_eq!((last(&scene, &id), scene.executor.calls().len()), ((None, 3), 2));
    assert!(scene.told()[1].ends_with("\nRecovered after 1 error."), "{:?}", scene.told());
}
