//! What a session remembers: facts, one goal, and tasks.
//!
//! What lives elsewhere: what may be added (`engine/step/session/memory.rs`), the text that a model is shown
//! (`engine/recall.rs`), secrets (`secrets.rs`). Invariant: nothing is ever taken away, so the number of a fact or a task is its
//! place and stays its name.

use super::{Moment, names};

/// What a session remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// What it is about; `None` until a goal was set.
    pub goal: Option<KnownFact>,
    /// The facts, oldest first.
    pub facts: Vec<KnownFact>,
    /// The tasks, oldest first.
    pub tasks: Vec<TaskNote>,
}

/// A fact that a session remembers, or its goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFact {
    /// What it says, in the words of the model.
    pub content: Box<str>,
    /// When it was said.
    pub at: Moment,
}

/// A task that a session has noted down. Nothing runs because of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskNote {
    /// What is to be done.
    pub subject: Box<str>,
    /// More about it.
    pub description: Option<Box<str>>,
    /// How far it is.
    pub status: TaskStatus,
    /// When it was noted down.
    pub created_at: Moment,
    /// When its status last changed; `None` if it never did.
    pub changed_at: Option<Moment>,
}

names! {
    /// How far a task is.
    TaskStatus {
        /// Nobody has begun it.
        Pending = "pending",
        /// It is being done.
        InProgress = "in-progress",
        /// It is done.
        Done = "done",
        /// Something stands in its way.
        Blocked = "blocked",
    }
}

/// A change of what a session remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryChange {
    /// A fact is remembered.
    Remembered {
        /// The fact.
        content: Box<str>,
    },
    /// The goal is set, in place of an earlier one.
    GoalSet {
        /// The goal.
        goal: Box<str>,
    },
    /// A task is noted down.
    TaskCreated {
        /// What is to be done.
        subject: Box<str>,
        /// More about it.
        description: Option<Box<str>>,
    },
    /// The status of a task changes.
    TaskUpdated {
        /// The number of the task, from 1.
        task: u32,
        /// The new status.
        status: TaskStatus,
    },
}

impl Memory {
    /// Returns whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.goal.is_none() && self.facts.is_empty() && self.tasks.is_empty()
    }

    /// Returns the number of a fact that says this, whatever the case of its letters.
    pub(crate) fn number_of(&self, content: &str) -> Option<usize> {
        let folded = content.trim().to_lowercase();
        let is_it = |fact: &KnownFact| fact.content.to_lowercase() == folded;
        self.facts.iter().position(is_it).map(|place| place + 1)
    }

    /// Returns the task of this number.
    pub fn task(&self, number: u32) -> Option<&TaskNote> {
        self.tasks.get(usize::try_from(number.checked_sub(1)?).ok()?)
    }

    /// Returns the size of its texts.
    pub fn bytes(&self) -> u64 {
        let facts: usize = self.facts.iter().map(|fact| fact.content.len()).sum();
        let of_task = |task: &TaskNote| task.subject.len() + task.description.as_deref().map_or(0, str::len);
        let tasks: usize = self.tasks.iter().map(of_task).sum();
        (self.goal.as_ref().map_or(0, |goal| goal.content.len()) + facts + tasks) as u64
    }

    /// Returns what of it was there before this moment, as far as it is known: an earlier goal and earlier status are not.
    #[must_use]
    pub fn before(&self, moment: Moment) -> Memory {
        let known = |fact: &&KnownFact| fact.at < moment;
        let then = |task: &TaskNote| {
            // Of a status that changed since, the earlier one is not on record. `Pending` is what every task begins with.
            let is_as_it_is = task.changed_at.is_none_or(|at| at < moment);
            let status = if is_as_it_is { task.status } else { TaskStatus::Pending };
            TaskNote { status, changed_at: task.changed_at.filter(|_| is_as_it_is), ..task.clone() }
        };
        Memory {
            goal: self.goal.as_ref().filter(known).cloned(),
            facts: self.facts.iter().filter(known).cloned().collect(),
            tasks: self.tasks.iter().filter(|task| task.created_at < moment).map(then).collect(),
        }
    }

    /// Makes a change that was decided at this moment.
    pub fn apply(&mut self, change: MemoryChange, at: Moment) {
        match change {
            MemoryChange::Remembered { content } => self.facts.push(KnownFact { content, at }),
            MemoryChange::GoalSet { goal } => self.goal = Some(KnownFact { content: goal, at }),
            MemoryChange::TaskCreated { subject, description } => {
                let status = TaskStatus::Pending;
                self.tasks.push(TaskNote { subject, description, status, created_at: at, changed_at: None });
            }
            MemoryChange::TaskUpdated { task, status } => {
                let place = task.checked_sub(1).and_then(|place| usize::try_from(place).ok());
                // A number of no task can only be in a damaged log.
                if let Some(note) = place.and_then(|place| self.tasks.get_mut(place)) {
                    note.status = status;
                    note.changed_at = Some(at);
                }
            }
        }
    }
}

impl MemoryChange {
    /// Returns the texts that it adds.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let (one, two): (Option<&str>, Option<&str>) = match self {
            MemoryChange::Remembered { content: text } | MemoryChange::GoalSet { goal: text } => {
                (Some(text), None)
            }
            MemoryChange::TaskCreated { subject, description } => (Some(subject), description.as_deref()),
            MemoryChange::TaskUpdated { .. } => (None, None),
        };
        one.into_iter().chain(two)
    }
}
