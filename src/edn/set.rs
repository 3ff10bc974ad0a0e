//! Sets that remember the order in which items were inserted.
//!
//! Shape: a map whose values are all `nil`. Sets are rare and small in what we read, so
//! one lookup structure with one set of proofs is worth the spare word per item.
//!
//! Invariant: no two items are equal.

use std::fmt;

use super::{Map, Value, write};

/// A set of values that remembers the order of insertion; equality ignores it.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Set(Map);

impl Set {
    /// Makes an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a set, or returns the index of the first item that stands before it already.
    pub(super) fn from_items(items: impl Iterator<Item = Value>) -> Result<Self, usize> {
        Map::from_entries(items.map(|item| (item, Value::Nil)).collect()).map(Self)
    }

    /// Puts `item` in and returns whether it was new.
    pub fn insert(&mut self, item: Value) -> bool {
        self.0.insert(item, Value::Nil).is_none()
    }

    /// Returns whether `item` is in the set.
    pub fn contains(&self, item: &Value) -> bool {
        self.0.contains_key(item)
    }

    /// Iterates over the items in order of insertion.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.0.keys()
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Prints EDN, as values do.
impl fmt::Debug for Set {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write::set_to(self, out)
    }
}

/// Of equal items the first stays.
impl FromIterator<Value> for Set {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Self(items.into_iter().map(|item| (item, Value::Nil)).collect())
    }
}

impl IntoIterator for Set {
    type Item = Value;
    type IntoIter = std::iter::Map<std::vec::IntoIter<(Value, Value)>, fn((Value, Value)) -> Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter().map(|(item, _)| item)
    }
}
