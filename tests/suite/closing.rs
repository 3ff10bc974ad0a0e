//! What a session takes with it when it is closed, and what it leaves to others.

use std::sync::Arc;

use reveille::domain::{
    Durability, HostId, Lifetime, Overlap, Policy, ScheduleId, Scope, SessionConfig, Settings, Span, Target,
    When,
};
use reveille::engine::{Command, Input, NewSchedule, SessionRecord, Which};
use reveille::limits;
use reveille::runtime::Handle;
use reveille::testkit::{Behaviour, SimHost, Stage};

use crate::simulated::{open, session};

/// Sessions `s` and `t`, whose host acknowledges nothing.
struct Scene {
    stage: Stage,
    handle: Handle,
    host: Arc<SimHost>,
}

impl Scene {
    fn new() -> Scene {
        let stage = Stage::seeded(7);
        let host = Arc::new(SimHost::new(&stage, HostId::LOCAL));
        host.behave(&[(Behaviour::LoseReceipt, 1)]);
        let handle = Handle::new(stage.parts(host.clone()));
        for name in ["s", "t"] {
            open(&handle, name, SessionConfig::default());
        }
        Scene { stage, handle, host }
    }

    /// A message of this session into `t`.
    fn create(&self, (owner, text): (&str, &str), when: When, policy: Policy, durability: Durability) {
        let target = Target::Session(session("t"));
        let new = NewSchedule {
            durability,
            settings: Some(Box::new(Settings { target, policy, ..Settings::PLAIN })),
            ..NewSchedule::message(session(owner), when, text)
        };
        self.handle.schedule(new).expect("it is accepted");
    }

    fn pass(&self, seconds: u64) {
        self.stage.run_for(&self.handle, Span::from_millis(seconds * 1_000));
    }

    fn close(&self, name: &str) {
        let close = Command::CloseSession { session: session(name), by: None };
        self.handle.submit(Input::Command(close)).expect("it is open");
    }

    fn texts(&self) -> Vec<String> {
        self.host.prompts().into_iter().map(|prompt| prompt.text.to_string()).collect()
    }

    /// Whether a delivery to `t` is outstanding, what is pending, and the imbalance of the accounts.
    fn standing(&self) -> (bool, u64, i128) {
        self.handle.view(|state| {
            let is_out = state.session(&session("t")).is_some_and(SessionRecord::has_delivery_in_flight);
            (is_out, state.ledger().pending, state.ledger().imbalance())
        })
    }
}

fn second() -> When {
    When::After(Span::from_millis(1_000))
}

/// The lane becomes free by the close, and the next run in it ends with the same session.
#[test]
fn nothing_of_a_closed_session_goes_into_a_lane_that_becomes_free() {
    let parallel = Policy { overlap: Overlap::Parallel, ..Policy::PLAIN };
    let every_second = When::Each(Span::from_millis(1_000));
    for (when, policy, durability) in [
        (second(), Policy::PLAIN, Durability::Volatile),
        (second(), Policy::PLAIN, Durability::Durable),
        (every_second, parallel, Durability::Volatile),
    ] {
        let scene = Scene::new();
        for text in ["one", "two"] {
            scene.create(("s", text), when.clone(), policy.clone(), durability);
        }
        scene.pass(3);
        assert_eq!(scene.texts(), ["one"], "the lane is taken");
        scene.close("s");
        assert_eq!(scene.texts(), ["one"], "nothing more of the closed session");
        assert_eq!(scene.standing(), (false, 0, 0));
        scene.pass(60);
        assert_eq!(scene.standing(), (false, 0, 0));
    }
}

#[test]
fn what_others_wait_for_goes_into_a_lane_that_becomes_free() {
    let scene = Scene::new();
    for of in [("s", "one"), ("s", "two"), ("t", "three")] {
        scene.create(of, second(), Policy::PLAIN, Durability::Volatile);
    }
    scene.pass(3);
    assert_eq!(scene.texts(), ["one"]);
    scene.close("s");
    assert_eq!(scene.texts(), ["one", "three"]);
    assert_eq!(scene.standing(), (true, 1, 0));
}

/// More have ended without a session than are remembered. The report on the run of the oldest is still to come.
#[test]
fn what_ended_without_a_session_stays_as_long_as_its_run() {
    let scene = Scene::new();
    let create = |owner: &str, text: &str, dies_with_session: bool| {
        let lifetime = Lifetime { dies_with_session, ..Lifetime::PLAIN };
        let target = Target::Session(session("t"));
        let new = NewSchedule {
            durability: Durability::Durable,
            settings: Some(Box::new(Settings { target, lifetime, ..Settings::PLAIN })),
            ..NewSchedule::message(session(owner), When::Each(Span::from_millis(1_000)), text)
        };
        scene.handle.schedule(new).expect("it is accepted")
    };
    let cancel = |schedule: ScheduleId| {
        let which = Which::any(Scope::Operator, schedule);
        scene.handle.submit(Input::Command(Command::CancelSchedule(which))).expect("it goes on");
    };
    let oldest = create("s", "one", false);
    scene.pass(1);
    assert_eq!(scene.texts(), ["one"]);
    cancel(oldest.clone());
    scene.close("s");
    for number in 0..=limits::FINISHED_KEPT.value {
        let name = format!("u{}", number / 500);
        if number % 500 == 0 {
            open(&scene.handle, &name, SessionConfig::default());
        }
        cancel(create(&name, "more", false));
    }
    for number in 0..=limits::FINISHED_KEPT.value / 500 {
        scene.close(&format!("u{number}"));
    }
    assert!(scene.handle.view(|state| state.schedule(&oldest).is_some()), "its run is out");
    assert_eq!(scene.standing(), (true, 1, 0));
    scene.pass(60);
    assert_eq!(scene.standing(), (false, 0, 0), "its receipt was overdue");
}

#[test]
fn a_session_that_is_closed_takes_its_watches_with_it() {
    let scene = crate::watching::Scene::new();
    scene.start(r#"{"name" "http.get"}"#);
    let close = Command::CloseSession { session: session("s"), by: None };
    scene.handle().submit(Input::Command(close)).expect("it is open");
    scene.pass(120);
    assert!(scene.executor.calls().is_empty());
}
