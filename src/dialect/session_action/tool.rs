//! The two tools and their declarations for models.
//!
//! The arguments are parsed in `call.rs`. Invariant: a tool is described once, in the EDN file of its name, in the
//! form that the toolbox prints; a test compares its words and bounds with the parser.

use crate::domain::names;

names! {
    /// A tool of the dialect. Source: SEED-000.
    Tool {
        /// Create, list, cancel or run delayed actions.
        Schedule = "schedule_session_action",
        /// Report that a job is ready.
        ReportReady = "report_job_ready",
    }
}

impl Tool {
    /// The declaration in EDN: a map with `:description` and `:input-schema`, a JSON Schema (2020-12).
    pub const fn declaration(self) -> &'static str {
        match self {
            Tool::Schedule => include_str!("tools/schedule_session_action.edn"),
            Tool::ReportReady => include_str!("tools/report_job_ready.edn"),
        }
    }
}
