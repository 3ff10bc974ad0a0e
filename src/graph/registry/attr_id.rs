//! Attributes by number.
//!
//! What lives elsewhere: which attribute a number stands for (`table.rs`).

/// The number of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttrId(pub(in crate::graph) u32);

impl AttrId {
    /// The number that no attribute has.
    pub(in crate::graph) const NONE: Self = Self(u32::MAX);

    /// Returns whether the number is that of one of the first `count` attributes.
    pub(in crate::graph) fn is_below(self, count: usize) -> bool {
        index(self) < count
    }
}

pub(super) fn index(id: AttrId) -> usize {
    usize::try_from(id.0).unwrap_or(usize::MAX)
}
