//! Prints the answers to calls that succeeded.

use crate::dialect::Answer;
use crate::domain::{Memory, TaskNote, TaskStatus};
use crate::edn::{Map, Value};

/// The answer to `memory.remember`: the fact as it is kept, or only its id if it was known.
pub fn remembered(memory: &Memory, number: usize, is_new: bool) -> Answer {
    let answer = Map::new().with("id", format!("f{number}"));
    let fact = number.checked_sub(1).and_then(|place| memory.facts.get(place));
    Answer::done(match fact.filter(|_| is_new) {
        Some(fact) => answer.with("content", &*fact.content),
        None => answer.with("action", "already_stored"),
    })
}

/// The answer to `memory.set_goal`.
pub fn goal(memory: &Memory) -> Answer {
    Answer::done(Map::new().with("goal", shown_goal(memory)))
}

/// The answer to `memory.task_create` and `memory.task_update`: all tasks, and how far they are. It shows the latest
/// tasks if there are too many.
pub fn todos(memory: &Memory) -> Answer {
    let count = |status| memory.tasks.iter().filter(|task| task.status == status).count();
    let (total, done) = (memory.tasks.len(), count(TaskStatus::Done));
    let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let progress = Map::new()
        .with("total", number(total))
        .with("done", number(done))
        .with("in_progress", number(count(TaskStatus::InProgress)))
        .with("blocked", number(count(TaskStatus::Blocked)))
        .with("pending", number(count(TaskStatus::Pending)))
        .with("percent", number(done * 100 / total.max(1)));
    let shown = memory.tasks.iter().enumerate().skip(total.saturating_sub(SHOWN));
    let todos: Vec<Value> = shown.map(|(place, task)| todo(place, task)).collect();
    let answer = Map::new().with("goal", shown_goal(memory)).with("todos", todos).with("progress", progress);
    Answer::done(if total > SHOWN { answer.with("left_out", number(total - SHOWN)) } else { answer })
}

fn shown_goal(memory: &Memory) -> Value {
    memory.goal.as_ref().map_or(Value::Nil, |goal| Value::from(&*goal.content))
}

fn todo(place: usize, task: &TaskNote) -> Value {
    Map::new()
        .with("id", format!("t{}", place + 1))
        .with("content", &*task.subject)
        .with("status", status(task.status))
        .with("notes", task.description.as_deref().unwrap_or_default())
        // A field of the seed. Tasks have no parents here.
        .with("parent_id", Value::Nil)
        .into()
}

/// The status in the words of the seed's answers.
const fn status(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Pending => "pending",
        TaskStatus::InProgress => "in_progress",
        TaskStatus::Done => "done",
        TaskStatus::Blocked => "blocked",
    }
}

/// Tasks that an answer shows, the latest.
const SHOWN: usize = 50;
