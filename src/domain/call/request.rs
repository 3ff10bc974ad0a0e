//! What a schedule calls, and who is told of it.

use std::sync::Arc;

use crate::domain::{ToolName, names};
use crate::edn::Value;

names! {
    /// Where the executor of a call is looked for.
    CallVia {
        /// Among all executors.
        Any = "any",
        /// At the host of the session alone: the call waits while that host is gone.
        Host = "host",
    }
}

/// A tool with its arguments: what a run of a schedule calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The tool.
    pub tool: ToolName,
    /// The arguments: a map with string keys, as the caller's JSON or EDN had them, without keys that begin with `_`.
    pub args: Arc<Value>,
    /// Where its executor is looked for.
    pub via: CallVia,
    /// Who is told what it came to.
    pub sink: Sink,
}

/// Who is told what a call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sink {
    /// Nobody: the outcome is in the run.
    Nobody,
    /// The model of the owning session, by a bulletin in its lane.
    Session,
    /// A channel, by its name.
    Channel(Box<str>),
}
