//! Port: the courier, which carries parcels out of this process to channels.

use std::collections::BTreeMap;

use crate::domain::{Failure, RunId};
use crate::engine::Parcel;

/// Called once with the outcome of a delivery: accepted at the other end, or failed.
pub type Carried = Box<dyn FnOnce(Result<(), Failure>) + Send>;

/// Says whether a run that was refused with [`Failure::again_after`] still waits for that time, or is on its way to the courier
/// again. A run that was cancelled, or has ended otherwise, does not.
pub type IsComing = Box<dyn Fn(&RunId) -> bool + Send + Sync>;

/// How many parcels a courier has under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnderWay {
    /// All of them.
    pub all: u64,
    /// Those of each family of sessions, by its root. Parcels of operators' schedules are not among them.
    pub of_families: BTreeMap<Box<str>, u64>,
}

/// Carries parcels to the channels that operators have configured.
///
/// Contract: `carry` returns at once. It calls `carried` exactly once, on any thread, well within
/// `limits::RECEIPT_MS`; if it is not called, the receipt is overdue and the delivery fails. `Ok`
/// means that the receiver behind the channel acknowledged the parcel. A failure with
/// `Reason::HostRefused` means that the receiver does not have it; `Reason::ReceiptOverdue` means
/// that this is unknown; `Reason::ChannelDisabled` means that the receiver wants no more parcels on
/// this channel.
pub trait Courier: Send + Sync {
    /// Sends a parcel, and reports its outcome through `carried`.
    fn carry(&self, parcel: Parcel, carried: Carried);

    /// Gives the courier the means to ask of runs. It is called once, before the first parcel; a courier that keeps no time for
    /// a parcel has nothing to ask. It must not be asked while a lock is held that `carried` may wait for.
    fn ask_of_runs(&self, is_coming: IsComing) {
        drop(is_coming);
    }

    /// Returns how many parcels are under way, if this courier bounds them.
    fn under_way(&self) -> UnderWay {
        UnderWay::default()
    }
}
