//! Volatile schedules that ended with their process.

use crate::domain::{Moment, ScheduleId, SessionId};

/// A volatile schedule that was lost with its process. Its text is not kept: it was to touch no disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostSchedule {
    /// Its id.
    pub id: ScheduleId,
    /// Its display name.
    pub label: Option<Box<str>>,
    /// The session that owned it.
    pub session: SessionId,
    /// When it was due, as far as that was known.
    pub due: Option<Moment>,
    /// The start that found it lost; `None` if that is the one that says so.
    pub(crate) lost_at: Option<Moment>,
}
