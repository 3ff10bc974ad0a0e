//! What the seed's shapes have in common, as they are printed.

use crate::domain::Moment;
use crate::edn::{Map, Value};

/// Puts a value under a name, if there is one: what is absent is left out, as the seed leaves it out.
pub(super) fn with_some(map: Map, name: &str, value: Option<impl Into<Value>>) -> Map {
    match value {
        Some(value) => map.with(name, value),
        None => map,
    }
}

/// A number as EDN: revisions and seconds are far from the end of the range.
pub(super) fn integer(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// An instant as the seed writes it: RFC 3339 in UTC.
pub(super) fn instant(moment: Moment) -> Value {
    Value::string(moment.to_string())
}
