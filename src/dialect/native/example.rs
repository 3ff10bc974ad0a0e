//! Examples of correct calls, for error answers.
//!
//! Invariant: every example is a complete, valid call of its tool.

use super::tool::Tool;
use crate::edn::Map;

/// A call of the tool.
pub(super) fn example(tool: Tool) -> Map {
    match tool {
        Tool::Create => Map::new()
            .with("message", "Check whether the build of release 1.4 has finished, and say so.")
            .with("when", "in 20 minutes")
            .with("zone", "Europe/Berlin"),
        Tool::List => Map::new(),
        Tool::Cancel | Tool::Explain => Map::new().with("schedule_id", ID),
        Tool::Update => Map::new().with("schedule_id", ID).with("when", "weekdays at 8:30"),
        Tool::Query => Map::new().with("query", "[:psi.scheduler/pending-count]"),
    }
}

const ID: &str = "sch-0198c2f4-0000-7000-8000-000000000001";
