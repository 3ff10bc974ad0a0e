//! The schedules that an agent holds itself: what its hooks say is shown to whom it concerns, as it was said, and no longer than
//! the process is known to be in the conversation.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use reveille::domain::{AgentSchedule, AgentSchedules, Caller, Span};
use reveille::engine::{Input, Report, State};
use reveille::limits;
use reveille::service::Service;
use reveille::surface::edn_stream::{Connection, Peer, serve};
use reveille::surface::graphql::{GraphqlRequest, GraphqlService};
use reveille::testkit::SimClock;
use serde_json::{Value, json};

use crate::simulated::{self, ask_service, session, standing, token};

const SESSION: &str = "claude:c1";
const BIND: &str = "{:op :agent/bind :pid 7 :started \"1\" :address \"claude:c1\"}";
const TWO: &str = "{:op :agent/schedules :session-id \"claude:c1\" :count 2 :schedules \
                   [{:id \"3f9a\" :cron \"*/5 * * * *\" :recurring? true :prompt \"Look at CI.\" :truncated? false} \
                    {:id \"77\" :cron \"30 14 28 2 *\" :recurring? false :prompt \"Onc\" :truncated? true}]}";
const NONE: &str = "{:op :agent/schedules :session-id \"claude:c1\" :count 0 :schedules []}";

struct Scene {
    service: Service,
    graphql: GraphqlService,
    clock: Arc<SimClock>,
}

/// What is written to it, for who holds a copy.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("unpoisoned").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Scene {
    fn new() -> Scene {
        let (handle, clock) = simulated::engine(&["other"]);
        let service = Service::new(handle);
        let graphql = GraphqlService::new(&service).expect("sound roots");
        Scene { service, graphql, clock }
    }

    /// A scene in which the process 7 is in the conversation and has said that it holds two schedules.
    fn with_two() -> Scene {
        let scene = Scene::new();
        scene.hook(&[BIND, TWO]);
        assert_eq!(scene.count(), json!(2));
        scene
    }

    /// The answers to what a hook says on a connection of its own.
    fn say(&self, requests: &[&str]) -> String {
        let output = Output::default();
        let connection = Connection::new(self.service.clone(), Peer::Operator);
        serve(connection, requests.join("\n").as_bytes(), output.clone()).expect("it reads and writes");
        let bytes = output.0.lock().expect("unpoisoned").clone();
        String::from_utf8(bytes).expect("UTF-8")
    }

    /// The same, of which nothing is refused.
    fn hook(&self, requests: &[&str]) {
        let said = self.say(requests);
        assert!(!said.contains(":error"), "{said}");
    }

    fn eql(&self, caller: &Caller) -> String {
        let query = format!(
            "[{{[:psi.agent-session/session-id \"{SESSION}\"] [:reveille.session/agent-schedules \
             :reveille.session/agent-schedule-count :reveille.session/agent-schedules-seen-at]}}]"
        );
        ask_service(&self.service, caller, &query, true).replace(", ", " ")
    }

    fn graphql(&self, caller: &Caller) -> Value {
        let query = format!(
            "{{ session(sessionId: \"{SESSION}\") {{ agentSchedules {{ id cron recurring prompt truncated }} \
             agentScheduleCount agentSchedulesSeenAt }} }}"
        );
        let body = json!({ "query": query }).to_string();
        let request = GraphqlRequest::from_json(body.as_bytes()).expect("a query");
        let answer: Value =
            serde_json::from_str(&self.graphql.answer(caller, &request, false).body).expect("JSON");
        answer["data"]["session"].clone()
    }

    /// How many schedules the agent holds; null if that is not known.
    fn count(&self) -> Value {
        let session = self.graphql(&Caller::OPERATOR);
        let unknown = [&session["agentSchedules"], &session["agentSchedulesSeenAt"]].map(Value::is_null);
        let count = session["agentScheduleCount"].clone();
        // The three are known or unknown together.
        assert_eq!(unknown, [count.is_null(); 2], "{session}");
        count
    }
}

#[test]
fn they_are_unknown_until_the_agent_has_said_them_and_none_is_not_unknown() {
    let scene = Scene::new();
    scene.hook(&[BIND, "{:op :agent/idle :session-id \"claude:c1\"}"]);
    let unknown = scene.eql(&Caller::OPERATOR);
    assert!(unknown.contains(":reveille.session/agent-schedules nil"), "{unknown}");
    assert_eq!(scene.count(), Value::Null);
    scene.hook(&[BIND, NONE]);
    let none = scene.eql(&Caller::OPERATOR);
    assert!(none.contains(":reveille.session/agent-schedules []"), "{none}");
    assert_eq!(scene.graphql(&Caller::OPERATOR)["agentSchedules"], json!([]));
    scene.hook(&[BIND, TWO]);
    let two = scene.eql(&Caller::OPERATOR);
    for part in [
        ":reveille.session/agent-schedules [{:id \"3f9a\" :cron \"*/5 * * * *\" :recurring? true \
         :prompt \"Look at CI.\" :truncated? false} {:id \"77\" :cron \"30 14 28 2 *\" :recurring? false \
         :prompt \"Onc\" :truncated? true}]",
        ":reveille.session/agent-schedule-count 2",
        ":reveille.session/agent-schedules-seen-at #inst",
    ] {
        assert!(two.contains(part), "{part}: {two}");
    }
    let shown = scene.graphql(&Caller::OPERATOR);
    let look = json!({"id": "3f9a", "cron": "*/5 * * * *", "recurring": true, "prompt": "Look at CI.", "truncated": false});
    let once =
        json!({"id": "77", "cron": "30 14 28 2 *", "recurring": false, "prompt": "Onc", "truncated": true});
    assert_eq!(shown["agentSchedules"], json!([look, once]));
}

#[test]
fn the_moment_is_that_of_the_last_time_it_was_said() {
    let scene = Scene::with_two();
    let seen_at = || scene.graphql(&Caller::OPERATOR)["agentSchedulesSeenAt"].clone();
    let first = seen_at();
    scene.clock.advance(Span::from_millis(5_000));
    // A turn that ends without a word of them changes nothing.
    scene.hook(&[BIND, "{:op :agent/idle :session-id \"claude:c1\"}"]);
    assert_eq!((seen_at(), scene.count()), (first.clone(), json!(2)));
    scene.hook(&[BIND, NONE]);
    assert_ne!(seen_at(), first);
    assert_eq!(scene.count(), json!(0), "the last word counts, and not both");
}

#[test]
fn a_session_sees_its_own_and_operators_see_all() {
    let scene = Scene::with_two();
    for caller in [Caller::OPERATOR, token(SESSION)] {
        assert!(scene.eql(&caller).contains("Look at CI."), "{}", scene.eql(&caller));
        assert_eq!(scene.graphql(&caller)["agentScheduleCount"], json!(2));
    }
    let other = token("other");
    assert!(
        !scene.eql(&other).contains("CI") && !scene.eql(&other).contains("count 2"),
        "{}",
        scene.eql(&other)
    );
    assert_eq!(scene.graphql(&other), Value::Null);
}

/// A report of what another program holds is no decision: nothing is logged, and nothing is decided by it.
#[test]
fn nothing_else_changes() {
    let scene = Scene::new();
    scene.hook(&[BIND]);
    let handle = scene.service.handle();
    let cursor = || handle.view(State::cursor);
    let before = (standing(handle), cursor());
    scene.hook(&[TWO, NONE, TWO]);
    assert_eq!((standing(handle), cursor()), before);
    assert!(handle.view(|state| state.schedules().is_empty()), "they are not ours");
}

#[test]
fn what_is_beyond_a_bound_is_counted_or_marked_or_refused() {
    let scene = Scene::with_two();
    let one = "{:id \"1\" :cron \"* * * * *\" :recurring? true :prompt \"p\" :truncated? false} ";
    let say = |many: u64, count: u64| {
        let all = one.repeat(usize::try_from(many).expect("it is small"));
        scene.say(&[&format!(
            "{{:op :agent/schedules :session-id \"{SESSION}\" :count {count} :schedules [{all}]}}"
        )])
    };
    let most = limits::AGENT_SCHEDULES.value;
    let shown = || scene.graphql(&Caller::OPERATOR)["agentSchedules"].as_array().map(Vec::len);
    assert!(say(most, most + 36).contains(":ok"));
    assert_eq!((shown(), scene.count()), (usize::try_from(most).ok(), json!(most + 36)));
    let refused = say(most + 1, most + 1);
    assert!(refused.contains(":error") && refused.contains(&most.to_string()), "{refused}");
    assert_eq!(scene.count(), json!(most + 36), "a refusal changes nothing");
    let bytes = usize::try_from(limits::AGENT_SCHEDULE_TEXT_BYTES.value).expect("it is small");
    for (length, is_cut) in [(bytes, false), (bytes + 1, true)] {
        let long = one.replace("\"p\"", &format!("\"{}\"", "p".repeat(length)));
        scene.hook(&[&format!(
            "{{:op :agent/schedules :session-id \"{SESSION}\" :count 1 :schedules [{long}]}}"
        )]);
        let first = scene.graphql(&Caller::OPERATOR)["agentSchedules"][0].clone();
        assert_eq!(first["prompt"].as_str().map(str::len), Some(bytes));
        assert_eq!(first["truncated"], json!(is_cut), "{length}");
    }
}

/// The hook has checked what the agent gave it. What reaches the daemon in another shape is refused, and what was said stays.
#[test]
fn another_shape_is_refused_and_changes_nothing() {
    let scene = Scene::with_two();
    let whole = "{:id \"1\" :cron \"* * * * *\" :recurring? true :prompt \"p\" :truncated? false}";
    let plain = ["nil", "7", "[7]", "[{}]", whole].map(|schedules| (schedules.to_owned(), "1"));
    let wrong = [
        ("[]".to_owned(), "-1"),
        ("[]".to_owned(), "nil"),
        ("[]".to_owned(), "4294967296"),
        (format!("[{}]", whole.replace("true", "1")), "1"),
        (format!("[{}]", whole.replace("\"p\"", "nil")), "1"),
        (format!("[{whole} {}]", whole.replace(":cron", ":corn")), "2"),
    ];
    for (schedules, count) in plain.into_iter().chain(wrong) {
        let said = scene.say(&[&format!(
            "{{:op :agent/schedules :session-id \"{SESSION}\" :count {count} :schedules {schedules}}}"
        )]);
        assert!(said.contains(":error"), "{schedules} {count}: {said}");
        assert_eq!(scene.count(), json!(2), "{schedules} {count}");
    }
    let said = scene.say(&[&NONE.replace(SESSION, "claude:nobody")]);
    assert!(said.contains(":error"), "{said}");
}

#[test]
fn they_are_unknown_again_when_the_process_has_left() {
    let again = "{:op :agent/bind :pid 7 :started \"1\" :address \"claude:c1\"}";
    for (what, requests, is_known) in [
        ("each hook says in which conversation the process is", [again, again], true),
        (
            "the conversation ends, or /clear",
            ["{:op :agent/release :session-id \"claude:c1\"}", again],
            false,
        ),
        (
            "the process goes on with another one",
            ["{:op :agent/bind :pid 7 :started \"1\" :address \"claude:c2\"}", again],
            false,
        ),
        (
            "another process of that number",
            ["{:op :agent/bind :pid 7 :started \"2\" :address \"claude:c1\"}", again],
            false,
        ),
        ("another process", [again, "{:op :agent/bind :pid 8 :started \"1\" :address \"claude:c1\"}"], false),
        (
            "the session is closed, and opened again",
            ["{:op :session/close :session-id \"claude:c1\"}", again],
            false,
        ),
    ] {
        let scene = Scene::with_two();
        for request in requests {
            scene.hook(&[request]);
        }
        assert_eq!(scene.count(), if is_known { json!(2) } else { Value::Null }, "{what}");
    }
    // An agent with many conversations leaves none of them by going on with another.
    let scene = Scene::new();
    let bind = |session: &str| format!("{{:op :agent/bind :pid 7 :started \"1\" :address \"{session}\"}}");
    scene.hook(&[&bind("opencode:a"), &TWO.replace(SESSION, "opencode:a"), &bind("opencode:b")]);
    let query = "[{[:psi.agent-session/session-id \"opencode:a\"] [:reveille.session/agent-schedule-count]}]";
    let kept = ask_service(&scene.service, &Caller::OPERATOR, query, false);
    assert!(kept.contains("count 2"), "{kept}");
}

#[test]
fn the_engine_knows_no_schedules_of_a_session_that_is_not_open() {
    let (handle, _) = simulated::engine(&["s"]);
    let said = || Some(AgentSchedules::new([AgentSchedule::new("1", "* * * * *", true, "p")], 1));
    let report = |name: &str| Report::AgentSchedules { session: session(name), said: said() };
    assert!(handle.submit(Input::Report(report("nobody"))).is_err());
    handle.submit(Input::Report(report("s"))).expect("it is open");
}
