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
    /// Its name, its family, and the text of its declaration.
    pub(super) const fn declared(self) -> (&'static str, Dialect, Text) {
        match self {
            Tool::Psi => (psi::TOOL, Dialect::Psi, Text::Edn(include_str!("psi-tool.edn"))),
            Tool::Cron(tool) => (tool.name(), Dialect::Cron, Text::Edn(tool.declaration())),
            Tool::Reminder(tool) => (tool.name(), Dialect::Reminder, Text::Edn(tool.declaration())),
            Tool::SessionAction(tool) => (tool.name(), Dialect::SessionAction, Text::Edn(tool.declaration())),
            Tool::ClaudeCron(tool) => (tool.name(), Dialect::ClaudeCron, Text::Edn(tool.declaration())),
            Tool::Watch(tool) => (tool.name(), Dialect::Watch, Text::Edn(tool.declaration())),
            Tool::Scheduler(tool) => (tool.name(), Dialect::Scheduler, Text::Edn(tool.declaration())),
            Tool::Native(tool) => (tool.name(), Dialect::Native, Text::Native(tool)),
            Tool::Channels(tool) => (tool.name(), Dialect::Channels, Text::Edn(tool.declaration())),
            Tool::Memory(tool) => (tool.name(), Dialect::Memory, Text::Edn(tool.declaration())),
            Tool::Primitives(tool) => (tool.name(), Dialect::Primitives, Text::Edn(tool.declaration())),
        }
    }
}

impl Tool {
    /// The family of what it makes, if that is another one than its own: the tool exists only where that family does.
    pub(in crate::service) const fn makes(self) -> Option<Dialect> {
        match self {
            Tool::ClaudeCron(claude_cron::Tool::Monitor) => Some(Dialect::Watch),
            Tool::Psi
            | Tool::Cron(_)
            | Tool::Reminder(_)
            | Tool::SessionAction(_)
            | Tool::ClaudeCron(_)
            | Tool::Watch(_)
            | Tool::Scheduler(_)
            | Tool::Native(_)
            | Tool::Channels(_)
            | Tool::Memory(_)
            | Tool::Primitives(_) => None,
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
