//! Bulletins: what a session's model is told of calls, in which order, in how many deliveries, and how often.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reveille::domain::{
    Call, CallPurpose, CallVia, Cause, Content, Durability, HostId, Lifetime, Outcome, Payload, Reason, Role,
    RunId, RunState, ScheduleId, Scope, SessionConfig, Settings, Sink, Span, Status, ToolName, When,
};
use reveille::edn::Map;
use reveille::engine::{Command, Input, NewSchedule, Report, ScheduleRecord, Which};
use reveille::runtime::Handle;
use reveille::testkit::{Behaviour, CallAnswer, Reception, SimExecutor, SimHost, Stage};

use crate::simulated::{open, session};

struct Scene {
    stage: Stage,
    handle: Handle,
    executor: Arc<SimExecutor>,
    host: Arc<SimHost>,
}

impl Scene {
    /// A session `s` of a connected host, idle, and an executor.
    fn new() -> Scene {
        let stage = Stage::seeded(5);
        let handle = Handle::new(stage.parts(Arc::new(SimHost::new(&stage, HostId::LOCAL))));
        let executor = Arc::new(SimExecutor::scripted(&stage).with("ci.build"));
        executor.serve(&handle);
        open(&handle, "s", SessionConfig::default());
        let host = Arc::new(SimHost::new(&stage, HostId::new(1)));
        let number = handle.hosts().attach(host.clone());
        let scene = Scene { stage, handle, executor, host };
        scene.command(Command::HostSessions {
            host: number,
            sessions: vec![session("s")],
            busy: Some(false),
            by: None,
        });
        scene
    }

    #[track_caller]
    fn command(&self, command: Command) {
        self.handle.submit(Input::Command(command)).expect("it is accepted");
        self.handle.run_due();
    }

    fn busy(&self, busy: bool) {
        let report = Report::Busy { session: session("s"), busy, by: None };
        self.handle.submit(Input::Report(report)).expect("it is open");
        self.handle.run_due();
    }

    #[track_caller]
    fn task(&self, id: &str, sink: Sink) -> ScheduleId {
        let call = Call { sink, ..Call::new(ToolName::new("ci.build").expect("a name"), Map::new()) };
        let new = NewSchedule {
            id: Some(ScheduleId::new(id).expect("an id")),
            payload: Payload::Call(Box::new(call)),
            ..NewSchedule::message(session("s"), When::After(Span::ZERO), "")
        };
        let id = self.handle.schedule(new).expect("it is accepted");
        self.handle.run_due();
        id
    }

    fn pass(&self, seconds: u64) {
        for _ in 0..seconds {
            self.stage.run_for(&self.handle, Span::from_millis(1_000));
            self.executor.answer_due();
            self.handle.run_due();
        }
    }

    /// The texts of the deliveries so far.
    fn told(&self) -> Vec<String> {
        let prompts = self.host.prompts().into_iter().map(|Reception { text, .. }| text.to_string());
        prompts.filter(|text| !text.is_empty()).collect()
    }

    /// The states of a schedule's bulletins, newest first, and what each waits for.
    fn bulletins(&self, id: &ScheduleId) -> Vec<(RunState, Option<Reason>, u64)> {
        self.handle.view(|state| {
            let runs = state.schedule(id).into_iter().flat_map(|record| state.runs_of(record));
            let told = runs.filter(|(_, run)| run.run().cause == Cause::Bulletin);
            let waits = state.schedule(id).and_then(|record| state.waits_for(record));
            told.map(|(_, run)| (run.run().state, run.run().reason.or(waits), run.run().folded)).collect()
        })
    }

    /// Why the newest bulletin of a schedule failed.
    fn ended(&self, id: &ScheduleId) -> Option<Reason> {
        self.handle.view(|state| {
            let mut runs = state.runs_of(state.schedule(id)?);
            let told = runs.find(|(_, run)| run.run().cause == Cause::Bulletin)?;
            told.1.run().failure.as_ref().map(|failure| failure.reason)
        })
    }

    fn status(&self, id: &ScheduleId) -> Option<Status> {
        self.handle.view(|state| state.schedule(id).map(ScheduleRecord::status))
    }
}

fn fine() -> Outcome {
    Outcome::of_value(Map::new().with("exit", 0).into(), 11, Span::from_millis(20))
}

/// T18.
#[test]
fn a_task_tells_its_session_when_it_ends() {
    let scene = Scene::new();
    scene.executor.script(CallAnswer::After(Span::from_millis(3_000), fine()));
    let id = scene.task("a1b2c3d4e5f6", Sink::Session);
    assert_eq!((scene.status(&id), scene.told()), (Some(Status::InFlight), vec![]));
    scene.pass(3);
    let text =
        "[BACKGROUND TASK COMPLETED] task_id=a1b2c3d4e5f6 tool=ci.build elapsed=3.0s\nResult: {\"exit\": 0}";
    assert_eq!(scene.told(), [text]);
    assert_eq!(scene.status(&id), Some(Status::Delivered));
    // The next one fails, and nobody is told of the third.
    scene.busy(true);
    scene.busy(false);
    scene.executor.script(CallAnswer::AtOnce(Outcome::of_error("422: tag\nexists", Span::ZERO)));
    scene.task("0f9e8d7c6b5a", Sink::Session);
    let text =
        "[BACKGROUND TASK FAILED] task_id=0f9e8d7c6b5a tool=ci.build elapsed=0.0s\nError: 422: tag exists";
    assert_eq!(scene.told().last().map(String::as_str), Some(text));
    let quiet = scene.task("000000000001", Sink::Nobody);
    assert_eq!((scene.told().len(), scene.status(&quiet)), (2, Some(Status::Delivered)));
}

/// T21: whatever ends a call, either somebody waits for its end and gets it, or the session is told.
#[test]
fn who_waits_gets_the_end_of_a_call_whose_host_is_gone() {
    for is_awaited in [true, false] {
        let scene = Scene::new();
        let host = HostId::new(1);
        scene.executor.serve_host(&scene.handle, host);
        scene.executor.script(CallAnswer::Never);
        let tool = ToolName::new("ci.build").expect("a name");
        let call = Call { sink: Sink::Session, via: CallVia::Host, ..Call::new(tool, Map::new()) };
        let new = NewSchedule {
            payload: Payload::Call(Box::new(call)),
            ..NewSchedule::message(session("s"), When::After(Span::ZERO), "")
        };
        let id = scene.handle.schedule(new).expect("it is accepted");
        scene.handle.run_due();
        assert_eq!(scene.status(&id), Some(Status::InFlight));
        let (rings, has_rung) =
            (Arc::new(AtomicBool::new(false)), |flag: &AtomicBool| flag.load(Ordering::SeqCst));
        if is_awaited {
            let ring = Arc::clone(&rings);
            let waiter = scene.handle.waiters().await_end(&id, move || ring.store(true, Ordering::SeqCst));
            assert!(waiter.is_some(), "it is out");
        }
        scene.handle.hosts().detach(host);
        scene.handle.run_due();
        assert_eq!(scene.status(&id), Some(if is_awaited { Status::Failed } else { Status::Queued }));
        assert_eq!((has_rung(&rings), scene.bulletins(&id).is_empty()), (is_awaited, is_awaited));
    }
}

/// T23.
#[test]
fn all_that_waits_goes_in_one_delivery_and_shares_its_end() {
    let scene = Scene::new();
    scene.busy(true);
    let ids: Vec<ScheduleId> =
        (0..20).map(|number| scene.task(&format!("task-{number:02}"), Sink::Session)).collect();
    scene.pass(1);
    assert!(scene.told().is_empty(), "the session is busy");
    assert_eq!(scene.bulletins(&ids[0]), [(RunState::Queued, Some(Reason::SessionBusy), 0)]);
    scene.busy(false);
    assert_eq!(scene.told().len(), 1, "sixteen of them");
    let pieces = scene.told()[0].matches("[BACKGROUND TASK COMPLETED]").count();
    assert_eq!(pieces, 16);
    let ended = ids.iter().filter(|id| scene.status(id) == Some(Status::Delivered)).count();
    assert_eq!(ended, 16, "one receipt ends all of them");
    scene.busy(true);
    scene.busy(false);
    let pieces = scene.told()[1].matches("[BACKGROUND TASK COMPLETED]").count();
    assert_eq!((scene.told().len(), pieces), (2, 4));
    assert!(ids.iter().all(|id| scene.status(id) == Some(Status::Delivered)));
}

#[test]
fn a_bulletin_is_of_the_system_and_says_so_in_pieces() {
    let scene = Scene::new();
    let handle = Handle::new(scene.stage.parts(Arc::new(reveille::adapter::HostLocal::new())));
    let executor = Arc::new(SimExecutor::scripted(&scene.stage).with("ci.build"));
    executor.serve(&handle);
    open(&handle, "s", SessionConfig::default());
    let call =
        Call { sink: Sink::Session, ..Call::new(ToolName::new("ci.build").expect("a name"), Map::new()) };
    let new = NewSchedule {
        payload: Payload::Call(Box::new(call)),
        ..NewSchedule::message(session("s"), When::After(Span::ZERO), "")
    };
    handle.schedule(new).expect("it is accepted");
    handle.run_due();
    let transcript = handle.sessions().transcript(&session("s")).expect("it is built in");
    let [message] = transcript.messages.as_slice() else { panic!("{transcript:?}") };
    assert_eq!(message.role, Role::System);
    assert!(matches!(message.content.as_slice(), [Content::Text(_)]));
}

#[test]
fn what_comes_while_one_waits_is_folded_into_it() {
    let scene = Scene::new();
    scene.busy(true);
    let call = Call {
        sink: Sink::Session,
        purpose: CallPurpose::Job,
        ..Call::new(ToolName::new("ci.build").expect("a name"), Map::new())
    };
    let new = NewSchedule {
        id: Some(ScheduleId::new("cron_app_build").expect("an id")),
        label: Some("build".into()),
        payload: Payload::Call(Box::new(call)),
        ..NewSchedule::message(session("s"), When::Each(Span::from_millis(60_000)), "")
    };
    let id = scene.handle.schedule(new).expect("it is accepted");
    scene.pass(301);
    assert!(scene.executor.calls().len() >= 5, "a bulletin that waits keeps no call back");
    let waiting = scene.bulletins(&id);
    let [(RunState::Queued, _, folded)] = waiting.as_slice() else { panic!("{waiting:?}") };
    assert_eq!(*folded + 1, scene.executor.calls().len() as u64);
    scene.busy(false);
    let told = scene.told();
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("[SCHEDULED JOB] job_id=cron_app_build name=\"build\" run="), "{}", told[0]);
    assert!(told[0].ends_with(&format!("{folded} earlier updates are folded into this one.")), "{}", told[0]);
}

/// T27.
#[test]
fn only_so_many_may_begin_a_turn_in_an_hour() {
    let scene = Scene::new();
    let mut last = None;
    for number in 0..200 {
        // Each bulletin begins a turn, which begins the next task: a circle.
        let id = scene.task(&format!("task-{number:03}"), Sink::Session);
        for _ in 0..3_600 {
            if scene.status(&id) == Some(Status::Delivered) {
                break;
            }
            assert_eq!(scene.bulletins(&id), [(RunState::Queued, Some(Reason::OverBudget), 0)]);
            scene.pass(1);
        }
        scene.busy(true);
        scene.busy(false);
        last = Some(id);
    }
    assert_eq!(last.and_then(|id| scene.status(&id)), Some(Status::Delivered));
    let at: Vec<u64> = scene
        .stage
        .history
        .receptions()
        .into_iter()
        .filter_map(|(now, it)| (it.host == HostId::new(1)).then_some(now.boot.nanos() / 1_000_000))
        .collect();
    assert_eq!(at.len(), 200);
    let most =
        at.iter().map(|from| at.iter().filter(|at| (*from..from + 3_600_000).contains(*at)).count()).max();
    // The world turns once a second, so that one of them may come late.
    assert!(most.is_some_and(|most| (118..=120).contains(&most)), "{most:?} in an hour");
}

/// T22.
#[test]
fn a_call_that_is_cancelled_has_ended_at_once() {
    let scene = Scene::new();
    scene.executor.script(CallAnswer::After(Span::from_millis(5_000), fine()));
    let id = scene.task("a1b2c3d4e5f6", Sink::Session);
    scene.command(Command::CancelCall(Which::any(Scope::Session(session("s")), id.clone())));
    assert_eq!(scene.status(&id), Some(Status::Cancelled));
    assert_eq!(scene.executor.cancelled().len(), 1);
    scene.pass(6);
    assert!(scene.told().is_empty(), "its canceller knows, and the late outcome is not heard");
    scene.executor.script(CallAnswer::Never);
    let id = scene.task("0f9e8d7c6b5a", Sink::Session);
    scene.command(Command::CancelCall(Which::any(Scope::Operator, id.clone())));
    let text = "[BACKGROUND TASK CANCELLED] task_id=0f9e8d7c6b5a tool=ci.build elapsed=0.0s";
    assert_eq!((scene.told(), scene.status(&id)), (vec![text.to_owned()], Some(Status::Cancelled)));
    // Cancelling the schedule calls its call back too.
    scene.executor.script(CallAnswer::Never);
    let id = scene.task("000000000002", Sink::Session);
    scene.command(Command::CancelSchedule(Which::any(Scope::Operator, id.clone())));
    assert_eq!((scene.status(&id), scene.executor.cancelled().len()), (Some(Status::Cancelled), 3));
    let again = Command::CancelCall(Which::any(Scope::Operator, id));
    assert!(scene.handle.submit(Input::Command(again)).is_err(), "there is nothing to cancel");
}

/// T58: of a job whose session is closed, what there is to tell waits a day for another session of that id.
#[test]
fn a_job_tells_its_session_when_that_opens_again_within_a_day() {
    #[track_caller]
    fn check(hours: u64, expected: (usize, RunState, Option<Reason>)) {
        let scene = Scene::new();
        let call = Call {
            sink: Sink::Session,
            purpose: CallPurpose::Job,
            ..Call::new(ToolName::new("ci.build").expect("a name"), Map::new())
        };
        let lifetime = Lifetime { dies_with_session: false, ..Lifetime::PLAIN };
        let new = NewSchedule {
            durability: Durability::Durable,
            payload: Payload::Call(Box::new(call)),
            settings: Some(Box::new(Settings { lifetime, ..Settings::PLAIN })),
            ..NewSchedule::message(session("s"), When::After(Span::from_millis(60_000)), "")
        };
        let id = scene.handle.schedule(new).expect("it is accepted");
        scene.command(Command::CloseSession { session: session("s"), by: None });
        scene.stage.run_for(&scene.handle, Span::from_millis(61_000));
        assert_eq!(scene.bulletins(&id), [(RunState::Queued, Some(Reason::SessionAbsent), 0)]);
        scene.stage.run_for(&scene.handle, Span::from_millis(hours * 3_600_000));
        scene
            .handle
            .open_session(Some(session("s")), HostId::new(1), SessionConfig::default())
            .expect("it is free");
        scene.handle.run_due();
        assert_eq!((scene.told().len(), scene.bulletins(&id)[0].0, scene.ended(&id)), expected);
        assert_eq!(scene.status(&id), Some(Status::Delivered), "the job itself was done");
    }
    check(3, (1, RunState::Delivered, None));
    check(25, (0, RunState::Failed, Some(Reason::SessionAbsent)));
}

/// T25: what goes on in a session that is closed ends with it: the executor is told, and nobody is told of the end.
#[test]
fn a_task_of_a_closed_session_is_called_off_and_told_to_nobody() {
    let scene = Scene::new();
    scene.executor.script(CallAnswer::After(Span::from_millis(5_000), fine()));
    scene.executor.script(CallAnswer::Never);
    let ids = [scene.task("one", Sink::Session), scene.task("two", Sink::Session)];
    scene.busy(true);
    let waits = scene.task("three", Sink::Session);
    assert_eq!(scene.bulletins(&waits)[0].0, RunState::Queued, "its end waits to be told");
    scene.command(Command::CloseSession { session: session("s"), by: None });
    assert_eq!(scene.executor.cancelled().len(), 2);
    assert_eq!(scene.executor.answer_due(), 0);
    scene.pass(10);
    // A session that is opened under this id again is another one.
    scene
        .handle
        .open_session(Some(session("s")), HostId::new(1), SessionConfig::default())
        .expect("it is free");
    scene.pass(10);
    assert_eq!(scene.told(), Vec::<String>::new());
    assert!(ids.iter().chain([&waits]).all(|id| scene.status(id).is_none()), "they are gone with it");
    assert_eq!(scene.handle.view(|state| state.ledger().imbalance()), 0);
}

/// T27: a chain whose model launches the next task in the turn that the end of the last one began, while that turn goes on.
/// No rule about chains refuses it; what bounds it is the number of turns in an hour.
#[test]
fn a_chain_of_tasks_is_bounded_by_its_wakings_alone() {
    let scene = Scene::new();
    let (mut longest, mut has_waited) = (0, 0);
    scene.task("task-000", Sink::Session);
    for number in 1..200 {
        let mut seconds = 0;
        while scene.told().len() < number {
            seconds += 1;
            scene.pass(1);
        }
        has_waited += usize::from(seconds > 1);
        longest = longest.max(seconds);
        // The turn that this delivery began: in it, the next task is launched, and ends before the turn does.
        scene.busy(true);
        let next = scene.task(&format!("task-{number:03}"), Sink::Session);
        assert_eq!(scene.bulletins(&next)[0], (RunState::Queued, Some(Reason::SessionBusy), 0));
        scene.busy(false);
        if scene.told().len() == number {
            assert_eq!(scene.bulletins(&next)[0].1, Some(Reason::OverBudget), "and says why it waits");
        }
    }
    let began = scene.handle.view(|state| state.schedules().len());
    assert_eq!(began, 200, "none was refused");
    // Half of an hour's deliveries went at once, the others were spread over the time.
    assert!((130..=145).contains(&has_waited) && longest <= 61, "{has_waited} waits, up to {longest} s");
}

#[test]
fn bulletins_of_a_lost_host_go_again_under_their_ids() {
    let scene = Scene::new();
    scene.host.behave(&[(Behaviour::LoseReceipt, 1)]);
    scene.busy(true);
    let durable = |id: &str| {
        let call =
            Call { sink: Sink::Session, ..Call::new(ToolName::new("ci.build").expect("a name"), Map::new()) };
        let new = NewSchedule {
            id: Some(ScheduleId::new(id).expect("an id")),
            durability: Durability::Durable,
            payload: Payload::Call(Box::new(call)),
            ..NewSchedule::message(session("s"), When::After(Span::ZERO), "")
        };
        let id = scene.handle.schedule(new).expect("it is accepted");
        scene.handle.run_due();
        id
    };
    let ids = [durable("one"), durable("two"), durable("three")];
    scene.busy(false);
    let states = |ids: &[ScheduleId]| ids.iter().map(|id| scene.bulletins(id)[0].0).collect::<Vec<_>>();
    assert_eq!((scene.told().len(), states(&ids)), (1, vec![RunState::InFlight; 3]));
    scene.handle.submit(Input::Report(Report::HostLost { host: HostId::new(1) })).expect("it was connected");
    assert_eq!(states(&ids), [RunState::Queued; 3]);
    let host = scene.handle.hosts().attach(Arc::new(SimHost::new(&scene.stage, HostId::new(2))));
    scene.command(Command::HostSessions { host, sessions: vec![session("s")], busy: Some(false), by: None });
    assert_eq!(states(&ids), [RunState::Delivered; 3]);
}

/// T24: of a host that refuses a delivery, and of one that is lost with what only memory holds. Nothing is told twice.
#[test]
fn bulletins_that_were_not_taken_go_again_under_their_ids() {
    let scene = Scene::new();
    scene.busy(true);
    let ids: Vec<ScheduleId> =
        (0..16).map(|number| scene.task(&format!("t{number}"), Sink::Session)).collect();
    let runs = || -> Vec<RunId> {
        scene.handle.view(|state| {
            let of = |id| state.schedule(id).into_iter().flat_map(|record| state.runs_of(record));
            let told = ids.iter().flat_map(of).filter(|(_, run)| run.run().cause == Cause::Bulletin);
            told.filter_map(|(_, run)| state.run_id(run)).collect()
        })
    };
    let states = || ids.iter().map(|id| scene.bulletins(id)[0].0).collect::<Vec<_>>();
    let before = runs();
    scene.host.behave(&[(Behaviour::FailSubmit, 1)]);
    scene.busy(false);
    assert_eq!(states(), [RunState::Queued; 16], "the host refused them");
    scene.host.behave(&[(Behaviour::LoseReceipt, 1)]);
    scene.pass(10);
    assert!(states().contains(&RunState::InFlight), "it has the first, and says nothing");
    scene.handle.submit(Input::Report(Report::HostLost { host: HostId::new(1) })).expect("it was connected");
    assert_eq!(states(), [RunState::Queued; 16]);
    let again = Arc::new(SimHost::new(&scene.stage, HostId::new(2)));
    let host = scene.handle.hosts().attach(again.clone());
    scene.command(Command::HostSessions { host, sessions: vec![session("s")], busy: Some(false), by: None });
    scene.pass(10);
    assert_eq!((states(), runs()), (vec![RunState::Delivered; 16], before));
    let texts = again.prompts().into_iter().map(|it| it.text.to_string());
    let heads: usize = texts.map(|text| text.matches("[BACKGROUND TASK COMPLETED]").count()).sum();
    assert_eq!(heads, 16, "each once");
}
