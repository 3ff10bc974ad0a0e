//! What a schedule's summary says of its configuration: the name, the model, and how much of the rest.
//!
//! Invariant: prompts, messages and tools are counted, never repeated.

use std::collections::BTreeSet;

use super::print::model;
use crate::dialect::psi::data::integer;
use crate::domain::SessionConfig;
use crate::edn::{Map, Value};

/// Sums up a configuration in psi's nine keys; what is silent is nil, 0 or false.
pub fn summary(config: &SessionConfig) -> Value {
    let skills = config.skills.as_deref().unwrap_or_default();
    let skill_names: BTreeSet<&str> = skills.iter().map(|skill| &*skill.name).collect();
    Map::new()
        .with("session-name", config.session_name.as_deref())
        .with("model", config.model.as_ref().map(model))
        .with("thinking-level", config.thinking_level.map(|level| Value::keyword(level.name())))
        .with("skill-count", count(skill_names.len()))
        .with("tool-count", count(config.tool_ids.as_ref().map_or(0, Vec::len)))
        .with("has-system-prompt?", config.system_prompt.is_some())
        .with("has-developer-prompt?", config.developer_prompt.is_some())
        .with("has-prompt-component-selection?", config.prompt_component_selection.is_some())
        .with("preloaded-message-count", count(config.preloaded_messages.as_ref().map_or(0, Vec::len)))
        .into()
}

fn count(items: usize) -> Value {
    integer(items as u64)
}
