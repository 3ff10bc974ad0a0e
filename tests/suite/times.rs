//! When schedules fire and what is told of it: no period fires at its creation, next instants are those that get runs, a zone
//! that nobody knows is refused, and a time without a zone is in the usual one.

use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::calendar::Zones;
use reveille::dialect::Notation;
use reveille::domain::{Caller, HostId, Moment, SessionConfig, SessionId, Span, Zone};
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

/// What counts from the ends of runs leaves the grid with the first one that is late.
#[test]
fn the_next_instants_after_a_late_run_count_from_its_end() {
    let (handle, clock) = engine(&["s"]);
    eql(
        &handle,
        &create(
            ":trigger {:kind :every :period-ms 90000 :anchor \"2026-01-01T00:01:30Z\" \
                         :from :finish}",
        ),
    );
    handle.run_due();
    clock.advance(Span::from_millis(100_000));
    handle.run_due();
    let list = eql(&handle, "[{:psi.scheduler/schedules [:psi.scheduler/upcoming]}]");
    let told: Vec<Moment> =
        instants(&list).into_iter().map(|text| Moment::parse(text).expect("an instant")).collect();
    let expected: Vec<Moment> = [90_000, 180_000, 270_000]
        .iter()
        .map(|millis| handle.now().wall.checked_add(Span::from_millis(*millis)).expect("near"))
        .collect();
    assert_eq!(told, expected, "{list}");
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

/// An engine on a machine in Berlin.
fn in_berlin(configured: Option<&str>) -> Handle {
    let zones = Zones::bundled().with_local(Zone::parse("Europe/Berlin").expect("a zone"));
    let zones = match configured {
        Some(name) => zones.with_configured(name).expect("a zone"),
        None => zones,
    };
    Handle::new(Parts {
        clock: Arc::new(SimClock::new()),
        entropy: Arc::new(SimEntropy::seeded(1)),
        local: Arc::new(HostLocal::new()),
        zones: Arc::new(zones),
        without_store: WithoutStore::InMemory,
        journal: None,
    })
}

/// The zone of a call that names none: the session's, or else the configured one, or else the machine's. In every language and
/// tool, and told.
#[test]
fn a_time_without_a_zone_is_in_the_usual_one() {
    for (of_session, configured, usual, label) in [
        ("", None, "Europe/Berlin", "local"),
        ("", Some("asia/tokyo"), "Asia/Tokyo", "Asia/Tokyo"),
        (":zone \"america/new_york\"", None, "America/New_York", "America/New_York"),
        (":zone \"america/new_york\"", Some("Asia/Tokyo"), "America/New_York", "America/New_York"),
        (":zone \"local\"", Some("Asia/Tokyo"), "Europe/Berlin", "local"),
    ] {
        let handle = in_berlin(configured);
        eql(
            &handle,
            &format!("[(psi.agent-session/open {{:session-id \"s\" :listens? true {of_session}}})]"),
        );
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
        let created = "mutation { createSchedule(input: {originSessionId: \"s\", kind: MESSAGE, message: \"m\", when: \
                       \"every day at 9\"}) { understood { zone } } }";
        let made = graphql(&handle, created);
        assert!(made.contains(&format!("\"zone\":{shown}")), "{made}");
        let made = tool(&handle, &speaker(), "create", "{:message \"m\" :when \"daily at 9\"}");
        assert!(made.contains(&format!(":zone {shown}")) && made.contains(&format!("({usual})")), "{made}");
        let id = made.split('"').find(|part| part.starts_with("sch-")).expect(&made);
        let args = format!("{{:schedule_id \"{id}\" :when \"daily at 10\"}}");
        let changed = tool(&handle, &speaker(), "update", &args);
        assert!(changed.contains(&format!("({usual})")), "{changed}");
        let changed = eql(
            &handle,
            &format!("[(psi.scheduler/reschedule {{:schedule-id \"{id}\" :when \"daily at 11\"}})]"),
        );
        assert!(
            changed.contains(&format!(":zone {shown}")),
            "an operator means the zone of its session: {changed}"
        );
        let local = tool(&handle, &speaker(), "create", "{:message \"m\" :when \"daily at 9 local\"}");
        assert!(local.contains("at 09:00 (Europe/Berlin)"), "{local}");
        let schedule = ":schedule {:kind \"daily\" :time \"09:00\"}";
        let args = format!("{{:name \"n\" :prompt \"p\" {schedule}}}");
        let job = tool(&handle, &speaker(), "cron_create", &args);
        assert!(job.contains(&format!(":timezone \"{label}\"")), "{job}");
        assert_eq!(job.contains(":zone \"Europe/Berlin\""), label == "local", "{job}");
        for name in ["session_id", "session-id"] {
            let target = format!(":target {{:kind \"session\" :{name} \"s\"}}");
            let args = format!("{{:name \"n\" :prompt \"p\" {schedule} {target}}}");
            let job = tool(&handle, &Caller::OPERATOR, "cron_create", &args);
            assert!(job.contains(&format!(":timezone \"{label}\"")), "the session that it goes to: {job}");
        }
    }
}

#[test]
fn the_zone_of_a_session_is_told_inherited_and_checked() {
    let (handle, clock) = engine(&["s"]);
    for wrong in ["Berlin", "EST"] {
        let refused =
            eql(&handle, &format!("[(psi.agent-session/open {{:session-id \"x\" :zone \"{wrong}\"}})]"));
        assert!(refused.contains("Europe/Berlin") || refused.contains("America/New_York"), "{refused}");
    }
    assert!(handle.view(|state| state.sessions().len()) == 1, "nothing was opened");
    let open =
        "mutation { openSession(sessionId: \"x\", zone: \"asia/tokyo\", listens: true) { sessionId } }";
    let opened = graphql(&handle, open);
    assert!(opened.contains("\"x\""), "{opened}");
    let zones = "[{:psi.agent-session/sessions [:psi.agent-session/session-id :psi.agent-session/zone]}]";
    let told = eql(&handle, zones);
    assert!(told.contains("/zone nil") && told.contains("/zone \"Asia/Tokyo\""), "{told}");
    // A fresh session of its schedules means the same zone.
    let fresh = "[(psi.scheduler/create {:session-id \"x\" :kind :session :message \"m\" :delay-ms 1000})]";
    let made = eql(&handle, fresh);
    assert!(made.contains(":psi.scheduler/created? true"), "{made}");
    clock.advance(Span::from_millis(1_000));
    handle.run_due();
    assert_eq!(eql(&handle, zones).matches("\"Asia/Tokyo\"").count(), 2);
}

/// To the time zone database EST is five hours behind all year, and people mean the clock of New York.
#[test]
fn abbreviations_without_summer_time_are_not_taken_for_zones() {
    let (handle, _) = engine(&["s"]);
    for (name, zone) in [("EST", "America/New_York"), ("mst", "America/Denver"), ("HST", "Pacific/Honolulu")]
    {
        let said = format!("say {zone}");
        for answer in [
            tool(
                &handle,
                &speaker(),
                "create",
                &format!("{{:message \"m\" :when \"daily at 9\" :zone \"{name}\"}}"),
            ),
            tool(&handle, &speaker(), "create", &format!("{{:message \"m\" :when \"daily at 9 {name}\"}}")),
            eql(&handle, &create(&format!(":cron \"0 9 * * *\" :zone \"{name}\""))),
        ] {
            assert!(answer.contains(&said) && answer.contains("all year"), "{answer}");
        }
        // The seed takes every label, and is warned.
        let schedule = format!(":schedule {{:kind \"daily\" :time \"09:00\" :timezone \"{name}\"}}");
        let args = format!("{{:name \"n\" :prompt \"p\" {schedule}}}");
        let job = tool(&handle, &speaker(), "cron_create", &args);
        assert!(job.contains(":status :created") && job.contains(&said), "{job}");
    }
    assert_eq!(handle.view(reveille::engine::State::live_count), 3);
}
