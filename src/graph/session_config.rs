//! A session's configuration as data, whole: every prompt, tool and message that a fresh session would begin with.
//!
//! What lives elsewhere: psi's summary of it, which counts instead (`psi_terms.rs`), and reading it (`dialect::psi`). The keys
//! are psi's. Invariant: nothing of the configuration is left out, because an approval is given on what is shown here.

use super::psi_terms;
use crate::domain::{Message, PromptSelection, SessionConfig, Skill};
use crate::edn::{Map, Value};

/// Returns a configuration with all of its keys; a part that is not configured is nil.
pub(crate) fn whole(config: &SessionConfig) -> Map {
    let SessionConfig {
        session_name,
        system_prompt,
        model,
        thinking_level,
        skills,
        tool_ids,
        developer_prompt,
        developer_prompt_source,
        preloaded_messages,
        cache_breakpoints,
        prompt_component_selection,
    } = config;
    let breakpoints = cache_breakpoints.as_ref().map(|all| words(all.iter().map(|it| it.name())));
    Map::new()
        .with("session-name", session_name.as_deref())
        .with("system-prompt", system_prompt.as_deref())
        .with("developer-prompt", developer_prompt.as_deref())
        .with("developer-prompt-source", developer_prompt_source.map(|it| Value::keyword(it.name())))
        .with("model", model.as_ref().map(psi_terms::model))
        .with("thinking-level", thinking_level.map(|it| Value::keyword(it.name())))
        .with("tool-ids", tool_ids.as_deref().map(texts))
        .with("skills", skills.as_ref().map(|all| all.iter().map(skill).collect::<Vec<Value>>()))
        .with(
            "preloaded-messages",
            preloaded_messages.as_ref().map(|all| all.iter().map(message).collect::<Vec<Value>>()),
        )
        .with("cache-breakpoints", breakpoints)
        .with("prompt-component-selection", prompt_component_selection.as_ref().map(selection))
}

fn skill(skill: &Skill) -> Value {
    let Skill {
        name,
        description,
        file_path,
        base_dir,
        source,
        disable_model_invocation,
        lambda_description,
    } = skill;
    Map::new()
        .with("name", &**name)
        .with("description", &**description)
        .with("file-path", &**file_path)
        .with("base-dir", &**base_dir)
        .with("source", Value::keyword(source.name()))
        .with("disable-model-invocation", *disable_model_invocation)
        .with("lambda-description", lambda_description.as_deref())
        .into()
}

fn message(message: &Message) -> Value {
    Map::new()
        .with("role", Value::keyword(message.role.name()))
        .with("text", message.text())
        .with("file", message.file().map(psi_terms::file))
        .into()
}

fn selection(selection: &PromptSelection) -> Value {
    let PromptSelection { agents_md, extension_prompt_contributions, tool_names, skill_names, components } =
        selection;
    Map::new()
        .with("agents-md", *agents_md)
        .with("extension-prompt-contributions", extension_prompt_contributions.as_deref().map(texts))
        .with("tool-names", tool_names.as_deref().map(texts))
        .with("skill-names", skill_names.as_deref().map(texts))
        .with("components", components.as_ref().map(|all| words(all.iter().map(|it| it.name()))))
        .into()
}

fn texts(all: &[Box<str>]) -> Vec<Value> {
    all.iter().map(|text| Value::string(&**text)).collect()
}

fn words(all: impl Iterator<Item = &'static str>) -> Vec<Value> {
    all.map(Value::keyword).collect()
}
