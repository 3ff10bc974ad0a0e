//! A hold of everything is named after restarts, by explanations and by the export.

use reveille::domain::{Caller, Missed, Policy, Scope, Span};
use reveille::engine::{Command, Input};
use reveille::port::Clock as _;

use super::lives::{Life, Lives, every};
use crate::simulated::ask;

#[test]
fn a_hold_that_outlived_a_process_explains_the_slots_of_its_time() {
    let lives = Lives::new();
    let pass = |life: &Life, seconds: u64| {
        for _ in 0..seconds {
            lives.stage.clock.advance(Span::from_millis(1_000));
            life.handle.run_due();
        }
    };
    let hold = |life: &Life, reason: &str| {
        let hold = Command::HoldAll { by: Scope::Operator.into(), reason: Some(reason.into()) };
        life.handle.submit(Input::Command(hold)).expect("it is kept");
    };
    let life = lives.next(0);
    let owner = life.open("main");
    let policy = Policy { missed: Missed::Skip, ..Policy::PLAIN };
    let id = life.create(every(&lives.stage, &owner, 10_000, policy)).expect("it is kept");
    let began = lives.stage.clock.now().wall;
    let explain = |life: &Life, seconds: u64| {
        let at = began.checked_add(Span::from_millis(seconds * 1_000)).expect("in range");
        let asked = format!(
            "[{{(:reveille/explain {{:schedule-id \"{id}\" :at \"{at}\"}}) [:reveille.explanation/sentence]}}]"
        );
        let told = ask(&life.handle, &Caller::OPERATOR, &asked, false);
        told.split(" The next slot").next().expect("a first part").to_owned()
    };
    pass(&life, 5);
    hold(&life, "an incident");
    pass(&life, 10);
    // A second hold begins where the first one ends.
    hold(&life, "still bad");
    drop(life);
    let life = lives.next(0);
    pass(&life, 10);
    life.handle
        .submit(Input::Command(Command::ReleaseAll { by: Scope::Operator.into() }))
        .expect("it is kept");
    pass(&life, 1);
    let told = [explain(&life, 10), explain(&life, 20)];
    for (told, words) in told.iter().zip(["an incident", "still bad"]) {
        assert!(told.contains("was skipped"), "{told}");
        assert!(
            told.contains("Everything was held from ") && told.contains(&format!(" ({words}).")),
            "{told}"
        );
    }
    drop(life);
    let life = lives.next(0);
    pass(&life, 1);
    assert_eq!([explain(&life, 10), explain(&life, 20)], told);
}
