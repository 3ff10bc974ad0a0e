//! What is open of a watch between two checks, and what a check has to lead to.
//!
//! What lives elsewhere: how that is found (`watch_verdict.rs`).

use crate::domain::{Open, Why};

/// What is settled and open between two checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::testkit) struct Standing {
    /// Whether the condition held when that was last settled.
    pub(in crate::testkit) signal: Option<bool>,
    /// What was told and is not over.
    pub(in crate::testkit) open: Open,
}

/// What a check has to lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::testkit) struct Verdict {
    /// Why it has to be told; `None` if it must not be.
    pub(in crate::testkit) told: Option<Why>,
    /// What is settled and open if it is not told.
    pub(in crate::testkit) untold: Standing,
}

impl Verdict {
    /// What is settled and open after the check, if it was told for this reason.
    pub(in crate::testkit) fn after(&self, told: Option<Why>) -> Standing {
        let Standing { signal, open } = self.untold;
        match told {
            None | Some(Why::Every | Why::Batch | Why::Changed(_)) => self.untold,
            Some(Why::Failed(_)) => Standing { open: Open { error: true, ..open }, signal },
            Some(Why::Recovered { .. }) => Standing { open: Open { error: false, ..open }, signal },
            Some(Why::Holds(_)) => Standing { open: Open { state: true, ..open }, signal: Some(true) },
            Some(Why::Ceased(_)) => Standing { open: Open { state: true, ..open }, signal: Some(false) },
            Some(Why::Silent(_)) => Standing { open: Open { silence: true, ..open }, signal },
            Some(Why::Heard) => Standing { open: Open { silence: false, ..open }, signal },
        }
    }
}
