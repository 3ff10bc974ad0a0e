//! Transition: a session remembers something, sets its goal, or notes down how far a task is.

use std::borrow::Cow;

use crate::domain::{Actor, Memory, MemoryChange, Refusal, SessionFact, SessionId, redacted};
use crate::engine::local_fact::LocalFact;
use crate::engine::row::SessionRow;
use crate::engine::step_builder::StepBuilder;
use crate::limits::{self, Limit};

pub(in crate::engine) fn change_memory(
    step: &mut StepBuilder<'_>,
    session: &SessionId,
    change: MemoryChange,
    by: Option<Actor>,
) -> Result<(), Refusal> {
    let (memory, change) = (step.state.session_at_work(session)?.memory(), cleaned(change)?);
    // Counted without secrets, as it will be stored.
    let added: usize = change.texts().map(str::len).sum();
    if memory.bytes() + added as u64 > limits::MEMORY_BYTES.value {
        return Err(Refusal::LimitReached { limit: limits::MEMORY_BYTES });
    }
    match &change {
        // What is known already is remembered: nothing is to be done.
        MemoryChange::Remembered { content } if memory.number_of(content).is_some() => return Ok(()),
        MemoryChange::Remembered { .. } => has_room(memory.facts.len(), limits::MEMORY_FACTS)?,
        MemoryChange::TaskCreated { .. } => has_room(memory.tasks.len(), limits::MEMORY_TASKS)?,
        MemoryChange::TaskUpdated { task, .. } if memory.task(*task).is_none() => {
            return Err(Refusal::UnknownTask { task: *task, count: count(&memory) });
        }
        MemoryChange::GoalSet { .. } | MemoryChange::TaskUpdated { .. } => {}
    }
    step.session_fact_by(session, SessionFact::Memory(Box::new(change)), by);
    Ok(())
}

/// Takes the memory and the pings of an open session back to what was committed: only that was acknowledged.
pub(in crate::engine) fn restore_memory(step: &mut StepBuilder<'_>, row: &SessionRow) {
    let Some(record) = step.state.session(&row.id).filter(|record| record.opened() == row.opened) else {
        return;
    };
    if record.memory != row.memory || record.pings != row.pings {
        let (memory, pings) = (row.memory.clone(), row.pings.clone());
        step.local_fact(LocalFact::MemoryRestored { session: row.id.clone(), memory, pings });
    }
}

fn count(memory: &Memory) -> u32 {
    u32::try_from(memory.tasks.len()).unwrap_or(u32::MAX)
}

fn has_room(there: usize, limit: Limit) -> Result<(), Refusal> {
    if (there as u64) < limit.value { Ok(()) } else { Err(Refusal::LimitReached { limit }) }
}

/// Returns the change with its texts trimmed, without secrets, and within their bounds.
fn cleaned(change: MemoryChange) -> Result<MemoryChange, Refusal> {
    Ok(match change {
        MemoryChange::Remembered { content } => {
            MemoryChange::Remembered { content: clean(&content, limits::MEMORY_TEXT)? }
        }
        MemoryChange::GoalSet { goal } => MemoryChange::GoalSet { goal: clean(&goal, limits::MEMORY_TEXT)? },
        MemoryChange::TaskCreated { subject, description } => MemoryChange::TaskCreated {
            subject: clean(&subject, limits::TASK_SUBJECT)?,
            description: description.map(|text| clean(&text, limits::MEMORY_TEXT)).transpose()?,
        },
        MemoryChange::TaskUpdated { .. } => change,
    })
}

fn clean(text: &str, limit: Limit) -> Result<Box<str>, Refusal> {
    let text = text.trim();
    // A mark may be longer than the secret that it stands for, so the length counts as it was given.
    if text.chars().count() as u64 > limit.value {
        return Err(Refusal::LimitReached { limit });
    }
    if text.is_empty() {
        return Err(Refusal::NothingSaid);
    }
    Ok(match redacted(text) {
        Cow::Borrowed(same) => same.into(),
        Cow::Owned(clean) => clean.into(),
    })
}
