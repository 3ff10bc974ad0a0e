//! What the mutations of one schedule take.

use super::super::params::{IdText, params};
use super::super::registry::ResolverError;
use super::conditions::Conditions;
use super::when::WhenParams;
use crate::calendar::Zones;
use crate::domain::{Durability, Moment, PayloadKind, SessionId};
use crate::edn::{Map, Value};
use crate::engine::ScheduleChange;

params! {
    /// What a schedule is created with, beside when it happens and under which conditions.
    pub NewScheduleParams {
        /// Whose schedule it is. The caller's own session if left out.
        optional owner: SessionId = "origin-session-id" or "session-id",
        /// A prompt into the session, a fresh session, or a notice. There is no default.
        required kind: PayloadKind = "kind",
        /// The prompt, or the notice's text.
        required message: Box<str> = "message",
        /// A name for people.
        optional label: Box<str> = "label",
        /// What it is for.
        optional description: Box<str> = "description",
        /// Of a fresh session: its configuration.
        optional session_config: Map = "session-config",
        /// Whether it survives a restart. Volatile if left out.
        optional durability: Durability = "durability",
        /// A name by which a repeat of this call is recognised: it answers what the first created.
        optional idempotency_key: Box<str> = "idempotency-key",
        /// The channel that it goes out by, in place of the session.
        optional channel: Box<str> = "channel",
        /// To whom on that channel.
        optional conversation: Box<str> = "conversation",
    }
}

params! {
    /// Which schedule.
    pub WhichParams {
        /// The schedule.
        required schedule: IdText = "schedule-id",
        /// The revision that the caller has seen. A later one is a conflict.
        optional base_revision: u32 = "base-revision",
    }
}

params! {
    /// What is to be otherwise about a schedule, beside when it happens and under which conditions.
    pub ChangeParams {
        /// Its name for people. Nil takes it away.
        patch label: Box<str> = "label",
        /// What it is for. Nil takes it away.
        patch description: Box<str> = "description",
        /// The prompt.
        optional message: Box<str> = "message",
    }
}

params! {
    /// Why.
    pub ReasonParams {
        /// Why, in the caller's words.
        optional reason: Box<str> = "reason",
    }
}

/// The parameters of a creation.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateSchedule {
    /// What it is.
    pub new: NewScheduleParams,
    /// When it happens.
    pub when: WhenParams,
    /// Policy and lifetime.
    pub conditions: Conditions,
}

/// The parameters of a new definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Reschedule {
    /// The schedule.
    pub which: WhichParams,
    /// What is to be otherwise.
    pub change: ChangeRequest,
}

/// What is to be otherwise about a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeRequest {
    /// Texts.
    pub texts: ChangeParams,
    /// When it happens.
    pub when: WhenParams,
    /// Policy and lifetime.
    pub conditions: Conditions,
}

/// A change, and what was understood of the words that say when.
pub struct ParsedChange {
    /// The change.
    pub change: ScheduleChange,
    /// What was understood, where it says when.
    pub echo: Option<Value>,
}

impl ChangeRequest {
    /// What the change means at this moment.
    ///
    /// # Errors
    /// As [`WhenParams::parse`].
    pub fn parse(self, now: Moment, zones: &Zones) -> Result<ParsedChange, ResolverError> {
        let meant = self.when.parse(now, zones)?;
        let (when, echo) = meant.map_or((None, None), |meant| (Some(meant.when), Some(meant.echo)));
        let change = ScheduleChange {
            label: self.texts.label,
            description: self.texts.description,
            when,
            text: self.texts.message,
            policy: self.conditions.policy,
            lifetime: self.conditions.lifetime,
            ..ScheduleChange::default()
        };
        Ok(ParsedChange { change, echo })
    }
}

/// The parameters of a pause.
#[derive(Clone, Debug, PartialEq)]
pub struct PauseRequest {
    /// The schedule.
    pub which: WhichParams,
    /// Why.
    pub why: ReasonParams,
}
