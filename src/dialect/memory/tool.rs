//! The four tools and their declarations for models.
//!
//! Invariant: a tool is described once, in the EDN file of its name; a test compares its words and bounds with the parser.

use crate::domain::names;

names! {
    /// A tool of the dialect. Source: SEED-001, "Long-term memory".
    Tool {
        /// Remember a fact.
        Remember = "memory.remember",
        /// Set the goal.
        SetGoal = "memory.set_goal",
        /// Note down a task.
        TaskCreate = "memory.task_create",
        /// Change how far a task is.
        TaskUpdate = "memory.task_update",
    }
}

impl Tool {
    /// The declaration in EDN: a map with `:description` and `:input-schema`, a JSON Schema (2020-12).
    pub const fn declaration(self) -> &'static str {
        match self {
            Tool::Remember => include_str!("tools/remember.edn"),
            Tool::SetGoal => include_str!("tools/set_goal.edn"),
            Tool::TaskCreate => include_str!("tools/task_create.edn"),
            Tool::TaskUpdate => include_str!("tools/task_update.edn"),
        }
    }
}

/// The words of the seed for how far a task is: what is completed is kept as done.
pub(super) const STATUSES: &[&str] = &["pending", "in_progress", "completed", "blocked"];
