//! Whether a schedule survives a restart.
//!
//! What lives elsewhere: what is persisted for a durable one, and when (`runtime::durable`).

use crate::domain::names;

names! {
    /// Whether a schedule survives a restart.
    Durability {
        /// It does not: the schedule lives in memory, and its delays count suspended time.
        Volatile = "volatile",
        /// It does: the schedule is on disk before its creation is acknowledged, and its slots are
        /// instants of the wall clock.
        Durable = "durable",
        /// Its definition and what it tells do; the runs that tell nothing are in memory, and what came of them is on disk with
        /// the next that tells, or within a minute. For watches.
        Bound = "bound",
    }
}
