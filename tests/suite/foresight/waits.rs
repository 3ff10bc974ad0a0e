//! How long a run is out decides what becomes of the slots after it, in a forecast as in what then happens.

use std::sync::Arc;

use reveille::domain::{
    Call, CountFrom, Every, GuardPolicy, HostId, Payload, Policy, Route, Rule, RuleScope, Ruling, Scope,
    SessionConfig, Settings, Span, Target, ToolName, When,
};
use reveille::edn::Map;
use reveille::engine::{Command, ForecastQuery, Input, NewSchedule, SlotOutcome};
use reveille::port::Clock;
use reveille::runtime::Handle;
use reveille::testkit::{SimExecutor, SimHost, Stage};

use crate::simulated::{open, session};

const MINUTE_MS: u64 = 60_000;

/// A session whose schedule is due each hour.
struct Scene {
    stage: Stage,
    handle: Handle,
}

impl Scene {
    fn new(payload: Payload, settings: Settings) -> Scene {
        let stage = Stage::seeded(5);
        let handle = Handle::new(stage.parts(Arc::new(SimHost::new(&stage, HostId::LOCAL))));
        Arc::new(SimExecutor::scripted(&stage).with("mail.send")).serve(&handle);
        open(&handle, "s", SessionConfig::default());
        let hour = Span::from_millis(60 * MINUTE_MS);
        let first = stage.clock.now().wall.checked_add(hour).expect("near");
        let every = Every::new(hour, first, CountFrom::Slot).expect("a period");
        let new = NewSchedule::message(session("s"), When::By(every.into()), "m");
        let new = NewSchedule { payload, settings: Some(Box::new(settings)), ..new };
        handle.schedule(new).expect("there is room");
        Scene { stage, handle }
    }

    /// What is foretold of the slots of the next three hours.
    fn foretold(&self) -> Vec<SlotOutcome> {
        let now = self.stage.clock.now();
        let to = now.wall.checked_add(Span::from_millis(181 * MINUTE_MS)).expect("near");
        let ask = ForecastQuery { to, ..ForecastQuery::of(&Scope::Operator, now.wall) };
        let forecast = self.handle.view(|state| state.forecast(&self.stage.zones, now, &ask));
        forecast.slots.iter().map(|slot| slot.outcome).collect()
    }

    /// How many slots are skipped and how many runs fail in these three hours.
    fn happens(&self) -> (u64, u64) {
        self.stage.run_for(&self.handle, Span::from_millis(181 * MINUTE_MS));
        self.handle.view(|state| (state.ledger().skipped, state.ledger().failed))
    }
}

/// Its time begins when it is approved, so it does not end the wait.
#[test]
fn a_call_waits_for_its_approval_longer_than_it_may_take() {
    let policy = Policy { timeout: Some(Span::from_millis(MINUTE_MS)), ..Policy::PLAIN };
    let call = Call::new(ToolName::new("mail.send").expect("a name"), Map::new());
    let scene = Scene::new(Payload::Call(Box::new(call)), Settings { policy, ..Settings::PLAIN });
    let of = RuleScope { tools: vec!["mail.send".into()], ..RuleScope::default() };
    let rules = vec![Rule { name: "mail".into(), of, then: Ruling::Hold, why: None }];
    let approval = Some(Span::from_millis(90 * MINUTE_MS));
    let policy = Some(Arc::new(GuardPolicy { rules, approval, ..GuardPolicy::default() }));
    let set = Command::SetGuard { policy, by: Scope::Operator.into() };
    scene.handle.submit(Input::Command(set)).expect("an operator may");
    let expected = [SlotOutcome::NeedsApproval, SlotOutcome::Skipped, SlotOutcome::NeedsApproval];
    assert_eq!(scene.foretold(), expected);
    assert_eq!(scene.happens(), (1, 1), "the second slot, and the run that nobody approved");
}

/// The waits of the policy are for a receiver that is there and refuses.
#[test]
fn a_message_to_a_channel_that_is_not_there_fails_at_once() {
    let route = Route { channel: "gone".into(), conversation: "me".into(), thread: None };
    let wait = Span::from_millis(45 * MINUTE_MS);
    let settings = Settings {
        target: Target::Route(Box::new(route)),
        policy: Policy { backoff: vec![wait, wait], ..Policy::PLAIN },
        ..Settings::PLAIN
    };
    let scene = Scene::new(Payload::Turn { text: "m".into() }, settings);
    assert_eq!(scene.foretold(), [SlotOutcome::Fails; 3]);
    assert_eq!(scene.happens(), (0, 3));
}
