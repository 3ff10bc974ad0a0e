//! One attempt of a call, on its way to an executor.

use std::sync::Arc;

use crate::domain::{Actor, CallPurpose, CallVia, Outcome, SessionId, Span, ToolName};
use crate::edn::Value;

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
    /// Whether it may use the places that are reserved for operators: an operator makes the call, or it is that of a schedule
    /// that an operator created and no session has edited, in a run that no session caused.
    pub is_operators: bool,
    /// What it is made for.
    pub purpose: CallPurpose,
    /// Of a check of a watch: what the last one that worked came to. An executor may ask whether it has changed.
    pub last: Option<Arc<Outcome>>,
}
