//! Values under a tag that has no meaning here.
//!
//! Lives here: the pair. Does not live here: `#inst` and `#uuid`, which are values of
//! their own.
//!
//! Invariant: none; any tag goes with any value.

use super::{Symbol, Value};

/// A tag and the value behind it, stored as data: `#task/id 7`.
///
/// For `inst` and `uuid` use [`Value::Inst`] and [`Value::Uuid`]: under these two tags the
/// reader makes those, and takes nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tagged {
    /// The tag, without `#`.
    pub tag: Symbol,
    /// What follows the tag.
    pub value: Value,
}
