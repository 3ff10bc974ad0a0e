//! What an earlier process decided is listed by the next one, with the times in which there was none, and holds that are over.

use std::sync::Arc;

use reveille::domain::{Caller, Cursor, DecisionKind, Downtime, HostId, Moment, Policy, Scope, Span};
use reveille::engine::{Command, Input};
use reveille::port::Clock as _;
use reveille::runtime::{AttachOptions, Handle};
use reveille::testkit::SimHost;

use super::lives::{Lives, every};
use crate::simulated::{ask, token};

const DECISIONS: &str = "[{:reveille.engine/decisions [:reveille.decision/cursor :reveille.decision/kind \
                         :reveille.decision/by :reveille.decision/schedule-id :reveille.decision/slots]}]";

#[test]
fn the_decisions_of_an_earlier_process_are_listed_to_those_whom_they_concern() {
    let lives = Lives::new();
    let mut life = lives.next(0);
    let (one, two) = (life.open("one"), life.open("two"));
    let id = life.create(every(&lives.stage, &one, 10_000, Policy::PLAIN)).expect("it is kept");
    life.create(every(&lives.stage, &two, 10_000, Policy::PLAIN)).expect("it is kept");
    lives.stage.clock.advance(Span::from_millis(10_000));
    life.handle.run_due();
    life.await_kind(DecisionKind::RunDelivered);
    life.await_kind(DecisionKind::RunDelivered);
    let of_one = ask(&life.handle, &token("one"), DECISIONS, false);
    let explain =
        format!("[{{(:reveille/explain {{:schedule-id \"{id}\"}}) [:reveille.explanation/sentence]}}]");
    let explained = ask(&life.handle, &token("one"), &explain, false);
    drop(life);

    let mut life = lives.next(0);
    assert!(of_one.contains(":schedule-created") && of_one.contains(":run-delivered"), "{of_one}");
    assert!(of_one.contains("/slots {:from "), "{of_one}");
    assert_eq!(ask(&life.handle, &token("one"), DECISIONS, false), of_one, "its own, and all of them");
    let of_operator = ask(&life.handle, &Caller::OPERATOR, DECISIONS, false);
    assert_eq!(of_operator.matches(":schedule-created").count(), 2, "{of_operator}");
    assert!(of_operator.contains(":engine-awoke"), "{of_operator}");
    // A subscriber gets those of this process, and learns that it has missed some.
    let batch = life.feed.poll(1_000);
    assert!(batch.truncated && !batch.decisions.iter().any(|it| it.kind == DecisionKind::ScheduleCreated));
    // An explanation concludes from what is missing, so it reads the log and not the list.
    assert_eq!(ask(&life.handle, &token("one"), &explain, false), explained);
    drop(life);

    // What has closed and opened again is another session, and sees nothing of the earlier one.
    let life = lives.next(0);
    let close = Command::CloseSession { session: one, by: None };
    life.handle.submit(Input::Command(close)).expect("it is open");
    life.open("one");
    let of_one = ask(&life.handle, &token("one"), DECISIONS, false);
    assert!(!of_one.contains(":schedule-created"), "{of_one}");
}

#[test]
fn downtimes_and_holds_that_are_over_are_listed() {
    const ASKED: &str = "[:reveille.engine/downtimes :reveille.engine/past-holds]";
    let lives = Lives::new();
    let life = lives.next(0);
    life.open("one");
    let told = ask(&life.handle, &Caller::OPERATOR, ASKED, false);
    assert_eq!(told, "{:reveille.engine/downtimes [] :reveille.engine/past-holds []}");
    let hold = Command::HoldAll { by: Scope::Operator.into(), reason: Some("an incident".into()) };
    life.handle.submit(Input::Command(hold)).expect("it is kept");
    let from = lives.stage.clock.now().wall;
    lives.stage.clock.advance(Span::from_millis(60_000));
    life.handle
        .submit(Input::Command(Command::ReleaseAll { by: Scope::Operator.into() }))
        .expect("it is kept");
    let until = lives.stage.clock.now().wall;
    drop(life);

    let handle = Handle::new(lives.stage.parts(Arc::new(SimHost::new(&lives.stage, HostId::LOCAL))));
    let downs = [Downtime { from, until }].into();
    handle
        .attach_store(lives.store.clone(), AttachOptions { downs, ..AttachOptions::default() })
        .expect("the store is sound");
    let told = ask(&handle, &Caller::OPERATOR, ASKED, false);
    let shown = |at: Moment| at.to_string()[..19].to_owned();
    for words in ["\"an incident\"".to_owned(), shown(from), shown(until), ":by \"operator\"".to_owned()] {
        assert!(told.contains(&words), "{words} in {told}");
    }
    assert_eq!(told.matches(&shown(from)).count(), 2, "{told}");
    let told = ask(&handle, &token("one"), ASKED, false);
    assert!(told.contains(&shown(from)), "a session may know why nothing came: {told}");
    assert!(handle.subscribe(Cursor::START).poll(10).truncated);
}
