//! What a schedule calls, and who is told of it.

use std::sync::Arc;

use crate::domain::{Filter, ToolName, names};
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

/// A tool with its arguments: what a run of a schedule calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The tool.
    pub tool: ToolName,
    /// The arguments: a map with string keys, as the caller's JSON or EDN had them, without keys that begin with `_`.
    pub args: Arc<Value>,
    /// Where its executor is looked for.
    pub via: CallVia,
    /// What it is made for.
    pub purpose: CallPurpose,
    /// Who is told what it came to.
    pub sink: Sink,
    /// Of a watch: which of its checks are told. `None` for any other call, of which every outcome is.
    pub filter: Option<Arc<Filter>>,
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

impl Call {
    /// Makes a call of any executor's tool, as a task of which nobody is told.
    pub fn new(tool: ToolName, args: impl Into<Value>) -> Call {
        let (via, purpose, sink) = (CallVia::Any, CallPurpose::Task, Sink::Nobody);
        Call { tool, args: Arc::new(args.into()), via, purpose, sink, filter: None }
    }

    /// Returns whether it is a task of whose end its session is told.
    pub(crate) fn is_told_task(&self) -> bool {
        self.purpose == CallPurpose::Task && self.sink == Sink::Session
    }

    /// Returns the size of its arguments: nearly that of their JSON, in bytes.
    pub fn bytes(&self) -> usize {
        size(&self.args)
    }
}

fn size(value: &Value) -> usize {
    // One byte for the comma behind each item, and two for the brackets.
    let all = |items: &[Value]| items.iter().map(|item| size(item) + 1).sum::<usize>() + 2;
    match value {
        Value::Str(text) => text.len() + 2,
        Value::List(items) | Value::Vector(items) => all(items),
        Value::Set(items) => items.iter().map(|item| size(item) + 1).sum::<usize>() + 2,
        Value::Map(map) => map.iter().map(|(key, value)| size(key) + size(value) + 2).sum::<usize>() + 2,
        Value::Keyword(word) => word.as_str().len() + 1,
        Value::Tagged(tagged) => size(&tagged.value),
        Value::Meta(meta) => size(meta.value()),
        // Of these there is a bound on the digits.
        Value::BigInt(_) | Value::BigDec(_) | Value::Ratio(_) | Value::Symbol(_) => value.to_string().len(),
        // About as long as these are when they are printed.
        Value::Nil | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Char(_) => 8,
        Value::Inst(_) | Value::Uuid(_) => 36,
    }
}
