//! The attempts that a run has behind it.

use crate::domain::{Failure, HostId, Moment};

/// An attempt that failed and was followed by another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailedAttempt {
    /// Its number, from 1.
    pub(crate) number: u16,
    /// When it was first handed over; `None` if it failed before that.
    pub(crate) started_at: Option<Moment>,
    /// When it failed.
    pub(crate) ended_at: Moment,
    /// The host that it was handed to.
    pub(crate) host: Option<HostId>,
    /// Why it failed.
    pub(crate) failure: Failure,
    /// When the next attempt was to be made.
    pub(crate) next_at: Moment,
}

/// The attempts of a run before its current one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EarlierAttempts {
    /// The attempts that failed, oldest first: at most [`limits::ATTEMPTS`](crate::limits::ATTEMPTS) - 1.
    pub(crate) failed: Vec<FailedAttempt>,
    /// When the current attempt was first handed over; `None` while it waits.
    pub(crate) current_started_at: Option<Moment>,
}
