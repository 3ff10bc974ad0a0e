//! The three tools and their declarations for models.
//!
//! The arguments are parsed in `call.rs`. Invariant: a tool is described once, in the EDN file of its name, in the form that
//! the toolbox prints; a test compares its words and bounds with the parser.

use crate::domain::names;

names! {
    /// A tool of the dialect. Source: SEED-001.
    Tool {
        /// Have a tool called at a time, once or again and again.
        Schedule = "schedule",
        /// End a scheduled call or a reminder.
        Cancel = "cancel_schedule",
        /// Be reminded of something in this session.
        Remind = "remind",
    }
}

impl Tool {
    /// The declaration in EDN: a map with `:description` and `:input-schema`, a JSON Schema (2020-12).
    pub const fn declaration(self) -> &'static str {
        match self {
            Tool::Schedule => include_str!("tools/schedule.edn"),
            Tool::Cancel => include_str!("tools/cancel_schedule.edn"),
            Tool::Remind => include_str!("tools/remind.edn"),
        }
    }
}
