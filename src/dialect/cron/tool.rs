//! The seven tools and their declarations for models.
//!
//! The arguments are parsed in `call.rs`. Invariant: a tool is described once, in the EDN file of its name, in the
//! form that the toolbox prints; a test compares its words and bounds with the parser.

use crate::domain::names;

names! {
    /// A tool of the dialect. Source: SEED-004, "Capabilities".
    Tool {
        /// Create a job.
        Create = "cron_create",
        /// List the jobs with their states.
        List = "cron_list",
        /// Get one job.
        Get = "cron_get",
        /// Change a job, which gets a new revision.
        Update = "cron_update",
        /// Delete a job; the log keeps a tombstone.
        Delete = "cron_delete",
        /// Disable a job.
        Pause = "cron_pause",
        /// Enable a job again.
        Resume = "cron_resume",
    }
}

impl Tool {
    /// The declaration in EDN: a map with `:description` and `:input-schema`, a JSON Schema (2020-12).
    pub const fn declaration(self) -> &'static str {
        match self {
            Tool::Create => include_str!("tools/cron_create.edn"),
            Tool::List => include_str!("tools/cron_list.edn"),
            Tool::Get => include_str!("tools/cron_get.edn"),
            Tool::Update => include_str!("tools/cron_update.edn"),
            Tool::Delete => include_str!("tools/cron_delete.edn"),
            Tool::Pause => include_str!("tools/cron_pause.edn"),
            Tool::Resume => include_str!("tools/cron_resume.edn"),
        }
    }
}
