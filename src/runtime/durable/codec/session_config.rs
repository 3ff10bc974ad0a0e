//! The codec of a session's configuration.
//!
//! The format resembles the argument of psi's tool, and is independent of it: that tool decides what callers may
//! send, while everything that was ever stored has to stay readable. Invariant: unknown keys are ignored, lengths are
//! not bounded, and names and lists may be written in any way that this format ever allowed.

use super::FactError;
use super::attachment::file;
use super::form::Form;
use super::parts::{flag, flag_or, instant, map, maybe, own_text, part, text, wrong};
use super::printed::{Printed, Word};
use crate::dialect::REQUEST_CAPS;
use crate::domain::{
    Address, AgentName, CacheBreakpoint, Content, Message, Model, Moment, PromptComponent, PromptSelection,
    PromptSource, Role, SessionConfig, Skill, SkillSource, ThinkingLevel, Zone,
};
use crate::edn::{self, Inst, ReadErrorKind, Value};

/// Prints a configuration; only the fields that are set.
pub(super) fn print(config: &SessionConfig) -> Printed {
    let skills = |skills: &[Skill]| skills.iter().map(of_skill).collect::<Vec<Printed>>();
    let messages = |messages: &[Message]| messages.iter().map(of_message).collect::<Vec<Printed>>();
    let breakpoints = config.cache_breakpoints.as_ref();
    Printed::new()
        .with("session-name", config.session_name.as_deref())
        .with("system-prompt", config.system_prompt.as_deref())
        .with("model", config.model.as_ref().map(of_model))
        .with("thinking-level", config.thinking_level.map(|level| Word(level.name())))
        .with("skills", config.skills.as_deref().map(skills))
        .with("tool-ids", config.tool_ids.as_deref().map(of_texts))
        .with("developer-prompt", config.developer_prompt.as_deref())
        .with("developer-prompt-source", config.developer_prompt_source.map(|source| Word(source.name())))
        .with("preloaded-messages", config.preloaded_messages.as_deref().map(messages))
        .with("cache-breakpoints", breakpoints.map(|it| of_names(it.iter().map(|place| place.name()))))
        .with("prompt-component-selection", config.prompt_component_selection.as_ref().map(of_selection))
        .with("address", config.address.as_ref().map(of_address))
        .with("zone", config.zone.as_ref().map(Zone::to_string).as_deref())
}

/// Parses the configuration under `:config`; a missing one is empty.
pub(super) fn parse(form: &Form<'_>) -> Result<SessionConfig, FactError> {
    let found = part(form, "config");
    if let Some(text) = found.as_str() {
        // The configuration may also be EDN text within a string: this format allowed that once.
        return match edn::read_first(text.as_bytes(), &REQUEST_CAPS) {
            Ok(value) => config(&Form::of(&value)),
            Err(error) if error.kind() == ReadErrorKind::Empty => Ok(SessionConfig::default()),
            Err(_) => Err(wrong("config", "a session's configuration", found)),
        };
    }
    config(found)
}

fn config(form: &Form<'_>) -> Result<SessionConfig, FactError> {
    if !form.is_map() && !form.is_nil() {
        return Err(wrong("config", "a session's configuration", form));
    }
    Ok(SessionConfig {
        session_name: own_text(form, "session-name")?,
        system_prompt: own_text(form, "system-prompt")?,
        model: maybe(form, "model", |form, key| model(map(form, key)?))?,
        thinking_level: maybe(form, "thinking-level", |form, key| name(form, key, ThinkingLevel::parse))?,
        skills: maybe(form, "skills", |form, key| each(form, key, skill))?,
        tool_ids: maybe(form, "tool-ids", texts)?,
        developer_prompt: own_text(form, "developer-prompt")?,
        developer_prompt_source: maybe(form, "developer-prompt-source", |form, key| {
            name(form, key, PromptSource::parse)
        })?,
        preloaded_messages: maybe(form, "preloaded-messages", |form, key| each(form, key, message))?,
        cache_breakpoints: maybe(form, "cache-breakpoints", |form, key| {
            names(form, key, CacheBreakpoint::parse)
        })?,
        prompt_component_selection: maybe(form, "prompt-component-selection", |form, key| {
            selection(map(form, key)?)
        })?,
        // Configurations from before there were addresses and zones of sessions have none.
        address: maybe(form, "address", |form, key| address(map(form, key)?))?,
        zone: maybe(form, "zone", zone)?,
    })
}

fn zone(form: &Form<'_>, key: &'static str) -> Result<Zone, FactError> {
    Zone::parse(text(form, key)?).map_err(|_| wrong(key, "a time zone", part(form, key)))
}

pub(super) fn of_address(address: &Address) -> Printed {
    Printed::new()
        .with("of", &*address.to_string())
        .with("directory", address.directory())
        .with("profile", address.profile().map(AgentName::as_str))
        .with("ours?", address.is_begun_by_us().then_some(true))
}

pub(super) fn address(form: &Form<'_>) -> Result<Address, FactError> {
    let (directory, profile) = (own_text(form, "directory")?, own_text(form, "profile")?);
    let read = Address::from_parts(Some(text(form, "of")?), directory.as_deref(), profile.as_deref());
    let address = read.ok().flatten();
    let address = address.ok_or_else(|| wrong("address", "an agent and its conversation", form))?;
    Ok(if flag_or(false, form, "ours?")? { address.begun_by_us() } else { address })
}

fn of_model(model: &Model) -> Printed {
    Printed::new()
        .with("provider", &*model.provider)
        .with("id", &*model.id)
        .with("reasoning", model.reasoning)
}

fn model(form: &Form<'_>) -> Result<Model, FactError> {
    Ok(Model {
        provider: text(form, "provider")?.into(),
        id: text(form, "id")?.into(),
        reasoning: flag_or(false, form, "reasoning")?,
    })
}

fn of_skill(skill: &Skill) -> Printed {
    Printed::new()
        .with("name", &*skill.name)
        .with("description", &*skill.description)
        .with("file-path", &*skill.file_path)
        .with("base-dir", &*skill.base_dir)
        .with("source", Word(skill.source.name()))
        .with("disable-model-invocation", skill.disable_model_invocation)
        .with("lambda-description", skill.lambda_description.as_deref())
}

fn skill(form: &Form<'_>) -> Result<Skill, FactError> {
    let source = maybe(form, "source", |form, key| name(form, key, SkillSource::parse))?;
    Ok(Skill {
        name: text(form, "name")?.into(),
        description: text(form, "description")?.into(),
        file_path: own_text(form, "file-path")?.unwrap_or_default(),
        base_dir: own_text(form, "base-dir")?.unwrap_or_default(),
        source: source.unwrap_or(SkillSource::Path),
        disable_model_invocation: flag_or(false, form, "disable-model-invocation")?,
        lambda_description: own_text(form, "lambda-description")?,
    })
}

fn of_selection(selection: &PromptSelection) -> Printed {
    let components = selection.components.as_ref();
    Printed::new()
        .with("agents-md?", selection.agents_md)
        .with(
            "extension-prompt-contributions",
            selection.extension_prompt_contributions.as_deref().map(of_texts),
        )
        .with("tool-names", selection.tool_names.as_deref().map(of_texts))
        .with("skill-names", selection.skill_names.as_deref().map(of_texts))
        .with("components", components.map(|it| of_names(it.iter().map(|component| component.name()))))
}

fn selection(form: &Form<'_>) -> Result<PromptSelection, FactError> {
    Ok(PromptSelection {
        agents_md: maybe(form, "agents-md?", flag)?,
        extension_prompt_contributions: maybe(form, "extension-prompt-contributions", texts)?,
        tool_names: maybe(form, "tool-names", texts)?,
        skill_names: maybe(form, "skill-names", texts)?,
        components: maybe(form, "components", |form, key| names(form, key, PromptComponent::parse))?,
    })
}

/// A message of a configuration has no provenance: no schedule delivered it.
fn of_message(message: &Message) -> Printed {
    let content = message.content.iter().map(|piece| match piece {
        Content::Text(text) => Printed::new().with("type", Word("text")).with("text", &**text),
        Content::File(file) => Printed::new()
            .with("type", Word("file"))
            .with("path", &*file.path)
            .with("name", file.name.as_deref()),
    });
    // `#inst` ends with the year 9999; a later instant is a string.
    let inst = |moment: Moment| {
        let inst = Inst::new(moment.seconds(), moment.nanos());
        inst.map_or_else(|| Value::string(moment.to_string()), Value::Inst)
    };
    Printed::new()
        // A string, unlike other names, because psi's messages have one there.
        .with("role", message.role.name())
        .with("content", content.collect::<Vec<Printed>>())
        .with("timestamp", message.timestamp.map_or(Value::Nil, inst))
}

fn message(form: &Form<'_>) -> Result<Message, FactError> {
    let content = match part(form, "content").as_str() {
        Some(text) => vec![Content::Text(text.into())],
        None => each(form, "content", piece)?,
    };
    Ok(Message {
        role: name(form, "role", Role::parse)?,
        content,
        timestamp: maybe(form, "timestamp", moment)?,
        provenance: None,
    })
}

fn piece(form: &Form<'_>) -> Result<Content, FactError> {
    match part(form, "type").as_keyword() {
        Some("file") => file(form).map(Content::File),
        Some(_) | None => text(form, "text").map(|text| Content::Text(text.into())),
    }
}

fn moment(form: &Form<'_>, key: &'static str) -> Result<Moment, FactError> {
    let inst = if let Form::Other(value) = part(form, key) { value.as_inst() } else { None };
    let moment = inst.and_then(|inst| Moment::new(inst.seconds(), inst.nanos()));
    moment.map_or_else(|| instant(form, key), Ok)
}

fn of_texts(texts: &[Box<str>]) -> Vec<&str> {
    texts.iter().map(|text| &**text).collect()
}

fn texts(form: &Form<'_>, key: &'static str) -> Result<Vec<Box<str>>, FactError> {
    each(form, key, |item| {
        item.as_str().map(Into::into).ok_or_else(|| wrong(key, "a vector of strings", item))
    })
}

fn of_names(names: impl Iterator<Item = &'static str>) -> Value {
    Value::set(names.map(Value::keyword))
}

fn names<C: FromIterator<T>, T>(
    form: &Form<'_>,
    key: &'static str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<C, FactError> {
    let item = |item: &Form<'_>| name_of(item, &parse).ok_or_else(|| wrong(key, "names", item));
    each(form, key, item).map(|names| names.into_iter().collect())
}

fn name<T>(form: &Form<'_>, key: &'static str, parse: impl Fn(&str) -> Option<T>) -> Result<T, FactError> {
    let found = part(form, key);
    name_of(found, parse).ok_or_else(|| wrong(key, "one of a closed list of names", found))
}

/// A name is a keyword or a string.
fn name_of<T>(form: &Form<'_>, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    form.as_keyword().or_else(|| form.as_str()).and_then(parse)
}

/// Reads each item of a vector, a list or a set.
fn each<T>(
    form: &Form<'_>,
    key: &'static str,
    read: impl Fn(&Form<'_>) -> Result<T, FactError>,
) -> Result<Vec<T>, FactError> {
    let found = part(form, key);
    if let Some(items) = found.as_items() {
        return items.iter().map(read).collect();
    }
    // Lists and sets are no forms of their own.
    let other = if let Form::Other(value) = found { Some(*value) } else { None };
    let read = |value: &Value| read(&Form::of(value));
    match other.map(|value| (value.as_items(), value.as_set())) {
        Some((Some(items), _)) => items.iter().map(read).collect(),
        Some((None, Some(set))) => set.iter().map(read).collect(),
        Some((None, None)) | None => Err(wrong(key, "a vector", found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{Notation, psi};

    const FULL: &str = r##"{:session-name "n\n\"q\"" :system-prompt "" :model {:provider "p" :id "m" :reasoning true}
        :thinking-level :high
        :skills [{:name "s" :description "d" :file-path "f" :base-dir "b" :source :user
                  :disable-model-invocation true :lambda-description "l"}]
        :tool-ids ["read" "bash"] :developer-prompt "dev" :developer-prompt-source :env
        :preloaded-messages [{:role "user" :content [{:type :text :text "hi"}]
                              :timestamp #inst "2026-04-22T12:59:00.000-00:00"}
                             {:role "tool" :content [] :timestamp nil}]
        :cache-breakpoints #{:system :tools}
        :prompt-component-selection {:agents-md? false :extension-prompt-contributions [] :tool-names ["t"]
                                     :skill-names ["s"] :components #{:preamble :context-files :skills}}}"##;

    fn value(text: &str) -> Value {
        edn::read(text.as_bytes(), &REQUEST_CAPS).expect("EDN")
    }

    fn stored(config: &Value) -> Result<SessionConfig, FactError> {
        let entry = Value::from(edn::Map::new().with("config", config.clone()));
        parse(&Form::of(&entry))
    }

    #[test]
    fn what_is_printed_is_read_back_and_looks_as_it_always_did() {
        let full = value(FULL);
        let config = psi::session_config::parse(&full, Notation::Edn).expect("a configuration");
        let text = print(&config).into_text();
        assert_eq!(text, full.to_string());
        assert_eq!(text, psi::session_config::print(&config).to_string());
        assert_eq!(stored(&value(&text)), Ok(config));
        assert_eq!(print(&SessionConfig::default()).into_text(), "{}");
    }

    #[test]
    fn a_zone_is_read_back() {
        let config = SessionConfig { zone: Zone::parse("Europe/Berlin").ok(), ..SessionConfig::default() };
        let text = print(&config).into_text();
        assert_eq!(text, r#"{:zone "Europe/Berlin"}"#);
        assert_eq!(stored(&value(&text)), Ok(config));
        assert!(stored(&value("{:zone 5}")).is_err());
    }

    /// Sources: the forms that were readable when psi's own reader read what was stored.
    #[test]
    fn every_form_that_was_ever_readable_is_readable() {
        for text in [
            FULL,
            "nil",
            "{}",
            r#""""#,
            r#""{:session-name \"n\"}""#,
            "{:session-name nil :skills nil}",
            r#"{:thinking-level "low" :developer-prompt-source "env" :cache-breakpoints ["tools"]}"#,
            r#"{:tool-ids ("a" "b") :skills [{:name "s" :description "d" :source "user"}]}"#,
            r#"{:model {:provider "p" :id "m"} :prompt-component-selection {:components [:skills "preamble"]}}"#,
            r#"{:preloaded-messages [{:role :user :content "hi" :timestamp "2026-04-22T14:59:00+02:00"}
                                     {:role "tool" :content ({:type "text" :text "x"})}]}"#,
        ] {
            let value = value(text);
            let psis = psi::session_config::parse(&value, Notation::Edn).expect(text);
            assert_eq!(stored(&value), Ok(psis), "{text}");
        }
    }

    #[test]
    fn a_configuration_that_psi_refuses_today_still_loads() {
        let long = "a".repeat(70_000);
        for text in [
            r#"{:session-name "n" :retired-key 1}"#,
            r#"{:session-name "n" :model {:provider "p" :id "m" :retired-key 1}}"#,
            r#"{:session-name "n" :preloaded-messages
                [{:role "user" :content [{:type :file :path "p" :name nil}] :source :scheduled}]}"#,
            &format!(r#"{{:session-name "n" :system-prompt "{long}"}}"#),
        ] {
            let value = value(text);
            assert!(psi::session_config::parse(&value, Notation::Edn).is_err(), "{text}");
            let config = stored(&value).expect(text);
            assert_eq!(config.session_name.as_deref(), Some("n"));
        }
        assert!(stored(&Value::Int(1)).is_err());
    }
}
