//! When schedules fire and what is told of it: no period fires at its creation, next instants are those that get runs, a zone
//! that nobody knows is refused, and a time without a zone is in the usual one.

use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::calendar::Zones;
use reveille::dialect::Notation;
use reveille::domain::{Caller, HostId, SessionConfig, SessionId, Span, Zone};
use reveille::edn::{Caps, Value, read};
use reveille::runtime::{Handle, Parts, WithoutStore};
use reveille::service::Service;
use reveille::surface::graphql::{GraphqlRequest, GraphqlService};
use reveille::testkit::{SimClock, SimEntropy, Stage};

use crate::simulated::{ask, engine};

const CAPS: Caps = Caps { bytes_max: 1 << 20, depth_max: 16, digits_max: 20, forms_max: 10_000 };

/// The answer of a tool to a session or an operator, as text.
fn tool(handle: &Handle, caller: &Caller, name: &str, args: &str) -> String {
    let args = read(args.as_bytes(), &CAPS).expect(args);
    let answer = Service::new(handle.clone()).call_tool(name, caller, &args, Notation::Edn);
    answer.expect("admitted").expect("a tool").value.to_string()
}

fn graphql(handle: &Handle, query: &str) -> String {
    let service = GraphqlService::new(&Service::new(handle.clone())).expect("sound roots");
    let body = serde_json::json!({ "query": query }).to_string();
    let request = GraphqlRequest::from_json(body.as_bytes()).expect(query);
    service.answer(&Caller::OPERATOR, &request, false).body.clone()
}

fn eql(handle: &Handle, query: &str) -> String {
    ask(handle, &Caller::OPERATOR, query, false)
}

/// Creates a period of six hours, in every language that takes phrases.
const PERIODS: [fn(&Handle) -> String; 5] = [
    |handle| tool(handle, &speaker(), "create", "{:message \"m\" :when \"every 6 hours\"}"),
    |handle| eql(handle, &create(":when \"every 6 hours\"")),
    |handle| eql(handle, &create(":when \"every 6 hours after each finish\"")),
    |handle| eql(handle, &create(":every-ms 21600000")),
    |handle| {
        let input = "{originSessionId: \"s\", kind: MESSAGE, message: \"m\", when: \"every six hours\"}";
        graphql(handle, &format!("mutation {{ createSchedule(input: {input}) {{ created }} }}"))
    },
];

fn create(time: &str) -> String {
    format!(
        "[{{(psi.scheduler/create {{:session-id \"s\" :kind :message :message \"m\" {time}}}) \
         [:psi.scheduler/understood :psi.scheduler/next-fire-at :psi.scheduler/upcoming]}}]"
    )
}

fn speaker() -> Caller {
    Caller::session(SessionId::new("s").expect("an id"))
}

#[test]
fn a_period_never_fires_at_its_creation() {
    for (place, make) in PERIODS.iter().enumerate() {
        for offset in [0, 1, 500, 1_000_000] {
            let (handle, clock) = engine(&["s"]);
            clock.advance(Span::from_nanos(offset));
            let made = make(&handle);
            let delivered = || handle.view(|state| state.ledger().delivered);
            handle.run_due();
            clock.advance(Span::from_nanos(offset));
            handle.run_due();
            assert_eq!(delivered(), 0, "{place} at {offset} ns: {made}");
            clock.advance(Span::from_millis(21_600_000 - 1));
            handle.run_due();
            clock.advance(Span::from_millis(1));
            handle.run_due();
            assert_eq!(delivered(), 1, "{place} at {offset} ns: {made}");
        }
    }
}

#[test]
fn a_stage_runs_what_comes_due_within_a_span() {
    let stage = Stage::seeded(1);
    let handle = Handle::new(stage.parts(Arc::new(HostLocal::new())));
    let session = SessionId::new("s").expect("an id");
    handle.open_session(Some(session), HostId::LOCAL, SessionConfig::default()).expect("room");
    eql(&handle, &create(":when \"every 6 hours\""));
    eql(&handle, &create(":when \"every day at 9\" :durability :durable"));
    let delivered = || handle.view(|state| state.ledger().delivered);
    stage.run_for(&handle, Span::from_millis(3 * 86_400_000));
    assert_eq!(delivered(), 12 + 3, "four each day, and one");
    stage.run_for(&handle, Span::from_millis(6 * 3_600_000 - 1));
    assert_eq!(delivered(), 15, "one millisecond is missing");
    stage.run_for(&handle, Span::from_millis(1));
    assert_eq!(delivered(), 16, "the end of the span belongs to it");
}

/// The instants of an answer, in order.
fn instants(text: &str) -> Vec<&str> {
    text.split('"').filter(|part| part.starts_with("20") && part.ends_with("-00:00")).collect()
}

#[test]
fn the_next_instants_are_those_that_get_runs() {
    let rows = [
        (":when \"every 90 seconds\"", 3),
        (":when \"every 90 seconds\" :lifetime {:max-runs 2}", 2),
        (":every-ms 90000 :lifetime {:max-runs 1}", 1),
        (":when \"every day at 9\" :lifetime {:expires-at #inst \"2026-01-02T09:00:00Z\"}", 1),
        (":when \"in 5 minutes\"", 1),
        (":delay-ms 5000", 1),
        (":cron \"0 9 * * *\"", 3),
    ];
    for (time, count) in rows {
        let (handle, _) = engine(&["s"]);
        let made = eql(&handle, &create(time));
        let told = made.split(":next [").nth(1).and_then(|rest| rest.split(']').next()).expect(&made);
        let told = instants(told);
        assert_eq!(told.len(), count, "{time}: {made}");
        let next = made.split(":psi.scheduler/next-fire-at").nth(1).expect(&made);
        // The attributes are read from the same schedule: to the nanosecond.
        let read = instants(next);
        assert_eq!((read[0], &read[1..]), (told[0], &told[..]), "{time}: {made}");
    }
}

#[test]
fn while_paused_nothing_is_next() {
    let (handle, clock) = engine(&["s"]);
    let made = eql(&handle, &create(":when \"every 90 seconds\" :lifetime {:max-runs 3}"));
    assert_eq!(instants(&made).len(), 3 + 1 + 3, "{made}");
    let list = "[{:psi.scheduler/schedules [:psi.scheduler/schedule-id :psi.scheduler/next-fire-at \
                :psi.scheduler/upcoming {:psi.scheduler/explain [:reveille.explanation/next-fire-at]}]}]";
    clock.advance(Span::from_millis(100_000));
    handle.run_due();
    let after_one = eql(&handle, list);
    assert_eq!(instants(&after_one).len(), 1 + 2 + 1, "{after_one}");
    let id = after_one.split('"').find(|part| part.starts_with("sch-")).expect(&after_one);
    eql(&handle, &format!("[(psi.scheduler/pause {{:schedule-id \"{id}\"}})]"));
    let paused = eql(&handle, list);
    assert!(instants(&paused).is_empty(), "{paused}");
    eql(&handle, &format!("[(psi.scheduler/resume {{:schedule-id \"{id}\"}})]"));
    assert_eq!(instants(&eql(&handle, list)).len(), 4);
}

#[test]
fn a_zone_that_nobody_knows_is_refused_with_the_nearest() {
    let (handle, _) = engine(&["s"]);
    let answers = [
        tool(&handle, &speaker(), "create", "{:message \"m\" :when \"tomorrow at 9\" :zone \"Berlin\"}"),
        tool(&handle, &speaker(), "create", "{:message \"m\" :when \"in 2 hours\" :zone \"Europe/Berlim\"}"),
        tool(&handle, &speaker(), "create", "{:message \"m\" :when \"tomorrow at 9am Berlin time\"}"),
        eql(&handle, &create(":cron \"0 9 * * *\" :zone \"berlin\"")),
        eql(&handle, &create(":trigger {:kind :cron :expr \"0 9 * * *\" :zone \"Berlin\"}")),
        eql(
            &handle,
            &create(":trigger {:kind :calendar :weekdays [:monday] :time \"9:00\" :zone \"Europe/Berln\"}"),
        ),
        graphql(
            &handle,
            "mutation { createSchedule(input: {originSessionId: \"s\", kind: MESSAGE, message: \"m\", when: \"every day at \
             9\", zone: \"Berlin\"}) { created } }",
        ),
    ];
    for answer in &answers {
        assert!(answer.contains("did you mean Europe/Berlin?"), "{answer}");
    }
    assert_eq!(handle.view(reveille::engine::State::live_count), 0);
    // The example of a tool is the call with the zone that is meant.
    assert!(answers[0].contains(":zone \"Europe/Berlin\""), "{}", answers[0]);
    assert!(answers[2].contains(":when \"tomorrow at 9am\" :zone \"Europe/Berlin\""), "{}", answers[2]);
    let args = "{:name \"n\" :prompt \"p\" :schedule {:kind \"daily\" :time \"09:00\" :timezone \"Berlin\"}}";
    let label = tool(&handle, &speaker(), "cron_create", args);
    assert!(label.contains(":status :created") && label.contains("does not know Berlin"), "{label}");
}

#[test]
fn a_time_without_a_zone_is_in_the_usual_one() {
    let zone = |name: &str| Zone::parse(name).expect("a zone");
    let on_machine = Zones::bundled().with_local(zone("Europe/Berlin"));
    let configured = Zones::bundled().with_local(zone("Europe/Berlin")).with_configured("asia/tokyo");
    for (zones, usual, label) in [
        (on_machine, "Europe/Berlin", ":timezone \"local\""),
        (configured.expect("a zone"), "Asia/Tokyo", ":timezone \"Asia/Tokyo\""),
    ] {
        let handle = Handle::new(Parts {
            clock: Arc::new(SimClock::new()),
            entropy: Arc::new(SimEntropy::seeded(1)),
            local: Arc::new(HostLocal::new()),
            zones: Arc::new(zones),
            without_store: WithoutStore::InMemory,
            journal: None,
        });
        let session = SessionId::new("s").expect("an id");
        handle.open_session(Some(session), HostId::LOCAL, SessionConfig::default()).expect("room");
        let shown = Value::string(usual).to_string();
        for time in [
            ":when \"every day at 9\"",
            ":cron \"0 9 * * *\"",
            ":trigger {:kind :calendar :weekdays [:monday] :time \"9:00\"}",
            ":when \"in 5 minutes\"",
        ] {
            let made = eql(&handle, &create(time));
            assert!(made.contains(&format!(":zone {shown}")), "{time}: {made}");
        }
        let made = tool(&handle, &speaker(), "create", "{:message \"m\" :when \"daily at 9\"}");
        assert!(made.contains(&format!(":zone {shown}")) && made.contains(&format!("({usual})")), "{made}");
        let local = tool(&handle, &speaker(), "create", "{:message \"m\" :when \"daily at 9 local\"}");
        assert!(local.contains("at 09:00 (Europe/Berlin)"), "{local}");
        let args = "{:name \"n\" :prompt \"p\" :schedule {:kind \"daily\" :time \"09:00\"}}";
        let job = tool(&handle, &speaker(), "cron_create", args);
        assert!(job.contains(label), "{job}");
        assert_eq!(job.contains(":zone \"Europe/Berlin\""), label.contains("local"), "{job}");
    }
}
