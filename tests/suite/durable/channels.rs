//! A channel that is paused stays paused in the next life, and what waits for it goes out in order when it is resumed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use reveille::adapter::HostLocal;
use reveille::domain::{
    Caller, Channel, ChannelKind, Cursor, DecisionKind, Direction, Failure, HostId, Payload, Phase, Policy,
    Reason, Route, ScheduleId, Scope, SessionConfig, SessionId, Settings, Span, Target, Ways,
};
use reveille::engine::{Command, Input, NewSchedule, Parcel};
use reveille::port::{Carried, Clock as _, Courier};
use reveille::runtime::{AttachOptions, Handle};
use reveille::testkit::SimHost;

use super::lives::{Life, Lives, every, message};
use crate::simulated::ask;

/// Takes everything but what says that it is not to, and remembers it.
#[derive(Clone, Default)]
struct Desk(Arc<Mutex<Vec<String>>>);

impl Courier for Desk {
    fn carry(&self, parcel: Parcel, carried: Carried) {
        if parcel.text.contains("NOT") {
            let failure = Failure::new(Phase::Outside, Reason::HostRefused, "no such room");
            return carried(Err(Failure { code: Some(404), ..failure }));
        }
        self.0.lock().expect("no test panics in it").push(parcel.text.to_string());
        carried(Ok(()));
    }
}

/// Makes a schedule that sends this by the channel in a second.
fn to_channel(life: &Life, owner: &SessionId, text: &str) -> ScheduleId {
    let route = Route { channel: "ops".into(), conversation: "c".into(), thread: None };
    let target = Target::Route(Box::new(route));
    let new = NewSchedule {
        payload: Payload::Turn { text: text.into() },
        settings: Some(Box::new(Settings { target, ..Settings::PLAIN })),
        ..message(owner, 1_000)
    };
    life.create(new).expect("it is kept")
}

/// The next process, which opens its channel before it loads its store, as the daemon does.
fn next(lives: &Lives, desk: &Desk) -> Life {
    let host = Arc::new(SimHost::new(&lives.stage, HostId::LOCAL).over(Arc::new(HostLocal::new())));
    let handle = Handle::new(lives.stage.parts(host.clone()));
    let (name, goes_to) = ("ops".into(), "somewhere".into());
    let ops = Channel { name, kind: ChannelKind::Webhook, goes_to, agents: true, agents_manage: false };
    assert!(handle.outside().open_channels(Arc::new(desk.clone()), vec![ops]));
    handle.attach_store(lives.store.clone(), AttachOptions::default()).expect("the store is sound");
    let feed = handle.subscribe(Cursor::START);
    Life { handle, host, feed, shown: VecDeque::new() }
}

/// T67.
#[test]
fn a_pause_and_what_waits_for_its_end_outlive_the_process() {
    let (lives, desk) = (Lives::new(), Desk::default());
    let life = next(&lives, &desk);
    let (owner, _) =
        life.handle.open_session(None, HostId::LOCAL, SessionConfig::default()).expect("there is room");
    let pause = |life: &Life, ways, is_on: bool| {
        let (channel, by) = ("ops".into(), Scope::Operator.into());
        let command = match is_on {
            true => Command::PauseChannel { channel, ways, by },
            false => Command::ResumeChannel { channel, ways, by },
        };
        life.handle.submit(Input::Command(command)).expect("there is the channel");
    };
    pause(&life, Ways::Both, true);
    pause(&life, Ways::Inbound, false);
    let ids: Vec<_> = ["first", "second"]
        .into_iter()
        .map(|text| {
            let id = to_channel(&life, &owner, text);
            lives.stage.clock.advance(Span::from_millis(1_000));
            life.handle.run_due();
            id
        })
        .collect();
    let waits = |life: &Life| -> Vec<Option<Reason>> {
        let of = |id| life.handle.view(|state| state.waits_for(state.schedule(id)?));
        ids.iter().map(of).collect()
    };
    assert_eq!(waits(&life), [Some(Reason::ChannelPaused); 2]);
    drop(life);

    lives.stage.clock.advance(Span::from_millis(60_000));
    let mut life = next(&lives, &desk);
    life.handle.run_due();
    let paused = |way| life.handle.view(|state| state.channel_pause("ops", way).is_some());
    assert_eq!(Direction::ALL.iter().map(|way| paused(*way)).collect::<Vec<_>>(), [false, true]);
    assert_eq!(waits(&life), [Some(Reason::ChannelPaused); 2]);
    assert!(desk.0.lock().expect("no test panics in it").is_empty());
    pause(&life, Ways::Outbound, false);
    for _ in &ids {
        life.await_kind(DecisionKind::RunDelivered);
    }
    assert_eq!(*desk.0.lock().expect("no test panics in it"), ["first", "second"]);
    drop(life);
    let life = next(&lives, &desk);
    assert!(life.handle.view(|state| state.channel_pauses().is_empty()));
}

#[test]
fn how_a_channel_does_is_known_after_a_restart() {
    let channels = |life: &Life| ask(&life.handle, &Caller::OPERATOR, "[:reveille.engine/channels]", false);
    let (lives, desk) = (Lives::new(), Desk::default());
    let mut life = next(&lives, &desk);
    let owner = life.open("main");
    let unused = channels(&life);
    assert!(unused.contains(":last-delivery-at nil") && unused.contains(":last-failure-at nil"), "{unused}");
    let send = |life: &mut Life, text: &str, end| {
        to_channel(life, &owner, text);
        lives.stage.clock.advance(Span::from_millis(1_000));
        life.handle.run_due();
        life.await_kind(end);
        lives.stage.clock.now().wall.to_string()[..19].to_owned()
    };
    let delivered = send(&mut life, "hello", DecisionKind::RunDelivered);
    let failed = send(&mut life, "NOT this", DecisionKind::RunRetrying);
    let told = channels(&life);
    for words in [
        format!(":last-delivery-at #inst \"{delivered}"),
        format!(":last-failure-at #inst \"{failed}"),
        ":last-error \"no such room\" :last-code 404".to_owned(),
        format!(":failing-since #inst \"{failed}"),
        ":failed-count 0 :waiting-count 1".to_owned(),
    ] {
        assert!(told.contains(&words), "{words} in {told}");
    }
    // It fails since the first failure, not since the last one.
    send(&mut life, "NOT that", DecisionKind::RunRetrying);
    let told = channels(&life);
    for words in [format!(":failing-since #inst \"{failed}"), ":waiting-count 2".to_owned()] {
        assert!(told.contains(&words), "{words} in {told}");
    }
    let by = |channel: &str| {
        let query =
            format!("[{{(:psi.scheduler/schedules {{:channel {channel:?}}}) [:psi.scheduler/message]}}]");
        ask(&life.handle, &Caller::OPERATOR, &query, false).matches(":psi.scheduler/message ").count()
    };
    assert_eq!((by("ops"), by("other")), (3, 0));
    let waits = "[{(:psi.scheduler/schedules {:channel \"ops\" :text \"that\"}) \
                   [:psi.scheduler/retry-waits {:psi.scheduler/open-run [:reveille.run/reason]}]}]";
    let waits = ask(&life.handle, &Caller::OPERATOR, waits, false);
    // The waits of Standard Webhooks, because the policy has none.
    assert!(waits.contains("retry-waits [5000 300000 ") && waits.contains("run/reason :retrying"), "{waits}");
    drop(life);
    let life = next(&lives, &desk);
    assert_eq!(channels(&life), told);
}

/// What only the log has is told as well where a channel was opened before the log was known.
#[test]
fn explanations_reach_behind_the_start_of_a_process_with_a_channel() {
    let (lives, desk) = (Lives::new(), Desk::default());
    let run = |life: &mut Life, times: u32| {
        for _ in 0..times {
            lives.stage.clock.advance(Span::from_millis(1_000));
            life.handle.run_due();
            life.await_kind(DecisionKind::RunDelivered);
        }
    };
    let mut life = next(&lives, &desk);
    let owner = life.open("main");
    let id = life.create(every(&lives.stage, &owner, 1_000, Policy::PLAIN)).expect("it is kept");
    run(&mut life, 5);
    let at = lives.stage.clock.now().wall;
    let explain = |life: &Life| {
        let asked = format!(
            "[{{(:reveille/explain {{:schedule-id \"{id}\" :at \"{at}\"}}) [:reveille.explanation/sentence]}}]"
        );
        let told = ask(&life.handle, &Caller::OPERATOR, &asked, false);
        told.split(" The next slot").next().expect("a first part").to_owned()
    };
    let told = explain(&life);
    assert!(told.contains("was delivered"), "{told}");
    drop(life);
    let mut life = next(&lives, &desk);
    // No record of that run is left in the engine.
    run(&mut life, 40);
    assert_eq!(explain(&life), told);
    // Who comes back with a cursor of the earlier process learns that there is a gap.
    assert!(life.handle.subscribe(Cursor::new(3)).poll(1).truncated);
}
