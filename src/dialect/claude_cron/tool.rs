//! The five tools and their declarations for models.
//!
//! The arguments are parsed in `call.rs`. Invariant: a tool is described once, in the EDN file of its name, in the form that
//! the toolbox prints; a test compares its names and bounds with the parser.

use crate::domain::names;

names! {
    /// A tool of the dialect.
    Tool {
        /// Schedule a prompt by cron, once or again.
        Create = "CronCreate",
        /// List the jobs.
        List = "CronList",
        /// Delete a job.
        Delete = "CronDelete",
        /// Set the next iteration of a loop, or end the loop.
        Wakeup = "ScheduleWakeup",
        /// Watch a tool.
        Monitor = "Monitor",
    }
}

impl Tool {
    /// The declaration in EDN: a map with `:description` and `:input-schema`, a JSON Schema (2020-12).
    pub const fn declaration(self) -> &'static str {
        match self {
            Tool::Create => include_str!("tools/CronCreate.edn"),
            Tool::List => include_str!("tools/CronList.edn"),
            Tool::Delete => include_str!("tools/CronDelete.edn"),
            Tool::Wakeup => include_str!("tools/ScheduleWakeup.edn"),
            Tool::Monitor => include_str!("tools/Monitor.edn"),
        }
    }
}
