//! The request for a new schedule, as three commands take it.
//!
//! What lives elsewhere: the commands (`input.rs`), what is checked and filled in (`step/schedule/create_schedule.rs`).

use crate::domain::{Actor, Dialect, Durability, Payload, ScheduleId, SessionId, Settings, When};
use crate::limits;

/// A request for a new schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSchedule {
    /// The schedule's id; `None` for a random one.
    pub id: Option<ScheduleId>,
    /// The dialect whose tools make the request.
    pub dialect: Dialect,
    /// Whether the schedule survives a restart.
    pub durability: Durability,
    /// A display name.
    pub label: Option<Box<str>>,
    /// The session that owns the schedule.
    pub owner: SessionId,
    /// The actor, if it is not the owning session through the tools of the dialect.
    pub made_by: Option<Box<Actor>>,
    /// When the schedule is due.
    pub when: When,
    /// What is delivered.
    pub payload: Payload,
    /// Target, policy, lifetime and the rest; `None` is [`Settings::PLAIN`].
    pub settings: Option<Box<Settings>>,
    /// How many unfinished schedules the dialect allows per session, including this one.
    pub session_live_max: u32,
}

impl NewSchedule {
    /// Creates a request for a volatile prompt into the owning session, in the crate's native
    /// dialect. Callers can change every field.
    pub fn message(owner: SessionId, when: When, text: impl Into<Box<str>>) -> NewSchedule {
        NewSchedule {
            id: None,
            dialect: Dialect::Native,
            durability: Durability::Volatile,
            label: None,
            owner,
            made_by: None,
            when,
            payload: Payload::Turn { text: text.into() },
            settings: None,
            session_live_max: u32::try_from(limits::SESSION_SCHEDULES.value).unwrap_or(u32::MAX),
        }
    }

    /// Returns its idempotency key.
    pub(crate) fn key(&self) -> Option<&str> {
        self.settings.as_ref().and_then(|settings| settings.key.as_deref())
    }
}
