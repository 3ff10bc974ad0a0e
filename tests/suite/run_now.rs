//! A schedule is run by hand: one with a single slot runs once, ever.

use reveille::domain::{
    Caller, Durability, Missed, Now, Policy, Refusal, ScheduleId, Scope, SessionConfig, Settings, Span,
    Status, Target, When,
};
use reveille::engine::{Command, Input, NewSchedule, ScheduleRecord, Which};
use reveille::port::Clock;
use reveille::runtime::Handle;
use reveille::testkit::SimClock;

use crate::simulated::{self, ask};

struct Scene {
    handle: Handle,
    clock: std::sync::Arc<SimClock>,
    id: String,
}

impl Scene {
    /// A schedule of this time.
    fn new(time: &str) -> Scene {
        let (handle, clock) = simulated::engine(&["s"]);
        let create =
            format!("[(psi.scheduler/create {{:session-id \"s\" :kind :message :message \"m\" {time}}})]");
        let made = ask(&handle, &Caller::OPERATOR, &create, false);
        let id = made.split('"').find(|part| part.starts_with("sch-")).expect(&made);
        Scene { handle, clock, id: id.to_owned() }
    }

    fn run_now(&self, rest: &str) -> String {
        let run = format!("[(psi.scheduler/run-now {{:schedule-id \"{}\" {rest}}})]", self.id);
        ask(&self.handle, &Caller::OPERATOR, &run, false)
    }

    fn pass(&self, seconds: u64) {
        for _ in 0..seconds {
            self.clock.advance(Span::from_millis(1_000));
            self.handle.run_due();
        }
    }

    fn runs(&self) -> u64 {
        self.handle.view(|state| state.ledger().delivered)
    }
}

#[test]
fn a_single_slot_is_brought_forward() {
    for time in
        [":delay-ms 8000", ":delay-ms 8000 :durability :durable", ":trigger {:kind :event :job \"build\"}"]
    {
        let scene = Scene::new(time);
        scene.pass(1);
        let answer = scene.run_now("");
        assert!(answer.contains(":psi.scheduler/next-fire-at nil"), "{time}: {answer}");
        scene.pass(0);
        scene.handle.run_due();
        assert_eq!(scene.runs(), 1, "{time}: at once");
        scene.pass(20);
        assert_eq!(scene.runs(), 1, "{time}: and not again");
        assert!(scene.run_now("").contains("mutation-error"), "{time}: nothing is left to run");
    }
}

/// The slot is the one that it had, in lists too, whatever the trigger said.
#[test]
fn a_slot_that_was_brought_forward_is_where_it_was_brought() {
    for time in [":delay-ms 50000", ":delay-ms 50000 :durability :durable"] {
        let scene = Scene::new(time);
        let create =
            "[(psi.scheduler/create {:session-id \"s\" :kind :message :message \"early\" :delay-ms 9000})]";
        ask(&scene.handle, &Caller::OPERATOR, create, false);
        let busy = |busy| format!("[(psi.agent-session/set-busy {{:session-id \"s\" :busy {busy}}})]");
        ask(&scene.handle, &Caller::OPERATOR, &busy(true), false);
        scene.pass(1);
        scene.run_now("");
        let now = scene.handle.now().wall;
        let first = || {
            scene.handle.view(|state| {
                let first = state.schedules()[0];
                (first.schedule().id.to_string(), first.fire_at())
            })
        };
        assert_eq!(first(), (scene.id.clone(), now), "{time}: it is before the one of 9 s");
        ask(&scene.handle, &Caller::OPERATOR, &busy(false), false);
        scene.pass(1);
        assert_eq!((first(), scene.runs()), ((scene.id.clone(), now), 1), "{time}: and stays there");
    }
}

/// A schedule that was cancelled still says which slot there would have been.
#[test]
fn a_slot_that_was_cancelled_is_still_named() {
    for time in [":every-ms 8000", ":every-ms 8000 :durability :durable", ":delay-ms 8000"] {
        let scene = Scene::new(time);
        let id = ScheduleId::new(&scene.id).expect("an id");
        let fire_at = || scene.handle.view(|state| state.schedule(&id).map(ScheduleRecord::fire_at));
        let before = fire_at();
        scene.pass(1);
        let cancel = format!("[(psi.scheduler/cancel {{:schedule-id \"{}\"}})]", scene.id);
        let answer = ask(&scene.handle, &Caller::OPERATOR, &cancel, false);
        assert!(!answer.contains("mutation-error"), "{time}: {answer}");
        assert!(before.is_some() && fire_at() == before, "{time}: {before:?} was {:?}", fire_at());
    }
}

#[test]
fn a_single_slot_is_kept_if_that_is_asked_for() {
    let scene = Scene::new(":delay-ms 8000");
    let answer = scene.run_now(":keep-slot true");
    assert!(answer.contains(":psi.scheduler/next-fire-at #inst"), "{answer}");
    assert_eq!(scene.runs(), 1);
    scene.pass(20);
    assert_eq!(scene.runs(), 2);
}

#[test]
fn the_slots_of_what_comes_again_stay_as_they_are() {
    let scene = Scene::new(":every-ms 8000");
    let answer = scene.run_now("");
    assert!(answer.contains(":psi.scheduler/next-fire-at #inst"), "{answer}");
    assert_eq!(scene.runs(), 1);
    scene.pass(9);
    assert_eq!(scene.runs(), 2);
}

/// A run that waits for its session is the run: there is no second one.
#[test]
fn a_run_that_waits_is_not_doubled() {
    let scene = Scene::new(":delay-ms 2000 :policy {:overlap :parallel}");
    let busy = |busy| format!("[(psi.agent-session/set-busy {{:session-id \"s\" :busy {busy}}})]");
    ask(&scene.handle, &Caller::OPERATOR, &busy(true), false);
    scene.pass(3);
    assert!(scene.run_now("").contains("mutation-error"));
    ask(&scene.handle, &Caller::OPERATOR, &busy(false), false);
    scene.pass(10);
    assert_eq!(scene.runs(), 1);
}

/// A run that failed and waits makes its next attempt at once, by either word, and waits again if that fails as well.
#[test]
fn a_run_that_waits_to_be_tried_again_is_tried_now() {
    for word in ["run-now", "retry"] {
        let (handle, clock) = simulated::engine(&["s"]);
        let wait = Span::from_millis(3_600_000);
        let settings = Settings {
            target: Target::Session(simulated::session("nowhere")),
            policy: Policy { backoff: vec![wait, wait], ..Policy::PLAIN },
            ..Settings::PLAIN
        };
        let when = When::After(Span::from_millis(1_000));
        let new = NewSchedule {
            durability: Durability::Durable,
            settings: Some(Box::new(settings)),
            ..NewSchedule::message(simulated::session("s"), when, "m")
        };
        let id = handle.schedule(new).expect("it is new");
        clock.advance(Span::from_millis(1_000));
        handle.run_due();
        let attempt =
            || handle.view(|state| state.newest_run(state.schedule(&id)?).map(|run| run.run().attempt));
        for made in [2, 3] {
            assert_eq!(attempt(), Some(made), "{word}");
            let query = format!("[(psi.scheduler/{word} {{:schedule-id \"{id}\"}})]");
            let answer = ask(&handle, &Caller::OPERATOR, &query, false);
            assert!(!answer.contains("mutation-error"), "{word}: {answer}");
        }
        let status = handle.view(|state| state.schedule(&id).map(ScheduleRecord::status));
        assert_eq!(status, Some(Status::Failed), "{word}");
    }
}

/// A clock that goes on between two readings, as real ones do.
struct Ticking(std::sync::Arc<SimClock>);

impl Clock for Ticking {
    fn now(&self) -> Now {
        self.0.advance(Span::from_nanos(1));
        self.0.now()
    }
}

/// Its slot is that of the retry, which nobody has missed.
#[test]
fn a_retry_runs_also_where_missed_slots_are_skipped() {
    let (mut parts, clock) = simulated::parts();
    parts.clock = std::sync::Arc::new(Ticking(std::sync::Arc::clone(&clock)));
    let handle = Handle::new(parts);
    simulated::open(&handle, "s", SessionConfig::default());
    let settings = Settings {
        target: Target::Session(simulated::session("later")),
        policy: Policy { missed: Missed::Skip, ..Policy::PLAIN },
        ..Settings::PLAIN
    };
    let new = NewSchedule {
        durability: Durability::Durable,
        settings: Some(Box::new(settings)),
        ..NewSchedule::message(simulated::session("s"), When::After(Span::from_millis(1_000)), "m")
    };
    let id = handle.schedule(new).expect("it is new");
    clock.advance(Span::from_millis(1_000));
    handle.run_due();
    let status = || handle.view(|state| state.schedule(&id).map(ScheduleRecord::status));
    assert_eq!(status(), Some(Status::Failed), "there is no such session");
    simulated::open(&handle, "later", SessionConfig::default());
    let answer =
        ask(&handle, &Caller::OPERATOR, &format!("[(psi.scheduler/retry {{:schedule-id \"{id}\"}})]"), false);
    assert!(!answer.contains("mutation-error"), "{answer}");
    handle.run_due();
    assert_eq!(status(), Some(Status::Delivered));
}

/// Nothing is lost when everything is on hold: the run waits for the release.
#[test]
fn a_run_under_a_hold_waits() {
    let scene = Scene::new(":delay-ms 8000");
    ask(&scene.handle, &Caller::OPERATOR, "[(psi.scheduler/hold-all {})]", false);
    assert!(!scene.run_now("").contains("mutation-error"));
    scene.pass(20);
    assert_eq!(scene.runs(), 0);
    ask(&scene.handle, &Caller::OPERATOR, "[(psi.scheduler/release-all {})]", false);
    scene.pass(1);
    assert_eq!(scene.runs(), 1);
}

/// An action that is run by its tool would be said to have started.
#[test]
fn what_is_paused_is_not_brought_forward() {
    let scene = Scene::new(":delay-ms 8000");
    let id = ScheduleId::new(scene.id.as_str()).expect("an id");
    let submit = |command: fn(Which) -> Command| {
        let which = Which::any(Scope::Operator, id.clone());
        scene.handle.submit(Input::Command(command(which)))
    };
    let paused = format!("[(psi.scheduler/pause {{:schedule-id \"{}\"}})]", scene.id);
    ask(&scene.handle, &Caller::OPERATOR, &paused, false);
    let refused = submit(Command::BringForward).expect_err("it would not start");
    assert_eq!(refused, Refusal::WrongStatus { schedule: id.clone(), status: Status::Paused });
    ask(&scene.handle, &Caller::OPERATOR, &paused.replace("pause", "resume"), false);
    submit(Command::BringForward).expect("it goes on");
    scene.pass(1);
    assert_eq!(scene.runs(), 1);
}
