//! The measured engine: real clocks, built-in sessions, a driver thread, and one tool that answers at once or after a time.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use reveille::adapter::{ClockOs, EntropyOs, HostLocal};
use reveille::domain::{
    Call, CallPurpose, CountFrom, Dialect, Durability, Every, ExecutorKind, Filter, HostId, Missed, Moment,
    NotifyWhen, Outcome, Payload, Policy, Primitives, ScheduleId, SessionConfig, SessionId, Settings, Sink,
    Span, ToolName, ToolSpec, Trigger, When,
};
use reveille::edn::{Map, Value};
use reveille::engine::{Invocation, NewSchedule};
use reveille::port::{Clock, Executor, Host, Returned};
use reveille::runtime::{Handle, Parts, Runtime, WithoutStore};

use crate::Figures;

/// The tool of all calls.
pub(crate) const TOOL: &str = "bench.nothing";
/// Watches of one session.
pub(crate) const PER_SESSION: usize = 100;

pub(crate) struct Engine {
    runtime: Runtime,
    sessions: Vec<SessionId>,
}

impl Engine {
    /// An engine with sessions for so many watches. `seen` hears of each call.
    pub(crate) fn start(watches: usize, seen: impl Fn(&Invocation) + Send + Sync + 'static) -> Engine {
        let nothing = Nothing { value: Value::from("ok"), seen };
        Engine::with(watches, Arc::new(HostLocal::new()), Some(Arc::new(nothing)))
    }

    /// An engine with sessions for so many watches, with this host and this executor.
    pub(crate) fn with(watches: usize, local: Arc<dyn Host>, executor: Option<Arc<dyn Executor>>) -> Engine {
        let runtime =
            Runtime::start(parts(Arc::new(ClockOs), local)).expect("the system has a thread to give");
        let sessions = furnish(runtime.handle(), watches, executor);
        Engine { runtime, sessions }
    }

    pub(crate) fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    pub(crate) fn sessions(&self) -> &[SessionId] {
        &self.sessions
    }

    pub(crate) fn session(&self, number: usize) -> SessionId {
        self.sessions[number].clone()
    }

    /// Creates watches that tell changes. Their first checks are spread evenly over one interval.
    pub(crate) fn watch(&self, count: usize, interval: Duration) {
        watch(self.handle(), &self.sessions, (count, interval), Durability::Volatile);
    }

    /// Leaves the engine to the end of the process: cancelling its watches would only take time.
    pub(crate) fn leave(self) {
        std::mem::forget(self);
    }
}

/// An engine's parts, without a log.
pub(crate) fn parts(clock: Arc<dyn Clock>, local: Arc<dyn Host>) -> Parts {
    Parts {
        clock,
        entropy: Arc::new(EntropyOs::new().expect("the system has randomness")),
        local,
        zones: Arc::default(),
        without_store: WithoutStore::Reject,
        journal: None,
    }
}

/// Gives an engine its executor, and sessions for so many watches.
pub(crate) fn furnish(
    handle: &Handle,
    watches: usize,
    executor: Option<Arc<dyn Executor>>,
) -> Vec<SessionId> {
    handle.tools().switch(Primitives { watchers: true, ..Primitives::default() });
    if let Some(executor) = executor {
        handle.tools().add_executor(ExecutorKind::Operator, executor).expect("no other executor");
    }
    let open = |number| {
        let id = SessionId::new(&format!("session-{number}")).expect("letters and digits");
        let opened = handle.open_session(Some(id), HostId::LOCAL, SessionConfig::default());
        opened.expect("an engine takes this many sessions").0
    };
    (0..watches.div_ceil(PER_SESSION)).map(open).collect()
}

/// Creates watches that tell changes. Their first checks are spread evenly over one interval.
pub(crate) fn watch(
    handle: &Handle,
    sessions: &[SessionId],
    (count, interval): (usize, Duration),
    durability: Durability,
) -> Vec<ScheduleId> {
    let period = Span::from_nanos(u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX));
    let begin = handle.now().wall.checked_add(period).expect("an instant");
    // Shared, as one tool's watches of one kind are told apart by nothing else.
    let filter = Arc::new(Filter::plain(NotifyWhen::OnChange));
    let create = |number: usize| {
        let offset = Span::from_nanos(period.nanos() / count as u64 * number as u64);
        let first = begin.checked_add(offset).expect("an instant");
        let every = Every::new(period, first, CountFrom::Finish).expect("a period");
        let call = Call {
            purpose: CallPurpose::Watch,
            sink: Sink::Session,
            filter: Some(Arc::clone(&filter)),
            ..Call::new(tool(), Map::new())
        };
        let timeout = Some(Span::from_millis(300_000));
        let policy = Policy { missed: Missed::Skip, timeout, ..Policy::PLAIN };
        let owner = sessions[number / PER_SESSION].clone();
        let new = NewSchedule {
            dialect: Dialect::Watch,
            durability,
            payload: Payload::Call(Box::new(call)),
            settings: Some(Box::new(Settings { policy, ..Settings::PLAIN })),
            ..NewSchedule::message(owner, When::By(Trigger::Every(Box::new(every))), "")
        };
        handle.schedule(new).expect("a session takes this many watches")
    };
    (0..count).map(create).collect()
}

/// The executor of a tool that does nothing.
pub(crate) struct Nothing<S> {
    pub(crate) value: Value,
    pub(crate) seen: S,
}

impl<S: Fn(&Invocation) + Send + Sync> Executor for Nothing<S> {
    fn specs(&self, _: &SessionId) -> Arc<[ToolSpec]> {
        specs()
    }

    fn call(&self, invocation: Invocation, returned: Returned) {
        (self.seen)(&invocation);
        returned.give(Outcome::of_value(self.value.clone(), 4, Span::ZERO));
    }

    fn cancel(&self, _: &str) {}
}

/// The executor of a tool that takes a time, and does nothing in it.
pub(crate) struct Sleeping<S> {
    pub(crate) runtime: tokio::runtime::Runtime,
    pub(crate) time: Duration,
    /// Is called right before the answer is given.
    pub(crate) before: S,
}

impl<S: Fn(&Invocation) + Clone + Send + Sync + 'static> Executor for Sleeping<S> {
    fn specs(&self, _: &SessionId) -> Arc<[ToolSpec]> {
        specs()
    }

    fn call(&self, invocation: Invocation, returned: Returned) {
        let (time, before) = (self.time, self.before.clone());
        #[expect(clippy::disallowed_methods, reason = "a benchmark races against the real time")]
        self.runtime.spawn(async move {
            tokio::time::sleep(time).await;
            before(&invocation);
            returned.give(Outcome::of_value(Value::from("ok"), 4, Span::ZERO));
        });
    }

    fn cancel(&self, _: &str) {}
}

fn specs() -> Arc<[ToolSpec]> {
    static SPECS: OnceLock<Arc<[ToolSpec]>> = OnceLock::new();
    Arc::clone(SPECS.get_or_init(|| [ToolSpec::reading(tool(), "Does nothing.", Map::new().into())].into()))
}

/// How late checks were, in nanoseconds; below zero if they were early.
#[derive(Default)]
pub(crate) struct Latenesses(Mutex<Vec<i64>>);

impl Latenesses {
    /// Notes a check of this slot, which begins now.
    pub(crate) fn note(&self, slot: Moment) {
        let now = ClockOs.now().wall;
        let nanos = |span: Span| i64::try_from(span.nanos()).unwrap_or(i64::MAX);
        let late = if now < slot { -nanos(slot.since(now)) } else { nanos(now.since(slot)) };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(late);
    }

    pub(crate) fn figures(&self) -> Figures {
        let mut late = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        late.sort_unstable();
        let at = |permille: usize| late[(late.len() * permille / 1_000).min(late.len() - 1)] as f64 / 1e6;
        let early = late.iter().take_while(|late| **late < 0).count();
        vec![("check-late-p50", at(500)), ("check-late-p99", at(990)), ("check-early", early as f64)]
    }
}

pub(crate) fn tool() -> ToolName {
    ToolName::new(TOOL).expect("a name")
}
