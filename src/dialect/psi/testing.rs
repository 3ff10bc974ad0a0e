//! Shared by the tests of this dialect: a time, a caller, and an engine whose schedules reach every end state.

use std::sync::Arc;

use super::{Call, PsiContext, parse, session_config};
use crate::calendar::Zones;
use crate::dialect::{Answer, Notation};
use crate::domain::{
    BootTime, Entropy, Failure, HostId, Moment, Now, PayloadKind, Phase, Reason, Refusal, RunId, ScheduleId,
    Scope, SessionConfig, SessionId, Span,
};
use crate::edn::{self, Caps, Value};
use crate::engine::{Command, Env, Input, Report, ScheduleRecord, State, Which, decide};

/// The caller's session.
pub(super) const SESSION: &str = "s-1";

/// The time of every call; it has digits below the millisecond.
pub(super) const NOW: &str = "2026-04-22T12:00:00.000250Z";

pub(super) fn now() -> Now {
    Now { wall: moment(NOW), boot: BootTime::from_nanos(1_000) }
}

pub(super) fn moment(text: &str) -> Moment {
    Moment::parse(text).unwrap()
}

pub(super) fn session() -> SessionId {
    SessionId::new(SESSION).unwrap()
}

pub(super) fn read(text: &str) -> Value {
    const CAPS: Caps = Caps { bytes_max: 1 << 20, depth_max: 64, digits_max: 1_000, forms_max: 200_000 };
    edn::read(text.as_bytes(), &CAPS).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Parses a call with EDN arguments, from a session with a few schedules.
pub(super) fn ask(args: &str) -> Result<Call, Answer> {
    let context = PsiContext { session: Some(session()), live: 49, now: now() };
    parse(&read(args), Notation::Edn, &context)
}

/// Checks that a call is refused with exactly this phase and data, and that its message contains these words.
#[track_caller]
pub(super) fn check_refused(args: &str, words: &str, phase: &str, data: &str) {
    check_error(&ask(args).expect_err(args), words, phase, data);
}

/// Checks an error answer, and that it can be read back.
#[track_caller]
pub(super) fn check_error(answer: &Answer, words: &str, phase: &str, data: &str) {
    assert!(answer.is_error, "{}", answer.value);
    assert_eq!(read(&answer.value.to_string()), answer.value);
    let map = answer.value.as_map().unwrap();
    let keys: Vec<String> = map.keys().map(ToString::to_string).collect();
    let expected = ":action :scheduler-op :duration-ms :overall-status :error";
    assert_eq!(keys.join(" ").replace("psi-tool/", ""), expected);
    assert_eq!(map.keyword("psi-tool/action"), Some(&Value::keyword("scheduler")));
    assert_eq!(map.keyword("psi-tool/overall-status"), Some(&Value::keyword("error")));
    let error = map.keyword("psi-tool/error").and_then(Value::as_map).unwrap();
    assert_eq!(error.keyword("class").and_then(Value::as_str), Some("clojure.lang.ExceptionInfo"));
    assert_eq!(error.keyword("data").unwrap().to_string(), data);
    assert_eq!(error.keyword("phase").unwrap().to_string(), phase);
    let message = error.keyword("message").and_then(Value::as_str).unwrap();
    assert!(message.contains(words), "{message:?} lacks {words:?}");
}

/// Checks that entries of a configuration are accepted, and how they are printed: same keys, same order.
#[track_caller]
pub(super) fn check_config(entries: &str, expected: &str) {
    let config = session_config::parse(&read(&format!("{{{entries}}}")), Notation::Edn).unwrap();
    let printed = session_config::print(&config);
    assert_eq!(printed.to_string(), read(&format!("{{{expected}}}")).to_string());
    assert_eq!(session_config::parse(&printed, Notation::Edn), Ok(config));
}

/// Checks that entries of a configuration are refused with exactly this data, and that the message contains these
/// words.
#[track_caller]
pub(super) fn check_config_refused(entries: &str, words: &str, data: &str) {
    check_config_error(&format!("{{{entries}}}"), Notation::Edn, words, data);
}

/// Checks the refusal of a whole configuration, in either notation.
#[track_caller]
pub(super) fn check_config_error(config: &str, notation: Notation, words: &str, data: &str) {
    let error = session_config::parse(&read(config), notation).expect_err(config);
    assert!(error.to_string().contains(words), "{error}");
    assert_eq!(Value::from(error.data()).to_string(), format!("{{{data}}}"));
}

/// An engine with one session, driven step by step.
pub(super) struct World {
    pub(super) state: State,
    now: Now,
    drawn: u8,
}

impl World {
    /// Creates a world with one session, whose host reports only when the test does.
    pub(super) fn new() -> World {
        let mut world = World { state: State::new(), now: now(), drawn: 0 };
        let (config, host) = (Arc::new(SessionConfig::default()), HostId::new(1));
        world.step(Input::Report(Report::HostAttached { host, by: None })).unwrap();
        world.command(Command::OpenSession { session: Some(session()), host, config, by: None }).unwrap();
        world
    }

    /// Creates the schedule that these arguments describe, and returns its id.
    pub(super) fn create(&mut self, args: &str) -> ScheduleId {
        let Ok(Call::Create(mut new)) = ask(args) else { panic!("{args}") };
        let id = ScheduleId::new(&format!("sch-{}", self.drawn)).unwrap();
        new.id = Some(id.clone());
        self.command(Command::CreateSchedule(new)).unwrap();
        id
    }

    pub(super) fn command(&mut self, command: Command) -> Result<(), Refusal> {
        self.step(Input::Command(command))
    }

    pub(super) fn cancel(&mut self, schedule: &ScheduleId) -> Result<(), Refusal> {
        let scope = Scope::Session(session());
        self.command(Command::CancelSchedule(Which::any(scope, schedule.clone())))
    }

    pub(super) fn busy(&mut self, busy: bool) {
        self.step(Input::Report(Report::Busy { session: session(), busy, by: None })).unwrap();
    }

    /// Advances the clock by a minute, and processes everything due by then.
    pub(super) fn wait(&mut self) {
        let minute = Span::from_millis(60_000);
        self.now =
            Now { wall: self.now.wall.checked_add(minute).unwrap(), boot: self.now.boot.after(minute) };
        while self.state.next_wake(self.now).is_some_and(|wake| wake <= self.now.boot) {
            self.step(Input::Wake).unwrap();
        }
    }

    /// Reports that the host completed all phases of the run.
    pub(super) fn accept(&mut self, schedule: &ScheduleId) {
        let run = self.run(schedule);
        if self.record(schedule).schedule().payload.kind() == PayloadKind::Session {
            self.step(Input::Report(Report::Created { run: run.clone() })).unwrap();
        }
        self.step(Input::Report(Report::Accepted { run })).unwrap();
    }

    /// Reports that the host failed in this phase.
    pub(super) fn fail(&mut self, schedule: &ScheduleId, phase: Phase) {
        let run = self.run(schedule);
        let is_fresh = self.record(schedule).schedule().payload.kind() == PayloadKind::Session;
        if is_fresh && phase == Phase::PromptSubmit {
            self.step(Input::Report(Report::Created { run: run.clone() })).unwrap();
        }
        let failure = Failure::new(phase, Reason::HostRefused, "no model");
        self.step(Input::Report(Report::Failed { run, failure })).unwrap();
    }

    pub(super) fn record(&self, schedule: &ScheduleId) -> &ScheduleRecord {
        self.state.schedule(schedule).unwrap()
    }

    fn run(&self, schedule: &ScheduleId) -> RunId {
        self.record(schedule).run_id(self.record(schedule).fire_at())
    }

    fn step(&mut self, input: Input) -> Result<(), Refusal> {
        self.drawn += 1;
        let zones = Zones::default();
        let given = Env { now: self.now, entropy: Entropy([self.drawn; 16]), zones: &zones, awaited: None };
        let step = decide(&self.state, input, given)?;
        for fact in step.facts {
            self.state.apply(self.now, fact);
        }
        Ok(())
    }
}
