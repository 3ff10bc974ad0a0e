//! Converts a draft to a schedule.
//!
//! Calls are parsed in `call.rs`; the way back is in `view.rs`. Invariant: a reminder is durable, belongs to its
//! session, is delivered verbatim, and is not retried. A recurring one counts its interval from the end of its turn.
//! Source: SEED-003.

use super::call::{ReminderDraft, ReminderKind};
use crate::domain::{
    CountFrom, Dialect, Durability, EndsWith, Every, Moment, Payload, Policy, ScheduleId, SessionId,
    Settings, When,
};
use crate::engine::NewSchedule;
use crate::limits;

impl ReminderDraft {
    /// Builds the new schedule with this id, owned by `owner`; `None` if its time lies beyond the calendar.
    pub fn into_new(self, id: ScheduleId, owner: SessionId, now: Moment) -> Option<NewSchedule> {
        let ReminderDraft { kind, interval, prompt, description } = self;
        let (when, ends_with) = match kind {
            // A one-time reminder is done when the agent has received it; from then on it is not listed.
            ReminderKind::OneTime => (When::After(interval), EndsWith::Receipt),
            ReminderKind::Recurring => {
                // Counted from the end of a turn, so that a long turn never meets the next one. Source: SEED-003's code.
                let every = Every::new(interval, now.checked_add(interval)?, CountFrom::Finish)?;
                (When::By(every.into()), EndsWith::Turn)
            }
        };
        let policy = Policy { ends_with, ..Policy::PLAIN };
        Some(NewSchedule {
            made_by: None,
            id: Some(id),
            dialect: Dialect::Reminder,
            // Source: SEED-003, "Storage integration".
            durability: Durability::Durable,
            label: Some(description),
            owner,
            when,
            payload: Payload::Turn { text: prompt },
            // The plain lifetime ends with the session. Source: SEED-003, "Session integration".
            settings: Some(Box::new(Settings { policy, ..Settings::PLAIN })),
            session_live_max: u32::try_from(limits::REMINDERS.value).unwrap_or(u32::MAX),
        })
    }
}
