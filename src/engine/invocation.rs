//! One attempt of a call, on its way to an executor.

use std::sync::Arc;

use crate::domain::{Actor, CallVia, SessionId, Span, ToolName, names};
use crate::edn::Value;

names! {
    /// What a call is made for.
    CallPurpose {
        /// A task that nobody waits for.
        Task = "task",
        /// A check of a watch.
        Watch = "watch",
        /// A run of a scheduled job.
        Job = "job",
        /// One of several calls that are made at once.
        Parallel = "parallel",
    }
}

/// One attempt of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The id of the call: of a scheduled one, its run's. An executor that sees it twice recognizes it by this id.
    pub id: Box<str>,
    /// The session for which it is made.
    pub session: SessionId,
    /// The tool.
    pub tool: ToolName,
    /// Its arguments.
    pub args: Arc<Value>,
    /// Where its executor is looked for.
    pub via: CallVia,
    /// How long the executor has.
    pub timeout: Span,
    /// The number of the attempt, from 1.
    pub attempt: u16,
    /// Who asked for it.
    pub caller: Actor,
    /// What it is made for.
    pub purpose: CallPurpose,
}
