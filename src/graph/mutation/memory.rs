//! The parameters of mutations of what a session remembers.

use super::super::params::{enums, params};
use super::session::SessionParams;
use crate::domain::TaskStatus;

params! {
    /// The fact to remember.
    pub FactParams {
        /// The fact, up to 2000 characters.
        required content: Box<str> = "content",
    }
}

params! {
    /// The goal to set.
    pub GoalParams {
        /// The goal, up to 2000 characters.
        required goal: Box<str> = "goal",
    }
}

params! {
    /// The task to note down.
    pub TaskParams {
        /// What is to be done, up to 512 characters.
        required subject: Box<str> = "subject",
        /// More about it, up to 2000 characters.
        optional description: Box<str> = "description",
    }
}

params! {
    /// The task and how far it is.
    pub StatusParams {
        /// The number of the task, from 1: the 3 of t3.
        required task: u32 = "task",
        /// How far it is.
        required status: TaskStatus = "status",
    }
}

enums! {
    TaskStatus = "task-status",
}

/// The parameters of remembering a fact.
#[derive(Clone, Debug, PartialEq)]
pub struct RememberRequest {
    /// The session.
    pub(crate) of: SessionParams,
    /// The fact.
    pub(crate) fact: FactParams,
}

/// The parameters of setting a goal.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalRequest {
    /// The session.
    pub(crate) of: SessionParams,
    /// The goal.
    pub(crate) goal: GoalParams,
}

/// The parameters of noting down a task.
#[derive(Clone, Debug, PartialEq)]
pub struct NewTask {
    /// The session.
    pub(crate) of: SessionParams,
    /// The task.
    pub(crate) task: TaskParams,
}

/// The parameters of changing a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskChange {
    /// The session.
    pub(crate) of: SessionParams,
    /// The task, and its status.
    pub(crate) to: StatusParams,
}
