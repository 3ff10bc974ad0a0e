//! How a task stands.

use crate::domain::names;

names! {
    /// How a task stands: a call that was begun and that nobody waits for.
    TaskState {
        /// It goes on.
        Running = "running",
        /// Its tool did what was asked.
        Completed = "completed",
        /// Its tool failed.
        Failed = "failed",
        /// It was ended before.
        Cancelled = "cancelled",
    }
}
