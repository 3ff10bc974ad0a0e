//! Helpers for printing the seed's shapes.

use crate::domain::Moment;
use crate::edn::Value;

/// Converts a number to EDN. Revisions and seconds are far below the upper bound.
pub(super) fn integer(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Prints an instant as the seed does: RFC 3339 in UTC.
pub(super) fn instant(moment: Moment) -> Value {
    Value::string(moment.to_string())
}
