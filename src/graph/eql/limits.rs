//! The bounds of one query, and what exceeding them is.
//!
//! Lives here: the shape of the bounds and the counting. Does not live here: any chosen bound; callers
//! take those from their limits, and time from their clock.
//!
//! Invariant: a bound is checked before what it bounds is spent.

use crate::edn::{Map, Symbol, Value};

/// The bounds of one query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Levels of entities in the answer, recursions included.
    pub depth: u32,
    /// Attributes, joins and mutations in the query, at all levels together; and attributes given.
    pub attributes: u32,
    /// Entities looked at.
    pub rows: u32,
    /// Calls of resolvers, and plans made for entities of unexpected shape; one call may serve many entities.
    pub calls: u32,
}

/// A query that is not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A bound is exceeded.
    #[error("the query exceeds the limit of {max} {limit}")]
    Limit {
        /// Name of the bound: `depth`, `attributes`, `rows` or `calls`.
        limit: &'static str,
        /// Its value.
        max: u32,
    },
    /// The caller's callback said stop: the time is up, or nobody waits any more.
    #[error("the query was stopped before it was answered")]
    Stopped,
    /// A mutation stands below a join.
    #[error("a mutation stands at the top of a query: {0}")]
    NestedMutation(Symbol),
    /// The world cannot be looked at as it was at the instant asked about.
    #[error("the past cannot be looked at: {0}")]
    Past(Box<str>),
}

impl Refusal {
    /// Returns the refusal as data.
    pub fn to_map(&self) -> Map {
        let map = Map::new().with("message", self.to_string());
        match self {
            Self::Limit { limit, max } => {
                map.with("code", Value::keyword("limit")).with("limit", *limit).with("max", *max)
            }
            Self::Stopped => map.with("code", Value::keyword("stopped")),
            Self::NestedMutation(name) => {
                map.with("code", Value::keyword("nested-mutation")).with("mutation", name.clone())
            }
            Self::Past(_) => map.with("code", Value::keyword("past")),
        }
    }
}

/// What is left of the bounds.
pub(super) struct Budget<'a> {
    limits: Limits,
    rows: u32,
    calls: u32,
    stop: &'a dyn Fn() -> bool,
}

impl<'a> Budget<'a> {
    pub(super) fn new(limits: Limits, stop: &'a dyn Fn() -> bool) -> Self {
        Self { limits, rows: limits.rows, calls: limits.calls, stop }
    }

    /// Spends entities at a depth.
    pub(super) fn enter(&mut self, depth: u32, rows: usize) -> Result<(), Refusal> {
        if depth > self.limits.depth {
            return Err(Refusal::Limit { limit: "depth", max: self.limits.depth });
        }
        let rows = u32::try_from(rows).unwrap_or(u32::MAX);
        let left = self.rows.checked_sub(rows);
        self.rows = left.ok_or(Refusal::Limit { limit: "rows", max: self.limits.rows })?;
        self.go_on()
    }

    /// Checks how many attributes are given.
    pub(super) fn admit(&self, entity: &Map) -> Result<(), Refusal> {
        match u32::try_from(entity.len()) {
            Ok(count) if count <= self.limits.attributes => Ok(()),
            Ok(_) | Err(_) => Err(Refusal::Limit { limit: "attributes", max: self.limits.attributes }),
        }
    }

    /// Spends one call.
    pub(super) fn call(&mut self) -> Result<(), Refusal> {
        let left = self.calls.checked_sub(1);
        self.calls = left.ok_or(Refusal::Limit { limit: "calls", max: self.limits.calls })?;
        self.go_on()
    }

    fn go_on(&self) -> Result<(), Refusal> {
        if (self.stop)() { Err(Refusal::Stopped) } else { Ok(()) }
    }
}
