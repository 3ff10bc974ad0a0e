//! Follows a path into a value.

use crate::domain::Step;
use crate::edn::Value;
use crate::engine::plain::{self, Plain};

/// The value at the end of these steps, if they lead to one.
pub(crate) fn find<'v>(value: &'v Value, steps: &[Step]) -> Option<&'v Value> {
    steps.iter().try_fold(value, |value, step| match Plain::of(value) {
        Plain::Map(map) => plain::get(map, &step.key),
        Plain::List(items) => items.get(usize::try_from(step.place?).ok()?),
        Plain::Nil | Plain::Bool(_) | Plain::Number(_) | Plain::Text(_) => None,
    })
}
