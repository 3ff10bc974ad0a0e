//! Subscriptions whose lists cannot be read: the client is given the error, and never a list that lacks what is there.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use reveille::domain::{Caller, Now, SessionConfig, Span, When};
use reveille::engine::NewSchedule;
use reveille::limits;
use reveille::port::Clock;
use reveille::runtime::{Handle, Parts};
use reveille::service::Service;
use reveille::surface::graphql::{Follower, GraphqlRequest, GraphqlService, refusal};
use reveille::testkit::SimClock;
use serde_json::{Value, json};

use crate::simulated::{open, parts, session, token};

/// A clock of a machine on which each look at it takes so many milliseconds.
struct SlowClock {
    inner: Arc<SimClock>,
    each_ms: AtomicU64,
}

impl Clock for SlowClock {
    fn now(&self) -> Now {
        self.inner.advance(Span::from_millis(self.each_ms.load(Ordering::Relaxed)));
        self.inner.now()
    }
}

struct Scene {
    handle: Handle,
    clock: Arc<SlowClock>,
    graphql: Arc<GraphqlService>,
}

impl Scene {
    fn new() -> Scene {
        let (parts, inner) = parts();
        let clock = Arc::new(SlowClock { inner, each_ms: AtomicU64::new(0) });
        let handle = Handle::new(Parts { clock: Arc::<SlowClock>::clone(&clock), ..parts });
        open(&handle, "one", SessionConfig::default());
        let graphql = Arc::new(GraphqlService::new(&Service::new(handle.clone())).expect("sound roots"));
        Scene { handle, clock, graphql }
    }

    /// From now on no query ends within its time; `false` ends this.
    fn slow(&self, is_slow: bool) {
        let each_ms = if is_slow { limits::QUERY_MS.value + 100 } else { 0 };
        self.clock.each_ms.store(each_ms, Ordering::Relaxed);
    }

    fn schedule(&self, of: &str) -> String {
        let new = NewSchedule::message(session(of), When::After(Span::from_millis(3_600_000)), "m");
        let new = NewSchedule { session_live_max: u32::MAX, ..new };
        self.handle.schedule(new).expect("there is room").to_string()
    }

    /// Begins a subscription, or says the answer by which it is refused.
    fn follow(&self, caller: &Caller, query: &str) -> Result<Follower, Value> {
        let begun = Follower::begin(&self.graphql, caller, &GraphqlRequest::new(query));
        begun.map_err(|errors| serde_json::from_str(&refusal(&errors)).expect("JSON"))
    }
}

fn pushed(follower: &mut Follower) -> Vec<Value> {
    let answers = follower.wait().expect("it goes on");
    answers.iter().map(|answer| serde_json::from_str(answer).expect(answer)).collect()
}

/// The data of the one error that is all of an answer.
#[track_caller]
fn only_error(answer: &Value) -> &Value {
    assert_eq!(answer.get("data"), None, "{answer}");
    assert_eq!(answer["errors"].as_array().map(Vec::len), Some(1), "{answer}");
    assert_eq!(answer["errors"][0]["extensions"]["code"], "LIMIT", "{answer}");
    &answer["errors"][0]["extensions"]["data"]
}

const LIST: &str = "subscription { schedules { cursor isWhole changed { scheduleId } removed } }";
const MESSAGES: &str = "subscription { messages(sessionId: \"one\") { text } }";

#[test]
fn a_list_that_takes_too_long_is_an_error_and_no_empty_list() {
    for query in [LIST, MESSAGES] {
        let scene = Scene::new();
        let mut follower = scene.follow(&Caller::OPERATOR, query).expect("it begins");
        if query == LIST {
            assert_eq!(pushed(&mut follower)[0]["data"]["schedules"]["isWhole"], true);
        }
        scene.schedule("one");
        scene.slow(true);
        let answers = pushed(&mut follower);
        assert_eq!(answers.len(), 1, "{answers:?}");
        assert_eq!(only_error(&answers[0])["code"], "stopped", "{query}");
        // What was decided meanwhile is not lost: the client resumes after what it has got.
        assert_eq!(follower.wait(), None, "{query}");
        let refused = scene.follow(&Caller::OPERATOR, query).err().expect("it cannot begin");
        assert_eq!(only_error(&refused)["code"], "stopped", "{query}");
        scene.slow(false);
        assert!(scene.follow(&Caller::OPERATOR, query).is_ok(), "{query}");
    }
}

#[test]
fn a_list_of_more_than_a_query_may_read_is_an_error() {
    let scene = Scene::new();
    let mut follower = scene.follow(&Caller::OPERATOR, LIST).expect("it begins");
    assert_eq!(pushed(&mut follower)[0]["data"]["schedules"]["changed"], json!([]));
    let each = limits::SESSION_SCHEDULES.value;
    for number in 0..=limits::QUERY_ROWS.value / each {
        let of = format!("many{number}");
        open(&scene.handle, &of, SessionConfig::default());
        (0..each).for_each(|_| drop(scene.schedule(&of)));
    }
    let answers = pushed(&mut follower);
    let of_rows = json!({ "limit": "rows", "max": limits::QUERY_ROWS.value });
    let limit = |data: &Value| json!({ "limit": data["limit"], "max": data["max"] });
    assert_eq!(limit(only_error(answers.last().expect("an answer"))), of_rows, "{answers:?}");
    assert_eq!(follower.wait(), None);
    let refused = scene.follow(&Caller::OPERATOR, LIST).err().expect("it cannot begin");
    assert_eq!(limit(only_error(&refused)), of_rows);
    // A part of the list that can be read is followed.
    let some = LIST.replace("schedules {", "schedules(filter: {sessionId: \"many1\"}) {");
    assert!(scene.follow(&Caller::OPERATOR, &some).is_ok());
}

/// To open a subscription is a query. What it pushes later comes when the engine decides, and waits for no query time.
#[test]
fn who_has_used_its_query_time_is_pushed_what_it_follows_and_opens_nothing() {
    let scene = Scene::new();
    let own = token("one");
    let mut follower = scene.follow(&own, LIST).expect("it begins");
    let whole = pushed(&mut follower)[0]["data"]["schedules"].clone();
    assert_eq!((&whole["isWhole"], &whole["changed"]), (&json!(true), &json!([])), "{whole}");
    scene.slow(true);
    let _ = scene.graphql.answer(&own, &GraphqlRequest::new("{ pendingCount }"), true);
    scene.slow(false);
    let used_up = scene.graphql.answer(&own, &GraphqlRequest::new("{ pendingCount }"), true).body;
    assert!(used_up.contains(limits::QUERY_MS_PER_MINUTE.name), "{used_up}");
    let id = scene.schedule("one");
    let patch = pushed(&mut follower)[0]["data"]["schedules"].clone();
    assert_eq!((&patch["changed"], &patch["removed"]), (&json!([{ "scheduleId": id }]), &json!([])));
    let resumed = LIST.replace("schedules {", "schedules(after: \"0\") {");
    for query in [LIST, &resumed, MESSAGES] {
        let refused = scene.follow(&own, query).err().expect("it has no time left");
        assert_eq!(only_error(&refused)["limit"], limits::QUERY_MS_PER_MINUTE.name, "{query}");
    }
    // Events are no query: they begin after a place in the feed.
    assert!(scene.follow(&own, "subscription { events { kind } }").is_ok());
}
