//! The engine under test in the races: its host records what it hears, and its clock stands still unless a test moves
//! it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use shuttle::thread::{spawn, yield_now};

use crate::domain::{
    BootTime, Call, CallPurpose, CountFrom, Cursor, Decision, DecisionKind, Dialect, Durability, Entropy,
    Every, Filter, HostId, Message, Moment, NotifyWhen, Now, Payload, ScheduleId, SessionConfig, SessionId,
    Sink, Span, Status, ToolName, ToolSpec, Transcript, Trigger, When,
};
use crate::edn::Map;
use crate::engine::{
    Command, Delivery, Input, Invocation, NewSchedule, Opening, Report, ScheduleRecord, State,
};
use crate::port::{Clock, EntropySource, Executor, Host, HostAnswer, Returned};
use crate::runtime::WithoutStore;
use crate::runtime::handle::Handle;
use crate::runtime::parts::Parts;

/// An engine whose built-in host records what it hears.
pub(super) struct Stage {
    pub(super) handle: Handle,
    pub(super) clock: Arc<Hands>,
    pub(super) ear: Arc<Ear>,
}

impl Stage {
    pub(super) fn new(answer: HostAnswer) -> Stage {
        let (clock, ear) = (Arc::new(Hands::default()), Arc::new(Ear::new(answer)));
        let entropy = Arc::new(Counter::default());
        let handle = Handle::new(Parts {
            clock: clock.clone(),
            entropy,
            local: ear.clone(),
            zones: Arc::default(),
            without_store: WithoutStore::InMemory,
            journal: None,
        });
        Stage { handle, clock, ear }
    }

    pub(super) fn with_session(answer: HostAnswer) -> Stage {
        let stage = Stage::new(answer);
        stage.open("one", HostId::LOCAL);
        stage
    }

    pub(super) fn open(&self, name: &str, host: HostId) {
        self.handle.open_session(Some(session(name)), host, SessionConfig::default()).unwrap();
    }

    pub(super) fn create(&self, name: &str, owner: &str, delay_ms: u64) {
        self.handle.submit(new_schedule(name, owner, delay_ms, false)).unwrap();
    }

    pub(super) fn create_fresh(&self, name: &str, owner: &str, delay_ms: u64) {
        self.handle.submit(new_schedule(name, owner, delay_ms, true)).unwrap();
    }

    pub(super) fn take_over(&self, host: HostId, name: &str) {
        let sessions = vec![session(name)];
        self.handle
            .submit(Input::Command(Command::HostSessions { host, sessions, busy: Some(false), by: None }))
            .unwrap();
    }

    pub(super) fn report_busy(&self, busy: bool) {
        self.handle.submit(Input::Report(Report::Busy { session: session("one"), busy, by: None })).unwrap();
    }

    pub(super) fn pass(&self, millis: u64) {
        self.clock.nanos.fetch_add(millis * 1_000_000, Ordering::Relaxed);
    }

    pub(super) fn turner(&self) -> shuttle::thread::JoinHandle<()> {
        let handle = self.handle.clone();
        spawn(move || {
            handle.run_due();
        })
    }

    /// Asserts, after all threads have been joined, that no effect is left behind and that the ledger balances.
    pub(super) fn settle(&self) {
        assert!(self.handle.shared.core().outbox.is_empty(), "effects left behind");
        let ledger = self.handle.view(State::ledger);
        assert_eq!((ledger.imbalance(), ledger.pending), (0, 0), "{ledger:?}");
    }

    pub(super) fn status(&self, name: &str) -> Option<Status> {
        self.handle.view(|state| state.schedule(&id(name)).map(ScheduleRecord::status))
    }

    pub(super) fn decisions(&self) -> Vec<Decision> {
        self.handle.subscribe(Cursor::START).poll(usize::MAX).decisions
    }

    pub(super) fn ends(&self, name: &str) -> Vec<DecisionKind> {
        let own = self.decisions().into_iter().filter(|decision| decision.schedule() == Some(&id(name)));
        let ends = [DecisionKind::RunDelivered, DecisionKind::RunFailed, DecisionKind::ScheduleCancelled];
        own.map(|decision| decision.kind).filter(|kind| ends.contains(kind)).collect()
    }
}

/// A host that records what it hears, lets other threads run around each call, and always gives the same answer.
pub(super) struct Ear {
    answer: HostAnswer,
    /// Sessions and their events: a schedule's id, `create`, `said …` or `forget`. Locked for one push at a time, and
    /// never while threads may switch.
    events: Mutex<Vec<(SessionId, String)>>,
}

impl Ear {
    pub(super) fn new(answer: HostAnswer) -> Ear {
        Ear { answer, events: Mutex::default() }
    }

    pub(super) fn hear(&self, session: &SessionId, event: String) {
        yield_now();
        self.events.lock().unwrap().push((session.clone(), event));
        yield_now();
    }

    pub(super) fn events(&self) -> Vec<(SessionId, String)> {
        self.events.lock().unwrap().clone()
    }

    pub(super) fn heard(&self, name: &str) -> Vec<String> {
        let own = self.events().into_iter().filter(|(of, _)| *of == session(name));
        own.map(|(_, event)| event).collect()
    }

    pub(super) fn prompts(&self, name: &str) -> Vec<String> {
        let mut events = self.heard(name);
        events.retain(|event| event != "forget" && !event.starts_with("said "));
        events
    }
}

impl Host for Ear {
    fn opened(&self, _: &SessionId, _: &SessionConfig) {}

    fn create(&self, opening: &Opening) -> HostAnswer {
        self.hear(&opening.session, "create".to_owned());
        self.answer.clone()
    }

    fn deliver(&self, delivery: &Delivery) -> HostAnswer {
        self.hear(&delivery.session, delivery.run.schedule.to_string());
        self.answer.clone()
    }

    fn record(&self, session: &SessionId, message: &Message) {
        self.hear(session, format!("said {}", message.text()));
    }

    fn forget(&self, session: &SessionId) {
        self.hear(session, "forget".to_owned());
    }

    fn transcript(&self, _: &SessionId) -> Option<Transcript> {
        None
    }
}

/// An executor of one tool that keeps the way back of each call.
#[derive(Default)]
pub(super) struct Keeper(Mutex<Vec<Returned>>);

impl Keeper {
    pub(super) fn take(&self) -> Returned {
        self.0.lock().unwrap().pop().expect("it was called")
    }
}

impl Executor for Keeper {
    fn specs(&self, _: &SessionId) -> Arc<[ToolSpec]> {
        Arc::from([ToolSpec::reading(tool(), "", Map::new().into())])
    }

    fn call(&self, _: Invocation, returned: Returned) {
        self.0.lock().unwrap().push(returned);
    }

    fn cancel(&self, _: &str) {}
}

fn tool() -> ToolName {
    ToolName::new("ci.build").unwrap()
}

/// A task of the session `one`, which is due at once.
pub(super) fn new_task(name: &str) -> Input {
    let call = Call { sink: Sink::Session, ..Call::new(tool(), Map::new()) };
    let new = NewSchedule::message(session("one"), When::After(Span::ZERO), "");
    let payload = Payload::Call(Box::new(call));
    Input::Command(Command::CreateSchedule(NewSchedule { id: Some(id(name)), payload, ..new }))
}

/// A watch of the session `one`, which looks at each second.
pub(super) fn new_watch(name: &str) -> Input {
    let (purpose, filter) = (CallPurpose::Watch, Some(Arc::new(Filter::plain(NotifyWhen::OnChange))));
    let call = Call { purpose, filter, sink: Sink::Session, ..Call::new(tool(), Map::new()) };
    let second = Span::from_millis(1_000);
    let every = Every::new(second, Moment::EPOCH.checked_add(second).unwrap(), CountFrom::Finish).unwrap();
    let when = When::By(Trigger::Every(Box::new(every)));
    let new = NewSchedule::message(session("one"), when, "");
    let payload = Payload::Call(Box::new(call));
    Input::Command(Command::CreateSchedule(NewSchedule { id: Some(id(name)), payload, ..new }))
}

/// A clock that stands still, or advances by `step` at each reading.
#[derive(Default)]
pub(super) struct Hands {
    pub(super) nanos: AtomicU64,
    pub(super) step: AtomicU64,
}

impl Clock for Hands {
    fn now(&self) -> Now {
        let step = self.step.load(Ordering::Relaxed);
        let span = Span::from_nanos(self.nanos.fetch_add(step, Ordering::Relaxed) + step);
        Now { wall: Moment::EPOCH.checked_add(span).unwrap(), boot: BootTime::ZERO.after(span) }
    }
}

#[derive(Default)]
pub(super) struct Counter(AtomicU64);

impl EntropySource for Counter {
    fn draw(&self) -> Entropy {
        Entropy(u128::from(self.0.fetch_add(1, Ordering::Relaxed)).to_le_bytes())
    }
}

pub(super) fn new_schedule(name: &str, owner: &str, delay_ms: u64, fresh: bool) -> Input {
    let (text, config) = (name.into(), Arc::new(SessionConfig::default()));
    Input::Command(Command::CreateSchedule(NewSchedule {
        made_by: None,
        id: Some(id(name)),
        dialect: Dialect::Psi,
        durability: Durability::Volatile,
        label: None,
        owner: session(owner),
        when: When::After(Span::from_millis(delay_ms)),
        payload: if fresh { Payload::new_session(text, config) } else { Payload::Turn { text } },
        settings: None,
        session_live_max: 50,
    }))
}

pub(super) fn ids(one: &str, two: &str) -> Vec<String> {
    vec![one.to_owned(), two.to_owned()]
}

pub(super) fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

pub(super) fn id(name: &str) -> ScheduleId {
    ScheduleId::new(name).unwrap()
}
