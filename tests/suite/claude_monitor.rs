//! `Monitor` in Claude Code's words: a watch of a tool with a time-out, and never a program.

use std::sync::Arc;

use reveille::domain::{HostId, Primitives, ScheduleId, Scope, ToolSpec};
use reveille::edn::{Keyword, Map, Value, read};
use reveille::engine::{Command, Input, Which};
use reveille::limits;
use reveille::testkit::{SimExecutor, SimHost};

use crate::simulated::session;
use crate::watching::{Scene, failed, fine, spec};

fn edn(text: &str) -> Value {
    read(text.as_bytes(), &reveille::dialect::REQUEST_CAPS).expect(text)
}

fn text<'m>(map: &'m Map, key: &str) -> Option<&'m str> {
    let value = map.keyword(key)?;
    value.as_str().or_else(|| value.as_keyword().map(Keyword::as_str))
}

#[track_caller]
fn number(map: &Map, key: &str) -> i64 {
    map.keyword(key).and_then(Value::as_int).unwrap_or_else(|| unreachable!("{key}: {map:?}"))
}

/// The answer to a `Monitor` of `http.get` with these arguments more.
fn monitor(scene: &Scene, more: &str) -> Map {
    scene.call("Monitor", &format!("{{\"description\" \"API health\" \"tool\" \"http.get\" {more}}}"))
}

/// The id of a monitor that is started.
#[track_caller]
fn start(scene: &Scene, more: &str) -> String {
    let answer = monitor(scene, more);
    text(&answer, "taskId").unwrap_or_else(|| unreachable!("{answer:?}")).to_owned()
}

/// The error of an answer: kind and field.
fn refusal(answer: &Map) -> Option<(&str, Option<&str>)> {
    let error = answer.keyword("error")?.as_map()?;
    assert!(text(error, "hint").is_some_and(|hint| !hint.is_empty()), "{error:?}");
    Some((text(error, "kind")?, text(error, "field")))
}

fn example(answer: &Map) -> Option<&Value> {
    answer.keyword("error")?.as_map()?.keyword("example")
}

fn jobs(scene: &Scene, who: &str) -> Vec<Value> {
    let listed = scene.answer(who, "CronList", "{}");
    listed.keyword("jobs").and_then(Value::as_items).expect("a list").to_vec()
}

#[test]
fn a_monitor_is_answered_as_claude_code_answers_it_and_truly() {
    let scene = Scene::new();
    let answer = monitor(&scene, "\"arguments\" {\"url\" \"x\"}");
    let id = text(&answer, "taskId").expect("an id").to_owned();
    assert_eq!((number(&answer, "timeoutMs"), number(&answer, "intervalMs")), (300_000, 30_000));
    assert_eq!(answer.keyword("persistent"), Some(&Value::Bool(false)));
    assert_eq!(number(&answer, "expiresAt") - number(&answer, "nextFireAt"), 270_000);
    // This engine has no store, so nothing is said to be on disk.
    assert_eq!(answer.keyword("durable"), Some(&Value::Bool(false)));
    assert!(!text(&answer, "message").is_some_and(|words| words.contains("disk")), "{answer:?}");
    let warnings = answer.keyword("warnings").and_then(Value::as_items).expect("warnings");
    assert!(warnings.iter().any(|it| it.as_str().is_some_and(|it| it.contains("no store"))), "{answer:?}");

    scene.script(&[fine("1"), fine("1"), fine("2")]);
    scene.pass(95);
    let told = scene.told();
    assert_eq!(told.len(), 1, "{told:?}");
    let head = format!("[WATCHER UPDATE] watcher_id={id}, label=\"API health\", tool=http.get\n");
    assert!(told[0].starts_with(&head) && !told[0].contains("ended"), "{told:?}");
    assert_eq!(scene.executor.calls()[0].args.as_map().and_then(|it| it.text("url")), Some(&"x".into()));

    let listed = jobs(&scene, "s");
    let row = listed[0].as_map().expect("a row");
    assert_eq!((listed.len(), text(row, "id"), text(row, "monitors")), (1, Some(&*id), Some("http.get")));
    assert_eq!(text(row, "description"), Some("API health"));
    assert_eq!(number(&scene.call("watch_list", "{}"), "total"), 1, "it is a watch");
}

/// The wall around a session, and what `CronDelete` ends.
#[test]
fn a_monitor_is_its_sessions_own_and_ends_by_its_id() {
    let scene = Scene::new();
    let named = format!("{{\"id\" \"{}\"}}", start(&scene, ""));
    assert_eq!(jobs(&scene, "t"), Vec::new());
    let foreign = scene.answer("t", "CronDelete", &named);
    assert_eq!(refusal(&foreign), Some(("no_such_job", Some("id"))));
    // A loop that ends is no end of a monitor.
    assert_eq!(number(&scene.call("ScheduleWakeup", "{\"stop\" true}"), "cancelledWakeups"), 0);
    scene.pass(31);
    assert_eq!(scene.executor.calls().len(), 1);
    let ended = scene.call("CronDelete", &named);
    assert_eq!(ended.keyword("endedMonitor"), Some(&Value::Bool(true)), "{ended:?}");
    scene.pass(120);
    assert_eq!((scene.executor.calls().len(), jobs(&scene, "s")), (1, Vec::new()));
    assert_eq!(refusal(&scene.call("CronDelete", &named)), Some(("no_such_job", Some("id"))));
}

/// A monitor of one check in all is no wake-up of a loop, which `stop` would end.
#[test]
fn the_end_of_a_loop_leaves_watches() {
    let scene = Scene::new();
    let id = scene.start(r#"{"name" "http.get" "max_checks" 1}"#);
    assert_eq!(number(&scene.call("ScheduleWakeup", "{\"stop\" true}"), "cancelledWakeups"), 0);
    assert_eq!(text(&scene.status(&id), "status"), Some("running"));
}

#[test]
fn the_time_out_has_claude_codes_bounds() {
    let scene = Scene::new();
    let (min, max) = (limits::MONITOR_MS_MIN.value, limits::MONITOR_MS_MAX.value);
    for (more, expected) in [
        (format!("\"timeout_ms\" {}", min - 1), Some("out_of_range")),
        (format!("\"timeout_ms\" {min}"), Some("too_short")),
        ("\"timeout_ms\" 10000".to_owned(), Some("too_short")),
        ("\"timeout_ms\" 10001".to_owned(), None),
        (format!("\"timeout_ms\" {max}"), None),
        (format!("\"timeout_ms\" {}", max + 1), Some("out_of_range")),
        (format!("\"timeout_ms\" {} \"persistent\" true", max + 1), None),
        (format!("\"timeout_ms\" {max} \"persistent\" false"), None),
        ("\"timeout_ms\" 60000 \"interval\" 30".to_owned(), Some("too_short")),
        ("\"timeout_ms\" 60001 \"interval\" 30".to_owned(), None),
        // What needs no first check to compare with has time for one.
        ("\"timeout_ms\" 30001 \"interval\" 30 \"notify_when\" \"on_error\"".to_owned(), None),
        ("\"timeout_ms\" 30000 \"interval\" 30 \"notify_when\" \"on_error\"".to_owned(), Some("too_short")),
    ] {
        let answer = monitor(&scene, &more);
        let refused = refusal(&answer);
        assert_eq!(refused.map(|(kind, _)| kind), expected, "{more}: {answer:?}");
        assert!(refused.is_none_or(|(_, field)| field == Some("timeout_ms")), "{more}: {answer:?}");
    }
}

#[test]
fn a_time_out_ends_the_monitor_and_its_last_check_says_so() {
    let scene = Scene::new();
    scene.script(&vec![fine("1"); 20]);
    let id = start(&scene, "\"timeout_ms\" 60000 \"interval\" 10");
    scene.pass(45);
    assert_eq!(scene.told(), Vec::<String>::new());
    scene.pass(60);
    let told = scene.told();
    assert_eq!((told.len(), scene.executor.calls().len()), (1, 5), "{told:?}");
    assert!(told[0].contains(&format!("watcher_id={id}")), "{told:?}");
    assert!(
        told[0].ends_with("The watch has ended: its time is over. Start another one if you still need it.")
    );
    assert_eq!(jobs(&scene, "s"), Vec::new());
    assert_eq!(text(&scene.status(&id), "status"), Some("completed"));
    scene.pass(600);
    assert_eq!((scene.told().len(), scene.executor.calls().len()), (1, 5));
}

/// What the last check tells anyway, and what is left of a summary.
#[test]
fn the_last_check_tells_its_news_and_the_end_in_one() {
    for (more, last) in [
        ("\"timeout_ms\" 21000 \"interval\" 10", "Changed: result: 1 -> 2"),
        ("\"timeout_ms\" 21000 \"interval\" 10 \"notify_when\" \"summary\"", "Summary (2 checks): "),
        ("\"timeout_ms\" 21000 \"interval\" 10 \"expression\" \"result == 2\"", "Result: 2"),
    ] {
        let scene = Scene::new();
        scene.script(&[fine("1"), fine("2")]);
        start(&scene, more);
        scene.pass(60);
        let told = scene.told();
        assert_eq!(told.len(), 1, "{more}: {told:?}");
        assert!(told[0].contains(last) && told[0].contains("The watch has ended"), "{more}: {told:?}");
    }
}

/// News that waited for a busy session reach it after the end as well.
#[test]
fn what_a_monitor_saw_outlives_its_time() {
    let scene = Scene::new();
    scene.busy(true);
    scene.script(&[fine("1"), failed("down"), failed("down")]);
    start(&scene, "\"timeout_ms\" 35000 \"interval\" 10");
    scene.pass(120);
    assert_eq!(scene.told(), Vec::<String>::new());
    scene.busy(false);
    let told = scene.told();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("Error: down") && told[0].contains("The watch has ended"), "{told:?}");
    assert!(told[0].contains("1 earlier update is folded into this one."), "{told:?}");
}

const OVER: &str = "\nThe watch has ended: its time is over. Start another one if you still need it.";

/// The time is over while everything is held: no check is the last one, and the session is told all the same.
#[test]
fn a_monitor_whose_time_is_over_during_a_hold_says_so() {
    for (more, last) in [
        ("\"timeout_ms\" 35000 \"interval\" 10", "Check #1 "),
        (
            "\"timeout_ms\" 35000 \"interval\" 10 \"notify_when\" \"summary\"",
            "Summary (1 checks): [{\"check\": 1, \"result\": 1}]",
        ),
    ] {
        let scene = Scene::new();
        scene.script(&[fine("1")]);
        let id = start(&scene, more);
        scene.pass(15);
        let submit = |command| scene.handle().submit(Input::Command(command)).expect("an operator may");
        submit(Command::HoldAll { by: Scope::Operator.into(), reason: None });
        scene.pass(60);
        submit(Command::ReleaseAll { by: Scope::Operator.into() });
        scene.pass(5);
        let told = scene.told();
        assert_eq!((told.len(), scene.executor.calls().len()), (1, 1), "{more}: {told:?}");
        assert!(told[0].contains(last) && told[0].ends_with(OVER), "{more}: {told:?}");
        assert_eq!(text(&scene.status(&id), "status"), Some("completed"));
    }
}

/// As during a hold, with a pause; and what waits to be told is not replaced by the word about the end.
#[test]
fn a_monitor_whose_time_is_over_during_a_pause_says_so() {
    let scene = Scene::new();
    scene.script(&[fine("1"), fine("2")]);
    let id = start(&scene, "\"timeout_ms\" 45000 \"interval\" 10");
    scene.pass(15);
    scene.busy(true);
    scene.pass(10);
    scene.call("watch_pause", &format!("{{\"watcher_id\" \"{id}\"}}"));
    scene.pass(60);
    let which = Which::any(Scope::Operator, ScheduleId::new(&id).expect("an id"));
    scene.handle().submit(Input::Command(Command::ResumeSchedule(which))).expect("it is paused");
    scene.pass(1);
    scene.busy(false);
    let told = scene.told();
    assert_eq!((told.len(), scene.executor.calls().len()), (1, 2), "{told:?}");
    assert!(told[0].contains("Changed: result: 1 -> 2") && told[0].ends_with(OVER), "{told:?}");
}

/// The last check waits for its host until the time is over.
#[test]
fn a_monitor_whose_check_waits_beyond_its_time_says_so() {
    let scene = Scene::new();
    let tools = Arc::new(SimExecutor::scripted(&scene.stage).with("host.get"));
    tools.serve_host(scene.handle(), HostId::new(1));
    let args = r#"{"description" "d" "tool" "host.get" "timeout_ms" 35000 "interval" 10}"#;
    let started = scene.call("Monitor", args);
    assert!(started.keyword("taskId").is_some(), "{started:?}");
    scene.handle().hosts().detach(HostId::new(1));
    scene.pass(45);
    let again = Arc::new(SimHost::new(&scene.stage, HostId::new(2)));
    let host = scene.handle().hosts().attach(again.clone());
    let back = Command::HostSessions { host, sessions: vec![session("s")], busy: Some(false), by: None };
    scene.handle().submit(Input::Command(back)).expect("it is open");
    scene.pass(2);
    let told = again.prompts();
    assert_eq!((told.len(), tools.calls().len()), (1, 0), "{told:?}");
    assert!(told[0].text.ends_with(OVER), "{told:?}");
}

#[test]
fn a_persistent_monitor_has_no_time_out() {
    let scene = Scene::new();
    scene.script(&vec![fine("1"); 3]);
    let answer = monitor(&scene, "\"persistent\" true \"timeout_ms\" 10000 \"interval\" 3600");
    assert_eq!((number(&answer, "timeoutMs"), answer.keyword("expiresAt")), (0, None), "{answer:?}");
    assert_eq!(answer.keyword("persistent"), Some(&Value::Bool(true)));
    scene.pass(7_300);
    assert_eq!((scene.executor.calls().len(), jobs(&scene, "s").len()), (2, 1));
}

#[test]
fn a_program_is_refused_and_the_call_in_its_place_works() {
    let scene = Scene::new();
    let schema = edn(
        r#"{:type "object" :required ["path"] :properties {:path {:type "string" :examples ["logs/a.txt"]}}}"#,
    );
    scene.executor.offer(ToolSpec { input_schema: schema.into(), ..spec("filesystem.stat") });
    for (program, expected) in [
        (
            r#""command" "curl -s https://a.example/x | jq .""#,
            r#"{"tool" "http.head" "arguments" {"url" "https://a.example/x"}}"#,
        ),
        (
            r#""command" "tail -F build.log""#,
            r#"{"tool" "filesystem.stat" "arguments" {"path" "build.log"}}"#,
        ),
        (r#""command" "make watch""#, r#"{"tool" "http.get" "arguments" {}}"#),
        (
            r#""command" "make watch" "arguments" {"url" "x"}"#,
            r#"{"tool" "http.get" "arguments" {"url" "x"}}"#,
        ),
        (r#""command" "make watch" "tool" "http.get""#, r#"{"tool" "http.get"}"#),
        (r#""ws" {"url" "wss://a.example"}"#, r#"{"tool" "http.get" "arguments" {}}"#),
        // Two faults of a call: the example has neither.
        (
            r#""command" "make watch" "persistent" "true""#,
            r#"{"tool" "http.get" "arguments" {} "persistent" true}"#,
        ),
    ] {
        let others = r#""description" "d" "timeout_ms" 90000"#;
        let answer = scene.call("Monitor", &format!("{{{others} {program}}}"));
        let field = if program.starts_with("\"ws\"") { "ws" } else { "command" };
        assert_eq!(refusal(&answer), Some(("no_program", Some(field))), "{program}");
        let example = example(&answer).unwrap_or_else(|| unreachable!("{program}: {answer:?}")).clone();
        let mut whole = edn(&format!("{{{others}}}")).as_map().expect("a map").clone();
        whole.extend(edn(expected).as_map().expect("a map").clone());
        assert_eq!(example, Value::Map(whole), "{program}");
        let followed = scene.call("Monitor", &example.to_string());
        assert_eq!(refusal(&followed), None, "{program}: {followed:?}");
    }
    let answer = scene.call("Monitor", r#"{"description" "d" "command" "make watch"}"#);
    let error = format!("{answer:?}");
    for name in ["http.get", "http.head", "filesystem.stat"] {
        assert!(error.contains(name), "{error}");
    }
    // One that is closed to sessions, or of which an operator approves each call, is not named.
    assert!(!error.contains("ops.deploy") && !error.contains("mail.send"), "{error}");
    // What is wrong beside the program is not made up.
    assert_eq!(example(&scene.call("Monitor", r#"{"command" "make watch"}"#)), None);
}

/// Where no tool looks at anything outside, the answer says how there can be one.
#[test]
fn a_program_is_refused_also_where_there_is_no_tool() {
    let (handle, _) = crate::simulated::engine(&["s"]);
    handle.tools().switch(Primitives::all());
    let args = edn(r#"{"description" "d" "command" "make watch"}"#);
    let service = reveille::service::Service::new(handle);
    let answer =
        service.call_tool("Monitor", &crate::simulated::token("s"), &args, reveille::dialect::Notation::Json);
    let answer = answer.expect("it may").expect("a tool");
    let map = answer.value.as_map().expect("a map");
    assert_eq!((refusal(map), example(map)), (Some(("no_program", Some("command"))), None));
    assert!(answer.value.to_string().contains("[tools.builtin]"), "{}", answer.value);
}

#[test]
fn what_is_wrong_with_a_monitor_is_said_by_kind_and_field() {
    let scene = Scene::new();
    for (args, kind, field) in [
        (r#"{"tool" "http.get"}"#, "missing", "description"),
        (r#"{"description" " " "tool" "http.get"}"#, "blank", "description"),
        (r#"{"description" "d"}"#, "missing", "tool"),
        (r#"{"description" "d" "tool" "get"}"#, "invalid_tool_name", "tool"),
        (r#"{"description" "d" "tool" "http.gte"}"#, "unknown_tool", "tool"),
        (r#"{"description" "d" "tool" "ops.deploy"}"#, "tool_blocked", "tool"),
        (r#"{"description" "d" "tool" "mail.send"}"#, "needs_approval", "tool"),
        (r#"{"description" "d" "tool" "http.head"}"#, "wrong_arguments", "arguments.url"),
        (r#"{"description" "d" "tool" "http.get" "arguments" [1]}"#, "wrong_type", "arguments"),
        (r#"{"description" "d" "tool" "http.get" "interval" 4}"#, "out_of_range", "interval"),
        (r#"{"description" "d" "tool" "http.get" "interval" "30s"}"#, "not_seconds", "interval"),
        (r#"{"description" "d" "tool" "http.get" "notify_when" "sometimes"}"#, "unknown_word", "notify_when"),
        (
            r#"{"description" "d" "tool" "http.get" "notify_when" "on_threshold"}"#,
            "no_expression",
            "expression",
        ),
        (
            r#"{"description" "d" "tool" "http.get" "expression" "result.ok"}"#,
            "invalid_expression",
            "expression",
        ),
        (
            r#"{"description" "d" "tool" "http.get" "notify_when" "always" "expression" "result == 1"}"#,
            "needless_expression",
            "expression",
        ),
        (r#"{"description" "d" "tool" "http.get" "persistant" true}"#, "unknown_field", "persistant"),
    ] {
        let answer = scene.call("Monitor", args);
        assert_eq!(refusal(&answer), Some((kind, Some(field))), "{args}: {answer:?}");
    }
    let misspelt = monitor(&scene, "\"persistant\" true");
    let right = edn(r#"{"description" "API health" "tool" "http.get" "persistent" true}"#);
    assert_eq!(example(&misspelt), Some(&right), "{misspelt:?}");
    // By the words of watch_start as well.
    let named = scene.call("Monitor", r#"{"description" "d" "tool" "http.get" "params" {"url" "x"}}"#);
    let right = edn(r#"{"description" "d" "tool" "http.get" "arguments" {"url" "x"}}"#);
    assert_eq!(example(&named), Some(&right), "{named:?}");
}

/// Watches and monitors of a session have one bound.
#[test]
fn a_session_has_so_many_monitors() {
    let scene = Scene::new();
    let most = limits::SESSION_WATCHES.value;
    for _ in 0..most {
        start(&scene, "\"persistent\" true");
    }
    assert_eq!(refusal(&monitor(&scene, "\"persistent\" true")), Some(("too_many_monitors", None)));
    let listed = scene.call("CronList", "{\"first\" 3}");
    assert_eq!(number(&listed, "total"), i64::try_from(most).expect("a small number"));
}
