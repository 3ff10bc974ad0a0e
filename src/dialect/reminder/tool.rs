//! The three tools and their declarations for models.
//!
//! The arguments are parsed in `call.rs`. Invariant: a tool is described once, in the EDN file of its name, in the
//! form that the toolbox prints; a test compares its words and bounds with the parser.

use crate::domain::names;

names! {
    /// A tool of the dialect. Source: SEED-003, "Reminder tools".
    Tool {
        /// Set a reminder.
        Add = "reminderadd",
        /// List the active reminders.
        List = "reminderlist",
        /// Cancel reminders.
        Remove = "reminderremove",
    }
}

impl Tool {
    /// The declaration in EDN: a map with `:description` and `:input-schema`, a JSON Schema (2020-12).
    pub const fn declaration(self) -> &'static str {
        match self {
            Tool::Add => include_str!("tools/reminderadd.edn"),
            Tool::List => include_str!("tools/reminderlist.edn"),
            Tool::Remove => include_str!("tools/reminderremove.edn"),
        }
    }
}
