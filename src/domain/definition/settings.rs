//! The settings of a schedule beyond trigger and payload. Each has a default that most
//! schedules use.

use crate::domain::{Lifetime, Policy, Target, names};

names! {
    /// How the prompt of a run is presented to the model.
    Envelope {
        /// Unchanged.
        Plain = "plain",
        /// Below a header that names the task, the run and its slot, and says how late it is.
        /// Source: SEED-004.
        TaskEvent = "task-event",
        /// Below a header that says that this is no user's message, what was asked for, and when.
        /// Source: SEED-000.
        DelayedAction = "delayed-action",
        /// Below a header that says that the session has set this reminder itself. Source: SEED-001.
        Reminder = "reminder",
    }
}

/// The settings of a schedule beyond trigger and payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What the schedule is for, in its creator's words.
    pub description: Option<Box<str>>,
    /// Idempotency key: identifies repetitions of one request, per session and dialect.
    pub key: Option<Box<str>>,
    /// Whether every session may see the schedule, not only its owner, and change it with the grant `cron-others`.
    pub shared: bool,
    /// Where the prompt goes. It does not apply to a payload that opens a fresh session.
    pub target: Target,
    /// How the prompt is presented to the model.
    pub envelope: Envelope,
    /// How late, overlapping, failed and interrupted runs are handled.
    pub policy: Policy,
    /// What ends the schedule.
    pub lifetime: Lifetime,
}

impl Settings {
    /// The defaults: psi's settings.
    pub const PLAIN: Settings = Settings {
        description: None,
        key: None,
        shared: false,
        target: Target::Owner,
        envelope: Envelope::Plain,
        policy: Policy::PLAIN,
        lifetime: Lifetime::PLAIN,
    };
}
