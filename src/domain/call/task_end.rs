//! How the call of a task ended.

use crate::domain::names;

names! {
    /// How a call ended.
    TaskEnd {
        /// The tool did what was asked.
        Completed = "completed",
        /// The tool failed.
        Failed = "failed",
        /// Somebody ended it.
        Cancelled = "cancelled",
    }
}
