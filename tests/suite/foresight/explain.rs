//! Why something happened or did not, as rows: what was done, the instant asked about, the verdict and the reason.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::domain::{
    CountFrom, Cursor, Decision, DecisionKind, Downtime, Every, HostId, Lifetime, Moment, Policy, Reason,
    Route, RunId, ScheduleId, Scope, SessionConfig, SessionId, Settings, Span, Subject, Target, When,
};
use reveille::engine::{Command, Explanation, Input, NewSchedule, Report, ScheduleChange, State, Which};
use reveille::port::Clock;
use reveille::runtime::Handle;
use reveille::testkit::{Behaviour, SimHost, Stage};

/// A schedule of every ten minutes in a session of its own, and what is done to it.
struct Scene {
    stage: Stage,
    host: Arc<SimHost>,
    handle: Handle,
    schedule: ScheduleId,
    start: Moment,
}

impl Scene {
    fn new() -> Scene {
        Scene::with(Target::Owner)
    }

    fn with(target: Target) -> Scene {
        Scene::every(minutes(10), target)
    }

    fn every(period: Span, target: Target) -> Scene {
        let stage = Stage::seeded(1);
        let host = SimHost::new(&stage, HostId::LOCAL).over(Arc::new(HostLocal::new()));
        let host = Arc::new(host);
        let handle = Handle::new(stage.parts(host.clone()));
        let owner = SessionId::new("main").expect("an id");
        handle.open_session(Some(owner.clone()), HostId::LOCAL, SessionConfig::default()).expect("room");
        let start = stage.clock.now().wall;
        let anchor = start.checked_add(period).expect("near");
        let every = Every::new(period, anchor, CountFrom::Slot).expect("a period");
        let new = NewSchedule::message(owner, When::By(every.into()), "a prompt");
        let new = NewSchedule { settings: Some(Box::new(Settings { target, ..Settings::PLAIN })), ..new };
        let schedule = handle.schedule(new).expect("room");
        Scene { schedule, stage, host, handle, start }
    }

    fn pass(&self, span: u64) {
        let end = self.stage.clock.now().boot.after(minutes(span));
        while let Some(wake) = self.handle.run_due().filter(|wake| *wake <= end) {
            self.stage.clock.advance_to(wake);
        }
        self.stage.clock.advance_to(end);
        self.handle.run_due();
    }

    fn which(&self) -> Which {
        Which::any(Scope::Operator, self.schedule.clone())
    }

    fn does(&self, command: Command) {
        self.handle.submit(Input::Command(command)).expect("it is allowed");
    }

    fn busy(&self, busy: bool) {
        let session = SessionId::new("main").expect("an id");
        self.handle.submit(Input::Report(Report::Busy { session, busy, by: None })).expect("it is open");
    }

    /// A harness takes the session over, and goes.
    fn lose_host(&self) {
        let host = self.handle.hosts().attach(Arc::new(SimHost::new(&self.stage, HostId::new(1))));
        let sessions = vec![SessionId::new("main").expect("an id")];
        self.does(Command::HostSessions { host, sessions, busy: Some(false), by: None });
        self.handle.hosts().detach(host);
    }

    fn explain(&self, at: Option<u64>) -> Explanation {
        let at = at.map(|at| self.start.checked_add(minutes(at)).expect("near"));
        let mut feed = self.handle.subscribe(Cursor::START);
        self.explain_by(at, &feed.poll(10_000).decisions.into())
    }

    fn explain_by(&self, at: Option<Moment>, decisions: &VecDeque<Decision>) -> Explanation {
        let (now, zones) = (self.stage.clock.now(), &self.stage.zones);
        self.handle.view(|state| state.explain(zones, now, (&self.schedule, at), decisions))
    }
}

#[test]
fn what_happened_and_what_did_not_is_explained() {
    let hold = || Command::HoldAll { by: Scope::Operator.into(), reason: Some("maintenance".into()) };
    let pause = |scene: &Scene| Command::PauseSchedule { which: scene.which(), reason: Some("noise".into()) };
    check("to come", &|_| (), None, "will-fire");
    check("to come, far", &|_| (), Some(6_000), "will-fire");
    // The number of runs is counted slot by slot, up to a bound.
    let often = |scene: &Scene| {
        let lifetime = Lifetime { max_runs: NonZeroU32::new(1_000_000), ..Lifetime::PLAIN };
        let change = Box::new(ScheduleChange { lifetime: Some(lifetime), ..ScheduleChange::default() });
        scene.does(Command::ChangeSchedule { which: scene.which(), change });
    };
    check("to come, within the bound", &often, Some(90_000), "will-fire");
    check("to come, beyond it", &often, Some(110_000), "not-foreseen");
    check("beyond it, and no slot", &often, Some(110_005), "not-a-slot");
    check("done", &|scene| scene.pass(15), Some(10), "delivered");
    check("between", &|scene| scene.pass(15), Some(15), "not-a-slot");
    check(
        "busy",
        &|scene| {
            scene.busy(true);
            scene.pass(15);
        },
        None,
        "waiting session-busy",
    );
    check(
        "overlap",
        &|scene| {
            scene.busy(true);
            scene.pass(25);
        },
        Some(20),
        "skipped overlap",
    );
    check(
        "paused",
        &|scene| {
            scene.does(pause(scene));
            scene.pass(15);
        },
        Some(10),
        "paused paused",
    );
    check(
        "held",
        &|scene| {
            scene.does(hold());
            scene.pass(15);
        },
        None,
        "held held",
    );
}

#[test]
fn what_was_called_off_or_folded_is_explained() {
    let pause = |scene: &Scene| Command::PauseSchedule { which: scene.which(), reason: Some("noise".into()) };
    check(
        "by hand",
        &|scene| scene.does(Command::SkipNext(scene.which())),
        Some(10),
        "skipped skipped-by-hand",
    );
    check(
        "cancelled",
        &|scene| {
            scene.pass(15);
            scene.does(Command::CancelSchedule(scene.which()));
        },
        Some(20),
        "cancelled cancelled",
    );
    check(
        "folded",
        &|scene| {
            scene.does(pause(scene));
            scene.pass(35);
            scene.does(Command::ResumeSchedule(scene.which()));
            scene.pass(1);
        },
        Some(20),
        "skipped coalesced",
    );
    check("long ago", &|scene| scene.pass(300), Some(0), "not-a-slot");
}

/// How it ended is what came last, and not what was furthest ahead.
#[test]
fn the_end_of_a_schedule_is_its_last_decision() {
    let scene = Scene::new();
    let owner = SessionId::new("main").expect("an id");
    let once = NewSchedule::message(owner, When::After(minutes(60)), "a prompt");
    let id = scene.handle.schedule(once).expect("room");
    let scene = Scene { schedule: id, ..scene };
    let sooner =
        Box::new(ScheduleChange { when: Some(When::After(minutes(10))), ..ScheduleChange::default() });
    scene.does(Command::ChangeSchedule { which: scene.which(), change: sooner });
    scene.pass(1);
    scene.does(Command::CancelSchedule(scene.which()));
    let told = scene.explain(None);
    let slot = scene.start.checked_add(minutes(10));
    assert_eq!(
        (told.verdict.name(), told.reason, told.slot),
        ("cancelled", Some(Reason::Cancelled), slot),
        "{told:?}"
    );
    let former = scene.explain(Some(60));
    assert_eq!(former.reason, Some(Reason::Rescheduled), "the slot that was given up: {former:?}");
}

#[test]
fn a_slot_that_came_while_nobody_was_there_says_so() {
    let scene = Scene::every(Span::from_millis(10_000), Target::Owner);
    let after = |seconds: u64| scene.start.checked_add(Span::from_millis(seconds * 1_000)).expect("near");
    scene.pass(1);
    scene.stage.clock.advance(minutes(4));
    let down = Downtime { from: after(65), until: after(300) };
    scene
        .handle
        .submit(Input::Restart { lost: 0, downs: [down].into(), named: Box::default() })
        .expect("it is no refusal");
    scene.handle.run_due();
    let mut feed = scene.handle.subscribe(Cursor::START);
    let told: VecDeque<Decision> = feed.poll(10_000).decisions.into();
    let at = |seconds: u64| scene.explain_by(Some(after(seconds)), &told);
    assert_eq!((at(60).verdict.name(), at(60).down), ("delivered", None));
    let folded = at(120);
    assert_eq!(
        (folded.verdict.name(), folded.reason, folded.down),
        ("skipped", Some(Reason::Coalesced), Some(down))
    );
    let second = |at: Moment| format!("{}Z", &at.to_string()[..19]);
    let words = format!(
        "The process was down until {}; it is known to have been up at {}. One run stands for 24 slots.",
        second(down.until),
        second(down.from)
    );
    assert!(folded.sentence().contains(&words), "{}", folded.sentence());
}

/// With a period under a minute, the slot that is asked about is the one that is told of, and not its neighbour that has a run.
#[test]
fn an_exact_slot_beats_a_near_one() {
    let scene = Scene::every(Span::from_millis(10_000), Target::Owner);
    let pause = Command::PauseSchedule { which: scene.which(), reason: None };
    scene.pass(1);
    scene.does(pause);
    scene.pass(1);
    scene.does(Command::ResumeSchedule(scene.which()));
    scene.pass(1);
    let mut feed = scene.handle.subscribe(Cursor::START);
    let told: VecDeque<Decision> = feed.poll(10_000).decisions.into();
    for (seconds, verdict) in
        [(60, "delivered"), (70, "skipped"), (110, "skipped"), (120, "delivered"), (150, "delivered")]
    {
        let slot = scene.start.checked_add(Span::from_millis(seconds * 1_000)).expect("near");
        let answer = scene.explain_by(Some(slot), &told);
        assert_eq!((answer.verdict.name(), answer.slot), (verdict, Some(slot)), "{seconds}: {answer:?}");
        // Nobody types nanoseconds: the nearest slot is meant.
        let near = slot.checked_add(Span::from_millis(700)).expect("near");
        assert_eq!(scene.explain_by(Some(near), &told).slot, Some(slot), "{seconds}");
    }
}

#[test]
fn what_is_to_come_is_explained() {
    check("without a host", &Scene::lose_host, None, "will-wait host-gone");
    check("without a host for longer", &Scene::lose_host, Some(20), "will-be-skipped overlap");
    check(
        "cancelled before",
        &|scene| scene.does(Command::CancelSchedule(scene.which())),
        Some(20),
        "after-end cancelled",
    );
    check(
        "with its host",
        &|scene| {
            scene.host.behave(&[(Behaviour::LoseReceipt, 1)]);
            scene.pass(10);
        },
        Some(10),
        "running",
    );
    let route = Route { channel: "mail".into(), conversation: "me".into(), thread: None };
    let scene = Scene::with(Target::Route(Box::new(route)));
    let answer = scene.explain(None);
    assert_eq!((answer.verdict.name(), answer.reason), ("will-fail", Some(Reason::ChannelUnknown)));
}

#[test]
fn what_cannot_be_told_is_said_so() {
    let scene = Scene::new();
    let before = scene.start.checked_sub(minutes(1)).expect("near");
    let nothing = VecDeque::new();
    assert_eq!(scene.explain_by(Some(before), &nothing).verdict.name(), "before-creation");
    // The state keeps the last twenty runs, and the decisions are gone.
    scene.pass(300);
    let first = scene.start.checked_add(minutes(10)).expect("near");
    assert_eq!(scene.explain_by(Some(first), &nothing).verdict.name(), "beyond-history");
}

/// Whatever the reason: decisions that somebody hands in are enough, of a schedule that the state has never seen.
#[test]
fn every_reason_is_told_from_decisions_alone() {
    let stage = Stage::seeded(1);
    let (now, id) = (stage.clock.now(), ScheduleId::new("sch-gone").expect("an id"));
    let run = RunId { schedule: id.clone(), incarnation: 1, slot: now.wall };
    for (kind, verdict) in [
        (DecisionKind::RunFailed, "failed"),
        (DecisionKind::RunCancelled, "cancelled"),
        (DecisionKind::RunQueued, "waiting"),
    ] {
        for reason in Reason::ALL {
            let decision = Decision {
                by: None,
                cursor: Cursor::START.next(),
                at: now.wall,
                kind,
                reason: Some(*reason),
                subject: Some(Subject::Run(run.clone())),
                session: None,
                origin: None,
                detail: None,
                slots: None,
                next: None,
            };
            let told = VecDeque::from([decision]);
            let answer = State::new().explain(&stage.zones, now, (&id, Some(now.wall)), &told);
            assert_eq!((answer.verdict.name(), answer.reason), (verdict, Some(*reason)));
        }
    }
    let nothing = VecDeque::new();
    let answer = State::new().explain(&stage.zones, now, (&id, None), &nothing);
    assert_eq!(answer.verdict.name(), "unknown-schedule");
}

/// A run that its host has refused waits for its next attempt, and is later with each moment.
#[test]
fn a_run_that_waits_again_is_late_up_to_now() {
    let scene = Scene::new();
    let policy = Policy { backoff: vec![minutes(30)], ..Policy::PLAIN };
    let change = ScheduleChange { policy: Some(policy), ..ScheduleChange::default() };
    scene.does(Command::ChangeSchedule { which: scene.which(), change: Box::new(change) });
    scene.host.behave(&[(Behaviour::FailSubmit, 1)]);
    scene.pass(10);
    for (after, late) in [(3, "3 min 0 s"), (10, "13 min 0 s")] {
        scene.pass(after);
        let answer = scene.explain(Some(10));
        assert_eq!(answer.verdict.name(), "waiting", "{answer:?}");
        let sentence = answer.sentence();
        assert!(sentence.contains(&format!("its run waits, {late} late")), "{sentence}");
    }
}

#[track_caller]
fn check(name: &str, live: &dyn Fn(&Scene), at: Option<u64>, expected: &str) {
    let scene = Scene::new();
    live(&scene);
    let answer = scene.explain(at);
    let reason = answer.reason.map_or("", Reason::name);
    assert_eq!(format!("{} {reason}", answer.verdict.name()).trim(), expected, "{name}: {answer:?}");
    assert!(answer.sentence().ends_with('.'), "{name}: {}", answer.sentence());
}

fn minutes(minutes: u64) -> Span {
    Span::from_millis(minutes * 60_000)
}
