//! What had ended when its session was closed exists no more for a later session of that id, whatever is asked about it.

use reveille::domain::Caller;

use super::lives::Lives;
use crate::simulated::{ask, token};

/// Each names a schedule by `ID`.
const CALLS: [&str; 10] = [
    "[(psi.scheduler/cancel {:schedule-id \"ID\"})]",
    "[(psi.scheduler/reschedule {:schedule-id \"ID\" :label \"mine\"})]",
    "[(psi.scheduler/pause {:schedule-id \"ID\"})]",
    "[(psi.scheduler/resume {:schedule-id \"ID\"})]",
    "[(psi.scheduler/retry {:schedule-id \"ID\"})]",
    "[(psi.scheduler/run-now {:schedule-id \"ID\"})]",
    "[{(:reveille/what-if {:schedule-id \"ID\" :delay-ms 60000}) [:reveille.slot/at]}]",
    "[{(:reveille/what-if {:schedule-id \"ID\" :zone \"Europe/Berlin\"}) [:reveille.slot/at]}]",
    "[{(:reveille/explain {:schedule-id \"ID\"}) [:reveille.explanation/sentence]}]",
    "[{[:psi.scheduler/schedule-id \"ID\"] [:psi.scheduler/status]}]",
];

#[test]
fn what_an_earlier_session_left_is_none_for_a_later_one_of_its_id() {
    let lives = Lives::new();
    let life = lives.next(0);
    let owner = life.open("one");
    let made = ask(
        &life.handle,
        &Caller::OPERATOR,
        "[{(psi.scheduler/create {:session-id \"one\" :kind :message :message \"m\" :when \"in 1 hour\" :durability :durable}) \
         [:psi.scheduler/schedule-id]}]",
        false,
    );
    let left = made.split('"').nth(1).expect("an id").to_owned();
    let cancelled = ask(&life.handle, &token("one"), &CALLS[0].replace("ID", &left), false);
    assert!(!cancelled.contains("error"), "{cancelled}");
    life.handle.close_session(&owner).expect("it is open");
    life.open("one");
    for call in CALLS {
        let answer = |caller: &Caller, id: &str| {
            ask(&life.handle, caller, &call.replace("ID", id), true).replace(id, "ID")
        };
        let absent = format!("{}x", &left[..left.len() - 1]);
        assert_eq!(answer(&token("one"), &left), answer(&token("one"), &absent), "{call}");
        assert_ne!(answer(&Caller::OPERATOR, &left), answer(&Caller::OPERATOR, &absent), "{call}");
    }
}

/// A key belongs to the session under which it was used: a later one of its id gets what it asks for, and learns nothing.
#[test]
fn a_key_ends_with_its_session() {
    let lives = Lives::new();
    let life = lives.next(0);
    let owner = life.open("one");
    let ask = |query: &str| ask(&life.handle, &token("one"), query, true);
    let create = || {
        ask("[(psi.scheduler/create {:kind :message :message \"m\" :when \"in 1 hour\" :durability :durable \
             :idempotency-key \"k\"})]")
    };
    let (first, again) = (create(), create());
    assert!(first.contains(":psi.scheduler/created? true"), "{first}");
    assert!(again.contains(":psi.scheduler/created? false"), "{again}");
    let id = first.split('"').find(|part| part.starts_with("sch-")).expect("an id");
    ask(&CALLS[0].replace("ID", id));
    life.handle.close_session(&owner).expect("it is open");
    life.open("one");
    let anew = create();
    assert!(anew.contains(":psi.scheduler/created? true") && !anew.contains(id), "{anew}");
}
