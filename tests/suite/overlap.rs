//! Runs of one schedule that overlap: how many there may be.

use std::sync::Arc;

use reveille::domain::{Caller, SessionId};
use reveille::engine::{Input, Report};
use reveille::limits;
use reveille::runtime::Handle;
use reveille::testkit::SimClock;

use crate::simulated::{ask, engine, session};

/// A busy session and a schedule of each second, whose runs wait for it.
fn scene(policy: &str) -> (Handle, Arc<SimClock>, SessionId) {
    let (handle, clock) = engine(&["s"]);
    let (session, busy) = (session("s"), true);
    handle
        .submit(Input::Report(Report::Busy { session: session.clone(), busy, by: None }))
        .expect("it is open");
    let create = format!(
        "[(psi.scheduler/create {{:session-id \"s\" :kind :message :message \"m\" :every-ms 1000 {policy}}})]"
    );
    let made = ask(&handle, &Caller::OPERATOR, &create, false);
    assert!(made.contains("schedule-id"), "{made}");
    (handle, clock, session)
}

fn pass(handle: &Handle, clock: &SimClock, seconds: u64) {
    for _ in 0..seconds {
        clock.advance(reveille::domain::Span::from_millis(1_000));
        handle.run_due();
    }
}

/// Every one of them is in the schedule's row, which is written again for each.
#[test]
fn no_more_than_so_many_runs_of_a_schedule_wait() {
    let (handle, clock, session) = scene(":policy {:overlap :parallel}");
    let most = limits::RUNS_LIVE.value;
    let accounts = |handle: &Handle| handle.view(|state| (state.ledger().skipped, state.ledger().delivered));
    pass(&handle, &clock, most);
    assert_eq!(accounts(&handle), (0, 0), "each slot has a run that waits");
    pass(&handle, &clock, 10);
    assert_eq!(accounts(&handle), (10, 0), "the others are skipped");
    let busy = false;
    handle.submit(Input::Report(Report::Busy { session, busy, by: None })).expect("it is open");
    handle.run_due();
    assert!(accounts(&handle).1 >= 1, "what waits is delivered");
}

#[test]
fn no_more_than_so_many_runs_are_started_by_hand() {
    let (handle, _, _) = scene(":policy {:overlap :parallel}");
    let id = handle.view(|state| state.schedules()[0].schedule().id.to_string());
    let run = format!("[(psi.scheduler/run-now {{:schedule-id {id:?}}})]");
    for number in 1..=limits::RUNS_LIVE.value {
        let answer = ask(&handle, &Caller::OPERATOR, &run, false);
        assert!(!answer.contains("error"), "{number}: {answer}");
    }
    let refused = ask(&handle, &Caller::OPERATOR, &run, false);
    assert!(refused.contains("limit reached: live-runs is 20 runs"), "{refused}");
}
