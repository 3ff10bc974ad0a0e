//! A cell of a timeline: how many slots of one group have one state in one stretch of time.

use crate::domain::{Moment, names};

names! {
    /// What became of slots, or will.
    TimelineState {
        /// Delivered.
        Delivered = "delivered",
        /// Left in an inbox that nobody has read.
        Left = "left",
        /// The run failed.
        Failed = "failed",
        /// The run was cancelled.
        Cancelled = "cancelled",
        /// The slot passed without a run of its own.
        Skipped = "skipped",
        /// The run has been claimed and has not ended.
        UnderWay = "under-way",
        /// It will get a run that is handed over at once.
        WillFire = "will-fire",
        /// It will get a run whose message is left in an inbox.
        WillBeLeft = "will-be-left",
        /// It will get a run that waits, for a host or for an approval.
        WillWait = "will-wait",
        /// It will get a run that fails or is refused.
        WillFail = "will-fail",
        /// It will pass without a run of its own.
        WillBeSkipped = "will-be-skipped",
        /// Whether it gets a run is decided when the pause or the hold ends.
        Stopped = "stopped",
    }
}

impl TimelineState {
    /// Returns whether an operator has to look at it.
    pub(super) fn is_trouble(self) -> bool {
        matches!(
            self,
            TimelineState::Failed | TimelineState::Left | TimelineState::WillFail | TimelineState::WillBeLeft
        )
    }
}

/// How many slots of one group have one state in one bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TimelineCell {
    /// The start of the bucket.
    pub(super) start: Moment,
    /// The id of the schedule or session, or the name of the reason; `None` if the cells are not separated.
    pub(super) of: Option<Box<str>>,
    pub(super) state: TimelineState,
    pub(super) count: u64,
    /// Where the slot stands, if there is one slot alone.
    pub(super) at: Option<Moment>,
    /// How many rows without cells of their own are counted together here; `None` for a cell of one row.
    pub(super) others: Option<u64>,
    /// Whether this is the last cell of a timeline that was cut off, or whose forecast was.
    pub(super) more: bool,
}
