//! What went wrong, in Pathom's words.
//!
//! Lives here: the closed set of causes, the error attributes of lenient answers, the error map of strict
//! ones. Does not live here: refusals, which are not Pathom's, see `limits.rs`.
//!
//! Source: `com.wsscode.pathom3.error`, `com.wsscode.pathom3.interface.eql` at its boundary.

use super::Query;
use super::row::{Row, Trouble};
use super::steps::Steps;
use crate::edn::{Map, Value};
use crate::graph::registry::{AttrId, ResolverError};

/// Why a strict request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure it is.
    pub cause: Cause,
    /// The attribute or mutation that is concerned.
    pub key: Value,
    /// What the resolver or mutation said, if one failed.
    pub error: Option<ResolverError>,
}

/// The causes of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// No resolver leads from what is known to the attribute.
    Unreachable,
    /// The resolvers answered without it.
    Missing,
    /// A resolver failed.
    Exception,
    /// A mutation failed, or there is none of this name.
    Mutation,
    /// A recursion came back to an entity that it had gone through. Lenient requests fail by it too.
    Cycle,
}

impl Cause {
    /// Returns the keyword's text.
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

impl Failure {
    /// Returns the answer of Pathom's boundary interface. Why it failed is not part of that.
    pub fn to_map(query: &Query, entity: &Map) -> Map {
        let tx = query.to_value();
        let message =
            format!("Error while processing request {tx} for entity {}", Value::Map(entity.clone()));
        let data = Map::new().with("entity", entity.clone()).with("tx", tx);
        Map::new().with(ERROR_MESSAGE, message).with(ERROR_DATA, data)
    }
}

impl ResolverError {
    /// Returns the error as it stands in answers.
    pub(super) fn to_map(&self) -> Map {
        Map::new().with(ERROR_MESSAGE, self.message.clone()).with(ERROR_DATA, self.data.clone())
    }
}

/// Returns what a failed mutation answers in lenient mode.
pub(super) fn mutation_error(error: &ResolverError) -> Value {
    Value::Map(Map::new().with(MUTATION_ERROR, error.to_map()))
}

/// Finds why an attribute is missing from a row: the cause for strict mode, the error's data for lenient.
/// An optional attribute is an error only where its resolver failed.
pub(super) fn attribute_error(
    row: &Row,
    steps: &Steps,
    attr: AttrId,
    is_optional: bool,
) -> Option<(Cause, Value)> {
    let mut details = Map::new();
    let mut cause = Cause::Missing;
    for (number, step) in steps.calls.iter().enumerate() {
        if !step.expects.contains(&attr) {
            continue;
        }
        let concerns = |trouble: &Trouble| match trouble {
            Trouble::Threw(Some(only), _) => *only == attr,
            Trouble::Threw(None, _) | Trouble::Ancestor(_) => true,
        };
        let mut troubles = row.log.iter().filter(|(at, trouble)| *at == number && concerns(trouble));
        let detail = match troubles.next() {
            Some((_, Trouble::Threw(_, error))) => {
                cause = Cause::Exception;
                caused("node-exception").with(EXCEPTION, error.to_map())
            }
            Some((_, Trouble::Ancestor(at))) => {
                cause = Cause::Exception;
                ancestor_error(row, *at)
            }
            None if is_optional => continue,
            None => caused("attribute-missing"),
        };
        details.insert(node_id(number), Value::Map(detail));
    }
    if !details.is_empty() {
        return Some((cause, Value::Map(caused("node-errors").with(NODE_ERROR_DETAILS, details))));
    }
    let is_expected = steps.calls.iter().any(|step| step.expects.contains(&attr));
    if is_optional || is_expected {
        return None;
    }
    Some(unreachable())
}

/// What is wrong with an attribute to which nothing leads.
pub(super) fn unreachable() -> (Cause, Value) {
    (Cause::Unreachable, Value::Map(caused("attribute-unreachable")))
}

fn ancestor_error(row: &Row, at: usize) -> Map {
    let map = caused("ancestor-error").with(ERROR_ANCESTOR_ID, node_id(at));
    let error = row.log.iter().find_map(|(number, trouble)| match trouble {
        Trouble::Threw(_, error) if *number == at => Some(error),
        Trouble::Threw(..) | Trouble::Ancestor(_) => None,
    });
    match error {
        Some(error) => map.with(EXCEPTION, error.to_map()),
        None => map,
    }
}

fn caused(cause: &str) -> Map {
    Map::new().with(CAUSE, Value::keyword(&format!("com.wsscode.pathom3.error/{cause}")))
}

/// Pathom numbers the nodes of a plan from 1.
fn node_id(number: usize) -> Value {
    Value::Int(i64::try_from(number).map_or(i64::MAX, |number| number.saturating_add(1)))
}

/// The key of lenient answers under which errors stand, by attribute.
pub(super) const ATTRIBUTE_ERRORS: &str = "com.wsscode.pathom3.connect.runner/attribute-errors";
const MUTATION_ERROR: &str = "com.wsscode.pathom3.connect.runner/mutation-error";
pub(super) const ERROR_MESSAGE: &str = "com.wsscode.pathom3.error/error-message";
pub(super) const ERROR_DATA: &str = "com.wsscode.pathom3.error/error-data";
const CAUSE: &str = "com.wsscode.pathom3.error/cause";
const EXCEPTION: &str = "com.wsscode.pathom3.error/exception";
const NODE_ERROR_DETAILS: &str = "com.wsscode.pathom3.error/node-error-details";
const ERROR_ANCESTOR_ID: &str = "com.wsscode.pathom3.error/error-ancestor-id";
