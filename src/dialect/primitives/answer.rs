//! Prints the answers to calls that succeeded.
//!
//! Errors are in `error.rs`.

use crate::dialect::{Answer, brief};
use crate::domain::{Moment, Outcome, Span, TaskState, ToolName};
use crate::edn::{Map, Value};
use crate::limits;

/// What became of one item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemResult {
    /// The name of the tool, if the item has one.
    pub(crate) name: Box<str>,
    /// How it ended.
    pub(crate) end: ItemEnd,
}

/// How one item of a list ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemEnd {
    /// It was not called, and why.
    Refused(String),
    /// It was called, and came to this.
    Ended(Outcome),
    /// It goes on as a task.
    Running(Box<str>),
}

/// A task, as it is at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskView {
    /// Its id.
    pub(crate) id: Box<str>,
    /// The tool.
    pub(crate) tool: ToolName,
    /// How it stands.
    pub(crate) state: TaskState,
    /// Whether it waits for an operator's approval, so that its call has not been made.
    pub(crate) is_held: bool,
    /// When it began.
    pub(crate) started: Moment,
    /// When it ended, if it has.
    pub(crate) finished: Option<Moment>,
    /// How long it has been running, or ran.
    pub(crate) elapsed: Span,
    /// What it came to, if that is kept.
    pub(crate) outcome: Option<Outcome>,
    /// Why it failed, if there is no outcome that says so.
    pub(crate) error: Option<Box<str>>,
    /// The warning that nobody would be told of its end, if that is so as things are.
    pub(crate) unheard: Option<String>,
}

impl ItemEnd {
    /// Whether the tool did what was asked.
    pub(crate) fn is_success(&self) -> bool {
        match self {
            ItemEnd::Ended(outcome) => outcome.ok,
            ItemEnd::Refused(_) | ItemEnd::Running(_) => false,
        }
    }
}

impl ItemResult {
    /// Prints the result of the item at this place.
    pub(crate) fn print(&self, index: usize) -> Value {
        let map = Map::new()
            .with("index", count(index))
            .with("name", &*self.name)
            .with("success", self.end.is_success());
        match &self.end {
            ItemEnd::Refused(error) => map.with("error", error.as_str()).into(),
            ItemEnd::Ended(outcome) => put_outcome(map, outcome, "data").into(),
            ItemEnd::Running(task) => map.with("status", "running").with("task_id", &**task).into(),
        }
    }
}

/// Adds what a call came to: the value under this key, and the error.
fn put_outcome(map: Map, outcome: &Outcome, key: &str) -> Map {
    let map = match &outcome.value {
        Some(value) => map.with(key, Value::clone(value)),
        // A tool that did what was asked may have nothing to say of it.
        None if outcome.ok => map.with(key, Value::Nil),
        None => map,
    };
    let map = if outcome.is_dropped() {
        map.with("note", dropped(outcome))
    } else if outcome.cut {
        map.with("truncated", true).with("bytes", i64::try_from(outcome.bytes).unwrap_or(i64::MAX))
    } else {
        map
    };
    map.with_some("error", outcome.error.as_deref())
}

/// Says of an outcome that it was dropped, and why.
fn dropped(outcome: &Outcome) -> String {
    let (own, all) = (limits::SESSION_OUTCOMES_BYTES, limits::OUTCOMES_BYTES);
    format!(
        "outcome dropped: it had {} bytes. The outcomes of the tasks of a session are kept up to {} bytes ({}), those of all \
         sessions up to {} bytes ({}); the oldest go first",
        outcome.bytes, own.value, own.name, all.value, all.name
    )
}

/// The answer to a `run_parallel` whose items were called. `unheard` is the warning that nobody would be told of its tasks.
pub fn parallel(results: &[ItemResult], took: Span, unheard: Option<String>) -> Answer {
    let succeeded = results.iter().filter(|result| result.end.is_success()).count();
    let is_running = |result: &&ItemResult| matches!(result.end, ItemEnd::Running(_));
    let running = results.iter().filter(is_running).count();
    let printed: Vec<Value> = results.iter().enumerate().map(|(index, result)| result.print(index)).collect();
    let answer = Map::new()
        .with("results", printed)
        .with("total", count(results.len()))
        .with("succeeded", count(succeeded))
        .with("failed", count(results.len() - succeeded - running))
        .with("elapsed_ms", i64::try_from(took.millis()).unwrap_or(i64::MAX));
    if running == 0 {
        return Answer::done(answer);
    }
    let hint = if unheard.is_some() {
        "those that go on are tasks: background_run with task_id says how they stand"
    } else {
        "those that go on are tasks: you are told when they end; background_run with task_id says how they stand"
    };
    Answer::done(answer.with("running", count(running)).with("hint", hint)).warned("warnings", unheard)
}

/// The answer to a launch: the task goes on. A time that was given with it bounds nothing.
pub fn launched(task: &TaskView, has_timeout: bool) -> Answer {
    let answer = Map::new()
        .with("task_id", &*task.id)
        .with("tool_name", task.tool.as_str())
        .with("status", task.state.name())
        .with("elapsed_seconds", seconds(task.elapsed))
        .with("started_at", brief::instant(task.started));
    let told = "you are told when it ends: go on with something else, or end your turn";
    let answer = held(answer, task).with("hint", hint(task, told));
    let unheard = task.unheard.as_deref().map(Value::from);
    let warnings: Vec<Value> = unheard.into_iter().chain(has_timeout.then(|| UNTIMED.into())).collect();
    Answer::done(if warnings.is_empty() { answer } else { answer.with("warnings", warnings) })
}

/// The answer about one task.
pub fn status(task: &TaskView) -> Answer {
    Answer::whole(printed(task))
}

/// The answer to a launch whose task has ended at once. Nobody asked for its outcome by the task's id, so it is cut.
pub fn ended_at_once(task: &TaskView) -> Answer {
    Answer::done(printed(task))
}

/// The answer to a cancel that has ended the task, or came too late for that.
pub fn cancelled(task: &TaskView) -> Answer {
    if task.state == TaskState::Cancelled {
        let answer = Map::new()
            .with("task_id", &*task.id)
            .with("status", task.state.name())
            .with("elapsed_seconds", seconds(task.elapsed))
            .with("stopped", "asked");
        return Answer::done(answer);
    }
    already_over(task)
}

/// The answer to a cancel of a task that had ended before, in whatever way.
pub fn already_over(task: &TaskView) -> Answer {
    let message = format!("already {}", task.state.name());
    Answer::done(printed(task).with("message", message))
}

/// The answer to a list: those that go on come first, then by their beginning.
pub fn tasks(mut tasks: Vec<TaskView>) -> Answer {
    // `false` sorts before `true`.
    tasks.sort_by_key(|task| (task.state != TaskState::Running, task.started));
    let of = |state| count(tasks.iter().filter(|task| task.state == state).count());
    let answer = Map::new()
        .with("tasks", tasks.iter().map(|task| listed(task).into()).collect::<Vec<Value>>())
        .with("total", count(tasks.len()))
        .with("running", of(TaskState::Running))
        .with("completed", of(TaskState::Completed))
        .with("failed", of(TaskState::Failed));
    Answer::done(answer)
}

/// What a list has of a task.
fn listed(task: &TaskView) -> Map {
    let map = Map::new()
        .with("task_id", &*task.id)
        .with("tool_name", task.tool.as_str())
        .with("status", task.state.name())
        .with("elapsed_seconds", seconds(task.elapsed))
        .with("started_at", brief::instant(task.started));
    held(map, task)
}

/// Says of a task that an operator has to approve it first.
fn held(map: Map, task: &TaskView) -> Map {
    if task.is_held { map.with("waits_for", "approval") } else { map }
}

fn printed(task: &TaskView) -> Map {
    let map = listed(task);
    let map = map.with_some("finished_at", task.finished.map(brief::instant));
    let map = match (&task.outcome, &task.error) {
        (Some(outcome), _) => put_outcome(map, outcome, "result"),
        (None, Some(error)) => map.with("error", &**error),
        (None, None) => map,
    };
    match task.state {
        TaskState::Running => {
            let told = "it goes on; you are told when it ends, or wait for it with wait: true";
            map.with("hint", hint(task, told))
        }
        TaskState::Completed | TaskState::Failed | TaskState::Cancelled => map,
    }
}

/// What to do while a task goes on. `told` is the hint where its session is told of the end.
fn hint(task: &TaskView, told: &'static str) -> &'static str {
    match (task.is_held, task.unheard.is_some()) {
        (true, true) => UNHEARD_HELD_HINT,
        (true, false) => HELD_HINT,
        (false, true) => UNHEARD_HINT,
        (false, false) => told,
    }
}

/// Seconds with one decimal.
fn seconds(span: Span) -> f64 {
    let tenths = u32::try_from(span.millis() / 100).unwrap_or(u32::MAX);
    f64::from(tenths) / 10.0
}

fn count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

const HELD_HINT: &str = "an operator has to approve this call before it is made; you are told when it has ended or was \
                         refused: go on with something else, or end your turn";
const UNHEARD_HINT: &str =
    "it goes on; ask with task_id how it stands, or wait for it with task_id and wait: true";
const UNHEARD_HELD_HINT: &str =
    "an operator has to approve this call before it is made; ask with task_id how it stands";
const UNTIMED: &str =
    "timeout bounds a wait (wait: true), and not the task: it goes on until it ends or is cancelled";
