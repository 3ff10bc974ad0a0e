//! What became of slots by day, over all lives, from the log.

use reveille::domain::{Caller, Durability, Policy, Scope, Span};
use reveille::engine::{Command, Input, NewSchedule, Which};
use reveille::port::HistoryCaps;

use super::lives::{ByHand, Lives, durable, every, message};
use crate::simulated::{ask, engine, token};

const DAYS: &str = "[{:reveille.engine/accounting-by-day \
                    [:day :delivered :left :skipped :cancelled :failed :lost :complete?]}]";

const HOUR: u64 = 3_600_000;

#[test]
fn the_outcomes_of_all_lives_are_told_by_day() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    let owner = life.open(reveille::domain::HostId::LOCAL);
    let made = |life: &ByHand, new: NewSchedule| life.handle.schedule(durable(new)).expect("it is kept");
    made(&life, every(&lives.stage, &owner, 6 * HOUR, Policy::PLAIN));
    let off = made(&life, message(&owner, 900_000_000));
    life.handle.schedule(message(&owner, HOUR)).expect("it is volatile");
    life.handle
        .submit(Input::Command(Command::CancelSchedule(Which::any(Scope::Operator, off))))
        .expect("it waits");
    for _ in 0..5 {
        lives.stage.clock.advance(Span::from_millis(6 * HOUR));
        life.turn();
    }
    drop(life);
    // Another life, a day later: slots were missed meanwhile.
    lives.stage.clock.advance(Span::from_millis(24 * HOUR));
    let mut life = ByHand::new(&lives);
    life.turn();
    let told = ask(&life.handle, &Caller::OPERATOR, DAYS, false);
    // Created at midnight: slots at 6, 12, 18 and 24 o'clock, and at 6 of the second day; three more were missed, of which the
    // last is made up for with the next one.
    let rows = [
        "{:day \"2026-01-01\" :delivered 3 :left 0 :skipped 0 :cancelled 1 :failed 0 :lost 0 :complete? true}",
        "{:day \"2026-01-02\" :delivered 2 :left 0 :skipped 0 :cancelled 0 :failed 0 :lost 0 :complete? true}",
        "{:day \"2026-01-03\" :delivered 1 :left 0 :skipped 3 :cancelled 0 :failed 0 :lost 0 :complete? true}",
    ];
    for row in rows {
        assert!(told.contains(row), "{row}: {told}");
    }
    assert_eq!(told.matches(":day ").count(), rows.len(), "{told}");
    let hidden = ask(&life.handle, &token(owner.as_str()), DAYS, true);
    assert!(!hidden.contains("2026-01"), "only for operators: {hidden}");
    drop(life);
    // What a start finds lost counts on its day.
    lives.stage.clock.advance(Span::from_millis(24 * HOUR));
    let life = lives.next(2);
    let told = ask(&life.handle, &Caller::OPERATOR, DAYS, false);
    assert!(told.contains(":day \"2026-01-04\"") && told.contains(":lost 2"), "{told}");
}

#[test]
fn a_day_whose_facts_were_pruned_says_so() {
    let lives = Lives::capped(7, HistoryCaps { schedule_rows: 60, bytes: 1 << 30, days: 1_000 });
    let mut life = ByHand::new(&lives);
    let owner = life.open(reveille::domain::HostId::LOCAL);
    let busy = every(&lives.stage, &owner, HOUR, Policy::PLAIN);
    assert_eq!(durable(busy.clone()).durability, Durability::Durable);
    life.handle.schedule(durable(busy)).expect("it is kept");
    for _ in 0..70 {
        lives.stage.clock.advance(Span::from_millis(HOUR));
        life.turn();
    }
    let told = ask(&life.handle, &Caller::OPERATOR, DAYS, false);
    // Of 60 facts about the schedule none is older than the last day, and what came before on that day is missing.
    assert!(told.contains(":complete? false") && !told.contains(":complete? true"), "{told}");
}

#[test]
fn without_a_store_there_are_no_days() {
    let (handle, _) = engine(&["s"]);
    let told = ask(&handle, &Caller::OPERATOR, "[:reveille.engine/accounting-by-day]", false);
    assert_eq!(told, "{:reveille.engine/accounting-by-day nil}");
}
