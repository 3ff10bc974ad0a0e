//! What went wrong, in Pathom's vocabulary.
//!
//! Contains: the closed set of causes, the error attributes of lenient answers, and the error map of strict ones.
//! Refusals are not Pathom's; see `limits.rs`.
//!
//! Source: `com.wsscode.pathom3.error`, `com.wsscode.pathom3.interface.eql` at its boundary.

use super::Query;
use super::level::CallPlan;
use super::row::EntityRow;
use crate::domain::Code;
use crate::edn::{Map, Value};
use crate::graph::registry::{AttrId, ResolverError};

/// Why a strict request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryFailure {
    /// The kind of failure.
    pub cause: Cause,
    /// The attribute or mutation that failed, as its key in the query.
    pub key: Value,
    /// The error of the reader or mutation, if one ran and failed.
    pub error: Option<ResolverError>,
}

/// The causes of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// No reader leads from the known attributes to this one.
    Unreachable,
    /// The attribute's entity was not found.
    Missing,
    /// A reader failed.
    Exception,
    /// The mutation failed, or no mutation has this name.
    Mutation,
    /// A recursion reached an entity that it had already passed through. This fails lenient requests too.
    Cycle,
}

impl Cause {
    /// Returns the name of the cause, without a namespace.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreachable => "attribute-unreachable",
            Self::Missing => "attribute-missing",
            Self::Exception => "node-exception",
            Self::Mutation => "mutation-error",
            Self::Cycle => "cycle",
        }
    }
}

impl QueryFailure {
    /// Returns the answer of Pathom's boundary interface. Like Pathom's, it does not include the cause.
    pub fn to_map(query: &Query, entity: &Map) -> Map {
        // The text and the two keys are Pathom's, because its clients show them or match on them.
        let tx = query.to_value();
        let message =
            format!("Error while processing request {tx} for entity {}", Value::Map(entity.clone()));
        let data = Map::new().with("entity", entity.clone()).with("tx", tx);
        Map::new().with(ERROR_MESSAGE, message).with(ERROR_DATA, data)
    }
}

impl ResolverError {
    /// Returns the error as EDN, as it appears in answers.
    pub(super) fn to_map(&self) -> Map {
        Map::new().with(ERROR_MESSAGE, self.message.clone()).with(ERROR_DATA, self.data.clone())
    }
}

/// Returns the lenient answer of a mutation that failed.
pub(super) fn mutation_error(error: &ResolverError) -> Value {
    Value::Map(Map::new().with(MUTATION_ERROR, error.to_map()))
}

/// Returns why an attribute is missing from a row: the cause, for strict mode, and the error's data, for lenient
/// mode. A missing optional attribute is an error only if its reader failed.
pub(super) fn attribute_error(
    row: &EntityRow,
    steps: &CallPlan,
    attr: AttrId,
    is_optional: bool,
) -> Option<(Cause, Value)> {
    // No call was planned for the attribute, so it could not be reached from what the row knows.
    let Some(number) = steps.calls.iter().position(|step| step.expects(attr)) else {
        return (!is_optional).then(unreachable);
    };
    // The log has the errors of all attributes of the row. Without one for this attribute, its entity was not found.
    let mut troubles = row.log.iter().filter(|(at, only, _)| *at == number && *only == attr);
    match troubles.next() {
        Some((_, _, error)) => Some(exception(number, error)),
        None if is_optional => None,
        None => Some((Cause::Missing, node_errors(number, caused("attribute-missing")))),
    }
}

/// Returns the error of an attribute whose reader failed, or would not take its parameters, as call `number` of the level.
pub(super) fn exception(number: usize, error: &ResolverError) -> (Cause, Value) {
    let exception = error.to_map();
    // Only what is the caller's fault has a class. Pathom has no place for it, and its clients ignore other keys.
    let exception = exception.with_some(ERROR_CODE, error.code.map(Code::name));
    (Cause::Exception, node_errors(number, caused("node-exception").with(EXCEPTION, exception)))
}

fn node_errors(number: usize, detail: Map) -> Value {
    let mut details = Map::new();
    details.insert(node_id(number), Value::Map(detail));
    Value::Map(caused("node-errors").with(NODE_ERROR_DETAILS, details))
}

/// Returns the error of an attribute that no reader leads to.
pub(super) fn unreachable() -> (Cause, Value) {
    (Cause::Unreachable, Value::Map(caused("attribute-unreachable")))
}

fn caused(cause: &str) -> Map {
    Map::new().with(CAUSE, Value::keyword(&format!("com.wsscode.pathom3.error/{cause}")))
}

/// Converts the number of a call to a node id, which Pathom counts from 1.
fn node_id(number: usize) -> Value {
    Value::Int(i64::try_from(number).map_or(i64::MAX, |number| number.saturating_add(1)))
}

/// The key of a lenient answer that holds its errors, by attribute.
pub(super) const ATTRIBUTE_ERRORS: &str = "com.wsscode.pathom3.connect.runner/attribute-errors";
const MUTATION_ERROR: &str = "com.wsscode.pathom3.connect.runner/mutation-error";
/// The class of the error that a reader refused with, as strict answers have it in `reveille.error/why`.
const ERROR_CODE: &str = "reveille.error/code";
pub(super) const ERROR_MESSAGE: &str = "com.wsscode.pathom3.error/error-message";
pub(super) const ERROR_DATA: &str = "com.wsscode.pathom3.error/error-data";
const CAUSE: &str = "com.wsscode.pathom3.error/cause";
const EXCEPTION: &str = "com.wsscode.pathom3.error/exception";
const NODE_ERROR_DETAILS: &str = "com.wsscode.pathom3.error/node-error-details";
