//! Parses a configuration, from a map or from a string of EDN.
//!
//! Invariant: nothing is dropped. An unknown key or an invalid value is an error that names it.

use super::error::ConfigError;
use super::text::{text, texts};
use super::{model, preloaded, selection, skill};
use crate::dialect::args::{Arg, ArgError, Choices, Keys, Style};
use crate::dialect::{Notation, REQUEST_CAPS};
use crate::domain::{CacheBreakpoint, PromptSource, SessionConfig, ThinkingLevel};
use crate::edn::{self, ReadErrorKind, Value};
use crate::limits;

/// Parses a configuration. Nil and a string without a form give the default.
///
/// # Errors
/// [`ConfigError`] for the first fault.
pub fn parse(value: &Value, notation: Notation) -> Result<SessionConfig, ConfigError> {
    Ok(parse_given(value, notation)?.unwrap_or_default())
}

/// Parses a configuration if one is given. Nil and a string without a form give `None`.
///
/// # Errors
/// [`ConfigError`] for the first fault.
pub(crate) fn parse_given(value: &Value, notation: Notation) -> Result<Option<SessionConfig>, ConfigError> {
    if value.is_nil() {
        return Ok(None);
    }
    let Some(text) = value.as_str() else {
        return parse_map(value, notation).map(Some);
    };
    // Like psi, this reads the first form of the string and ignores the rest.
    match edn::read_first(text.as_bytes(), &REQUEST_CAPS) {
        Ok(Value::Nil) => Ok(None),
        // Inside the string the notation is EDN, even if the call is JSON.
        Ok(value) => parse_map(&value, Notation::Edn).map(Some),
        // A blank string, or one of comments only.
        Err(error) if error.kind() == ReadErrorKind::Empty => Ok(None),
        Err(error) => Err(ConfigError::unreadable(&error)),
    }
}

fn parse_map(value: &Value, notation: Notation) -> Result<SessionConfig, ConfigError> {
    if value.as_map().is_none() {
        return Err(ConfigError::not_a_map(value));
    }
    // Unlike the arguments around it, a configuration in EDN has keyword keys only.
    // psi refuses every JSON object here, because its keys arrive as strings. That is an accident, so JSON is accepted.
    let style = Style { notation, keys: Keys::Notated, choices: Choices::Exact, short_times: false };
    config(Arg::new(value, style)).map_err(ConfigError::new)
}

fn config(arg: Arg<'_>) -> Result<SessionConfig, ArgError> {
    let args = arg.map(&KEYS)?;
    Ok(SessionConfig {
        session_name: args.opt("session-name", text)?,
        system_prompt: args.opt("system-prompt", text)?,
        model: args.opt("model", model::model)?,
        thinking_level: args.one_of("thinking-level", ThinkingLevel::NAMES, ThinkingLevel::ALL)?,
        skills: args.opt("skills", |arg| arg.items(limits::CONFIG_ITEMS, skill::skill))?,
        tool_ids: args.opt("tool-ids", texts)?,
        developer_prompt: args.opt("developer-prompt", text)?,
        developer_prompt_source: args.one_of(
            "developer-prompt-source",
            PromptSource::NAMES,
            PromptSource::ALL,
        )?,
        preloaded_messages: args
            .opt("preloaded-messages", |arg| arg.items(limits::PRELOADED_MESSAGES, preloaded::message))?,
        cache_breakpoints: args.opt("cache-breakpoints", |arg| {
            arg.set(limits::CONFIG_ITEMS, |item| item.one_of(CacheBreakpoint::NAMES, CacheBreakpoint::ALL))
        })?,
        prompt_component_selection: args.opt("prompt-component-selection", selection::selection)?,
        // psi has none, and a schedule must not choose whose conversation its session is.
        address: None,
        zone: None,
    })
}

/// The keys of a configuration. Source: SEED-002.
const KEYS: [&str; 11] = [
    "session-name",
    "system-prompt",
    "model",
    "thinking-level",
    "skills",
    "tool-ids",
    "developer-prompt",
    "developer-prompt-source",
    "preloaded-messages",
    "cache-breakpoints",
    "prompt-component-selection",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::psi::testing::{
        check_config as check, check_config_error as check_error, check_config_refused as check_refused, read,
    };
    use crate::domain::Skill;
    use crate::graph::config_params::CONFIG;
    use crate::graph::psi_terms::config_summary as summary;
    use crate::graph::registry::Record;

    /// A value of every kind, as it arrives in JSON.
    const JSON: &str = r#"{"session-name" "n" "model" {"provider" "p" "id" "m"} "thinking-level" "high"
        "skills" [{"name" "s" "description" "d" "source" "user"}] "tool-ids" ["t"] "cache-breakpoints" ["system"]
        "preloaded-messages" [{"role" "user" "content" [{"type" "text" "text" "hi"}] "timestamp" "2026-04-22T12:59:00Z"}]
        "prompt-component-selection" {"agents-md?" true "components" ["skills"]} "system-prompt" nil}"#;

    #[test]
    fn lists_are_bounded() {
        check(r#":tool-ids ["read" "bash"]"#, r#":tool-ids ["read" "bash"]"#);
        check_refused(":tool-ids [:read]", "tool-ids[0] must be a string", ":field :tool-ids :value :read");
        let data = r#":field :tool-ids :limit "config-items" :max 1024"#;
        check_refused(&format!(":tool-ids [{}]", "\"a\" ".repeat(1_025)), "tool-ids is too long", data);
        let data = r#":field :preloaded-messages :limit "preloaded-messages" :max 256"#;
        check_refused(&format!(":preloaded-messages [{}]", "5 ".repeat(257)), "too long", data);
        let data = r#":field :cache-breakpoints :limit "config-items" :max 1024"#;
        check_refused(&format!(":cache-breakpoints [{}]", ":tools ".repeat(1_025)), "too long", data);
    }

    #[test]
    fn unsupported_keys_are_sorted_by_text() {
        let keys = r#"["model" (1 2) 5 :tool-defs nil x]"#;
        let config = r#"{x 0 nil 0 :tool-defs [] "model" {} (1 2) 0 5 0 :model nil}"#;
        let data = format!(":field :session-config :unsupported-keys {keys}");
        check_error(config, Notation::Edn, "unsupported keys: \"model\" (1 2) 5 :tool-defs nil x;", &data);
        let many: String = (0..12).map(|number| format!(":k{number} 0 ")).collect();
        let error = parse(&read(&format!("{{{many}}}")), Notation::Edn).unwrap_err();
        assert!(error.to_string().contains(":k4 :k5 and 4 more; supported"), "{error}");
    }

    #[test]
    fn texts_are_strings() {
        for key in ["session-name", "system-prompt", "developer-prompt"] {
            check(&format!(":{key} \"\""), &format!(":{key} \"\""));
            check(&format!(":{key} nil"), "");
            check_refused(
                &format!(":{key} 5"),
                &format!("{key} must be a string, not 5"),
                &format!(":field :{key} :value 5"),
            );
        }
        let long = "a".repeat(65_537);
        let data = r#":field :system-prompt :limit "text-bytes" :max 65536"#;
        check_refused(&format!(":system-prompt \"{long}\""), "system-prompt is too long", data);
    }

    #[test]
    fn names_come_from_closed_lists() {
        for level in ThinkingLevel::ALL {
            let name = level.name();
            check(&format!(":thinking-level :{name}"), &format!(":thinking-level :{name}"));
            check(&format!(":thinking-level \"{name}\""), &format!(":thinking-level :{name}"));
        }
        check(":developer-prompt-source \"env\"", ":developer-prompt-source :env");
        check(":developer-prompt-source :explicit", ":developer-prompt-source :explicit");
        for wrong in [":High", ":psi/high", "3", "true", "high"] {
            let data = format!(":field :thinking-level :value {wrong}");
            let words = "thinking-level must be one of :off :minimal :low :medium :high :xhigh, not";
            check_refused(&format!(":thinking-level {wrong}"), words, &data);
        }
        let data = ":field :developer-prompt-source :value :user";
        check_refused(":developer-prompt-source :user", "one of :env :explicit", data);
    }

    #[test]
    fn sets_are_sets_or_vectors() {
        check(":cache-breakpoints #{:system}", ":cache-breakpoints #{:system}");
        check(r#":cache-breakpoints ["tools" :system :tools]"#, ":cache-breakpoints #{:system :tools}");
        check(":cache-breakpoints []", ":cache-breakpoints #{}");
        check_refused(
            ":cache-breakpoints :system",
            "must be a set or a vector",
            ":field :cache-breakpoints :value :system",
        );
        let data = ":field :cache-breakpoints :value :user";
        check_refused(":cache-breakpoints [:tools :user]", "cache-breakpoints[1] must be one of", data);
    }

    #[test]
    fn nothing_is_an_empty_configuration() {
        for nothing in ["nil", "{}", r#""""#, r#"" ; none""#, r#""nil""#, r#""{}""#] {
            assert_eq!(parse(&read(nothing), Notation::Edn), Ok(SessionConfig::default()), "{nothing}");
        }
        assert_eq!(parse_given(&Value::Nil, Notation::Json), Ok(None));
        assert_eq!(parse_given(&read("{}"), Notation::Json), Ok(Some(SessionConfig::default())));
    }

    #[test]
    fn json_keys_are_strings() {
        let edn = r#"{:session-name "n" :model {:provider "p" :id "m"} :thinking-level :high
            :skills [{:name "s" :description "d" :source :user}] :tool-ids ["t"] :cache-breakpoints #{:system}
            :preloaded-messages [{:role :user :content "hi" :timestamp #inst "2026-04-22T12:59:00Z"}]
            :prompt-component-selection {:agents-md? true :components #{:skills}}}"#;
        let config = parse(&read(edn), Notation::Edn).unwrap();
        assert_eq!(parse(&read(JSON), Notation::Json), Ok(config.clone()));
        // Even in JSON, a configuration may be a string of EDN; its keys are keywords.
        assert_eq!(parse(&Value::string(edn), Notation::Json), Ok(config));
        let error = parse(&Value::string(JSON), Notation::Json).unwrap_err();
        assert!(error.to_string().contains("unsupported keys: \"cache-breakpoints\""), "{error}");
        let twice = r#"{:session-name "a" "session-name" "b"}"#;
        check_error(twice, Notation::Json, "session-name is given twice", ":field :session-name");
        let data = ":field :model :value nil";
        check_error(r#"{"model" {"id" "m"}}"#, Notation::Json, "model.provider must be", data);
    }

    /// Schemas are made of the declaration, so it has exactly the keys that are read.
    #[test]
    fn the_declared_keys_are_those_that_are_read() {
        let names = |record: &Record| record.params.iter().map(|param| param.name).collect::<Vec<_>>();
        assert_eq!(names(&CONFIG), KEYS);
        for (key, read) in [
            ("model", &model::KEYS[..]),
            ("skills", &skill::KEYS),
            ("preloaded-messages", &preloaded::KEYS),
            ("prompt-component-selection", &selection::KEYS),
        ] {
            let declared = CONFIG.params.iter().find(|param| param.name == key);
            assert_eq!(
                declared.and_then(|param| param.kind.record()).map(names).as_deref(),
                Some(read),
                "{key}"
            );
        }
    }

    #[test]
    fn a_summary_counts() {
        let config = parse(&read(JSON), Notation::Json).unwrap();
        let twin = Skill { name: "s".into(), ..config.skills.as_ref().unwrap()[0].clone() };
        let skills = Some(vec![twin.clone(), twin]);
        assert_eq!(
            summary(&SessionConfig { skills, ..config }).to_string(),
            "{:session-name \"n\" :model {:provider \"p\" :id \"m\" :reasoning false} :thinking-level :high \
             :skill-count 1 :tool-count 1 :has-system-prompt? false :has-developer-prompt? false \
             :has-prompt-component-selection? true :preloaded-message-count 1}"
        );
    }
}
