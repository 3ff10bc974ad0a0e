//! Whoever carries things out of this process.

use crate::domain::Failure;
use crate::engine::Parcel;

/// What became of a parcel: it is there, or it failed.
pub type Carried = Box<dyn FnOnce(Result<(), Failure>) + Send>;

/// Carries parcels to the channels that operators have named.
///
/// Contract: `carry` returns at once and calls `carried` exactly once, on whatever thread, well within
/// `limits::RECEIPT_MS`; not calling it counts as no receipt. `Ok` only where whoever is behind the channel has said that it
/// has the parcel. A failure with `Reason::HostRefused` says that it has not; one with `Reason::ReceiptOverdue` that nobody
/// knows; one with `Reason::ChannelDisabled` that nothing more is wanted there.
pub trait Courier: Send + Sync {
    /// Sends a parcel.
    fn carry(&self, parcel: Parcel, carried: Carried);
}
