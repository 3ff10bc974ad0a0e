//! One tool, with the family that it is of.
//!
//! Once a call is admitted, its tool travels as this value and never as a name.

use crate::dialect::{
    channels, claude_cron, cron, memory, native, primitives, psi, reminder, scheduler, session_action, watch,
};
use crate::domain::Dialect;

/// A tool of some family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// psi has one tool for everything.
    Psi,
    Cron(cron::Tool),
    Reminder(reminder::Tool),
    SessionAction(session_action::Tool),
    ClaudeCron(claude_cron::Tool),
    Watch(watch::Tool),
    Scheduler(scheduler::Tool),
    Native(native::Tool),
    Channels(channels::Tool),
    Memory(memory::Tool),
    Primitives(primitives::Tool),
}

impl Tool {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Tool::Psi => psi::TOOL,
            Tool::Cron(tool) => tool.name(),
            Tool::Reminder(tool) => tool.name(),
            Tool::SessionAction(tool) => tool.name(),
            Tool::ClaudeCron(tool) => tool.name(),
            Tool::Watch(tool) => tool.name(),
            Tool::Scheduler(tool) => tool.name(),
            Tool::Native(tool) => tool.name(),
            Tool::Channels(tool) => tool.name(),
            Tool::Memory(tool) => tool.name(),
            Tool::Primitives(tool) => tool.name(),
        }
    }

    pub(super) const fn dialect(self) -> Dialect {
        match self {
            Tool::Psi => Dialect::Psi,
            Tool::Cron(_) => Dialect::Cron,
            Tool::Reminder(_) => Dialect::Reminder,
            Tool::SessionAction(_) => Dialect::SessionAction,
            Tool::ClaudeCron(_) => Dialect::ClaudeCron,
            Tool::Watch(_) => Dialect::Watch,
            Tool::Scheduler(_) => Dialect::Scheduler,
            Tool::Native(_) => Dialect::Native,
            Tool::Channels(_) => Dialect::Channels,
            Tool::Memory(_) => Dialect::Memory,
            Tool::Primitives(_) => Dialect::Primitives,
        }
    }

    /// Where the tool's description and schema are.
    pub(super) const fn text(self) -> Text {
        match self {
            Tool::Psi => Text::Edn(include_str!("psi-tool.edn")),
            Tool::Cron(tool) => Text::Edn(tool.declaration()),
            Tool::Reminder(tool) => Text::Edn(tool.declaration()),
            Tool::SessionAction(tool) => Text::Edn(tool.declaration()),
            Tool::ClaudeCron(tool) => Text::Edn(tool.declaration()),
            Tool::Watch(tool) => Text::Edn(tool.declaration()),
            Tool::Scheduler(tool) => Text::Edn(tool.declaration()),
            Tool::Native(tool) => Text::Native(tool),
            Tool::Channels(tool) => Text::Edn(tool.declaration()),
            Tool::Memory(tool) => Text::Edn(tool.declaration()),
            Tool::Primitives(tool) => Text::Edn(tool.declaration()),
        }
    }
}

/// The text of a tool's declaration.
#[derive(Debug)]
pub(super) enum Text {
    /// In EDN, a map of both.
    Edn(&'static str),
    /// With the table of its fields.
    Native(native::Tool),
}
