//! Prompts of durable schedules in agents' own conversations, when the process ends or its store fails: the agent has each of
//! them once.

use std::sync::Arc;

use reveille::domain::{
    Address, DecisionKind, EndsWith, HostId, Policy, Reason, Recovery, ScheduleId, SessionConfig, SessionId,
    Settings, Span, Status,
};
use reveille::engine::{Command, Input, NewSchedule, Report, ScheduleRecord};
use reveille::port::StoreFault;
use reveille::runtime::Handle;
use reveille::testkit::{Behaviour, SimHost};

use super::lives::{Life, Lives, message};
use crate::simulated::session;

/// Opens a session at the address of a conversation.
fn open_at(life: &Life, id: &SessionId) {
    let address: Address = CONVERSATION.parse().expect("an address");
    let config = SessionConfig { address: Some(address), ..SessionConfig::default() };
    life.handle.open_session(Some(id.clone()), HostId::INBOX, config).expect("there is room");
}

/// The host of agents, which has a session from then on.
fn agents(lives: &Lives, life: &Life, id: &SessionId) -> Arc<SimHost> {
    let host = Arc::new(SimHost::new(&lives.stage, HostId::AGENTS));
    life.handle.hosts().attach_agents(Arc::<SimHost>::clone(&host));
    take_over(&life.handle, HostId::AGENTS, id);
    host
}

fn take_over(handle: &Handle, host: HostId, id: &SessionId) {
    let sessions = vec![id.clone()];
    let command = Command::HostSessions { host, sessions, busy: Some(false), by: None };
    handle.submit(Input::Command(command)).expect("nobody has it");
}

/// A message in a second, whose run ends with its turn and is handed over again if its outcome is not known.
fn ends_with_turn(life: &Life, id: &SessionId) -> ScheduleId {
    let policy = Policy { recovery: Recovery::Redeliver, ends_with: EndsWith::Turn, ..Policy::PLAIN };
    let settings = Some(Box::new(Settings { policy, ..Settings::PLAIN }));
    life.create(NewSchedule { settings, ..message(id, 1_000) }).expect("it is kept")
}

fn status(life: &Life, schedule: &ScheduleId) -> Option<Status> {
    life.handle.view(|state| state.schedule(schedule).map(ScheduleRecord::status))
}

/// How often a host got the prompt of a schedule.
fn sent(host: &SimHost, schedule: &ScheduleId) -> usize {
    host.prompts().iter().filter(|prompt| prompt.run.schedule == *schedule).count()
}

fn pass(lives: &Lives, life: &Life) {
    lives.stage.clock.advance(Span::from_millis(1_000));
    life.handle.run_due();
}

/// The process is killed while the agent works on a prompt. The receipt says that the agent has it, whether the host of agents
/// or the waiter of a window has handed it over.
#[test]
fn a_prompt_that_an_agent_works_on_is_not_sent_again() {
    #[track_caller]
    fn check(name: &str, is_window: bool) {
        let lives = Lives::new();
        let mut life = lives.next(0);
        let id = session(name);
        open_at(&life, &id);
        let host = if is_window {
            let host = Arc::new(SimHost::new(&lives.stage, HostId::new(1)));
            take_over(&life.handle, life.handle.hosts().attach(host.clone()), &id);
            host
        } else {
            agents(&lives, &life, &id)
        };
        let schedule = ends_with_turn(&life, &id);
        pass(&lives, &life);
        life.await_kind(DecisionKind::RunAccepted);
        let works = Report::Busy { session: id.clone(), busy: true, by: None };
        life.handle.submit(Input::Report(works)).expect("the session is open");
        assert_eq!((status(&life, &schedule), sent(&host, &schedule)), (Some(Status::InFlight), 1), "{name}");
        drop(life);
        let life = lives.next(0);
        assert_eq!(status(&life, &schedule), Some(Status::Delivered), "{name}");
        let _host = agents(&lives, &life, &id);
        pass(&lives, &life);
        // The history of the stage is that of all lives.
        assert_eq!(sent(&host, &schedule), 1, "{name}");
        assert_eq!(lives.stage.history.receptions().len(), 1, "{name}");
    }
    check("main", false);
    check(CONVERSATION, false);
    check(CONVERSATION, true);
}

/// The host of agents says once that a conversation cannot be reached.
#[test]
fn a_prompt_that_was_not_sent_waits_although_the_store_failed_at_that_moment() {
    let lives = Lives::new();
    let mut life = lives.next(0);
    let id = session("main");
    open_at(&life, &id);
    let host = agents(&lives, &life, &id);
    host.behave(&[(Behaviour::LoseReceipt, 1)]);
    let schedule = ends_with_turn(&life, &id);
    pass(&lives, &life);
    life.await_kind(DecisionKind::RunDispatched);
    // It is dispatched, and reaches the host a moment later.
    let reached = std::iter::from_fn(|| Some(host.prompts().into_iter().next())).flatten().next();
    let run = reached.expect("it is out").run;
    lives.store.fail(StoreFault::Unwritable { detail: "no space".into() });
    let unreached = Report::Unreached { run, reason: Reason::HeldElsewhere };
    life.handle.submit_unawaited(Input::Report(unreached)).expect("it is in flight");
    lives.store.heal();
    life.await_kind(DecisionKind::EngineRestarted);
    life.handle.run_due();
    assert_eq!(status(&life, &schedule), Some(Status::Queued));
    host.behave(Behaviour::FAULTLESS);
    take_over(&life.handle, HostId::AGENTS, &id);
    life.await_kind(DecisionKind::RunAccepted);
    assert_eq!(sent(&host, &schedule), 2, "the first one reached nobody");
}

/// A window is closed while its agent works on a prompt, which the receipt says that it has. Nobody reports the end of that turn.
#[test]
fn a_prompt_that_an_agent_works_on_is_not_sent_again_when_its_window_is_closed() {
    let lives = Lives::new();
    let mut life = lives.next(0);
    let id = session(CONVERSATION);
    open_at(&life, &id);
    let window = Arc::new(SimHost::new(&lives.stage, HostId::new(1)));
    let number = life.handle.hosts().attach(window.clone());
    take_over(&life.handle, number, &id);
    let schedule = ends_with_turn(&life, &id);
    pass(&lives, &life);
    life.await_kind(DecisionKind::RunAccepted);
    let works = Report::Busy { session: id.clone(), busy: true, by: None };
    life.handle.submit(Input::Report(works)).expect("the session is open");
    life.handle.hosts().detach(number);
    assert_eq!((status(&life, &schedule), sent(&window, &schedule)), (Some(Status::Delivered), 1));
    let agents = agents(&lives, &life, &id);
    pass(&lives, &life);
    assert_eq!(sent(&agents, &schedule), 0);
}

const CONVERSATION: &str = "codex:t1";
