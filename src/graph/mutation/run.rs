//! What the mutations of a run that waits for approval take.

use super::super::params::params;
use super::schedule::ReasonParams;
use crate::domain::{Digest, RunId};

params! {
    /// Which run.
    pub RunParams {
        /// The run.
        required run: RunId = "run-id",
    }
}

params! {
    /// What was shown.
    pub DigestParams {
        /// The digest of what was shown, as the approval of the run has it.
        required digest: Digest = "digest",
    }
}

/// The parameters of an approval.
#[derive(Clone, Debug, PartialEq)]
pub struct Approve {
    /// The run.
    pub which: RunParams,
    /// What was shown of it.
    pub shown: DigestParams,
}

/// The parameters of a denial.
#[derive(Clone, Debug, PartialEq)]
pub struct Deny {
    /// The run.
    pub which: RunParams,
    /// Why.
    pub why: ReasonParams,
}
