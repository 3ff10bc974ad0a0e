//! The operations of psi's tool on schedules.

use crate::domain::names;

names! {
    /// An operation on schedules. Source: SEED-002.
    Op {
        /// Create a schedule.
        Create = "create",
        /// List the unfinished schedules.
        List = "list",
        /// Cancel a schedule.
        Cancel = "cancel",
    }
}
