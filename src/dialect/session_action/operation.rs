//! The operations of the tool.

use crate::domain::names;

names! {
    /// An operation of the tool.
    Operation {
        /// Create an action.
        Create = "create",
        /// List the session's actions.
        List = "list",
        /// Cancel an action.
        Cancel = "cancel",
        /// Run an action now.
        RunNow = "run_now",
    }
}
