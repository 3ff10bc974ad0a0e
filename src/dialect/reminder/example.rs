//! Examples of correct calls, for error answers.
//!
//! Invariant: every example is a complete, valid call of its tool.

use super::tool::Tool;
use crate::edn::Map;

/// A call of the tool.
pub(super) fn example(tool: Tool) -> Map {
    match tool {
        Tool::Add => Map::new()
            .with("interval_seconds", 3_600)
            .with("type", "one-time")
            .with("action_prompt", "Read /home/ada/inbox and answer what is urgent.")
            .with("description", "I'll check your email"),
        Tool::List => Map::new(),
        Tool::Remove => Map::new().with("description_pattern", "email"),
    }
}
