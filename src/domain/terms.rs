//! What a schedule has beyond when and what, each with a plain value that most schedules keep.

use super::{Lifetime, Policy, Target, names};

names! {
    /// How the prompt of a run is put to the model.
    Envelope {
        /// As it is.
        Plain = "plain",
        /// Under a head that names the task, the run and its slot, and says how late it is. Source: SEED-004.
        TaskEvent = "task-event",
        /// Under a head that says that it is no user's message, what was asked for and when. Source: SEED-000.
        DelayedAction = "delayed-action",
    }
}

/// What a schedule has beyond when and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// What it is for, in its maker's words.
    pub description: Option<Box<str>>,
    /// A name by which the same request is known again, one for each session and dialect.
    pub key: Option<Box<str>>,
    /// Whether every session may see and change it, and not only the one that owns it.
    pub shared: bool,
    /// Where its prompt goes; a payload that opens a session goes there whatever stands here.
    pub target: Target,
    /// How the prompt is put.
    pub envelope: Envelope,
    /// What applies where the plain course of things does not say.
    pub policy: Policy,
    /// How long it lives.
    pub lifetime: Lifetime,
}

impl Terms {
    /// What applies to a schedule about which nothing is said: psi's.
    pub const PLAIN: Terms = Terms {
        description: None,
        key: None,
        shared: false,
        target: Target::Owner,
        envelope: Envelope::Plain,
        policy: Policy::PLAIN,
        lifetime: Lifetime::PLAIN,
    };
}
