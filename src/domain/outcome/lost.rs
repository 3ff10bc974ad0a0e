//! Volatile schedules that ended with their process.

use crate::domain::{Moment, ScheduleId, SessionId, TaskEnd, ToolName};

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
    /// When its message was left in an inbox, where nobody took it; `None` if it did not come so far.
    pub(crate) left_at: Option<Moment>,
    /// The tool that it called, if it was a task whose session counts on being told of the end.
    pub(crate) task: Option<ToolName>,
    /// How that call had ended, if its session was still to be told of it.
    pub(crate) end: Option<LostEnd>,
    /// The start that found it lost; `None` if that is the one that says so.
    pub(crate) lost_at: Option<Moment>,
}

/// How and when a call ended. The result is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LostEnd {
    /// How the call ended.
    pub(crate) how: TaskEnd,
    /// When it ended.
    pub(crate) at: Moment,
}

impl LostSchedule {
    /// Returns its label, and how far its message came; `None` if there is neither.
    pub(crate) fn words(&self) -> Option<String> {
        let left = self.left_at.map(|at| format!("left in the inbox at {}", at.brief()));
        let parts: Vec<String> = self.label.iter().map(ToString::to_string).chain(left).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}
