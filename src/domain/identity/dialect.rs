//! The families of tools through which a schedule can be made.
//!
//! What lives elsewhere: the words and rules of each (`dialect`). Invariant: to the engine a dialect is a name.

use crate::domain::{Gate, names};

names! {
    /// The family of tools that made a schedule. The engine stores it; grants, rules, switches, idempotency keys and counts
    /// compare it, and no other transition depends on it.
    Dialect {
        /// psi's one-shot scheduler. Source: SEED-002.
        Psi = "psi",
        /// The scheduled tasks of a personal agent, shared by all its sessions. Source: SEED-004.
        Cron = "cron",
        /// Prompts that a session sets for itself, once or recurring. Source: SEED-003.
        Reminder = "reminder",
        /// Actions that an agent has the runtime do later in its session. Source: SEED-000.
        SessionAction = "session-action",
        /// The scheduling tools of Claude Code. Source: Claude Code 2.1.330.
        ClaudeCron = "claude-cron",
        /// The crate's own interface, as embedders call it.
        Native = "native",
        /// Tools that call other tools. Source: SEED-001.
        Primitives = "primitives",
        /// Calls of a tool again and again, of which a session is told what it asked for. Source: SEED-001.
        Watch = "watch",
        /// Calls of tools at a time, and reminders that a session sets for itself. Source: SEED-001.
        Scheduler = "scheduler",
        /// Messages out of the process, and what comes in by a channel. Source: SEED-001.
        Channels = "channels",
        /// What a session is to remember, aims at, and has to do. Source: SEED-001.
        Memory = "memory",
    }
}

impl Dialect {
    /// Returns the switch that has to be on for the tools of the family to exist; `None` if they always do. A family names its
    /// switch here and nowhere else.
    pub const fn gate(self) -> Option<Gate> {
        match self {
            Dialect::Psi
            | Dialect::Cron
            | Dialect::Reminder
            | Dialect::SessionAction
            | Dialect::ClaudeCron
            | Dialect::Native
            | Dialect::Primitives => None,
            Dialect::Watch => Some(Gate::Watchers),
            Dialect::Scheduler => Some(Gate::Scheduler),
            Dialect::Channels => Some(Gate::Channels),
            Dialect::Memory => Some(Gate::Memory),
        }
    }

    /// Whether everything that the family makes is to outlive the process, so that there is no use for it without a store.
    #[cfg(feature = "embed")]
    pub(crate) const fn needs_store(self) -> bool {
        match self {
            Dialect::Cron | Dialect::Reminder | Dialect::SessionAction | Dialect::Scheduler => true,
            Dialect::Psi | Dialect::ClaudeCron | Dialect::Native | Dialect::Primitives => false,
            Dialect::Watch | Dialect::Channels | Dialect::Memory => false,
        }
    }
}
