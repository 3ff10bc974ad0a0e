//! Answers to the checks of watches, which the engine takes under its lock.
//!
//! Lives here: the engine whose checks are all out, and the reports of their answers, which are made before the counting, as the
//! runtime makes them before it takes the lock. Invariant: each answer differs from the one before, so each is told.

use std::sync::Arc;

use reveille::domain::{
    Call, CallPurpose, CountFrom, Dialect, Every, ExecutorKind, Filter, NotifyWhen, Outcome, Payload, Policy,
    Primitives, ScheduleId, SessionId, Settings, Sink, Span, ToolName, ToolSpec, Trigger, When,
};
use reveille::edn::{Map, Value};
use reveille::engine::{Input, Invocation, Look, NewSchedule, Report};
use reveille::port::{Clock, Executor, Returned};

use crate::paths::{Work, size};
use crate::scene::Engine;

/// An answer of 1 KB.
pub(crate) fn short(times: u64) -> Work {
    answers(times, 1_000)
}

/// An answer of 64 KB.
pub(crate) fn long(times: u64) -> Work {
    answers(times, 64_000)
}

fn answers(times: u64, bytes: usize) -> Work {
    let engine = Engine::for_schedules(size(times));
    engine.handle.tools().switch(Primitives { watchers: true, ..Primitives::default() });
    engine
        .handle
        .tools()
        .add_executor(ExecutorKind::Operator, Arc::new(Silent))
        .expect("there is no other one");
    let ids: Vec<ScheduleId> = (0..size(times)).map(|place| engine.schedule(watch(&engine, place))).collect();
    // The first answer has nothing to differ from.
    for report in reports(&engine, &ids, bytes, 'a') {
        engine.handle.submit_unawaited(report).expect("its check is out");
    }
    let mut reports = reports(&engine, &ids, bytes, 'b');
    Box::new(move || {
        for report in reports.drain(..) {
            engine.handle.submit_unawaited(report).expect("its check is out");
        }
    })
}

/// Has each watch make its next check, and makes the report of its answer.
fn reports(engine: &Engine, ids: &[ScheduleId], bytes: usize, begin: char) -> Vec<Input> {
    engine.clock.advance(PERIOD);
    engine.handle.run_due();
    let report = |id: &ScheduleId| {
        let (run, look) = engine.handle.view(|state| {
            let record = state.schedule(id).expect("it is there");
            let (_, run) = state.runs_of(record).next().expect("its check is out");
            let filter = record.schedule().payload.call().and_then(|call| call.filter.clone());
            let look = Look::of(record.watch().expect("it is a watch"), filter.expect("it has a filter"));
            (state.run_id(run).expect("it is there"), look)
        });
        let value = Value::from(format!("{begin}{}", "x".repeat(bytes)));
        Input::Report(Report::checked(run, Outcome::of_value(value, bytes as u64, Span::ZERO), &look))
    };
    ids.iter().map(report).collect()
}

/// A watch that tells changes. All are due at one instant.
fn watch(engine: &Engine, place: usize) -> NewSchedule {
    let first = engine.clock.now().wall.checked_add(PERIOD).expect("an instant");
    let every = Every::new(PERIOD, first, CountFrom::Finish).expect("a period");
    let filter = Some(Arc::new(Filter::plain(NotifyWhen::OnChange)));
    let call =
        Call { purpose: CallPurpose::Watch, sink: Sink::Session, filter, ..Call::new(tool(), Map::new()) };
    // The answers are not given by the executor, whose calls must not end before.
    let policy = Policy { timeout: Some(Span::from_millis(300_000)), ..Policy::PLAIN };
    NewSchedule {
        dialect: Dialect::Watch,
        payload: Payload::Call(Box::new(call)),
        settings: Some(Box::new(Settings { policy, ..Settings::PLAIN })),
        ..engine.due(place, When::By(Trigger::Every(Box::new(every))))
    }
}

/// Takes calls, and answers none.
struct Silent;

impl Executor for Silent {
    fn specs(&self, _: &SessionId) -> Arc<[ToolSpec]> {
        [ToolSpec::reading(tool(), "Says nothing.", Map::new().into())].into()
    }

    fn call(&self, _: Invocation, returned: Returned) {
        returned.discard();
    }

    fn cancel(&self, _: &str) {}
}

fn tool() -> ToolName {
    ToolName::new("count.silent").expect("a name")
}

const PERIOD: Span = Span::from_millis(60_000);
