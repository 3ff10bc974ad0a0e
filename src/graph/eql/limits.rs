//! The limits of one query, and the refusals for exceeding them.
//!
//! Contains the kinds of limits and the counting. The values are the caller's: it takes them from its own limits, and
//! the time from its clock.
//!
//! Invariant: a limit is checked before the work that it bounds.

use crate::domain::{Moment, Span};
use crate::edn::{Map, Set, Symbol, Value};
use crate::graph::registry::Datum;
use crate::limits::Limit;

/// The limits of one query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Levels of entities in the answer, recursions included.
    pub depth: u32,
    /// Attributes, joins and mutations in the query, at all levels together. Also the attributes that are given.
    pub attributes: u32,
    /// Entities that are read.
    pub rows: u32,
    /// Calls of readers, and call plans made for entities that know something unexpected. One call may serve many
    /// entities.
    pub calls: u32,
    /// Bytes of the values that are read, about as long as they are printed.
    pub bytes: u32,
}

/// Why a query is not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryRefusal {
    /// A limit is exceeded.
    #[error("the {} exceeds the limit of {max} {limit}", if *limit == "bytes" { "answer" } else { "query" })]
    Limit {
        /// Name of the limit: `depth`, `attributes`, `rows`, `calls` or `bytes`.
        limit: &'static str,
        /// Its value.
        max: u32,
    },
    /// The caller's callback stopped the query: time is up, or nobody is waiting for the answer.
    #[error("the query was stopped before it was answered")]
    Stopped,
    /// The caller's queries have taken too much time of late.
    #[error("the queries of this session take more than {} {} per minute", limit.value, limit.unit)]
    TooFast {
        /// The rate that is exceeded.
        limit: Limit,
        /// How long to wait until the next query is admitted.
        wait: Span,
    },
    /// The caller may not query.
    #[error("{0}")]
    Forbidden(Box<str>),
    /// A mutation is below a join.
    #[error("a mutation is only allowed at the top of a query: {0}")]
    NestedMutation(Symbol),
    /// The state at the past instant cannot be read.
    #[error("the past cannot be queried: {0}")]
    Past(Box<str>),
    /// As many queries as of an instant as may wait are waiting.
    #[error("{} {} as of an instant wait already ({})", limit.value, limit.unit, limit.name)]
    PastBusy {
        /// The limit of those who may wait.
        limit: Limit,
    },
    /// The state at the past instant takes too long to rebuild.
    #[error("the state at that instant takes more than {} {} to rebuild ({})", limit.value, limit.unit, limit.name)]
    PastLate {
        /// The limit of that time.
        limit: Limit,
    },
    /// The instant lies before the stored history, of which the beginning was pruned.
    #[error("the history begins at {first}: how things were at {asked} is not known")]
    Pruned {
        /// The instant of the query.
        asked: Moment,
        /// The earliest instant that can be queried.
        first: Moment,
    },
}

impl QueryRefusal {
    /// Returns how long to wait before the query can be admitted, if it is refused for its rate.
    pub fn wait(&self) -> Option<Span> {
        match self {
            Self::TooFast { wait, .. } => Some(*wait),
            Self::Limit { .. } | Self::Stopped | Self::Forbidden(_) | Self::NestedMutation(_) => None,
            Self::Past(_) | Self::PastBusy { .. } | Self::PastLate { .. } | Self::Pruned { .. } => None,
        }
    }

    /// Returns the refusal as data.
    pub fn to_map(&self) -> Map {
        let map = Map::new().with("message", self.to_string());
        match self {
            Self::Limit { limit, max } => {
                let map = map.with("code", Value::keyword("limit")).with("limit", *limit).with("max", *max);
                map.with("hint", "ask for fewer attributes, or for a page of a list: {:first 10}")
            }
            Self::TooFast { limit, wait } => map
                .with("code", Value::keyword("too-fast"))
                .with("limit", limit.name)
                .with("max", i64::try_from(limit.value).unwrap_or(i64::MAX))
                .with("wait-ms", i64::try_from(wait.millis()).unwrap_or(i64::MAX))
                .with("hint", format!("wait {} ms, and ask for less", wait.millis())),
            Self::Stopped => map.with("code", Value::keyword("stopped")),
            Self::Forbidden(_) => map.with("code", Value::keyword("forbidden")),
            Self::NestedMutation(name) => {
                map.with("code", Value::keyword("nested-mutation")).with("mutation", name.clone())
            }
            Self::Past(_) => map.with("code", Value::keyword("past")),
            Self::PastBusy { limit } => of_limit(map, *limit).with("hint", "ask again later"),
            Self::PastLate { limit } => of_limit(map, *limit).with("hint", "ask for another instant"),
            Self::Pruned { first, .. } => map
                .with("code", Value::keyword("history-pruned"))
                .with("first", first.to_string())
                .with("hint", format!("ask as of {first} or later")),
        }
    }
}

fn of_limit(map: Map, limit: Limit) -> Map {
    let max = i64::try_from(limit.value).unwrap_or(i64::MAX);
    map.with("code", Value::keyword("limit")).with("limit", limit.name).with("max", max)
}

/// What remains of the limits.
pub(super) struct Budget<'a> {
    limits: Limits,
    rows: u32,
    calls: u32,
    /// Bytes that may still be read.
    bytes: u32,
    /// Bytes that the answer may still have. One value that was read may stand in it under many keys.
    answer: u32,
    stop: &'a dyn Fn() -> bool,
}

impl<'a> Budget<'a> {
    pub(super) fn new(limits: Limits, stop: &'a dyn Fn() -> bool) -> Self {
        Self {
            limits,
            rows: limits.rows,
            calls: limits.calls,
            bytes: limits.bytes,
            answer: limits.bytes,
            stop,
        }
    }

    /// Charges the entities of a level at a depth.
    pub(super) fn enter(&mut self, depth: u32, rows: usize) -> Result<(), QueryRefusal> {
        if depth > self.limits.depth {
            return Err(QueryRefusal::Limit { limit: "depth", max: self.limits.depth });
        }
        let rows = u32::try_from(rows).unwrap_or(u32::MAX);
        let left = self.rows.checked_sub(rows);
        self.rows = left.ok_or(QueryRefusal::Limit { limit: "rows", max: self.limits.rows })?;
        self.go_on()
    }

    /// Checks the number of attributes that are given.
    pub(super) fn admit(&self, entity: &Map) -> Result<(), QueryRefusal> {
        match u32::try_from(entity.len()) {
            Ok(count) if count <= self.limits.attributes => Ok(()),
            Ok(_) | Err(_) => Err(QueryRefusal::Limit { limit: "attributes", max: self.limits.attributes }),
        }
    }

    /// Charges one call.
    pub(super) fn call(&mut self) -> Result<(), QueryRefusal> {
        let left = self.calls.checked_sub(1);
        self.calls = left.ok_or(QueryRefusal::Limit { limit: "calls", max: self.limits.calls })?;
        self.go_on()
    }

    /// Charges a value that was read. An answer is held in memory until its reader has taken it, so its size is bounded before
    /// the next value is read.
    pub(super) fn take(&mut self, datum: &Datum<'_>) -> Result<(), QueryRefusal> {
        let bytes = match datum {
            Datum::Text(text) => text.len(),
            Datum::Value(value) => weight(value),
            // Entities are charged as rows.
            Datum::Nil | Datum::Bool(_) | Datum::Int(_) | Datum::Shown(_) | Datum::Name(_) => WORD,
            Datum::Inst(_) => INSTANT,
            Datum::Entity(_) | Datum::Entities(_) => WORD,
        };
        let left = self.bytes.checked_sub(u32::try_from(bytes).unwrap_or(u32::MAX));
        self.bytes = left.ok_or(QueryRefusal::Limit { limit: "bytes", max: self.limits.bytes })?;
        Ok(())
    }

    /// Charges values that stand in the answer.
    pub(super) fn put(&mut self, bytes: usize) -> Result<(), QueryRefusal> {
        let left = self.answer.checked_sub(u32::try_from(bytes).unwrap_or(u32::MAX));
        self.answer = left.ok_or(QueryRefusal::Limit { limit: "bytes", max: self.limits.bytes })?;
        Ok(())
    }

    /// Checks the length of an answer that is written while it is read. Its keys count here: a caller can choose long ones,
    /// and each stands in the answer once for each entity.
    pub(super) fn wrote(&self, bytes: usize) -> Result<(), QueryRefusal> {
        let max = self.limits.bytes;
        if bytes > max as usize { Err(QueryRefusal::Limit { limit: "bytes", max }) } else { Ok(()) }
    }

    fn go_on(&self) -> Result<(), QueryRefusal> {
        // Every level and every call passes here, so a query stops soon, wherever its time goes.
        if (self.stop)() { Err(QueryRefusal::Stopped) } else { Ok(()) }
    }
}

/// Returns about how many bytes a value has when it is printed.
pub(super) fn weight(value: &Value) -> usize {
    if let Some(text) = value.as_str() {
        return text.len();
    }
    if let Some(name) = value.as_keyword() {
        return name.as_str().len();
    }
    if value.as_inst().is_some() {
        return INSTANT;
    }
    if let Some(map) = value.as_map() {
        return map.iter().map(|(key, value)| weight(key) + weight(value)).sum::<usize>() + WORD;
    }
    // Anything without items counts as one word.
    let items = value.as_items().unwrap_or_default().iter();
    items.chain(value.as_set().into_iter().flat_map(Set::iter)).map(weight).sum::<usize>() + WORD
}

/// What anything short counts as.
const WORD: usize = 8;
/// What an instant counts as: `#inst "2026-06-01T00:00:00.123456789Z"`. One schedule can list ten thousand.
const INSTANT: usize = 40;
