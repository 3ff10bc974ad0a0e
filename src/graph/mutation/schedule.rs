//! The parameters of mutations of one schedule.

use super::super::config_params::ConfigMap;
use super::super::params::{IdText, params};
use super::super::registry::ResolverError;
use super::conditions::Conditions;
use super::when::{ParsedWhen, WhenParams};
use crate::calendar::Zones;
use crate::domain::{Durability, Moment, PayloadKind, SessionId, Trigger, Zone};
use crate::engine::ScheduleChange;

params! {
    /// What a schedule is created with, besides its time and conditions.
    pub NewScheduleParams {
        /// The id of the session that owns the schedule. The caller's session if omitted.
        optional owner: SessionId = "origin-session-id" or "session-id",
        /// What is delivered: a prompt into the session, a fresh session with a prompt, or a notice. A prompt into the session if
        /// omitted.
        optional kind: PayloadKind = "kind",
        /// The prompt, or the text of the notice.
        required message: Box<str> = "message",
        /// A name for people.
        optional label: Box<str> = "label",
        /// What the schedule is for.
        optional description: Box<str> = "description",
        /// For a fresh session: its configuration.
        optional session_config: ConfigMap = "session-config",
        /// Whether the schedule survives a restart: durable ones do, volatile ones do not. Bound ones, which watches are, do as
        /// well, but what their checks of the last minute came to may be lost, unless it was told. If omitted, it does if there
        /// is a store.
        optional durability: Durability = "durability",
        /// Identifies repetitions of the same request: a repetition returns the schedule that the first request created. Once
        /// that has ended, another request may use the key.
        optional idempotency_key: Box<str> = "idempotency-key",
        /// The name of the channel to deliver to, instead of the session.
        optional channel: Box<str> = "channel",
        /// The conversation in that channel.
        optional conversation: Box<str> = "conversation",
    }
}

params! {
    /// The schedule to act on.
    pub WhichParams {
        /// The id of the schedule.
        required schedule: IdText = "schedule-id",
        /// The revision that the caller has read. If the schedule has another one, the request is refused as a conflict.
        optional base_revision: u32 = "base-revision",
    }
}

params! {
    /// How a run is started by hand.
    pub SlotParams {
        /// Whether a schedule with a single slot keeps that slot and runs again at it. If false, this run takes the place of the
        /// slot.
        defaulted keep_slot: bool = "keep-slot",
    }
}

params! {
    /// What changes about a schedule, besides its time and conditions.
    pub ChangeParams {
        /// A name for people. Nil removes it.
        patch label: Box<str> = "label",
        /// What the schedule is for. Nil removes it.
        patch description: Box<str> = "description",
        /// The prompt, or the text of the notice.
        optional message: Box<str> = "message",
    }
}

params! {
    /// The reason for a change.
    pub ReasonParams {
        /// The caller's reason, for people.
        optional reason: Box<str> = "reason",
    }
}

/// The parameters of a run by hand.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRequest {
    /// The schedule.
    pub which: WhichParams,
    /// What becomes of its slot.
    pub slot: SlotParams,
}

/// The parameters of a creation.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateSchedule {
    /// What is delivered, for whom.
    pub new: NewScheduleParams,
    /// The time.
    pub when: WhenParams,
    /// Policy and lifetime.
    pub conditions: Conditions,
}

/// The parameters of a change of the definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Reschedule {
    /// The schedule.
    pub which: WhichParams,
    /// The change.
    pub change: ChangeRequest,
}

/// A change of a schedule, as parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeRequest {
    /// The texts.
    pub texts: ChangeParams,
    /// The time.
    pub when: WhenParams,
    /// Policy and lifetime.
    pub conditions: Conditions,
}

/// A change with its time resolved, and the echo of the time for the caller.
pub struct ParsedChange {
    /// The change.
    pub change: ScheduleChange,
    /// The time as understood; `None` if the change sets no time.
    pub meant: Option<ParsedWhen>,
    /// Whether the times are those that the schedule has, in another zone: the change is of that definition alone.
    pub is_moved: bool,
}

impl ChangeRequest {
    /// Resolves the change of a schedule with these times, as of a moment. What the change leaves out stays, also the zone of
    /// the times; `own` is that of the session.
    ///
    /// # Errors
    /// Returns those of [`WhenParams::parse`].
    pub fn parse(
        self,
        (present, own): (Option<&Trigger>, Option<&Zone>),
        now: Moment,
        zones: &Zones,
    ) -> Result<ParsedChange, ResolverError> {
        // The schedule's own zone comes before the session's: 8:30 stays 8:30 where the schedule is.
        let usual = zones.usual(present.and_then(Trigger::zone).or(own));
        let given = self.when.parse(now, zones, usual)?;
        let is_given = given.is_some();
        let meant = if is_given { given } else { self.when.moved(present, now, zones)? };
        let is_moved = meant.is_some() && !is_given;
        let when = meant.as_ref().map(|meant| meant.when.clone());
        let change = ScheduleChange {
            label: self.texts.label,
            description: self.texts.description,
            when,
            text: self.texts.message,
            policy: self.conditions.policy,
            lifetime: self.conditions.lifetime,
            // The target stays as it was created, and pausing is a mutation of its own.
            ..ScheduleChange::default()
        };
        Ok(ParsedChange { change, meant, is_moved })
    }
}

/// The parameters of a pause.
#[derive(Clone, Debug, PartialEq)]
pub struct PauseRequest {
    /// The schedule.
    pub which: WhichParams,
    /// The reason.
    pub why: ReasonParams,
}
