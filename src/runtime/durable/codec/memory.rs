//! The codec of what sessions remember: each change is a fact, and the whole is a part of the session's row.

use super::form::Form;
use super::parts::{each_map, instant, map, maybe, number, one, own_text, text};
use super::printed::{Instant, Printed, Word};
use super::{FactError, names};
use crate::domain::{KnownFact, Memory, MemoryChange, TaskNote, TaskStatus};

/// Prints a change behind its name.
pub(super) fn of_change(change: &MemoryChange) -> Printed {
    let named = |name| Printed::new().with("fact", Word(name));
    match change {
        MemoryChange::Remembered { content } => named(names::REMEMBERED).with("content", &**content),
        MemoryChange::GoalSet { goal } => named(names::GOAL_SET).with("goal", &**goal),
        MemoryChange::TaskCreated { subject, description } => {
            named(names::TASK_CREATED).with("subject", &**subject).with("description", description.as_deref())
        }
        MemoryChange::TaskUpdated { task, status } => {
            named(names::TASK_UPDATED).with("task", *task).with("status", Word(status.name()))
        }
    }
}

/// Parses a change of this name; `None` if the name is of something else.
pub(super) fn change(name: &str, form: &Form<'_>) -> Result<Option<MemoryChange>, FactError> {
    Ok(Some(match name {
        names::REMEMBERED => MemoryChange::Remembered { content: text(form, "content")?.into() },
        names::GOAL_SET => MemoryChange::GoalSet { goal: text(form, "goal")?.into() },
        names::TASK_CREATED => MemoryChange::TaskCreated {
            subject: text(form, "subject")?.into(),
            description: own_text(form, "description")?,
        },
        names::TASK_UPDATED => MemoryChange::TaskUpdated {
            task: number(form, "task")?,
            status: one(form, "status", TaskStatus::parse)?,
        },
        _ => return Ok(None),
    }))
}

/// Prints the memory of a session.
pub(super) fn print(memory: &Memory) -> Printed {
    let fact = |it: &KnownFact| Printed::new().with("content", &*it.content).with("at", Instant(it.at));
    let task = |it: &TaskNote| {
        Printed::new()
            .with("subject", &*it.subject)
            .with("description", it.description.as_deref())
            .with("status", Word(it.status.name()))
            .with("at", Instant(it.created_at))
            .with("changed-at", it.changed_at.map(Instant))
    };
    let facts: Vec<Printed> = memory.facts.iter().map(fact).collect();
    let tasks: Vec<Printed> = memory.tasks.iter().map(task).collect();
    Printed::new()
        .with("goal", memory.goal.as_ref().map(fact))
        .with("facts", (!facts.is_empty()).then_some(facts))
        .with("tasks", (!tasks.is_empty()).then_some(tasks))
}

/// Parses the memory of a session.
pub(super) fn parse(form: &Form<'_>) -> Result<Memory, FactError> {
    let fact =
        |form: &Form<'_>| Ok(KnownFact { content: text(form, "content")?.into(), at: instant(form, "at")? });
    let task = |form: &Form<'_>| {
        Ok(TaskNote {
            subject: text(form, "subject")?.into(),
            description: own_text(form, "description")?,
            status: one(form, "status", TaskStatus::parse)?,
            created_at: instant(form, "at")?,
            changed_at: maybe(form, "changed-at", instant)?,
        })
    };
    Ok(Memory {
        goal: maybe(form, "goal", |form, key| fact(map(form, key)?))?,
        facts: each_map(form, "facts", fact)?,
        tasks: each_map(form, "tasks", task)?,
    })
}
