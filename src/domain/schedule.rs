//! The definition of a schedule: what was asked for, fixed at creation.

use super::{Moment, Payload, ScheduleId, SessionId, Trigger, names};

names! {
    /// Whose tools made a schedule. The engine stores it and asks nothing of it.
    Dialect {
        /// psi's one-shot scheduler. Source: SEED-002.
        Psi = "psi",
        /// The crate's own interface, as embedders call it.
        Native = "native",
    }
}

names! {
    /// What a restart leaves of a schedule.
    Durability {
        /// Nothing: it lives in memory, and its delays count suspended time.
        Volatile = "volatile",
    }
}

names! {
    /// Where a schedule's payload goes.
    Target {
        /// Into the session that owns the schedule.
        Owner = "owner",
        /// Into a fresh top-level session, whether the owner is busy or not.
        Fresh = "fresh",
    }
}

/// What was asked for. Where it stands is kept beside it, by the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Its id, unique in the engine.
    pub id: ScheduleId,
    /// Whose tools made it.
    pub dialect: Dialect,
    /// What a restart leaves of it.
    pub durability: Durability,
    /// A name for people; no meaning to the engine.
    pub label: Option<Box<str>>,
    /// The session that asked for it and that it dies with.
    pub owner: SessionId,
    /// When its slots come.
    pub trigger: Trigger,
    /// What happens then.
    pub payload: Payload,
    /// When it was created, on the wall clock.
    pub created_at: Moment,
}

impl Schedule {
    /// Where its payload goes: a prompt to the session that owns it, a fresh session to nobody's lane.
    pub fn target(&self) -> Target {
        match self.payload {
            Payload::Turn { .. } => Target::Owner,
            Payload::NewSession { .. } => Target::Fresh,
        }
    }

    /// The order in which deliveries wait for a session: due first, then created first, then by id.
    pub fn order(&self) -> (Moment, Moment, &ScheduleId) {
        (self.trigger.first_slot(), self.created_at, &self.id)
    }
}
