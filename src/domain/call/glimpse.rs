//! A short view of an outcome.

use std::sync::Arc;

use crate::edn::Value;

/// What a history or a summary retains of an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Glimpse {
    /// The whole result.
    Result(Arc<Value>),
    /// The beginning of a long result, as JSON.
    Preview(Box<str>),
    /// The error, cut.
    Error(Box<str>),
}
