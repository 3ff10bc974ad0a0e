//! What a call asks of the engine: a draft becomes a schedule.
//!
//! What lives elsewhere: reading calls (`call.rs`), the way back (`view.rs`). Invariant: a reminder is durable, its session's
//! own, told word for word, and never tried again by itself; one that recurs counts from the end of its turn. Source:
//! SEED-003.

use super::call::{Draft, ReminderKind};
use crate::domain::{
    CountFrom, Dialect, Durability, EndsWith, Every, Moment, Payload, Policy, ScheduleId, SessionId, Terms,
    When,
};
use crate::engine::NewSchedule;
use crate::limits;

impl Draft {
    /// The schedule asked for, under this id, for the session that owns it; `None` where it would leave the calendar.
    pub fn into_new(self, id: ScheduleId, owner: SessionId, now: Moment) -> Option<NewSchedule> {
        let Draft { kind, interval, prompt, description } = self;
        let (when, ends_with) = match kind {
            // It has been executed as soon as the agent has it: from then on no list shows it.
            ReminderKind::OneTime => (When::After(interval), EndsWith::Receipt),
            ReminderKind::Recurring => {
                let every = Every::new(interval, now.checked_add(interval)?, CountFrom::Finish)?;
                (When::By(every.into()), EndsWith::Turn)
            }
        };
        let policy = Policy { ends_with, ..Policy::PLAIN };
        Some(NewSchedule {
            made_by: None,
            id: Some(id),
            dialect: Dialect::Reminder,
            durability: Durability::Durable,
            label: Some(description),
            owner,
            when,
            payload: Payload::Turn { text: prompt },
            terms: Some(Box::new(Terms { policy, ..Terms::PLAIN })),
            session_live_max: u32::try_from(limits::REMINDERS.value).unwrap_or(u32::MAX),
        })
    }
}
