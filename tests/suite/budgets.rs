//! Every budget of the table can be reached, is refused by its limit's name, and is shown while it is in use.

use std::sync::Arc;

use reveille::domain::{
    Call, CallPurpose, Caller, Durability, ExecutorKind, Outcome, Payload, SessionId, Span, ToolName,
    ToolSpec, When,
};
use reveille::edn::{Map, Value, read};
use reveille::engine::{Input, Invocation, NewSchedule, Report};
use reveille::limits::Budget;
use reveille::port::{Executor, Returned};
use reveille::runtime::Handle;
use reveille::service::Service;
use reveille::testkit::SimClock;

use crate::simulated::{self, session, token};

/// An engine with two sessions.
struct Scene {
    handle: Handle,
    clock: Arc<SimClock>,
    service: Service,
}

impl Scene {
    fn new() -> Scene {
        let (handle, clock) = simulated::engine(&["alice", "bob"]);
        Scene { service: Service::new(handle.clone()), handle, clock }
    }

    fn ask(&self, caller: &Caller, query: &str) -> String {
        simulated::ask_service(&self.service, caller, query, true)
    }

    fn pass(&self, seconds: u64) {
        for _ in 0..seconds {
            self.clock.advance(Span::from_millis(1_000));
            self.handle.run_due();
        }
    }

    /// The first answer that names this text, of at most so many.
    fn until(&self, text: &str, most: u64, query: impl Fn(u64) -> String) -> String {
        let answers = (0..most).map(|number| self.ask(&token("alice"), &query(number)));
        let mut answers = answers.skip_while(|answer| !answer.contains(text));
        answers.next().expect("the limit is reached")
    }
}

const CREATE: &str =
    "[(psi.scheduler/create {:session-id \"alice\" :kind :message :message \"m\" :delay-ms 60000})]";

const ATTACKS: &str = "tests/blackbox/attacks/budgets.rs";

/// What says that a budget is used up.
enum Reached {
    /// This answer, or this error of a run.
    Told(String),
    /// Nothing is refused: the oldest makes room.
    MakesRoom,
    /// It takes a daemon or a file, so a test in this file does it, which has this word.
    Elsewhere(&'static str, &'static str),
}

/// Uses up a budget of alice.
fn reach(budget: Budget, scene: &Scene) -> Reached {
    let limit = budget.of_session().or(budget.of_all()).expect("it has a bound");
    let (handle, alice) = (&scene.handle, session("alice"));
    let in_an_hour = || NewSchedule::message(alice.clone(), When::After(Span::from_millis(3_600_000)), "m");
    match budget {
        Budget::Creates => Reached::Told(scene.until(limit.name, limit.value + 1, |_| CREATE.to_owned())),
        Budget::Changes => {
            let id = handle.schedule(in_an_hour()).expect("there is room");
            Reached::Told(scene.until(limit.name, limit.value + 1, |number| {
                let change = if number % 2 == 0 { "pause" } else { "resume" };
                format!("[(psi.scheduler/{change} {{:schedule-id \"{id}\"}})]")
            }))
        }
        Budget::Schedules => {
            let new = || NewSchedule { session_live_max: u32::MAX, ..in_an_hour() };
            (0..limit.value).for_each(|_| drop(handle.schedule(new()).expect("there is room")));
            Reached::Told(scene.ask(&token("alice"), CREATE))
        }
        Budget::Slots => {
            let new = || NewSchedule::message(alice.clone(), When::Each(Span::from_millis(1_000)), "m");
            let refused = (0..=limit.value / 60).find_map(|_| handle.schedule(new()).err());
            Reached::Told(refused.expect("there is an end").to_string())
        }
        Budget::ScheduleBytes => {
            let text = "x".repeat(60_000);
            let long = || {
                NewSchedule::message(alice.clone(), When::After(Span::from_millis(3_600_000)), text.clone())
            };
            let new = || NewSchedule { session_live_max: u32::MAX, ..long() };
            let refused = (0..=limit.value / 60_000).find_map(|_| handle.schedule(new()).err());
            Reached::Told(refused.expect("there is an end").to_string())
        }
        Budget::Sessions => reach_sessions(scene),
        Budget::RunBytes => reach_run_bytes(scene),
        Budget::TranscriptBytes => fill_transcript(scene),
        Budget::TaskOutcomes => fill_outcomes(scene),
        Budget::HistoryBytes => Reached::Elsewhere("src/testkit/store_pruning.rs", "over_its_share"),
        Budget::QueryTime => Reached::Elsewhere(ATTACKS, "use_up_the_processors"),
        Budget::Calls => Reached::Elsewhere("tests/suite/kit/under_way.rs", "CALLS_OF_SESSION"),
        Budget::Outside => Reached::Elsewhere("tests/blackbox/attacks/floods.rs", "OUTSIDE_"),
        Budget::Streams => Reached::Elsewhere(ATTACKS, "HTTP_SESSION_UPGRADES.name"),
        Budget::Subscriptions => Reached::Elsewhere(ATTACKS, "GRAPHQL_SESSION_SUBSCRIPTIONS.name"),
        Budget::AnswerBytes => Reached::Elsewhere(ATTACKS, "SESSION_ANSWERS_BYTES.name"),
        Budget::AsOfQueries => Reached::Elsewhere(ATTACKS, "SESSION_AS_OF_WAITING.name"),
        Budget::Connections => Reached::Elsewhere(ATTACKS, "HTTP_CONNECTIONS"),
        Budget::Bodies => Reached::Elsewhere("tests/suite/http/connections.rs", "http-session-bodies"),
        Budget::LongQueries => Reached::Elsewhere("src/service/queue.rs", "own-waiting"),
        Budget::SocketStreams => {
            Reached::Elsewhere("src/surface/http/connection/socket.rs", "SOCKET_STREAMS.name")
        }
    }
}

const RUNS: &str = "[{:psi.scheduler/schedules [{:psi.scheduler/runs [:reveille.run/error]}]}]";

/// Opens fresh sessions until no more are opened.
fn reach_sessions(scene: &Scene) -> Reached {
    let handle = &scene.handle;
    let limit = Budget::Sessions.of_session().expect("it has a bound");
    let every_second =
        CREATE.replace(":message :message", ":session :message").replace(":delay-ms 60000", ":every-ms 1000");
    assert!(scene.ask(&token("alice"), &every_second).contains("created? true"));
    scene.pass(limit.value);
    // Nothing at work makes room.
    let fresh = handle.view(|state| {
        let fresh = state.sessions().into_iter().filter(|it| it.provenance().is_some());
        fresh.map(|it| it.id().clone()).collect::<Vec<_>>()
    });
    for session in fresh {
        handle.submit(Input::Report(Report::Busy { session, busy: true, by: None })).expect("it is open");
    }
    scene.pass(1);
    Reached::Told(scene.ask(&token("alice"), RUNS))
}

/// Has more written by runs than a session may.
fn reach_run_bytes(scene: &Scene) -> Reached {
    let handle = &scene.handle;
    let alice = session("alice");
    let text = "x".repeat(60_000);
    for _ in 0..20 {
        let new = NewSchedule::message(alice.clone(), When::After(Span::from_millis(1_000)), text.clone());
        handle.schedule(NewSchedule { durability: Durability::Durable, ..new }).expect("there is room");
    }
    scene.pass(1);
    Reached::Told(scene.ask(&token("alice"), RUNS))
}

/// A tool that answers with more than is kept of an answer.
struct Verbose;

impl Executor for Verbose {
    fn specs(&self, _session: &SessionId) -> Arc<[ToolSpec]> {
        let name = ToolName::new("t.verbose").expect("a name");
        Arc::new([ToolSpec::reading(name, "Says much.", Map::new().into())])
    }

    fn call(&self, _invocation: Invocation, returned: Returned) {
        returned.give(Outcome::of_value("x".repeat(100_000).into(), 0, Span::ZERO));
    }

    fn cancel(&self, _id: &str) {}
}

/// Has tasks come to more than is kept.
fn fill_outcomes(scene: &Scene) -> Reached {
    let handle = &scene.handle;
    handle.tools().add_executor(ExecutorKind::Operator, Arc::new(Verbose)).expect("no name twice");
    for _ in 0..100 {
        let name = ToolName::new("t.verbose").expect("a name");
        let call = Call { purpose: CallPurpose::Task, ..Call::new(name, Map::new()) };
        let now = When::After(Span::from_millis(0));
        let payload = Payload::Call(Box::new(call));
        let new = NewSchedule { payload, ..NewSchedule::message(session("alice"), now, "") };
        handle.schedule(new).expect("there is room");
        scene.pass(1);
    }
    Reached::MakesRoom
}

/// Fills a transcript.
fn fill_transcript(scene: &Scene) -> Reached {
    let handle = &scene.handle;
    let alice = session("alice");
    let limit = Budget::TranscriptBytes.of_session().expect("it has a bound");
    let text: Box<str> = "x".repeat(60_000).into();
    for _ in 0..limit.value / 60_000 + 10 {
        let said = Report::UserMessage { session: alice.clone(), text: text.clone(), by: None };
        handle.submit(Input::Report(said)).expect("it is open");
    }
    Reached::MakesRoom
}

/// How much a row of an answer says is in use, and the bound.
pub(crate) fn row(answer: &str, budget: Budget, scope: &str) -> Option<(i64, i64)> {
    let answer = read(answer.as_bytes(), &reveille::dialect::REQUEST_CAPS).expect("EDN");
    let rows = find(&answer)?;
    let of = |row: &&Value| {
        row.as_map().and_then(|row| row.keyword("name")).and_then(Value::as_str) == Some(budget.name())
    };
    let in_scope = |row: &&Value| {
        row.as_map().and_then(|row| row.keyword("scope")).and_then(Value::as_str) == Some(scope)
    };
    let row = rows.iter().filter(of).find(in_scope)?.as_map()?;
    let number = |key| row.keyword(key).and_then(Value::as_int);
    Some((number("used")?, number("limit")?))
}

/// The list of budgets in an answer.
fn find(answer: &Value) -> Option<Vec<Value>> {
    let map: &Map = answer.as_map()?;
    map.iter().find_map(|(key, value)| {
        if key.to_string().ends_with("/budgets") {
            return value.as_items().map(<[Value]>::to_vec);
        }
        find(value)
    })
}

const OF_ALICE: &str = "[{[:psi.agent-session/session-id \"alice\"] [:reveille.session/budgets]}]";
const OF_ALL: &str = "[:reveille.engine/budgets]";

#[test]
fn every_budget_is_refused_by_name_and_shown_while_in_use() {
    for budget in Budget::ALL {
        let scene = Scene::new();
        let limit = budget.of_session().or(budget.of_all()).expect("it has a bound");
        let is_here = match reach(*budget, &scene) {
            Reached::Told(answer) => {
                assert!(answer.contains(limit.name), "{budget:?}: {answer}");
                true
            }
            Reached::MakesRoom => true,
            Reached::Elsewhere(file, word) => {
                let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
                let text = std::fs::read_to_string(path).expect(file);
                assert!(text.contains(word), "{file} does not reach {budget:?}");
                false
            }
        };
        let shown = scene.ask(&token("alice"), OF_ALICE);
        let of_all = scene.ask(&Caller::OPERATOR, OF_ALL);
        if budget.of_session().is_some() {
            let (used, bound) =
                row(&shown, *budget, "session").unwrap_or_else(|| panic!("{budget:?}: {shown}"));
            assert_eq!(u64::try_from(bound).expect("positive"), limit.value);
            let (most, _) =
                row(&of_all, *budget, "largest-session").unwrap_or_else(|| panic!("{budget:?}: {of_all}"));
            if is_here {
                assert!(
                    used > 0 && 10 * used >= 9 * bound,
                    "{budget:?} is used up, and shown as {used} of {bound}"
                );
                assert_eq!(most, used, "alice uses most: {budget:?}");
                let of_bob = scene.ask(&token("bob"), &OF_ALICE.replace("alice", "bob"));
                assert_eq!(
                    row(&of_bob, *budget, "session"),
                    Some((0, bound)),
                    "bob uses nothing: {budget:?}"
                );
            }
        }
        assert_eq!(row(&of_all, *budget, "all").is_some(), budget.of_all().is_some(), "{budget:?}: {of_all}");
    }
}

#[test]
fn a_session_sees_its_own_budgets_only() {
    let scene = Scene::new();
    let of_alice = |by: &Caller| scene.ask(by, OF_ALICE);
    assert!(row(&of_alice(&Caller::OPERATOR), Budget::Creates, "session").is_some());
    let foreign = of_alice(&token("bob"));
    assert_eq!(
        foreign,
        scene.ask(&token("bob"), &OF_ALICE.replace("alice", "absent")).replace("absent", "alice")
    );
    assert!(row(&foreign, Budget::Creates, "session").is_none(), "{foreign}");
    let all = scene.ask(&token("bob"), OF_ALL);
    assert!(row(&all, Budget::Creates, "largest-session").is_none(), "{all}");
}
