//! Watches as a session has them: the seven tools over an engine in virtual time, and what its model is told (T34 to T40, T44,
//! T47, T48, T51).

use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::dialect::Notation;
use reveille::domain::{
    Actor, Caller, ExecutorKind, Grant, GuardPolicy, HostId, Outcome, Primitives, Reason, Rule, RuleScope,
    Ruling, ScheduleId, Scope, SessionConfig, Span, ToolName, ToolSpec,
};
use reveille::edn::{Keyword, Map, Value, read};
use reveille::engine::{Command, Input, Report};
use reveille::runtime::Handle;
use reveille::service::Service;
use reveille::testkit::{CallAnswer, Reception, SimExecutor, SimHost, Stage};

use crate::simulated::{ask_service, open, session, token};

/// An engine with a session `s` of a connected host, which is idle, another one `t`, and an executor that has `http.get`.
pub(crate) struct Scene {
    pub(crate) stage: Stage,
    pub(crate) service: Service,
    pub(crate) executor: Arc<SimExecutor>,
    pub(crate) host: Arc<SimHost>,
}

pub(crate) fn spec(name: &str) -> ToolSpec {
    ToolSpec::reading(ToolName::new(name).expect("a name"), "A tool.", Map::new().into())
}

impl Scene {
    pub(crate) fn new() -> Scene {
        let stage = Stage::seeded(7);
        let local = SimHost::new(&stage, HostId::LOCAL).over(Arc::new(HostLocal::new()));
        let handle = Handle::new(stage.parts(Arc::new(local)));
        let executor = Arc::new(SimExecutor::scripted(&stage));
        executor.offer(spec("http.get"));
        executor.offer(ToolSpec { agents: false, ..spec("ops.deploy") });
        executor.offer(ToolSpec { approval: true, ..spec("mail.send") });
        let schema = r#"{:type "object" :required ["url"]
            :properties {:url {:type "string"} "timeout" {"type" "integer"} :any {}}}"#;
        let schema = read(schema.as_bytes(), &reveille::dialect::REQUEST_CAPS).expect("EDN");
        executor.offer(ToolSpec { input_schema: Arc::new(schema), ..spec("http.head") });
        handle.tools().add_executor(ExecutorKind::Operator, executor.clone()).expect("no name twice");
        let host = Arc::new(SimHost::new(&stage, HostId::new(1)));
        let number = handle.hosts().attach(host.clone());
        for name in ["s", "t"] {
            open(&handle, name, SessionConfig::default());
            let sessions = vec![session(name)];
            let moved = Command::HostSessions { host: number, sessions, busy: Some(false), by: None };
            handle.submit(Input::Command(moved)).expect("it is open");
        }
        handle.run_due();
        handle.tools().switch(Primitives::all());
        let service = Service::new(handle);
        Scene { stage, service, executor, host }
    }

    pub(crate) fn handle(&self) -> &Handle {
        self.service.handle()
    }

    /// The answer to a call of a tool, as the session of this name makes it.
    #[track_caller]
    pub(crate) fn answer(&self, who: &str, tool: &str, args: &str) -> Map {
        self.answer_to(&token(who), tool, args)
    }

    /// The answer to a call of a tool by this caller.
    #[track_caller]
    pub(crate) fn answer_to(&self, caller: &Caller, tool: &str, args: &str) -> Map {
        let args = read(args.as_bytes(), &reveille::dialect::REQUEST_CAPS).expect("EDN");
        let answer = self.service.call_tool(tool, caller, &args, Notation::Json).expect("it may");
        self.handle().run_due();
        answer.expect("there is such a tool").value.as_map().expect("a map").clone()
    }

    #[track_caller]
    pub(crate) fn call(&self, tool: &str, args: &str) -> Map {
        self.answer("s", tool, args)
    }

    /// The message of the error that a call is answered with.
    #[track_caller]
    pub(crate) fn error(&self, who: &str, tool: &str, args: &str) -> String {
        let answer = self.answer(who, tool, args);
        let error = answer.keyword("error").and_then(Value::as_map).expect("it is refused");
        error.keyword("message").and_then(Value::as_str).expect("a message").to_owned()
    }

    #[track_caller]
    pub(crate) fn start(&self, args: &str) -> String {
        let answer = self.call("watch_start", args);
        let id = answer.keyword("watcher_id").and_then(Value::as_str);
        id.unwrap_or_else(|| unreachable!("{answer:?}")).to_owned()
    }

    pub(crate) fn status(&self, id: &str) -> Map {
        self.call("watch_status", &format!("{{\"watcher_id\" \"{id}\"}}"))
    }

    pub(crate) fn script(&self, outcomes: &[Outcome]) {
        outcomes.iter().for_each(|outcome| self.executor.script(CallAnswer::AtOnce(outcome.clone())));
    }

    pub(crate) fn pass(&self, seconds: u64) {
        for _ in 0..seconds {
            self.stage.run_for(self.handle(), Span::from_millis(1_000));
            self.executor.answer_due();
            self.handle().run_due();
        }
    }

    pub(crate) fn busy(&self, busy: bool) {
        let report = Report::Busy { session: session("s"), busy, by: None };
        self.handle().submit(Input::Report(report)).expect("it is open");
        self.handle().run_due();
    }

    /// Ends the turn that a delivery began.
    pub(crate) fn rest(&self) {
        self.busy(true);
        self.busy(false);
    }

    /// The texts of the deliveries so far.
    pub(crate) fn told(&self) -> Vec<String> {
        let prompts = self.host.prompts().into_iter().map(|Reception { text, .. }| text.to_string());
        prompts.filter(|text| !text.is_empty()).collect()
    }
}

pub(crate) fn fine(text: &str) -> Outcome {
    let value = read(text.as_bytes(), &reveille::dialect::REQUEST_CAPS).expect("EDN");
    Outcome::of_value(value, 11, Span::from_millis(20))
}

pub(crate) fn failed(text: &str) -> Outcome {
    Outcome::of_error(text, Span::ZERO)
}

#[track_caller]
fn number(map: &Map, key: &str) -> i64 {
    map.keyword(key).and_then(Value::as_int).unwrap_or_else(|| unreachable!("{key}: {map:?}"))
}

fn text<'m>(map: &'m Map, key: &str) -> Option<&'m str> {
    let value = map.keyword(key)?;
    value.as_str().or_else(|| value.as_keyword().map(Keyword::as_str))
}

#[test]
fn a_change_wakes_the_session_and_nothing_else_does() {
    let scene = Scene::new();
    let down = r#"{"status_code" 503 "body" "…"}"#;
    scene.script(&[fine(r#"{"status_code" 200}"#), fine(r#"{"status_code" 200}"#), fine(down)]);
    let id = scene.start(r#"{"name" "http.get" "params" {"url" "x"} "label" "API health"}"#);
    assert!(id.len() == 12 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    scene.pass(29);
    assert_eq!(scene.executor.calls().len(), 0, "the first check comes after one interval");
    scene.pass(32);
    assert_eq!((scene.executor.calls().len(), scene.told().len()), (2, 0));
    scene.pass(30);
    let told = format!(
        "[WATCHER UPDATE] watcher_id={id}, label=\"API health\", tool=http.get\n\
         Check #3 (interval: 30s, 1 notification(s) so far, strategy: on_change)\n\
         Result: {{\"status_code\": 503, \"body\": \"…\"}}\n\
         Changed: status_code: 200 -> 503; body: added \"…\""
    );
    assert_eq!(scene.told(), [told]);
    let status = scene.status(&id);
    assert_eq!((number(&status, "check_count"), number(&status, "notify_count")), (3, 1));
    assert_eq!((text(&status, "status"), text(&status, "tool_name")), (Some("running"), Some("http.get")));
    assert_eq!(
        status.keyword("last_result"),
        Some(&read(down.as_bytes(), &reveille::dialect::REQUEST_CAPS).unwrap())
    );
}

/// T34.
#[test]
fn one_check_is_told_and_then_the_watch_is_completed() {
    let scene = Scene::new();
    let id = scene.start(r#"{"name" "http.get" "max_checks" 1}"#);
    scene.pass(31);
    assert_eq!(scene.told().len(), 1);
    let status = scene.status(&id);
    assert_eq!((text(&status, "status"), number(&status, "check_count")), (Some("completed"), 1));
    scene.pass(300);
    assert_eq!(scene.executor.calls().len(), 1);
}

/// T33, over the engine: what is left of a summary is told at the end.
#[test]
fn the_last_check_tells_what_was_collected() {
    let scene = Scene::new();
    scene.script(&[fine("1"), fine("2"), failed("boom")]);
    scene.start(r#"{"name" "http.get" "notify_when" "summary" "max_checks" 3}"#);
    scene.pass(95);
    let told = scene.told();
    let line = r#"Summary (3 checks): [{"check": 1, "result": 1}, {"check": 2, "result": 2}, {"check": 3, "error": "boom"}]"#;
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].lines().nth(2), Some(line));
}

/// T33.
#[test]
fn summaries_that_wait_become_one_with_all_their_checks() {
    let scene = Scene::new();
    scene.script(&(1..=4).map(|number| fine(&number.to_string())).collect::<Vec<Outcome>>());
    scene.busy(true);
    scene.start(r#"{"name" "http.get" "notify_when" "summary" "notify_config" {"batch_size" 2}}"#);
    scene.pass(125);
    scene.busy(false);
    let told = scene.told();
    assert_eq!(told.len(), 1);
    let line = told[0].lines().nth(2).unwrap_or_default();
    assert!(line.starts_with(r#"Summary (4 checks): [{"check": 1, "result": 1}, {"check": 2"#), "{told:?}");
    assert!(told[0].ends_with("\n1 earlier update is folded into this one."), "{told:?}");
}

/// A session in which nobody listens: its model has read a bulletin once it takes it.
#[test]
fn a_summary_that_was_taken_is_not_told_again() {
    let scene = Scene::new();
    let (handle, it) = (scene.handle(), session("i"));
    handle.open_session(Some(it), HostId::INBOX, SessionConfig::default()).expect("it is new");
    scene.script(&(1..=4).map(|number| fine(&number.to_string())).collect::<Vec<Outcome>>());
    let watch = r#"{"name" "http.get" "notify_when" "summary" "notify_config" {"batch_size" 2}}"#;
    assert!(scene.answer("i", "watch_start", watch).keyword("watcher_id").is_some());
    let take = || {
        let take = "[(psi.agent-session/take-messages {:session-id \"i\"})]";
        ask_service(&scene.service, &token("i"), take, false)
    };
    scene.pass(65);
    let first = take();
    assert!(first.contains("Summary (2 checks)"), "{first}");
    scene.pass(60);
    let second = take();
    assert!(second.contains("Summary (2 checks): [{\\\"check\\\": 3"), "{second}");
}

/// T35.
#[test]
fn a_long_check_moves_the_next_one_and_there_are_never_two() {
    let scene = Scene::new();
    for _ in 0..3 {
        scene.executor.script(CallAnswer::After(Span::from_millis(12_000), fine("1")));
    }
    scene.start(r#"{"name" "http.get" "interval" 5}"#);
    for (seconds, calls) in [(5, 1), (11, 1), (5, 1), (1, 2), (16, 2), (1, 3)] {
        scene.pass(seconds);
        assert_eq!(scene.executor.calls().len(), calls, "after {seconds} more");
    }
}

/// T36.
#[test]
fn a_check_that_never_returns_has_failed_and_the_watch_goes_on() {
    let scene = Scene::new();
    scene.executor.script(CallAnswer::Never);
    scene.script(&[fine("1")]);
    let id = scene.start(r#"{"name" "http.get" "notify_when" "on_error"}"#);
    scene.pass(30 + 59);
    assert!(scene.told().is_empty());
    scene.pass(2);
    let told = scene.told();
    assert_eq!(told.len(), 1);
    assert!(told[0].ends_with("\nError: timed out after 60 seconds"), "{}", told[0]);
    assert_eq!(scene.executor.cancelled().len(), 1);
    scene.rest();
    scene.pass(31);
    assert!(scene.told()[1].ends_with("\nRecovered after 1 error."), "{:?}", scene.told());
    assert_eq!(number(&scene.status(&id), "check_count"), 2);
}

/// T37.
#[test]
fn a_pause_keeps_the_beat() {
    let scene = Scene::new();
    let id = scene.start(r#"{"name" "http.get"}"#);
    let named = format!("{{\"watcher_id\" \"{id}\"}}");
    scene.pass(7);
    assert_eq!(text(&scene.call("watch_pause", &named), "status"), Some("paused"));
    scene.pass(93);
    assert_eq!(scene.executor.calls().len(), 0);
    assert_eq!(text(&scene.call("watch_resume", &named), "status"), Some("running"));
    scene.pass(19);
    assert_eq!(scene.executor.calls().len(), 0);
    scene.pass(2);
    assert_eq!(scene.executor.calls().len(), 1, "at 120 s");
    assert_eq!(number(&scene.status(&id), "check_count"), 1);
}

/// T38.
#[test]
fn a_watch_is_paused_while_it_runs_and_is_its_sessions_own() {
    let scene = Scene::new();
    let id = scene.start(r#"{"name" "http.get"}"#);
    let named = format!("{{\"watcher_id\" \"{id}\"}}");
    assert!(
        scene.error("s", "watch_resume", &named).contains("is 'running', can only resume a paused watcher")
    );
    scene.call("watch_pause", &named);
    assert!(
        scene.error("s", "watch_pause", &named).contains("is 'paused', can only pause a running watcher")
    );
    for tool in ["watch_stop", "watch_pause", "watch_resume", "watch_status", "watch_history"] {
        assert!(scene.error("t", tool, &named).contains("not found"), "{tool}");
        assert!(scene.error("s", tool, r#"{"watcher_id" "000000000000"}"#).contains("not found"), "{tool}");
    }
    let list = scene.answer("t", "watch_list", "{}");
    assert_eq!(number(&list, "total"), 0);
    let list = scene.call("watch_list", "{}");
    let counts = ["total", "running", "paused"].map(|key| number(&list, key));
    assert_eq!(counts, [1, 0, 1]);
    let stopped = scene.call("watch_stop", &named);
    assert!(text(&stopped, "hint").is_some_and(|hint| hint.contains("0 check(s) and 0 notification(s)")));
    assert!(scene.error("s", "watch_stop", &named).contains("not found"));
    assert_eq!(number(&scene.call("watch_list", "{}"), "total"), 0);
}

/// T39.
#[test]
fn what_is_stopped_is_told_no_more() {
    let scene = Scene::new();
    scene.busy(true);
    scene.script(&[fine("1")]);
    scene.executor.script(CallAnswer::After(Span::from_millis(20_000), fine("2")));
    let id = scene.start(r#"{"name" "http.get" "notify_when" "always"}"#);
    // One bulletin waits for the session, and one check is out.
    scene.pass(62);
    assert_eq!(scene.executor.calls().len(), 2);
    scene.call("watch_stop", &format!("{{\"watcher_id\" \"{id}\"}}"));
    assert_eq!(scene.executor.cancelled().len(), 1);
    scene.busy(false);
    scene.pass(120);
    assert_eq!((scene.told(), scene.executor.calls().len()), (Vec::<String>::new(), 2));
}

/// T40.
#[test]
fn a_grant_is_asked_for_at_each_check() {
    let scene = Scene::new();
    let id = scene.start(r#"{"name" "http.get" "notify_when" "on_error"}"#);
    scene.pass(31);
    let grant = Grant { dialects: Some(Vec::new()), ..Grant::FULL };
    let set = Command::SetGrant {
        session: session("s"),
        grant,
        by: Actor { scope: Scope::Operator, via: None, tool: None, as_model: false },
    };
    scene.handle().submit(Input::Command(set)).expect("it is open");
    scene.pass(31);
    assert_eq!(scene.executor.calls().len(), 1, "the second check calls nothing");
    let last = scene.handle().view(|state| {
        let watch = state.schedule(&ScheduleId::new(&id).unwrap()).and_then(|record| record.watch().cloned());
        watch.and_then(|watch| watch.last?.reason).map(Reason::name)
    });
    assert_eq!(last, Some("not-granted"));
    let counts = || {
        let watch = scene.handle().view(|state| {
            state.schedule(&ScheduleId::new(&id).unwrap()).and_then(|record| record.watch().cloned())
        });
        watch.map(|watch| (watch.tally.checks, watch.tally.told))
    };
    assert_eq!(counts(), Some((2, 0)), "what would tell it is refused too, so nothing was told");
    let granted = Command::SetGrant {
        session: session("s"),
        grant: Grant::FULL,
        by: Actor { scope: Scope::Operator, via: None, tool: None, as_model: false },
    };
    scene.handle().submit(Input::Command(granted)).expect("it is open");
    scene.pass(31);
    assert_eq!((scene.told(), counts()), (Vec::new(), Some((3, 0))), "nobody was told of errors");
}

/// T47.
#[test]
fn what_changes_while_the_session_is_busy_is_told_once() {
    let scene = Scene::new();
    let outcomes: Vec<Outcome> = (0..721).map(|number| fine(&format!("{{\"n\" {number}}}"))).collect();
    scene.script(&outcomes);
    scene.busy(true);
    scene.start(r#"{"name" "http.get" "interval" 5}"#);
    scene.pass(3_606);
    assert_eq!(scene.executor.calls().len(), 721);
    scene.busy(false);
    let told = scene.told();
    assert_eq!(told.len(), 1);
    let lines: Vec<&str> = told[0].lines().skip(1).collect();
    let wanted = [
        "Check #721 (interval: 5s, 720 notification(s) so far, strategy: on_change)",
        "Result: {\"n\": 720}",
        "Changed: n: 0 -> 720",
        "719 earlier updates are folded into this one.",
    ];
    assert_eq!(lines, wanted);
}

/// T48.
#[test]
fn the_history_has_the_newest_checks() {
    let scene = Scene::new();
    let outcomes: Vec<Outcome> = (1..=120).map(|number| fine(&number.to_string())).collect();
    scene.script(&outcomes);
    scene.busy(true);
    let id = scene.start(r#"{"name" "http.get" "interval" 5 "max_checks" 120}"#);
    scene.pass(700);
    let history =
        |last: u32| scene.call("watch_history", &format!("{{\"watcher_id\" \"{id}\" \"last_n\" {last}}}"));
    let all = history(100);
    let entries = all.keyword("entries").and_then(Value::as_items).expect("entries");
    assert_eq!((number(&all, "total_checks"), number(&all, "showing"), entries.len()), (120, 100, 100));
    let part = |entry: &Value, key: &str| entry.as_map().and_then(|entry| entry.keyword(key)).cloned();
    assert_eq!(part(&entries[0], "check_number"), Some(Value::Int(21)));
    assert_eq!(part(&entries[99], "result"), Some(Value::Int(120)));
    assert_eq!(part(&entries[99], "notified"), Some(Value::Bool(true)));
    assert_eq!(number(&history(1), "showing"), 1);
}

/// T51, over the engine.
#[test]
fn errors_in_a_row_make_the_waits_longer() {
    let scene = Scene::new();
    scene.script(&vec![failed("down"); 6]);
    scene.start(r#"{"name" "http.get" "notify_when" "on_error" "notify_config" {"backoff_max" "5m" "cooldown" "1d"}}"#);
    let mut waits = Vec::new();
    for _ in 0..7 {
        let calls = scene.executor.calls().len();
        let mut seconds = 0;
        while scene.executor.calls().len() == calls {
            scene.pass(1);
            seconds += 1;
        }
        waits.push(seconds);
    }
    assert_eq!(waits, [30, 60, 120, 240, 300, 300, 300]);
    scene.pass(29);
    let calls = scene.executor.calls().len();
    scene.pass(2);
    assert_eq!(scene.executor.calls().len(), calls + 1, "one success, and the interval is its own again");
}

#[test]
fn a_watch_of_a_tool_that_is_gone_is_paused() {
    let scene = Scene::new();
    scene.script(&vec![Outcome::of_failure(Reason::ToolUnknown, "no executor has the tool", Span::ZERO); 20]);
    let id = scene.start(r#"{"name" "http.get" "interval" 5}"#);
    scene.pass(120);
    assert_eq!(scene.executor.calls().len(), 10);
    let told = scene.told();
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("\nError: no executor has the tool\nThe watch is paused: "), "{told:?}");
    assert_eq!(text(&scene.status(&id), "status"), Some("paused"));
    scene.call("watch_resume", &format!("{{\"watcher_id\" \"{id}\"}}"));
    scene.pass(5);
    assert_eq!(scene.executor.calls().len(), 11);
}

/// T28 and T40, by an operator's rules: what they refuse is refused at the start, and at each check.
#[test]
fn what_a_rule_refuses_is_not_watched() {
    let scene = Scene::new();
    let operator = || Actor { scope: Scope::Operator, via: None, tool: None, as_model: false };
    scene.start(r#"{"name" "http.get" "notify_when" "on_error"}"#);
    let of = RuleScope { tools: vec!["http.get".into()], ..RuleScope::default() };
    let rule = Rule { name: "no-network".into(), of, then: Ruling::Refuse, why: None };
    let policy = GuardPolicy { rules: vec![rule], ..GuardPolicy::default() };
    let set = Command::SetGuard { policy: Some(Arc::new(policy)), by: operator() };
    scene.handle().submit(Input::Command(set)).expect("an operator may");
    assert!(
        scene.error("s", "watch_start", r#"{"name" "http.get"}"#).contains("is blocked by security policy")
    );
    let args = r#"{"when" "in 5m" "action" "http.get"}"#;
    assert!(scene.error("s", "schedule", args).contains("is blocked by security policy"));
    scene.pass(31);
    assert_eq!(scene.executor.calls().len(), 0);
    assert_eq!(scene.told().len(), 1, "the check failed, and on_error tells");
}

/// T28, what the tool's own schema says.
#[test]
fn arguments_are_held_against_the_schema_of_the_tool() {
    let scene = Scene::new();
    let error = |params: &str| {
        scene.error("s", "watch_start", &format!("{{\"name\" \"http.head\" \"params\" {params}}}"))
    };
    assert_eq!(error("{}"), "params.url is required by the tool");
    assert_eq!(error(r#"{"url" 1}"#), "params.url must be of type string, not integer");
    assert_eq!(error(r#"{"url" "x" "timeout" 1.5}"#), "params.timeout must be of type integer, not float");
    scene.start(r#"{"name" "http.head" "params" {"url" "x" "timeout" 2 "any" [1] "more" nil}}"#);
    let args = r#"{"when" "in 5m" "action" "http.head" "args" {}}"#;
    assert_eq!(scene.error("s", "schedule", args), "args.url is required by the tool");
}
