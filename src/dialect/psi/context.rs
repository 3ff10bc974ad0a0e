//! What the checks of a call depend on besides its arguments.

use crate::domain::{Now, SessionId};

/// The state that the checks depend on.
#[derive(Clone, Debug)]
pub struct PsiContext {
    /// The calling session; `None` if the caller is not a session.
    pub(crate) session: Option<SessionId>,
    /// The number of its schedules that have not ended. The engine checks the cap again when it creates a schedule.
    pub(crate) live: usize,
    /// The time of the call.
    pub(crate) now: Now,
}
