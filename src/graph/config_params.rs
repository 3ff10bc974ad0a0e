//! The configuration of a session, as a parameter: its keys and types, for schemas and for the check of names.
//!
//! What lives elsewhere: reading the values (`dialect/psi/session_config/`), and the configuration as it is shown
//! (`session_config.rs`). Invariant: exactly the keys that the reader takes are declared here; a test holds both together.

use super::params::{FromParam, OneOrMany, enums, field};
use super::registry::{Param, ParamType, Record};
use super::session_config;
use crate::domain::{CacheBreakpoint, Moment, PromptSource, Role, SkillSource, ThinkingLevel};
use crate::edn::{Map, Value};

/// A configuration that is given as a map. Its values are checked where it is read.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigMap(pub Map);

impl FromParam for ConfigMap {
    const TYPE: ParamType = ParamType::Record(&CONFIG);

    fn from_value(value: &Value) -> Option<Self> {
        value.as_map().cloned().map(ConfigMap)
    }
}

/// The keys of a configuration. Source: SEED-002.
pub(crate) const CONFIG: Record = Record {
    name: "session-config",
    doc: "The configuration of a fresh session.",
    params: &[
        field::<Box<str>>("session-name", "The name of the session.").or_nil(),
        field::<Box<str>>("system-prompt", "The system prompt.").or_nil(),
        Param::shown("model", ParamType::Record(&MODEL), "The model.").or_nil(),
        field::<ThinkingLevel>("thinking-level", "How much the model thinks before it answers.").or_nil(),
        Param::shown("skills", ParamType::List(&ParamType::Record(&SKILL)), "The skills that are offered.")
            .or_nil(),
        field::<OneOrMany<Box<str>>>("tool-ids", "The tools, by id.").or_nil(),
        field::<Box<str>>("developer-prompt", "The developer prompt.").or_nil(),
        field::<PromptSource>("developer-prompt-source", "Where the developer prompt comes from.").or_nil(),
        Param::shown(
            "preloaded-messages",
            ParamType::List(&ParamType::Record(&PRELOADED_MESSAGE)),
            "Messages that are in the transcript before the first prompt.",
        )
        .or_nil(),
        field::<OneOrMany<CacheBreakpoint>>("cache-breakpoints", "Where the prompt cache is split.").or_nil(),
        Param::shown(
            "prompt-component-selection",
            ParamType::Record(&SELECTION),
            "Which parts the assembled prompt has.",
        )
        .or_nil(),
    ],
};

const MODEL: Record = Record {
    name: "model",
    doc: "A model.",
    params: &[
        field::<Box<str>>("provider", "The provider of the model.").required(),
        field::<Box<str>>("id", "The provider's id of the model.").required(),
        field::<bool>("reasoning", "Whether the model can reason. It cannot if omitted.").or_nil(),
    ],
};

const SKILL: Record = Record {
    name: "skill",
    doc: "A skill that is offered to a model.",
    params: &[
        field::<Box<str>>("name", "The name of the skill.").required(),
        field::<Box<str>>("description", "What the skill is for.").required(),
        field::<Box<str>>("file-path", "The path of the skill's text.").or_nil(),
        field::<Box<str>>("base-dir", "The folder to which the skill's own paths are relative.").or_nil(),
        field::<SkillSource>("source", "Where the skill was found. By its path if omitted.").or_nil(),
        field::<bool>("disable-model-invocation", "Whether the model may not call it by its own decision.")
            .or_nil(),
        field::<Box<str>>("lambda-description", "A shorter description.").or_nil(),
    ],
};

const PRELOADED_MESSAGE: Record = Record {
    name: "preloaded-message",
    doc: "A message that is in the transcript before the first prompt.",
    params: &[
        field::<Role>("role", "The role of the author.").required(),
        // It may be a string as well, which no other type of a parameter says.
        field::<Map>("content", "The text, or a list of {type: \"text\", text: \"…\"}.").required(),
        field::<Moment>("timestamp", "When it was sent.").or_nil(),
    ],
};

const SELECTION: Record = Record {
    doc: "Which parts the assembled prompt has. A part that is omitted is there with all that it has.",
    ..session_config::SELECTION
};

enums! {
    CacheBreakpoint = "cache-breakpoint",
    PromptSource = "prompt-source",
}
