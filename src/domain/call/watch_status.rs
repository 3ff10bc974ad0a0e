//! What a watch is doing.

use crate::domain::{Status, names};

names! {
    /// What a watch is doing.
    WatchStatus {
        /// It makes checks.
        Running = "running",
        /// It makes none until it is resumed.
        Paused = "paused",
        /// It has made all its checks.
        Completed = "completed",
        /// It was stopped before.
        Stopped = "stopped",
    }
}

impl WatchStatus {
    /// What the watch of a schedule in this status is doing.
    pub const fn of(status: Status) -> WatchStatus {
        match status {
            Status::Paused => WatchStatus::Paused,
            Status::Pending | Status::Queued | Status::InFlight | Status::Left => WatchStatus::Running,
            Status::Delivered | Status::Skipped | Status::Finished | Status::Failed => WatchStatus::Completed,
            Status::Cancelled => WatchStatus::Stopped,
        }
    }
}
