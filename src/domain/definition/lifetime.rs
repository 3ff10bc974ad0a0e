//! Lifetime limits of a schedule: number of runs, expiry, and events that cancel it.

use std::num::NonZeroU32;

use crate::domain::Moment;

/// What ends a schedule, apart from a cancel and the last slot of its trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// Maximum number of runs, without manual runs; `None` for as many as there are slots.
    pub max_runs: Option<NonZeroU32>,
    /// The schedule has no slot at this instant or later; `None` for no such bound.
    pub expires_at: Option<Moment>,
    /// A message that a person writes in the session cancels the schedule, as long as its slot, or
    /// the next attempt at its run, is still to come.
    pub cancel_on_user_activity: bool,
    /// Closing the session that owns the schedule cancels it.
    pub dies_with_session: bool,
}

impl Lifetime {
    /// The default: psi's lifetime.
    pub const PLAIN: Lifetime = Lifetime {
        max_runs: None,
        expires_at: None,
        cancel_on_user_activity: false,
        dies_with_session: true,
    };
}
