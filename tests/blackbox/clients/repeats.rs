//! The same creation asked for twice (T55): one schedule, over HTTP, GraphQL and the EDN stream, whatever was lost between.

use std::time::Duration;

use reveille::edn::{Map, Value};

use crate::harness::ask::{later, note_created, only};
use crate::harness::daemon::{Daemon, Home, at, pass, text, until, wall};
use crate::harness::load::Dice;
use crate::harness::stream::{Harness, Stream};

fn query(key: &str, rest: &str) -> String {
    format!(
        "[{{(psi.scheduler/create {{:kind :message :session-id \"main\" :durability :durable :idempotency-key {key:?} {rest}}}) \
         [:psi.scheduler/schedule-id :psi.scheduler/created?]}}]"
    )
}

/// Id and whether it was made.
fn made(answer: &Map) -> (String, bool) {
    let made = only(answer);
    let id = text(made, &["psi.scheduler/schedule-id"]).unwrap_or_else(|| panic!("{answer:?}"));
    let created = at(made, &["psi.scheduler/created?"]).and_then(Value::as_bool).expect("a boolean");
    (id.to_owned(), created)
}

fn code(answer: &Map) -> Option<&str> {
    text(answer, &["reveille.error/why", "code"])
}

/// A daemon with one session, of the built-in host.
fn start(home: &Home) -> Daemon {
    let daemon = Daemon::start(home);
    daemon.eql("[(psi.agent-session/open {:session-id \"main\" :listens? true})]");
    daemon
}

fn count(daemon: &Daemon) -> i64 {
    let answer = daemon.eql("[:psi.scheduler/schedule-count]");
    at(&answer, &["psi.scheduler/schedule-count"]).and_then(Value::as_int).expect("a number")
}

/// A request, and another that says something else.
fn bodies() -> [(&'static str, String, String); 9] {
    let soon = later(wall(), 2_000);
    [
        ("delay", ":message \"m\" :delay-ms 2000".to_owned(), ":message \"m\" :delay-ms 2001".to_owned()),
        (
            "at",
            format!(":message \"m\" :at \"{soon}\""),
            format!(":message \"m\" :at \"{}\"", later(soon, 1)),
        ),
        (
            "past",
            ":message \"m\" :at \"2020-01-01T00:00:00Z\" :if-past :fire-now".into(),
            ":message \"m\" :delay-ms 1".into(),
        ),
        ("every", ":message \"m\" :every-ms 60000".into(), ":message \"m\" :every-ms 60001".into()),
        ("cron", ":message \"m\" :cron \"0 4 1 1 *\"".into(), ":message \"m\" :cron \"0 5 1 1 *\"".into()),
        (
            "phrase",
            ":message \"m\" :when \"in 1 minute\"".into(),
            ":message \"m\" :when \"in 2 minutes\"".into(),
        ),
        ("text", ":message \"m\" :delay-ms 60000".into(), ":message \"n\" :delay-ms 60000".into()),
        (
            "policy",
            ":message \"m\" :delay-ms 60000".into(),
            ":message \"m\" :delay-ms 60000 :policy {:missed :skip}".into(),
        ),
        (
            "durability",
            ":message \"m\" :delay-ms 60000".into(),
            ":message \"m\" :delay-ms 60000 :durability :volatile".into(),
        ),
    ]
}

#[test]
fn a_repeat_is_the_same_schedule_and_another_request_is_a_conflict() {
    let home = Home::new("repeats");
    let daemon = start(&home);
    let mut stream = Stream::connect(&daemon.socket).expect("it lives");
    let bodies = bodies();
    let ask = |key: &str, body: &str| {
        let query = query(key, body);
        // The last word on durability counts.
        let query =
            if body.contains(":volatile") { query.replacen(":durability :durable ", "", 1) } else { query };
        daemon.eql(&query)
    };
    let first: Vec<String> = bodies
        .iter()
        .map(|(key, body, _)| {
            let (id, created) = made(&ask(key, body));
            assert!(created, "{key}");
            id
        })
        .collect();
    let has_ended = |id: &str| {
        let status =
            daemon.eql(&format!("[{{[:psi.scheduler/schedule-id {id:?}] [:psi.scheduler/status]}}]"));
        only(&status).keyword("psi.scheduler/status") == Some(&Value::keyword("delivered"))
    };
    // At once, and again when the short ones have fired and their instants have passed.
    for round in ["at once", "when it has fired"] {
        for ((key, body, other), id) in bodies.iter().zip(&first) {
            assert_eq!(made(&ask(key, body)), (id.clone(), false), "{key} {round}");
            let streamed = stream.eql(&query(key, body)).expect("it lives").expect("it is the same");
            assert_eq!(made(&streamed), (id.clone(), false), "{key} {round}, over the stream");
            // A key ends with its schedule.
            if has_ended(id) {
                continue;
            }
            let conflict = ask(key, other);
            // An instant that lay ahead for the first request lies ahead for the second.
            assert_eq!(code(&conflict), Some("CONFLICT"), "{key} {round}: {conflict:?}");
        }
        assert_eq!(count(&daemon), i64::try_from(bodies.len()).expect("few"), "{round}");
        let delivered = "[{(:psi.scheduler/schedules {:status [:delivered]}) [:psi.scheduler/schedule-id]}]";
        until("the short ones have fired", Duration::from_secs(10), || {
            daemon
                .eql(delivered)
                .keyword("psi.scheduler/schedules")
                .and_then(Value::as_items)
                .map(<[Value]>::len)
                == Some(3)
        });
    }
    let ended: Vec<_> = bodies.iter().zip(&first).filter(|(_, id)| has_ended(id)).collect();
    assert_eq!(ended.len(), 3);
    for ((key, _, other), id) in ended {
        // Its time may have passed for good by now; what matters is that the key is free.
        let answer = ask(key, other);
        assert_ne!(code(&answer), Some("CONFLICT"), "{key}: {answer:?}");
        if code(&answer).is_none() {
            let (next, is_new) = made(&answer);
            assert!(is_new && next != *id, "{key}: {answer:?}");
        }
    }
}

#[test]
fn a_repeat_in_graphql_is_known_too() {
    let home = Home::new("repeats-graphql");
    let daemon = start(&home);
    let create = |message: &str| {
        daemon.graphql(&format!(
            "mutation {{ createSchedule(input: {{originSessionId: \"main\", kind: MESSAGE, message: {message:?}, \
             delayMs: 60000, durability: DURABLE, idempotencyKey: \"k\"}}) {{ created schedule {{ scheduleId }} }} }}"
        ))
    };
    let (first, again, other) = (create("m"), create("m"), create("n"));
    let made = |answer: &serde_json::Value| answer["data"]["createSchedule"].clone();
    assert_eq!(made(&first)["created"], true, "{first}");
    assert_eq!(made(&again)["created"], false, "{again}");
    assert_eq!(made(&first)["schedule"], made(&again)["schedule"]);
    assert_eq!(other["errors"][0]["extensions"]["code"], "CONFLICT", "{other}");
}

#[test]
fn a_lost_answer_makes_no_second_schedule() {
    let home = Home::new("repeats-lost");
    let daemon = start(&home);
    for number in 0..20 {
        let query = query(&format!("k-{number}"), ":message \"m\" :delay-ms 60000");
        // Hung up before the answer is read.
        drop(daemon.post("POST /eql", &["Content-Type: application/edn"], &query));
        let (first, _) = made(&daemon.eql(&query));
        assert_eq!(made(&daemon.eql(&query)), (first, false));
    }
    // The one that was hung up on may be on its way still; it finds its repeat there.
    assert_eq!(count(&daemon), 20);
    daemon.kill();
    assert_eq!(count(&Daemon::start(&home)), 20);
}

/// Killed at a random moment after the request was sent: before it was decided on, on its way to the disk, on disk and not
/// answered. Then it is asked again.
#[test]
fn a_kill_between_commit_and_answer_makes_no_second_schedule() {
    let home = Home::new("repeats-killed");
    let mut dice = Dice::new(7);
    let (mut kept, mut unanswered, mut fired) = (0, 0, Vec::new());
    for number in 0..12 {
        let daemon = Daemon::start(&home);
        let harness = Harness::attach(&daemon.socket, &["main".to_owned()]).expect("it lives");
        let query = query(&format!("k-{number}"), &format!(":message \"m\" :at \"{}\"", later(wall(), 300)));
        let posted = daemon.post("POST /eql", &["Content-Type: application/edn"], &query);
        pass(Duration::from_micros(dice.below(8_000)));
        daemon.kill();
        drop(posted);
        fired.extend(harness.finish());
        let daemon = Daemon::start(&home);
        let harness = Harness::attach(&daemon.socket, &["main".to_owned()]).expect("it lives");
        let answer = daemon.eql(&query);
        // Its instant may have passed by now: then it was kept, and is known, or it never was and comes too late.
        if let Some(code) = code(&answer) {
            assert_eq!(code, "VALIDATION", "{answer:?}");
        } else {
            let (id, created) = made(&answer);
            note_created(&mut Stream::connect(&daemon.socket).expect("it lives"), &id);
            unanswered += i64::from(!created);
            kept += 1;
            until("it fires", Duration::from_secs(5), || {
                fired.extend(harness.next(Duration::from_millis(20)));
                fired.iter().any(|receipt| receipt.run.schedule.to_string() == id)
            });
        }
        assert_eq!(count(&daemon), kept, "one for each that was kept");
        daemon.kill();
        fired.extend(harness.finish());
    }
    println!("{unanswered} of 12 were on disk when the daemon was killed before it could say so");
    let mut runs: Vec<String> = fired.iter().map(|receipt| receipt.run.to_string()).collect();
    runs.sort();
    runs.dedup();
    assert_eq!(runs.len(), usize::try_from(kept).expect("few"), "each under one run id");
    home.assert_sound();
    home.assert_history();
}
