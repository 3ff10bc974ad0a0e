//! How long a schedule lives.

use std::num::NonZeroU32;

use super::Moment;

/// What ends a schedule, apart from its trigger's last slot and a cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// So many runs, those by hand not counted; `None` for as many as there are slots.
    pub max_runs: Option<NonZeroU32>,
    /// No slot at this instant or later; `None` for no such bound.
    pub expires_at: Option<Moment>,
    /// A person's word in the session cancels it, as long as its slot, or the next attempt at its run, is still to come.
    pub cancel_on_user_activity: bool,
    /// It is cancelled when the session that owns it is closed.
    pub dies_with_session: bool,
}

impl Lifetime {
    /// What applies to a schedule about which nothing is said: psi's.
    pub const PLAIN: Lifetime = Lifetime {
        max_runs: None,
        expires_at: None,
        cancel_on_user_activity: false,
        dies_with_session: true,
    };
}
