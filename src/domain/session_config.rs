//! Configuration of a session: the model, the prompts, the tools. Every field is optional.
//!
//! Names are psi's. Source: SEED-002 (the accepted keys) and psi's session schema (the types). What
//! lives elsewhere: parsing it from EDN or JSON (`dialect`). Invariant: values are typed here,
//! never raw input.

use std::collections::BTreeSet;

use super::{Address, Message, Zone, names};
use crate::limits::{self, Limit};

names! {
    /// How hard the model thinks.
    ThinkingLevel {
        /// Not at all.
        Off = "off",
        /// As little as possible.
        Minimal = "minimal",
        /// Little.
        Low = "low",
        /// Moderately.
        Medium = "medium",
        /// Hard.
        High = "high",
        /// As hard as possible.
        Xhigh = "xhigh",
    }
}

names! {
    /// Where the developer prompt came from.
    PromptSource {
        /// The environment of the harness.
        Env = "env",
        /// It was given explicitly.
        Explicit = "explicit",
    }
}

names! {
    /// A place after which the provider may cache the prompt.
    CacheBreakpoint {
        /// After the system prompt.
        System = "system",
        /// After the tools.
        Tools = "tools",
    }
}

names! {
    /// A part of the assembled system prompt.
    PromptComponent {
        /// The opening text.
        Preamble = "preamble",
        /// Context files.
        ContextFiles = "context-files",
        /// The list of skills.
        Skills = "skills",
        /// Facts about the running session.
        RuntimeMetadata = "runtime-metadata",
    }
}

names! {
    /// Where a skill was found.
    SkillSource {
        /// In the user's folder.
        User = "user",
        /// In the project.
        Project = "project",
        /// At a path that was given explicitly.
        Path = "path",
    }
}

/// A model of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// The provider's name.
    pub provider: Box<str>,
    /// The model's id with that provider.
    pub id: Box<str>,
    /// Whether the model can think; without it, the thinking level is off.
    pub reasoning: bool,
}

/// A skill offered to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// The skill's name.
    pub name: Box<str>,
    /// What the skill is for.
    pub description: Box<str>,
    /// Path of the skill's text.
    pub file_path: Box<str>,
    /// The folder to which the skill's own paths are relative.
    pub base_dir: Box<str>,
    /// Where the skill was found.
    pub source: SkillSource,
    /// Whether the model may not call the skill by its own decision.
    pub disable_model_invocation: bool,
    /// A shorter description for lambda prompts.
    pub lambda_description: Option<Box<str>>,
}

impl Skill {
    /// Returns the length of the skill's longest text.
    fn longest(&self) -> usize {
        self.texts().max().unwrap_or(0)
    }

    /// Returns the length of all its texts.
    fn bytes(&self) -> usize {
        self.texts().sum()
    }

    fn texts(&self) -> impl Iterator<Item = usize> {
        let texts = [&self.name, &self.description, &self.file_path, &self.base_dir];
        texts.into_iter().chain(&self.lambda_description).map(|text| text.len())
    }
}

/// Which parts the assembled prompt has; a `None` field selects all there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptSelection {
    /// Whether AGENTS.md files are included.
    pub agents_md: Option<bool>,
    /// Contributions of extensions, by name.
    pub extension_prompt_contributions: Option<Vec<Box<str>>>,
    /// Tools, by name.
    pub tool_names: Option<Vec<Box<str>>>,
    /// Skills, by name.
    pub skill_names: Option<Vec<Box<str>>>,
    /// Parts of the prompt.
    pub components: Option<BTreeSet<PromptComponent>>,
}

/// The configuration requested for a session. `None` means that nothing was requested, so an
/// inherited value stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionConfig {
    /// A name for people.
    pub session_name: Option<Box<str>>,
    /// The base of the system prompt.
    pub system_prompt: Option<Box<str>>,
    /// The model.
    pub model: Option<Model>,
    /// How hard the model thinks.
    pub thinking_level: Option<ThinkingLevel>,
    /// Skills, replacing inherited ones.
    pub skills: Option<Vec<Skill>>,
    /// Tools by name, replacing inherited ones.
    pub tool_ids: Option<Vec<Box<str>>>,
    /// The developer prompt.
    pub developer_prompt: Option<Box<str>>,
    /// Where the developer prompt came from.
    pub developer_prompt_source: Option<PromptSource>,
    /// Messages that are in the transcript before the first prompt, in this order. Never inherited.
    pub preloaded_messages: Option<Vec<Message>>,
    /// Cache breakpoints, replacing inherited ones.
    pub cache_breakpoints: Option<BTreeSet<CacheBreakpoint>>,
    /// Which parts the assembled prompt has, replacing an inherited selection.
    pub prompt_component_selection: Option<PromptSelection>,
    /// The agent's conversation behind the session. A fresh session inherits the agent, not the conversation.
    pub address: Option<Address>,
    /// The zone in which the session's calls mean times that name none. No key of psi's: the caller that opens the session gives
    /// it apart from the configuration.
    pub zone: Option<Zone>,
}

impl SessionConfig {
    /// Returns the first bound that this configuration exceeds: of a text, of a list, or of the
    /// preloaded messages.
    pub fn exceeds(&self) -> Option<Limit> {
        let names =
            |list: &Option<Vec<Box<str>>>| list.iter().flatten().map(|name| name.len()).collect::<Vec<_>>();
        let selection = self.prompt_component_selection.as_ref();
        let lists: [Vec<usize>; 5] = [
            names(&self.tool_ids),
            self.skills.iter().flatten().map(Skill::longest).collect(),
            selection.map_or_else(Vec::new, |selection| names(&selection.extension_prompt_contributions)),
            selection.map_or_else(Vec::new, |selection| names(&selection.tool_names)),
            selection.map_or_else(Vec::new, |selection| names(&selection.skill_names)),
        ];
        let messages = self.preloaded_messages.iter().flatten();
        let texts = [&self.session_name, &self.system_prompt, &self.developer_prompt];
        let texts = texts.into_iter().flatten().map(|text| text.len());
        let model = self.model.as_ref().map(|model| model.provider.len() + model.id.len());
        let longest = messages.clone().map(|message| message.text().len()).chain(texts).chain(model);
        let longest = longest.chain(lists.iter().flatten().copied()).max().unwrap_or(0);
        let most = lists.iter().map(Vec::len).max().unwrap_or(0);
        // Only the first excess is reported: the caller mends one thing at a time.
        let bounds = [
            (limits::TEXT_BYTES, longest),
            (limits::CONFIG_ITEMS, most),
            (limits::PRELOADED_MESSAGES, messages.count()),
        ];
        bounds.into_iter().find(|(limit, found)| *found as u64 > limit.value).map(|(limit, _)| limit)
    }

    /// Returns the size of its texts, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let names =
            |list: &Option<Vec<Box<str>>>| list.iter().flatten().map(|name| name.len()).sum::<usize>();
        let texts = [&self.session_name, &self.system_prompt, &self.developer_prompt];
        let texts = texts.into_iter().flatten().map(|text| text.len()).sum::<usize>();
        let selection = self.prompt_component_selection.as_ref().map_or(0, |selection| {
            names(&selection.extension_prompt_contributions)
                + names(&selection.tool_names)
                + names(&selection.skill_names)
        });
        let skills = self.skills.iter().flatten().map(Skill::bytes).sum::<usize>();
        let messages = self.preloaded_messages.iter().flatten().map(Message::bytes).sum::<usize>();
        let address = self.address.as_ref().map_or(0, Address::bytes);
        texts + names(&self.tool_ids) + selection + skills + messages + address
    }

    /// Returns this configuration laid over the origin's: a field that is `None` here takes the
    /// origin's value.
    ///
    /// The name and the preloaded messages belong to one session and are not inherited. A thinking
    /// level above `off` needs a model that can think, and the model that counts is the one that
    /// the fresh session will have.
    #[must_use]
    pub fn over(&self, origin: &SessionConfig) -> SessionConfig {
        fn pick<T: Clone>(own: &Option<T>, inherited: &Option<T>) -> Option<T> {
            own.as_ref().or(inherited.as_ref()).cloned()
        }
        let model = pick(&self.model, &origin.model);
        let thinking_level = pick(&self.thinking_level, &origin.thinking_level);
        // Without a model in either configuration the level stays: the host knows its default
        // model, the engine does not.
        let can_think = model.as_ref().is_none_or(|model| model.reasoning);
        // A prompt and its source belong together: a new prompt never keeps the source of the old
        // one.
        let developer = self.developer_prompt.is_some() || self.developer_prompt_source.is_some();
        let developer = if developer { self } else { origin };
        SessionConfig {
            // Name and preloaded messages belong to one session and are not inherited.
            session_name: self.session_name.clone(),
            system_prompt: pick(&self.system_prompt, &origin.system_prompt),
            // As in psi, a model that does not reason switches thinking off.
            thinking_level: if can_think {
                thinking_level
            } else {
                thinking_level.map(|_| ThinkingLevel::Off)
            },
            model,
            skills: pick(&self.skills, &origin.skills),
            tool_ids: pick(&self.tool_ids, &origin.tool_ids),
            developer_prompt: developer.developer_prompt.clone(),
            developer_prompt_source: developer.developer_prompt_source,
            preloaded_messages: self.preloaded_messages.clone(),
            cache_breakpoints: pick(&self.cache_breakpoints, &origin.cache_breakpoints),
            prompt_component_selection: pick(
                &self.prompt_component_selection,
                &origin.prompt_component_selection,
            ),
            // Two sessions in one conversation would be turns of each other.
            address: self.address.clone().or_else(|| origin.address.as_ref().map(Address::beside)),
            zone: pick(&self.zone, &origin.zone),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(reasoning: bool) -> Option<Model> {
        Some(Model { provider: "p".into(), id: "m".into(), reasoning })
    }

    #[test]
    fn silence_inherits() {
        let origin = SessionConfig {
            session_name: Some("origin".into()),
            system_prompt: Some("base".into()),
            model: model(true),
            thinking_level: Some(ThinkingLevel::Low),
            prompt_component_selection: Some(PromptSelection {
                agents_md: Some(false),
                ..Default::default()
            }),
            ..SessionConfig::default()
        };
        let fresh = SessionConfig::default().over(&origin);
        assert_eq!(fresh.session_name, None);
        assert_eq!(fresh.prompt_component_selection, origin.prompt_component_selection);
        assert_eq!(fresh.thinking_level, Some(ThinkingLevel::Low));
        let high = SessionConfig { thinking_level: Some(ThinkingLevel::High), ..SessionConfig::default() };
        assert_eq!(high.over(&origin).thinking_level, Some(ThinkingLevel::High));
    }

    #[test]
    fn thinking_is_judged_against_the_new_model() {
        let origin = SessionConfig { model: model(false), ..SessionConfig::default() };
        let level = Some(ThinkingLevel::High);
        let thinker = SessionConfig { model: model(true), thinking_level: level, ..SessionConfig::default() };
        assert_eq!(thinker.over(&origin).thinking_level, level);
        let same_model = SessionConfig { thinking_level: level, ..SessionConfig::default() };
        assert_eq!(same_model.over(&origin).thinking_level, Some(ThinkingLevel::Off));
    }
}
