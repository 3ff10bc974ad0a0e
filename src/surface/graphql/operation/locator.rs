//! The position of a value in the answer.

use crate::edn::Value;

/// The position of a value in the map of its row.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::surface::graphql) struct Locator {
    /// The placeholder that contains the value; `None` if it is in the row itself.
    pub(in crate::surface::graphql) within: Option<Value>,
    pub(in crate::surface::graphql) key: Value,
    /// The index of the entry, if no entry before it is missing.
    pub(in crate::surface::graphql) place: usize,
}

impl Default for Locator {
    fn default() -> Self {
        // No entry has this index, so that a lookup goes by the key.
        Self { within: None, key: Value::Nil, place: usize::MAX }
    }
}
