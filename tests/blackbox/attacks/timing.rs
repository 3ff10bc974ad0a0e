//! What another session has, and what never was, answer alike also in time.
//!
//! The two are asked for in turn on one connection, so that whatever else the machine does meets both. The share of pairs in
//! which the foreign one took longer is then near one half, however fast the machine is.

use std::time::Duration;

use crate::attacks::agent::Agent;
use crate::harness::daemon::{Daemon, Home, now};

/// What an agent asks about an id, as a request of its stream.
const ASKED: [(&str, &str); 7] = [
    ("explain", r#":op :call :tool "explain" :args {:schedule-id "ID"}"#),
    ("cancel", r#":op :call :tool "cancel" :args {:schedule-id "ID"}"#),
    ("update", r#":op :call :tool "update" :args {:schedule-id "ID" :label "mine"}"#),
    ("psi-tool", r#":op :call :tool "psi-tool" :args {:action "scheduler" :op "cancel" :schedule-id "ID"}"#),
    ("cron_get", r#":op :call :tool "cron_get" :args {:job-id "ID"}"#),
    (
        "EQL",
        r#":op :eql :query [{[:psi.scheduler/schedule-id "ID"] [:psi.scheduler/message :psi.scheduler/status]}]"#,
    ),
    ("EQL, change", r#":op :eql :query [(psi.scheduler/cancel {:schedule-id "ID"})]"#),
];

const SCHEDULES: usize = 40;

/// An even number, so that each of the two goes first equally often: the first of two requests is the slower one where the
/// machine has to wake up for it. All requests of a measurement stay below the rate of one agent.
const ROUNDS: usize = 6;

/// Of what share one measurement is taken for noise. With nothing to see, one on a quiet machine is outside it one time in ten.
const FAIR: std::ops::RangeInclusive<f64> = 0.4..=0.6;

/// What an agent can learn from time is there in every measurement; what the machine did is not.
const MEASUREMENTS: usize = 5;

#[test]
fn a_foreign_schedule_takes_as_long_as_one_that_never_was() {
    let home = Home::new("attack-timing");
    let daemon = Daemon::start(&home);
    let bob = Agent::open(&daemon, "bob");
    let make = |_| bob.create(":kind :message :message \"secret\" :delay-ms 80000000 :durability :durable");
    let theirs: Vec<String> = (0..SCHEDULES).map(make).collect();
    for (row, (name, request)) in ASKED.into_iter().enumerate() {
        let shares: Vec<f64> = (0..MEASUREMENTS)
            .map(|number| {
                let agent = Agent::open(&daemon, &format!("alice-{row}-{number}"));
                measured(&agent, name, request, &theirs)
            })
            .take_while(|share| !FAIR.contains(share))
            .collect();
        assert!(shares.len() < MEASUREMENTS, "{name}: foreign ones took longer in {shares:.3?} of all pairs");
    }
}

/// In which share of all pairs what is another session's took longer than what never was.
fn measured(agent: &Agent<'_>, name: &str, request: &str, theirs: &[String]) -> f64 {
    let mut stream = agent.stream();
    let mut ask = |id: &str| {
        let began = now();
        let answer = stream.ask(&format!("{{{}}}", request.replace("ID", id))).expect("it lives");
        let took = began.elapsed_here();
        // Without the number of the request.
        let told = answer.keyword("error").or_else(|| answer.keyword("ok"));
        (format!("{told:?}").replace(id, "ID"), took)
    };
    let (mut foreign, mut never) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        for theirs in theirs {
            let nobodys = absent(theirs);
            let ((told, took), (untold, other)) = if round % 2 == 0 {
                let first = ask(theirs);
                (first, ask(&nobodys))
            } else {
                let first = ask(&nobodys);
                (ask(theirs), first)
            };
            assert_eq!(told, untold, "{name}");
            foreign.push(took);
            never.push(other);
        }
    }
    slower(&foreign, &never)
}

/// An id of the same form that no schedule has.
fn absent(id: &str) -> String {
    let (rest, last) = id.split_at(id.len() - 1);
    format!("{rest}{}", if last == "0" { '1' } else { '0' })
}

/// In which share of all pairs the first took longer.
fn slower(these: &[Duration], those: &[Duration]) -> f64 {
    let longer = |this: &Duration| those.iter().filter(|that| this > that).count();
    let pairs = u32::try_from(these.len() * those.len()).expect("some thousands");
    let count = u32::try_from(these.iter().map(longer).sum::<usize>()).expect("some thousands");
    f64::from(count) / f64::from(pairs)
}
