//! The parameters of mutations of a run that waits for approval.

use super::super::params::params;
use super::schedule::ReasonParams;
use crate::domain::{Digest, RunId};

params! {
    /// The run to act on.
    pub RunParams {
        /// The id of the run.
        required run: RunId = "run-id",
    }
}

params! {
    /// The content that is approved.
    pub DigestParams {
        /// The digest that the run's approval shows.
        required digest: Digest = "digest",
    }
}

/// The parameters of an approval.
#[derive(Clone, Debug, PartialEq)]
pub struct Approve {
    /// The run.
    pub(crate) which: RunParams,
    /// The content that is approved.
    pub(crate) shown: DigestParams,
}

/// The parameters of a denial.
#[derive(Clone, Debug, PartialEq)]
pub struct Deny {
    /// The run.
    pub(crate) which: RunParams,
    /// The reason.
    pub(crate) why: ReasonParams,
}
