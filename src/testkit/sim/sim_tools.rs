//! Simulated tools: each answers at once, later, wrongly or never, as a test says.
//!
//! What it does later happens in [`run_for`](SimTools::run_for), on the simulated clock.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::{BootTime, Outcome, Risk, SessionId, Span, ToolName, ToolSpec};
use crate::edn::{Map, Value};
use crate::engine::Invocation;
use crate::port::{Clock, Executor, Returned};
use crate::runtime::Handle;
use crate::testkit::sim::stage::Stage;

/// What a simulated tool does with each call.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolPlan {
    /// It answers with this value at once.
    Answer(Value),
    /// It answers with the arguments it got.
    Echo,
    /// It answers with this value after a while.
    After(Span, Value),
    /// It fails with this error at once.
    Fail(&'static str),
    /// It never answers, and keeps the way back.
    Hang,
    /// It drops the way back.
    Drop,
    /// It panics.
    Panic,
}

/// A simulated executor. Clones are one.
#[derive(Clone)]
pub struct SimTools {
    clock: Arc<dyn Clock>,
    desk: Arc<Mutex<Desk>>,
}

#[derive(Default)]
struct Desk {
    tools: BTreeMap<ToolName, (ToolSpec, ToolPlan)>,
    calls: Vec<Invocation>,
    cancelled: Vec<Box<str>>,
    /// What will be answered, and when; without an instant, never.
    open: Vec<(Option<BootTime>, Box<str>, Value, Returned)>,
    most_open: usize,
}

impl SimTools {
    /// An executor without tools.
    pub fn new(stage: &Stage) -> SimTools {
        SimTools { clock: stage.clock.clone(), desk: Arc::default() }
    }

    /// Adds a tool that only reads and that sessions may call, or changes what it does.
    #[must_use]
    pub fn with(self, name: &str, plan: ToolPlan) -> SimTools {
        let Ok(name) = ToolName::new(name) else { return self };
        let spec = ToolSpec {
            description: format!("The tool {name} of a test.").into(),
            name: name.clone(),
            input_schema: Arc::new(Map::new().with("type", "object").into()),
            risk: Risk::Read,
            approval: false,
            idempotent: true,
            agents: true,
            time_max: None,
        };
        self.with_spec(spec, plan)
    }

    /// Adds a tool, or changes it.
    #[must_use]
    pub fn with_spec(self, spec: ToolSpec, plan: ToolPlan) -> SimTools {
        self.desk().tools.insert(spec.name.clone(), (spec, plan));
        self
    }

    /// The calls so far.
    pub fn calls(&self) -> Vec<Invocation> {
        self.desk().calls.clone()
    }

    /// The ids of the calls that nobody waited for any more.
    pub fn cancelled(&self) -> Vec<Box<str>> {
        self.desk().cancelled.clone()
    }

    /// The most calls without an answer at one time.
    pub fn most_open(&self) -> usize {
        self.desk().most_open
    }

    /// Answers every call that has no answer yet, also those that are cancelled.
    pub fn answer_all(&self) {
        let open = std::mem::take(&mut self.desk().open);
        open.into_iter()
            .for_each(|(_, _, value, returned)| returned.give(Outcome::of_value(value, 0, Span::ZERO)));
    }

    /// Runs what comes due in an engine and here within a span, each at its own time.
    pub fn run_for(&self, stage: &Stage, handle: &Handle, span: Span) {
        let end = stage.clock.now().boot.after(span);
        loop {
            self.answer_due();
            let next = handle.run_due().into_iter().chain(self.next()).min();
            match next.filter(|next| *next <= end) {
                Some(next) => stage.clock.advance_to(next),
                None => break,
            }
        }
        stage.clock.advance_to(end);
    }

    fn next(&self) -> Option<BootTime> {
        self.desk().open.iter().filter_map(|(due, ..)| *due).min()
    }

    fn answer_due(&self) {
        let now = self.clock.now().boot;
        let is_due = |due: &Option<BootTime>| due.is_some_and(|due| due <= now);
        let due: Vec<_> = self.desk().open.extract_if(.., |(due, ..)| is_due(due)).collect();
        due.into_iter()
            .for_each(|(_, _, value, returned)| returned.give(Outcome::of_value(value, 0, Span::ZERO)));
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        // Never held across a call to the engine, so a simulated panic cannot poison it half changed.
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Executor for SimTools {
    fn specs(&self, _session: &SessionId) -> Arc<[ToolSpec]> {
        self.desk().tools.values().map(|(spec, _)| spec.clone()).collect()
    }

    fn call(&self, invocation: Invocation, returned: Returned) {
        let plan = {
            let mut desk = self.desk();
            desk.calls.push(invocation.clone());
            desk.tools.get(&invocation.tool).map(|(_, plan)| plan.clone())
        };
        let keep = |returned, due, value| {
            let mut desk = self.desk();
            desk.open.push((due, invocation.id.clone(), value, returned));
            desk.most_open = desk.most_open.max(desk.open.len());
        };
        match plan {
            None | Some(ToolPlan::Drop) => drop(returned),
            Some(ToolPlan::Hang) => keep(returned, None, Value::from("late")),
            Some(ToolPlan::After(span, value)) => {
                keep(returned, Some(self.clock.now().boot.after(span)), value);
            }
            Some(ToolPlan::Answer(value)) => returned.give(Outcome::of_value(value, 0, Span::ZERO)),
            Some(ToolPlan::Echo) => {
                returned.give(Outcome::of_value(Value::clone(&invocation.args), 0, Span::ZERO));
            }
            Some(ToolPlan::Fail(error)) => returned.give(Outcome::of_error(error, Span::ZERO)),
            // `resume_unwind` runs no panic hook, so the output stays clean.
            Some(ToolPlan::Panic) => {
                let _returned = returned;
                std::panic::resume_unwind(Box::new("a simulated executor panics"));
            }
        }
    }

    fn cancel(&self, id: &str) {
        let mut desk = self.desk();
        desk.cancelled.push(id.into());
        // A call that is cancelled is not answered by itself any more.
        for (due, open, ..) in &mut desk.open {
            if **open == *id {
                *due = None;
            }
        }
    }
}
