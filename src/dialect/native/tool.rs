//! The six tools, and what a model reads before it chooses one.
//!
//! What lives elsewhere: reading their arguments (`call.rs`). Invariant: a tool is described once, in the EDN file of its
//! name, in the form that the toolbox prints; a test compares words and bounds with the rules.

use crate::domain::names;

names! {
    /// A tool of the crate's own.
    Tool {
        /// Schedule a prompt.
        Create = "create",
        /// List schedules.
        List = "list",
        /// Cancel a schedule.
        Cancel = "cancel",
        /// Change, pause or resume a schedule.
        Update = "update",
        /// Say why a schedule has fired, or has not, or when it will.
        Explain = "explain",
        /// Ask the graph.
        Query = "query",
    }
}

impl Tool {
    /// Its declaration in EDN: a map with `:description` and `:input-schema`, a JSON Schema (2020-12).
    pub const fn declaration(self) -> &'static str {
        match self {
            Tool::Create => include_str!("tools/create.edn"),
            Tool::List => include_str!("tools/list.edn"),
            Tool::Cancel => include_str!("tools/cancel.edn"),
            Tool::Update => include_str!("tools/update.edn"),
            Tool::Explain => include_str!("tools/explain.edn"),
            Tool::Query => include_str!("tools/query.edn"),
        }
    }

    /// Whether it changes nothing.
    pub const fn only_reads(self) -> bool {
        match self {
            Tool::List | Tool::Explain | Tool::Query => true,
            Tool::Create | Tool::Cancel | Tool::Update => false,
        }
    }
}
