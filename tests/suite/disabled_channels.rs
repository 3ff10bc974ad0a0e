//! What becomes of messages for a channel whose receiver wants no more, while they wait.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use reveille::domain::{
    Failure, Phase, Reason, Route, RunState, ScheduleId, Scope, Settings, Span, Target, Ways, When,
};
use reveille::engine::{Command, Input, NewSchedule, Parcel, Which};
use reveille::port::{Carried, Courier};
use reveille::runtime::Handle;

use crate::scheduled_calls::channel;
use crate::simulated::{engine, session};

/// Answers what goes to channels when it is asked to, in order.
#[derive(Clone, Default)]
struct Desk(Arc<Mutex<VecDeque<Carried>>>);

impl Courier for Desk {
    fn carry(&self, _: Parcel, carried: Carried) {
        self.0.lock().expect("no test panics in it").push_back(carried);
    }
}

struct Scene {
    handle: Handle,
    desk: Desk,
}

impl Scene {
    /// A session `s` and the channels `ops` and `news`. A message to `ops` is out, and one to each of them waits.
    fn new() -> (Scene, [ScheduleId; 3]) {
        let (handle, _) = engine(&["s"]);
        let desk = Desk::default();
        let channels = vec![channel("news", true), channel("ops", true)];
        assert!(handle.outside().open_channels(Arc::new(desk.clone()), channels));
        let scene = Scene { handle, desk };
        let out = scene.send("out", "ops");
        for name in ["news", "ops"] {
            let (channel, ways, by) = (name.into(), Ways::Outbound, Scope::Operator.into());
            scene.command(Command::PauseChannel { channel, ways, by });
        }
        let ids = [out, scene.send("waits", "ops"), scene.send("other", "news")];
        assert_eq!(scene.standing(&ids[1]), (RunState::Queued, Some(Reason::ChannelPaused)));
        (scene, ids)
    }

    #[track_caller]
    fn command(&self, command: Command) {
        self.handle.submit(Input::Command(command)).expect("it is accepted");
        self.handle.run_due();
    }

    fn send(&self, id: &str, channel: &str) -> ScheduleId {
        let id = ScheduleId::new(id).expect("an id");
        let route = Route { channel: channel.into(), conversation: "c".into(), thread: None };
        let settings = Settings { target: Target::Route(Box::new(route)), ..Settings::PLAIN };
        self.command(Command::CreateSchedule(NewSchedule {
            id: Some(id.clone()),
            settings: Some(Box::new(settings)),
            ..NewSchedule::message(session("s"), When::After(Span::ZERO), "a message")
        }));
        id
    }

    /// The receiver of what is out wants nothing more.
    fn is_gone(&self) {
        let carried = self.desk.0.lock().expect("no test panics in it").pop_front().expect("one is out");
        carried(Err(Failure::new(Phase::Outside, Reason::ChannelDisabled, "410 Gone")));
        self.handle.run_due();
    }

    /// How the run of a schedule stands, and why it waits or has ended so.
    fn standing(&self, id: &ScheduleId) -> (RunState, Option<Reason>) {
        self.handle.view(|state| {
            let record = state.schedule(id).expect("it is there");
            let run = state.newest_run(record).expect("its slot has come").run();
            (run.state, run.reason.or(state.waits_for(record)))
        })
    }
}

const FAILED: (RunState, Option<Reason>) = (RunState::Failed, Some(Reason::ChannelDisabled));

#[test]
fn what_waits_for_a_channel_fails_with_it() {
    let (scene, [out, waits, other]) = Scene::new();
    scene.is_gone();
    assert_eq!((scene.standing(&out), scene.standing(&waits)), (FAILED, FAILED));
    assert_eq!(scene.standing(&other), (RunState::Queued, Some(Reason::ChannelPaused)));
    assert_eq!(scene.handle.view(|state| state.ledger().imbalance()), 0);
}

/// Nothing happens to it during a hold, and after that it does not go on waiting.
#[test]
fn what_waits_for_the_end_of_a_hold_as_well_fails_after_it() {
    let (scene, [out, waits, _]) = Scene::new();
    scene.command(Command::HoldAll { by: Scope::Operator.into(), reason: None });
    scene.is_gone();
    assert_eq!(scene.standing(&out), FAILED);
    assert_eq!(scene.standing(&waits), (RunState::Queued, Some(Reason::Held)));
    scene.command(Command::ReleaseAll { by: Scope::Operator.into() });
    assert_eq!(scene.standing(&waits), FAILED);
}

/// As during a hold, but its schedule alone is paused.
#[test]
fn what_waits_for_its_schedule_as_well_fails_after_it() {
    let (scene, [_, waits, _]) = Scene::new();
    let which = || Which::any(Scope::Operator, waits.clone());
    scene.command(Command::PauseSchedule { which: which(), reason: None });
    scene.is_gone();
    assert_eq!(scene.standing(&waits), (RunState::Queued, Some(Reason::Paused)));
    scene.command(Command::ResumeSchedule(which()));
    assert_eq!(scene.standing(&waits), FAILED);
}
