//! The parameters of mutations of a run that waits for approval, or in whose turn the agent asks for one.

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
        /// The digest that the run's approval shows, or the question that waits in its turn.
        required digest: Digest = "digest",
    }
}

params! {
    /// What of the run is denied.
    pub DeniedParams {
        /// The digest of a question that waits in the run's turn. If omitted, everything of the run that awaits approval is
        /// denied.
        optional digest: Digest = "digest",
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
    /// What of it.
    pub(crate) what: DeniedParams,
    /// The reason.
    pub(crate) why: ReasonParams,
}
