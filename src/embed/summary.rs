//! A schedule as a list shows it.

use crate::calendar;
use crate::domain::{Durability, Moment, ScheduleId, SessionId, Status};
use crate::engine::ScheduleRecord;

/// A schedule in short. The graph has the rest of it ([`Reveille::query`](super::Reveille::query)).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Its id.
    pub id: ScheduleId,
    /// The session that owns it.
    pub session: SessionId,
    /// Its display name.
    pub label: Option<Box<str>>,
    /// The message that it delivers.
    pub text: Box<str>,
    /// When it is due, as text: an instant, a period, a cron expression.
    pub when: String,
    /// Its present state.
    pub status: Status,
    /// The next slot; `None` if it waits for an event, is paused, or has ended.
    pub next: Option<Moment>,
    /// Whether it survives a restart.
    pub durability: Durability,
    /// How often it was changed.
    pub revision: u32,
}

impl Summary {
    pub(super) fn of(record: &ScheduleRecord) -> Summary {
        let schedule = record.schedule();
        Summary {
            id: schedule.id.clone(),
            session: schedule.owner.clone(),
            label: schedule.label.clone(),
            text: schedule.payload.text().into(),
            when: calendar::print(&schedule.trigger),
            status: record.status(),
            next: record.next_run(),
            durability: schedule.durability,
            revision: record.progress().revision,
        }
    }
}
