//! The measured engine: real clocks, built-in sessions, a driver thread, and one tool that answers at once.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reveille::adapter::{ClockOs, EntropyOs, HostLocal};
use reveille::domain::{
    Call, CallPurpose, CountFrom, Dialect, Every, ExecutorKind, Filter, HostId, Missed, Moment, NotifyWhen,
    Outcome, Payload, Policy, Primitives, SessionConfig, SessionId, Settings, Sink, Span, ToolName, ToolSpec,
    Trigger, When,
};
use reveille::edn::{Map, Value};
use reveille::engine::{Invocation, NewSchedule};
use reveille::port::{Clock, Executor, Returned};
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
        let parts = Parts {
            clock: Arc::new(ClockOs),
            entropy: Arc::new(EntropyOs::new().expect("the system has randomness")),
            local: Arc::new(HostLocal::new()),
            zones: Arc::default(),
            without_store: WithoutStore::Reject,
            journal: None,
        };
        let runtime = Runtime::start(parts).expect("the system has a thread to give");
        let handle = runtime.handle();
        handle.switch(Primitives { watchers: true, ..Primitives::default() });
        let spec = ToolSpec::reading(tool(), "Does nothing.", Map::new().into());
        let nothing = Nothing { specs: Arc::new([spec]), value: Value::from("ok"), seen };
        handle.add_executor(ExecutorKind::Operator, Arc::new(nothing)).expect("no other executor");
        let open = |number| {
            let id = SessionId::new(&format!("session-{number}")).expect("letters and digits");
            let opened = handle.open_session(Some(id), HostId::LOCAL, SessionConfig::default());
            opened.expect("an engine takes this many sessions").0
        };
        let sessions = (0..watches.div_ceil(PER_SESSION)).map(open).collect();
        Engine { runtime, sessions }
    }

    pub(crate) fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    pub(crate) fn session(&self, number: usize) -> SessionId {
        self.sessions[number].clone()
    }

    /// Creates watches that tell changes. Their first checks are spread evenly over one interval.
    pub(crate) fn watch(&self, count: usize, interval: Duration) {
        let period = Span::from_nanos(u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX));
        let begin = self.handle().now().wall.checked_add(period).expect("an instant");
        // Shared, as one tool's watches of one kind are told apart by nothing else.
        let filter = Arc::new(Filter::plain(NotifyWhen::OnChange));
        for number in 0..count {
            let offset = Span::from_nanos(period.nanos() / count as u64 * number as u64);
            let first = begin.checked_add(offset).expect("an instant");
            let every = Every::new(period, first, CountFrom::Finish).expect("a period");
            let call = Call {
                purpose: CallPurpose::Watch,
                sink: Sink::Session,
                filter: Some(Arc::clone(&filter)),
                ..Call::new(tool(), Map::new())
            };
            let timeout = Some(Span::from_millis(60_000));
            let policy = Policy { missed: Missed::Skip, timeout, ..Policy::PLAIN };
            let owner = self.sessions[number / PER_SESSION].clone();
            let new = NewSchedule {
                dialect: Dialect::Watch,
                payload: Payload::Call(Box::new(call)),
                settings: Some(Box::new(Settings { policy, ..Settings::PLAIN })),
                ..NewSchedule::message(owner, When::By(Trigger::Every(Box::new(every))), "")
            };
            self.handle().schedule(new).expect("a session takes this many watches");
        }
    }

    /// Leaves the engine to the end of the process: cancelling its watches would only take time.
    pub(crate) fn leave(self) {
        std::mem::forget(self);
    }
}

/// The executor of a tool that does nothing.
struct Nothing<S> {
    specs: Arc<[ToolSpec]>,
    value: Value,
    seen: S,
}

impl<S: Fn(&Invocation) + Send + Sync> Executor for Nothing<S> {
    fn specs(&self, _: &SessionId) -> Arc<[ToolSpec]> {
        Arc::clone(&self.specs)
    }

    fn call(&self, invocation: Invocation, returned: Returned) {
        (self.seen)(&invocation);
        returned.give(Outcome::of_value(self.value.clone(), 4, Span::ZERO));
    }

    fn cancel(&self, _: &str) {}
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

fn tool() -> ToolName {
    ToolName::new(TOOL).expect("a name")
}
