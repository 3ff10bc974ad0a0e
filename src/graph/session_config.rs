//! A session's configuration as data, whole: every prompt, tool and message that a fresh session would begin with.
//!
//! Here are the records that attributes of sessions show, too. What lives elsewhere: psi's summary of it, which counts
//! instead (`psi_terms.rs`), and reading it (`dialect::psi`). The keys are psi's, and `zone`. Invariant: nothing of the
//! configuration is left out, because an approval is given on what is shown here.

use super::params::{OneOrMany, field};
use super::psi_terms;
use super::registry::{Param, ParamType, Record};
use crate::domain::{
    Address, AgentName, Content, Message, Moment, PromptComponent, PromptSelection, Role, SessionConfig,
    Skill, SkillSource, Zone,
};
use crate::edn::{Map, Value};

/// Returns a configuration with all of its keys; a part that is not configured is nil.
pub(crate) fn whole(config: &SessionConfig) -> Map {
    // Taken apart, so that a part that is added does not compile before it is shown.
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
        address,
        zone,
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
        .with("address", address.as_ref().map(ToString::to_string))
        .with("directory", address.as_ref().and_then(Address::directory))
        .with("agent-profile", address.as_ref().and_then(Address::profile).map(AgentName::as_str))
        .with("zone", zone.as_ref().map(Zone::to_string))
}

/// The fields of [`skill`](fn@skill).
pub(crate) const SKILL: Record = Record {
    name: "skill",
    doc: "A skill that is offered to a model.",
    params: &[
        field::<Box<str>>("name", "The name of the skill."),
        field::<Box<str>>("description", "What the skill is for."),
        field::<Box<str>>("file-path", "The path of the skill's text."),
        field::<Box<str>>("base-dir", "The folder to which the skill's own paths are relative."),
        field::<SkillSource>("source", "Where the skill was found."),
        field::<bool>("disable-model-invocation", "Whether the model may not call it by its own decision."),
        field::<Box<str>>("lambda-description", "A shorter description. Nil if there is none.").or_nil(),
    ],
};

/// Returns a skill as a map.
pub(crate) fn skill(skill: &Skill) -> Value {
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

/// The fields of [`message`](fn@message).
pub(crate) const PRELOADED_MESSAGE: Record = Record {
    name: "preloaded-message",
    doc: "A message that is in the transcript before the first prompt.",
    params: &[
        field::<Role>("role", "The role of the author."),
        field::<Box<str>>("text", "The text of the message."),
        field::<Moment>("timestamp", "When it was sent. Nil if the configuration gives no time.").or_nil(),
        Param::shown("file", ParamType::Record(&psi_terms::FILE), "The attached file. Nil if there is none.")
            .or_nil(),
        field::<OneOrMany<Box<str>>>(
            "parts",
            "The parts of the text, if it has more than one. Nil otherwise.",
        )
        .or_nil(),
    ],
};

/// Returns a preloaded message as a map.
pub(crate) fn message(message: &Message) -> Value {
    // A configured message has no provenance, and at most one file.
    let Message { role, content, timestamp, provenance: _ } = message;
    let parts = content.iter().filter_map(|part| match part {
        Content::Text(text) => Some(Value::string(&**text)),
        Content::File(_) => None,
    });
    // Joined, two texts may look like one.
    let parts = Some(parts.collect::<Vec<Value>>()).filter(|parts| parts.len() > 1);
    Map::new()
        .with("role", Value::keyword(role.name()))
        .with("text", message.text())
        .with("timestamp", timestamp.map(psi_terms::instant))
        .with("file", message.file().map(psi_terms::file))
        .with("parts", parts)
        .into()
}

/// The fields of [`selection`](fn@selection).
pub(crate) const SELECTION: Record = Record {
    name: "prompt-component-selection",
    doc: "Which parts the assembled prompt has. A part that is nil is there with all that it has.",
    params: &[
        field::<bool>("agents-md?", "Whether AGENTS.md files are included.").or_nil(),
        field::<OneOrMany<Box<str>>>(
            "extension-prompt-contributions",
            "Contributions of extensions, by name.",
        )
        .or_nil(),
        field::<OneOrMany<Box<str>>>("tool-names", "Tools, by name.").or_nil(),
        field::<OneOrMany<Box<str>>>("skill-names", "Skills, by name.").or_nil(),
        field::<OneOrMany<PromptComponent>>("components", "Parts of the prompt.").or_nil(),
    ],
};

/// Returns the selection of a prompt's parts as a map.
pub(crate) fn selection(selection: &PromptSelection) -> Value {
    let PromptSelection { agents_md, extension_prompt_contributions, tool_names, skill_names, components } =
        selection;
    Map::new()
        .with("agents-md?", *agents_md)
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
