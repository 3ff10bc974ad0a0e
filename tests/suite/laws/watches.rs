//! Wrong histories for the laws of watches, and of what sessions cause. They spoil a story of its own, because the feed shows
//! no check that tells nothing.

use std::sync::Arc;

use reveille::domain::{
    Call, CallPurpose, CountFrom, Edge, Every, Fact, Filter, HostId, Next, NotifyWhen, Outcome, Payload,
    PingName, Policy, RunFact, ScheduleFact, Scope, SessionConfig, SessionFact, Settings, Span, ToolName,
    WatchCheck, When, Why,
};
use reveille::edn::Map;
use reveille::engine::{Command, Input, NewSchedule, Report, Which, parse_condition, parse_path};
use reveille::port::Clock;
use reveille::runtime::Handle;
use reveille::testkit::{CallAnswer, Observation, Seen, SimExecutor, SimHost, Stage};

use super::{Spoil, TrueStory, find, id, is_claimed, is_created, is_dispatched, session};

/// Wrong histories of watches, and the law that each breaks.
pub(super) const WRONG_CHECKS: &[(&str, Spoil)] = &[
    ("a_check_is_told_as_its_past_says", |all| check(all, "state", UP).weighed.told = Some(Why::Every)),
    ("a_check_is_told_as_its_past_says", |all| check(all, "state", DOWN).weighed.told = None),
    ("a_check_is_told_as_its_past_says", |all| check(all, "state", DOWN).reading.holds = false),
    // Another result has the digest of the first one.
    ("a_check_is_told_as_its_past_says", |all| {
        let digest = check(all, "state", UP).reading.digest;
        check(all, "state", DOWN).reading.digest = digest;
    }),
    // A summary is told by a check after which the watch has an hour left.
    ("a_check_is_told_as_its_past_says", |all| {
        become_a_summary(all);
        check(all, "state", UP).weighed.told = Some(Why::Batch);
    }),
    // A ping had come a second before the check that tells of silence.
    ("silence_is_told_once_and_only_in_silence", |all| {
        let told = place_of(all, "pings", SILENT);
        let silent = check(all, "pings", SILENT).weighed.told;
        assert!(matches!(silent, Some(Why::Silent(_))), "{silent:?}");
        let called =
            all[..told].iter().rposition(|it| is_dispatched(&it.seen, "pings")).expect("it was called");
        let now = all[called].now;
        let at = now.wall.checked_sub(Span::from_millis(1_000)).expect("it is late enough");
        let pinged = Fact::Session(session("home"), SessionFact::Pinged { name: backup(), at }, None);
        all.insert(called, Observation { now, seen: Seen::Fact(pinged) });
    }),
    ("a_watch_looks_again_in_time", |all| looks_again(all, UP, 9_999)),
    ("a_watch_looks_again_in_time", |all| looks_again(all, UP, 20_000)),
    // As if the check had not failed.
    ("a_watch_looks_again_in_time", |all| looks_again(all, FAILED, 10_000)),
];

/// Histories of watches that do not fit the state they are said to have led to, and the law that each breaks.
pub(super) const WRONG_MEMORIES: &[(&str, Spoil)] = &[
    // Checks fail for longer than the watch remembers.
    ("a_watch_remembers_its_checks", |all| {
        let place = place_of(all, "state", FAILED);
        let now = &mut all[place].now;
        now.wall = now.wall.checked_sub(Span::from_millis(1)).expect("it is late enough");
    }),
    // Changes are told against a result that the watch does not know.
    ("a_watch_remembers_its_checks", |all| {
        let digest = check(all, "pings", SILENT).reading.digest;
        check(all, "state", DOWN).reading.digest = digest;
    }),
    // An operator hurried the run.
    ("what_a_session_causes_is_its_own", |all| {
        let place = find(all, |seen| is_armed(seen, "hurried"));
        if let Seen::Fact(Fact::Schedule(_, ScheduleFact::Armed { by, .. })) = &mut all[place].seen {
            *by = Some(Box::new(Scope::Operator.into()));
        }
    }),
    // A session asked for the run that comes by its slot.
    ("what_a_session_causes_is_its_own", |all| {
        let place = find(all, |seen| is_claimed(seen, "planned"));
        if let Seen::Fact(Fact::Run(_, RunFact::Claimed(claim), _)) = &mut all[place].seen {
            claim.by = Some(Box::new(Scope::Session(session("home")).into()));
        }
    }),
];

impl TrueStory {
    /// A watch that tells of a state and then fails, one that hears no second ping, and two runs of an operator's schedules: a
    /// session hurries one of them. Both runs wait while the session is busy, so that there is something to judge in the end.
    pub(super) fn of_watches() -> TrueStory {
        let stage = Stage::seeded(7);
        let handle = Handle::new(stage.parts(Arc::new(SimHost::new(&stage, HostId::LOCAL))));
        let executor = Arc::new(SimExecutor::scripted(&stage).with("http.get").with("ping.age"));
        executor.serve(&handle);
        let opened = handle.open_session(Some(session("home")), HostId::LOCAL, SessionConfig::default());
        assert!(opened.is_ok(), "{opened:?}");
        let answers = [
            state("up"),
            age(10),
            state("down"),
            age(20),
            Outcome::of_error("it went wrong", TOOK),
            age(30),
            age(40),
            Outcome::of_error("it went wrong", TOOK),
            age(50),
        ];
        answers.into_iter().for_each(|outcome| executor.script(CallAnswer::AtOnce(outcome)));
        let story = TrueStory { stage, handle };
        let condition = parse_condition("result.state == \"down\"").expect("a condition");
        let by_state = Filter {
            condition: Some(Arc::new(condition)),
            edge: Edge::Rising,
            backoff: Some(Span::from_millis(60_000)),
            ..Filter::plain(NotifyWhen::OnThreshold)
        };
        story.watch("state", "http.get", by_state);
        // The watches take turns, so that each gets its own answers.
        story.stage.run_for(&story.handle, Span::from_millis(2_000));
        story.submit(Input::Command(Command::Ping { session: session("home"), name: backup(), by: None }));
        let by_silence = Filter {
            silence: Some(Span::from_millis(30_000)),
            ignore: parse_path("age_seconds").into_iter().collect(),
            ..Filter::plain(NotifyWhen::OnChange)
        };
        story.watch("pings", "ping.age", by_silence);
        story.stage.run_for(&story.handle, Span::from_millis(55_000));
        story.submit(Input::Report(Report::Busy { session: session("home"), busy: true, by: None }));
        story.plan("planned", 1_000);
        story.plan("hurried", 60_000);
        let which = Which::any(Scope::Session(session("home")), id("hurried"));
        story.submit(Input::Command(Command::BringForward(which)));
        story.stage.run_for(&story.handle, Span::from_millis(2_000));
        story
    }

    /// A watch that looks every ten seconds, and of which nobody is told.
    fn watch(&self, name: &str, tool: &str, filter: Filter) {
        let tool = ToolName::new(tool).expect("a name");
        let (purpose, filter) = (CallPurpose::Watch, Some(Arc::new(filter)));
        let call = Call { purpose, filter, ..Call::new(tool, Map::new().with("name", "backup")) };
        let interval = Span::from_millis(10_000);
        let first = self.stage.clock.now().wall.checked_add(interval).expect("an instant");
        let every = Every::new(interval, first, CountFrom::Finish).expect("a period");
        let policy = Policy { timeout: Some(Span::from_millis(5_000)), ..Policy::PLAIN };
        self.submit(Input::Command(Command::CreateSchedule(NewSchedule {
            id: Some(id(name)),
            payload: Payload::Call(Box::new(call)),
            settings: Some(Box::new(Settings { policy, ..Settings::PLAIN })),
            ..NewSchedule::message(session("home"), When::By(every.into()), "")
        })));
    }

    /// A message that an operator has planned.
    fn plan(&self, name: &str, delay_ms: u64) {
        let when = When::After(Span::from_millis(delay_ms));
        self.submit(Input::Command(Command::CreateSchedule(NewSchedule {
            id: Some(id(name)),
            made_by: Some(Box::new(Scope::Operator.into())),
            ..NewSchedule::message(session("home"), when, name)
        })));
    }
}

fn state(state: &str) -> Outcome {
    Outcome::of_value(Map::new().with("state", state).into(), 16, TOOK)
}

/// What is said of the only ping.
fn age(seconds: i64) -> Outcome {
    Outcome::of_value(Map::new().with("age_seconds", seconds).with("ok", true).into(), 30, TOOK)
}

fn backup() -> PingName {
    PingName::new("backup").expect("a name")
}

/// The watch of the state tells of eight checks together, and ends in an hour.
fn become_a_summary(all: &mut [Observation]) {
    let place = find(all, |seen| is_created(seen, "state"));
    let end = all[place].now.wall.checked_add(Span::from_millis(3_600_000));
    let Seen::Fact(Fact::Created { schedule, .. }) = &mut all[place].seen else { return };
    let (Payload::Call(call), Some(settings)) = (&mut schedule.payload, &mut schedule.settings) else {
        return;
    };
    call.filter = Some(Arc::new(Filter { batch: 8, ..Filter::plain(NotifyWhen::Summary) }));
    settings.lifetime.expires_at = end;
}

/// The watch of the state looks again so long after a check.
fn looks_again(all: &mut [Observation], number: usize, millis: u64) {
    let place = place_of(all, "state", number);
    let (now, wait) = (all[place].now, Span::from_millis(millis));
    let slot = now.wall.checked_add(wait).expect("an instant");
    let armed = place + find(&all[place..], |seen| is_armed(seen, "state"));
    if let Seen::Fact(Fact::Schedule(_, ScheduleFact::Armed { next, .. })) = &mut all[armed].seen {
        *next = Next::Slot { slot, due: Some(now.boot.after(wait)) };
    }
}

/// One of the checks of a watch, which are counted from nought.
fn check<'a>(all: &'a mut [Observation], name: &str, number: usize) -> &'a mut WatchCheck {
    let place = place_of(all, name, number);
    let Seen::Fact(Fact::Run(_, RunFact::Returned { check: Some(check), .. }, _)) = &mut all[place].seen
    else {
        unreachable!("{place} is no check")
    };
    check
}

/// Where one of the checks of a watch ends.
fn place_of(all: &[Observation], name: &str, number: usize) -> usize {
    let ends = all.iter().enumerate().filter(|(_, observation)| is_returned(&observation.seen, name));
    ends.map(|(place, _)| place).nth(number).expect("the true story has one")
}

fn is_returned(seen: &Seen, name: &str) -> bool {
    matches!(seen, Seen::Fact(Fact::Run(run, RunFact::Returned { .. }, _)) if run.schedule == id(name))
}

fn is_armed(seen: &Seen, name: &str) -> bool {
    matches!(seen, Seen::Fact(Fact::Schedule(of, ScheduleFact::Armed { .. })) if *of == id(name))
}

/// The checks of the watch of the state: it is up, then down, and then the check fails.
const UP: usize = 0;
const DOWN: usize = 1;
const FAILED: usize = 2;
/// The check of the watch of pings that tells of silence: 30 seconds after the first one.
const SILENT: usize = 3;
const TOOK: Span = Span::from_millis(20);
