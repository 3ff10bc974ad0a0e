//! The parameters of a change of many schedules at once.

use super::super::params::{enums, params};
use super::super::schedule_filter::ScheduleFilter;
use crate::domain::names;

names! {
    /// What is done with each of many schedules.
    BulkAction {
        /// It is cancelled.
        Cancel = "cancel",
        /// It is paused.
        Pause = "pause",
        /// It is resumed.
        Resume = "resume",
    }
}

enums! {
    BulkAction = "bulk-action",
}

params! {
    /// What is done with many schedules.
    pub BulkParams {
        /// What is done with each.
        required action: BulkAction = "action",
        /// How many schedules the caller means. Required unless dry-run is true.
        optional expected: u32 = "expect-count",
        /// Whether only to count the schedules that would be changed.
        defaulted dry_run: bool = "dry-run",
        /// Of a pause: the caller's reason, for people.
        optional why: Box<str> = "pause-reason",
    }
}

/// The parameters of a change of many schedules.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeMany {
    /// Which schedules.
    pub(crate) which: ScheduleFilter,
    /// What is done with them.
    pub(crate) how: BulkParams,
}
