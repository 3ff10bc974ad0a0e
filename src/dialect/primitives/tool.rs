//! The two tools and their declarations for models.
//!
//! The arguments are parsed in `call.rs`. Invariant: a tool is described once, in the EDN file of its name, in the form that the
//! toolbox prints.

use crate::domain::names;

names! {
    /// A tool of the family.
    Tool {
        /// Call several tools at once.
        RunParallel = "run_parallel",
        /// Call a tool as a task.
        BackgroundRun = "background_run",
    }
}

impl Tool {
    /// The declaration in EDN: a map with `:description` and `:input-schema`, a JSON Schema (2020-12).
    pub const fn declaration(self) -> &'static str {
        match self {
            Tool::RunParallel => include_str!("tools/run_parallel.edn"),
            Tool::BackgroundRun => include_str!("tools/background_run.edn"),
        }
    }
}
