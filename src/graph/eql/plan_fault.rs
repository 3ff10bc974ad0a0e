//! One fault of a query, as a strict and as a lenient answer report it.
//!
//! What lives elsewhere: finding the faults (`fault.rs`).

use super::failure::{Cause, QueryFailure};
use crate::edn::{Map, Value};
use crate::graph::registry::ResolverError;

/// One fault of a query.
#[derive(Clone, Debug)]
pub(super) struct PlanFault {
    /// The keys of the joins that lead to the fault.
    pub(super) path: Vec<Value>,
    /// The attribute, as written in the query.
    pub(super) key: Value,
    pub(super) cause: Cause,
    pub(super) error: ResolverError,
}

impl PlanFault {
    /// Returns the fault as the failure of a strict request.
    pub(super) fn failure(&self) -> QueryFailure {
        QueryFailure { cause: self.cause, key: self.key.clone(), error: Some(self.error.clone()) }
    }

    /// Returns the fault as an entry of a lenient answer.
    pub(super) fn to_value(&self) -> Value {
        Map::new()
            .with("path", self.path.clone())
            .with("key", self.key.clone())
            .with("cause", Value::keyword(self.cause.name()))
            .with("message", self.error.message.as_str())
            .with("data", self.error.data.clone())
            .into()
    }
}

/// The key of a lenient answer that holds the faults of its query.
pub(super) const FAULTS: &str = "reveille.error/faults";
