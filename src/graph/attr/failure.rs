//! The error of a run or of an attempt, as a record.

use crate::domain::{Failure, Phase, Reason};
use crate::edn::{Map, Value};
use crate::graph::params::field;
use crate::graph::registry::Record;

/// The fields of [`error`](fn@error).
pub(super) const ERROR: Record = Record {
    name: "run-error",
    doc: "The error of a failed run.",
    params: &[
        field::<Box<str>>("message", "The host's error message, or ours if it gave none."),
        field::<Phase>("phase", "How far the delivery had come."),
        field::<Reason>("reason", "Why it failed."),
        field::<bool>("session-exists?", "Whether the fresh session exists although the run failed."),
    ],
};

pub(super) fn error(failure: &Failure) -> Value {
    Map::new()
        .with("message", &*failure.message)
        .with("phase", Value::keyword(failure.phase.name()))
        .with("reason", Value::keyword(failure.reason.name()))
        .with("session-exists?", failure.session_exists)
        .into()
}
