//! Prints a configuration in psi's words, with the given keys only.
//!
//! Invariant: parsing the result gives an equal configuration.

use crate::dialect::psi::message;
use crate::domain::{PromptSelection, SessionConfig, Skill};
use crate::edn::Value;
use crate::graph::psi_terms;

/// Prints the keys that are set, in the seed's order; instants as `#inst`, sets as sets.
pub fn print(config: &SessionConfig) -> Value {
    let level = config.thinking_level.map(|level| Value::keyword(level.name()));
    let source = config.developer_prompt_source.map(|source| Value::keyword(source.name()));
    let messages = config.preloaded_messages.as_deref();
    let breakpoints = config.cache_breakpoints.as_ref();
    said([
        ("session-name", config.session_name.as_deref().map(Value::from)),
        ("system-prompt", config.system_prompt.as_deref().map(Value::from)),
        ("model", config.model.as_ref().map(psi_terms::model)),
        ("thinking-level", level),
        ("skills", config.skills.as_deref().map(|skills| vector(skills, skill))),
        ("tool-ids", config.tool_ids.as_deref().map(texts)),
        ("developer-prompt", config.developer_prompt.as_deref().map(Value::from)),
        ("developer-prompt-source", source),
        ("preloaded-messages", messages.map(|messages| vector(messages, message::print))),
        ("cache-breakpoints", breakpoints.map(|places| names(places.iter().map(|place| place.name())))),
        ("prompt-component-selection", config.prompt_component_selection.as_ref().map(selection)),
    ])
}

fn skill(skill: &Skill) -> Value {
    said([
        ("name", Some(skill.name.as_ref().into())),
        ("description", Some(skill.description.as_ref().into())),
        ("file-path", Some(skill.file_path.as_ref().into())),
        ("base-dir", Some(skill.base_dir.as_ref().into())),
        ("source", Some(Value::keyword(skill.source.name()))),
        ("disable-model-invocation", Some(skill.disable_model_invocation.into())),
        ("lambda-description", skill.lambda_description.as_deref().map(Value::from)),
    ])
}

fn selection(selection: &PromptSelection) -> Value {
    let contributions = selection.extension_prompt_contributions.as_deref();
    let components = selection.components.as_ref();
    said([
        ("agents-md?", selection.agents_md.map(Value::from)),
        ("extension-prompt-contributions", contributions.map(texts)),
        ("tool-names", selection.tool_names.as_deref().map(texts)),
        ("skill-names", selection.skill_names.as_deref().map(texts)),
        ("components", components.map(|parts| names(parts.iter().map(|part| part.name())))),
    ])
}

/// Builds a map of the entries that have a value.
fn said<const N: usize>(entries: [(&str, Option<Value>); N]) -> Value {
    let said = entries.into_iter().filter_map(|(key, value)| Some((Value::keyword(key), value?)));
    Value::Map(said.collect())
}

fn texts(texts: &[Box<str>]) -> Value {
    vector(texts, |text| Value::from(&**text))
}

fn vector<T>(items: &[T], print: fn(&T) -> Value) -> Value {
    Value::from(items.iter().map(print).collect::<Vec<Value>>())
}

fn names(names: impl Iterator<Item = &'static str>) -> Value {
    Value::set(names.map(Value::keyword))
}
