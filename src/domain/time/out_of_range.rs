//! Error of converting between our times and those of other libraries.
//!
//! Does not live here: the conversions, see `std_time.rs` and `chrono.rs`. Invariant: none.

/// A time that the other type cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("outside the range of {target}")]
pub struct OutOfRange {
    /// The type that cannot hold the time.
    pub target: &'static str,
}

impl OutOfRange {
    /// The instant is no [`Moment`](crate::domain::Moment).
    pub(in crate::domain) const MOMENT: OutOfRange = OutOfRange { target: "Moment" };
}
