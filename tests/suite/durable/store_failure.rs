//! A store that cannot be written: the graph says since when and why, and what waits for it.

use reveille::domain::{Caller, HostId, Refusal, ScheduleId, SessionId, Span, Status};
use reveille::engine::{Command, Input, NewSchedule};
use reveille::port::Store;
use reveille::testkit::{DiskFault, StoreMemory};

use super::lives::{ByHand, Lives, durable, message};
use crate::simulated::ask;

fn create(id: &str, owner: &SessionId) -> Command {
    let id = Some(ScheduleId::new(id).expect("an id"));
    Command::CreateSchedule(durable(NewSchedule { id, ..message(owner, 10_000) }))
}

fn asked(life: &ByHand, query: &str) -> String {
    ask(&life.handle, &Caller::OPERATOR, query, false).replace(", ", " ")
}

fn explained(life: &ByHand) -> String {
    let query = "[{(:reveille/explain {:schedule-id \"sch-due\"}) [:reveille.explanation/sentence]}]";
    ask(&life.handle, &Caller::OPERATOR, query, false)
}

const STANDING: &str = "[:reveille.engine/mode :reveille.engine/store-failure]";
const REASON: &str = "[{[:psi.scheduler/schedule-id \"sch-due\"] [:psi.scheduler/reason]} \
                      {[:psi.scheduler/schedule-id \"sch-aside\"] [:psi.scheduler/reason]}]";
const FORECAST: &str =
    "[{(:reveille/forecast {:schedule-id \"sch-due\"}) [:reveille.slot/will :reveille.slot/reason]}]";

#[test]
fn a_store_that_cannot_be_written_says_so_and_what_waits_for_it() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    let owner = life.open(HostId::LOCAL);
    life.ask(create("sch-due", &owner)).wait().expect("it is kept");
    let id = Some(ScheduleId::new("sch-aside").expect("an id"));
    life.handle.schedule(NewSchedule { id, ..message(&owner, 3_600_000) }).expect("it needs no store");
    let well = asked(&life, STANDING);
    assert!(well.contains("mode :running") && well.contains("store-failure nil"), "{well}");
    lives.stage.clock.advance(Span::from_millis(5_000));
    let failed_at = asked(&life, "[:reveille.engine/now]");
    let failed_at = failed_at.split('"').nth(1).expect("an instant");
    lives.store.fail_as(DiskFault::Full);
    assert!(life.ask(create("sch-refused", &owner)).wait().is_err());
    life.answers.publish();
    // What comes after it is refused at once, and says once what is wrong.
    let said = life.handle.submit(Input::Command(create("sch-later", &owner)));
    let Err(refusal @ Refusal::StoreUnavailable { .. }) = said else { unreachable!("{said:?}") };
    assert_eq!(refusal.to_string().matches("the store cannot be written").count(), 1, "{refusal}");

    let standing = asked(&life, STANDING);
    assert!(standing.contains("mode :store-failing"), "{standing}");
    assert!(standing.contains(&format!(":since #inst \"{failed_at}\"")), "{standing}");
    assert!(standing.contains(":error \""), "{standing}");
    // Three seconds after the slot.
    lives.stage.clock.advance(Span::from_millis(8_000));
    life.turn();
    assert_eq!(life.received(), [], "no claim can be kept");
    let reasons = asked(&life, REASON);
    assert_eq!(reasons.matches("reason :store-unavailable").count(), 1, "{reasons}");
    assert_eq!(reasons.matches("reason nil").count(), 1, "what is volatile waits for no disk: {reasons}");
    let forecast = asked(&life, FORECAST);
    assert!(forecast.contains("will :waits") && forecast.contains("reason :store-unavailable"), "{forecast}");
    let told = explained(&life);
    let expected = "gets no run as long as the store cannot be written, 3.000 s late (since ";
    assert!(told.contains(expected) && !told.contains("will"), "{told}");

    lives.store.heal();
    life.answers.retry().expect("the store is well");
    life.turn();
    let due = ScheduleId::new("sch-due").expect("an id");
    assert_eq!(life.status(&due), Some(Status::Delivered));
    let well = asked(&life, STANDING);
    assert!(well.contains("mode :running") && well.contains("store-failure nil"), "{well}");
    let told = explained(&life);
    assert!(told.contains("3.000 s late"), "{told}");
    assert!(
        told.contains("The store could not be written from ") && told.contains("disk is full)."),
        "{told}"
    );
}

/// A step is committed whole, so the first one after a failure must not grow with all that is open.
#[test]
fn a_store_that_works_again_gets_the_sessions_that_it_lacks_and_no_other() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    let [kept, closed] = [(); 2].map(|()| life.open(HostId::LOCAL));
    let stored = |session| revision(&lives.store, session);
    let before = stored(&kept);
    lives.store.fail_as(DiskFault::Full);
    // The first opening is in the batch that fails, and what follows is in none.
    let first = life.open(HostId::LOCAL);
    life.answers.publish();
    let second = life.open(HostId::LOCAL);
    life.handle.close_session(&closed).expect("it is open");
    lives.store.heal();
    life.answers.retry().expect("the store is well");
    life.turn();
    assert_eq!(stored(&kept), before, "nothing of it has changed");
    assert!([&first, &second].into_iter().all(|session| stored(session).is_some()), "both are written");
    assert_eq!(stored(&closed), None);
    let life = ByHand::new(&lives);
    let is_open = |session| life.handle.view(|state| state.session(session).is_some());
    let open: Vec<bool> = [&kept, &first, &second, &closed].into_iter().map(is_open).collect();
    assert_eq!(open, [true, true, true, false]);
}

/// The revision of a session's row; `None` if the store has none.
fn revision(store: &StoreMemory, session: &SessionId) -> Option<u64> {
    let rows = store.rows_after(None).expect("it can be read");
    let row = rows.iter().find(|row| *row.key == *format!("session/{session}"))?;
    row.payload.as_ref().map(|_| row.revision)
}
