//! The past: what is told of it is true, and nobody reads another's.

use reveille::edn::{Map, Value};
use reveille::limits;
use reveille_checker::Moment;

use crate::attacks::agent::{Agent, is_done, transcript};
use crate::faults::time_lapse::TimeLapse;
use crate::harness::ask::create_in;
use crate::harness::daemon::{Daemon, Home, PATIENCE, at, until};
use crate::harness::stream::Stream;

/// A question about what was, by the agent's token: what was answered, refusals too.
fn ask_as_of(agent: &Agent<'_>, query: &str, then: &str) -> String {
    agent.eql(&format!("{{:pathom/eql {query} :reveille/as-of {then:?}}}")).body
}

fn engine_now(daemon: &Daemon) -> String {
    let now = daemon.eql("[:reveille.engine/now]");
    at(&now, &["reveille.engine/now"]).and_then(Value::as_inst).expect("an instant").to_string()
}

/// An operator reuses the id of a closed session, as `main` is; the new session's token asks what was in the old one.
#[test]
fn an_id_that_is_used_again_opens_no_past() {
    let home = Home::new("attack-reused");
    let daemon = Daemon::start(&home);
    let before = Agent::open(&daemon, "main");
    let id = before.create(":kind :message :message \"SECRET transfer\" :delay-ms 1000 :durability :durable");
    let then = engine_now(&daemon);
    until("it is delivered", PATIENCE, || !transcript(&daemon, "main").is_empty());
    let mut operator = Stream::connect(&daemon.socket).expect("it lives");
    assert!(is_done(&operator.ask("{:op :session/close :session-id \"main\"}").expect("it lives")));
    let after = Agent::open(&daemon, "main");
    let list = "[{:psi.scheduler/schedules [:psi.scheduler/message :psi.scheduler/label]}]";
    let told = [
        ask_as_of(&after, list, &then),
        after
            .eql("[{:reveille.engine/decisions [:reveille.decision/detail :reveille.decision/schedule-id]}]")
            .body,
        after.eql(&format!("[{{[:psi.scheduler/schedule-id {id:?}] [:psi.scheduler/message]}}]")).body,
    ];
    assert!(
        !told.iter().any(|told| told.contains("SECRET")),
        "the past of another session is told: {told:?}"
    );
    assert!(!told[1].contains(&id), "decisions of another session are told: {}", told[1]);
}

/// The facts about an edited schedule age out of the log; the past is then told as the schedule stands today, as if complete.
#[test]
fn the_past_is_told_as_it_was_or_not_at_all() {
    let home = Home::new("attack-past");
    let start = Moment::parse("2030-01-01T00:00:00Z").expect("an instant");
    let Some(mut lapse) = TimeLapse::new(&home, start) else { return };
    let daemon = Daemon::start_with(&home, lapse.on(&mut home.serve()));
    let (_alice, bob) = (Agent::open(&daemon, "alice"), Agent::open(&daemon, "bob"));
    let id = bob.create(
        ":kind :message :message \"v1\" :durability :durable :trigger {:kind :at :at \"2031-01-01T00:00:00Z\"}",
    );
    let before = [(); 2].map(|()| {
        let then = lapse.now().to_string();
        // Answers are of whole milliseconds at best, so each instant has one of its own.
        until("time passes", PATIENCE, || lapse.now().to_string()[..23] != then[..23]);
        then
    });
    let edit = format!("[(psi.scheduler/reschedule {{:schedule-id {id:?} :message \"v2\"}})]");
    assert!(bob.eql(&edit).body.contains("psi.scheduler/reschedule"));
    let query = "[:reveille.engine/untold {:psi.scheduler/schedules [:psi.scheduler/message]}]";
    let told = ask_as_of(&bob, query, &before[0]);
    assert!(told.contains("\"v1\"") && told.contains("untold 0"), "while the facts are there: {told}");
    // The log ages by blocks of so many facts, and a few of them go with each write.
    let mut operator = Stream::connect(&daemon.socket).expect("it lives");
    let mut write = |count: u64| {
        for _ in 0..count {
            create_in(&mut operator, "alice", ":message \"m\" :durability :durable :delay-ms 80000000")
                .expect("room");
        }
    };
    write(1_024);
    let month = i64::try_from(limits::HISTORY_DAYS.value + 1).expect("days") * 86_400;
    lapse.leap(Moment::new(start.seconds() + month, 0).expect("in range"));
    write(4 * 1_024 / limits::HISTORY_PRUNED.value);
    // Not the instant that was asked before: that past may still be in memory.
    let told = ask_as_of(&bob, query, &before[1]);
    assert!(!told.contains("\"v2\""), "the edit is told of a time before it: {told}");
}

/// Thousands of edits in seconds push all other facts out of the log that all sessions share.
#[test]
fn edits_have_a_rate() {
    let home = Home::new("attack-edits");
    let daemon = Daemon::start(&home);
    let alice = Agent::open(&daemon, "alice");
    let id = alice.create(":kind :message :message \"m\" :delay-ms 60000");
    let most = limits::CHANGES_PER_MINUTE.value;
    let mut stream = alice.stream();
    // Changes a minute count continuously, so a slow run is allowed a few more.
    let refused = (0..2 * most).find_map(|number| {
        let args = format!("{{:id {id:?} :label \"l{number}\"}}");
        let answer = stream.ask(&format!("{{:op :call :tool \"update\" :args {args}}}")).expect("it lives");
        refusal(&answer).filter(|why| why.contains("LIMIT"))
    });
    assert!(refused.is_some(), "one session made {} edits without a pause", 2 * most);
}

fn refusal(answer: &Map) -> Option<String> {
    let told = Value::from(answer.clone()).to_string();
    told.contains("error").then_some(told)
}
