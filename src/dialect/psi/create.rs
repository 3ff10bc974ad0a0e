//! Checks the arguments of `create` in psi's order, so that a call with two faults gets psi's error.
//!
//! The delay forms are in `delay.rs`, the configuration in `session_config`. The engine repeats its own checks when
//! it creates the schedule.

use std::sync::Arc;

use super::context::PsiContext;
use super::delay;
use super::error::{CONFIG_FORBIDDEN, CONFIG_REQUIRED, KINDS, NO_MESSAGE, PsiError, UNKNOWN_KIND};
use super::session_config;
use super::value::given;
use crate::dialect::Notation;
use crate::dialect::args::{Arg, Args};
use crate::domain::{Dialect, Durability, Payload, PayloadKind, Refusal, SessionConfig, SessionId};
use crate::edn::{Map, Value};
use crate::engine::NewSchedule;
use crate::limits;

pub(super) fn parse(
    args: &Args<'_>,
    notation: Notation,
    session: SessionId,
    context: &PsiContext,
) -> Result<NewSchedule, PsiError> {
    // The order of these checks is psi's.
    let message = message(args)?;
    let kind = kind(args.get("kind"))?;
    let config = args.get("session-config").map_or(&Value::Nil, Arg::value);
    // Parsed even where it is forbidden: a faulty configuration is reported first, as in psi.
    let config = session_config::parse_given(config, notation)?;
    let payload = payload(kind, message, config)?;
    // psi does not validate labels. Here a label has a type and a bound, like every stored text.
    let label = args.raw_text("label", limits::LABEL_BYTES)?.map(Into::into);
    let session_live_max = check_cap(context.live)?;
    let when = delay::parse(args, context.now.wall)?;
    Ok(NewSchedule {
        made_by: None,
        // The service draws it: `sch-` and a random UUID, like psi's ids.
        id: None,
        dialect: Dialect::Psi,
        // psi's schedules do not survive a restart.
        durability: Durability::Volatile,
        label,
        owner: session,
        when,
        payload,
        settings: None,
        session_live_max,
    })
}

/// Checks the message. psi accepts any type here; a prompt that is not a string would reach the model as text that
/// nobody wrote.
fn message(args: &Args<'_>) -> Result<Box<str>, PsiError> {
    let text = args.raw_text("message", limits::TEXT_BYTES)?;
    let text = text.filter(|text| !text.trim().is_empty());
    text.map(Into::into).ok_or_else(|| NO_MESSAGE.broken(Map::new()))
}

fn kind(arg: Option<Arg<'_>>) -> Result<PayloadKind, PsiError> {
    // A string or a keyword, and in lower case only, as in psi.
    let kind = arg.and_then(Arg::name).and_then(PayloadKind::parse).filter(|kind| KINDS.contains(kind));
    kind.ok_or_else(|| unknown_kind(given(arg)))
}

fn unknown_kind(given: Value) -> PsiError {
    let supported: Vec<Value> = KINDS.iter().map(|kind| Value::keyword(kind.name())).collect();
    UNKNOWN_KIND.broken(Map::new().with("kind", given).with("supported-kinds", supported))
}

fn payload(kind: PayloadKind, text: Box<str>, config: Option<SessionConfig>) -> Result<Payload, PsiError> {
    let of_kind = || Map::new().with("kind", Value::keyword(kind.name()));
    match (kind, config) {
        // `kind` has refused it before. This arm only keeps the match exhaustive.
        (PayloadKind::Notice | PayloadKind::Call, _) => Err(unknown_kind(kind.name().into())),
        (PayloadKind::Message, None) => Ok(Payload::Turn { text }),
        (PayloadKind::Message, Some(_)) => Err(CONFIG_FORBIDDEN.broken(of_kind())),
        (PayloadKind::Session, None) => Err(CONFIG_REQUIRED.broken(of_kind())),
        (PayloadKind::Session, Some(config)) => Ok(Payload::new_session(text, Arc::new(config))),
    }
}

/// Checks that one more schedule fits. Returns the maximum number of unfinished schedules per session.
fn check_cap(live: usize) -> Result<u32, PsiError> {
    let max = u32::try_from(limits::PSI_SESSION_SCHEDULES.value).unwrap_or(u32::MAX);
    if live as u64 >= u64::from(max) {
        return Err(PsiError::refused(&Refusal::SessionFull { max }));
    }
    Ok(max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::psi::testing::{ask, check_error, check_refused, now, read, session};
    use crate::dialect::psi::{Call, parse as parse_call};
    use crate::domain::{Span, ThinkingLevel, When};

    /// Builds the arguments of a call: `given`, plus all required arguments except `missing`.
    fn args(given: &str, missing: &[&str]) -> String {
        let defaults = [
            ("kind", r#":kind "message""#),
            ("message", r#":message "wake up""#),
            ("delay-ms", ":delay-ms 1000"),
        ];
        let rest: Vec<&str> = defaults
            .into_iter()
            .filter(|(name, _)| !missing.contains(name))
            .map(|(_, entry)| entry)
            .collect();
        format!(r#"{{:action "scheduler" :op "create" {given} {}}}"#, rest.join(" "))
    }

    #[track_caller]
    fn check(given: &str, missing: &[&str], words: &str, extra: &str) {
        let data = format!(r#"{{:phase :validate :action "scheduler" :op "create"{extra}}}"#);
        check_refused(&args(given, missing), words, ":validate", &data);
    }

    #[test]
    fn a_message_is_text() {
        for given in ["", ":message nil", r#":message """#, r#":message " \t\n""#] {
            check(given, &["message"], "message is required", "");
        }
        check(":message 42", &["message"], "message must be a string, not 42", " :field :message :value 42");
        check(":message false", &["message"], "must be a string", " :field :message :value false");
        let longest = "a".repeat(65_536);
        assert!(ask(&args(&format!(":message \"{longest}\""), &["message"])).is_ok());
        let extra = r#" :field :message :limit "text-bytes" :max 65536"#;
        check(&format!(":message \"{longest}a\""), &["message"], "message is too long", extra);
    }

    #[test]
    fn a_label_is_text_or_nothing() {
        check(":label 7", &[], "label must be a string, not 7", " :field :label :value 7");
        let extra = r#" :field :label :limit "label-bytes" :max 1024"#;
        check(&format!(":label \"{}\"", "é".repeat(513)), &[], "label is too long", extra);
        for (given, expected) in [(":label nil", None), (":label \"\"", Some("")), ("", None)] {
            let Ok(Call::Create(new)) = ask(&args(given, &[])) else { panic!("{given}") };
            assert_eq!(new.label.as_deref(), expected);
        }
    }

    #[test]
    fn a_kind_is_one_of_two() {
        for (given, shown) in [
            ("", "nil"),
            (":kind nil", "nil"),
            (r#":kind "Message""#, r#""Message""#),
            (":kind :job", ":job"),
        ] {
            let extra = format!(" :kind {shown} :supported-kinds [:message :session]");
            check(given, &["kind"], "kind is invalid", &extra);
        }
        assert!(ask(&args(":kind :message", &["kind"])).is_ok());
    }

    #[test]
    fn kind_and_configuration_agree() {
        check(":session-config {}", &[], "session-config is not allowed", " :kind :message");
        check(r#":session-config "{}""#, &[], "session-config is not allowed", " :kind :message");
        let session = |config: &str| format!(":kind \"session\" {config}");
        for config in ["", ":session-config nil", r#":session-config """#, r#":session-config " \n ; none""#]
        {
            check(&session(config), &["kind"], "session-config is required", " :kind :session");
            assert!(ask(&args(config, &[])).is_ok(), "{config}");
        }
        assert!(ask(&args(&session(":session-config {}"), &["kind"])).is_ok());
        assert!(ask(&args(&session(r#":session-config "{} ignored""#), &["kind"])).is_ok());
    }

    #[test]
    fn a_configuration_is_checked() {
        let field = " :field :session-config";
        check(":session-config 5", &[], "session-config must be a map", field);
        check(":session-config false", &[], "session-config must be a map", field);
        check(":session-config [[:a 1]]", &[], "not vector", field);
        check(r#":session-config "[1]""#, &[], "not vector", field);
        check(r#":session-config "{:a""#, &[], "not EDN", field);
        check(r#":session-config "{:a 1 :a 2}""#, &[], "not EDN", field);
        let extra = " :field :session-config :unsupported-keys [:tool-defs :workflow-run-id]";
        check(
            ":session-config {:workflow-run-id 1 :tool-defs []}",
            &[],
            "unsupported keys: :tool-defs :workflow-run-id; supported",
            extra,
        );
        let extra = r#" :field :session-config :unsupported-keys ["session-name" 1 :b a]"#;
        check(r#":session-config {a 0 1 0 :b 0 "session-name" "x"}"#, &[], "unsupported keys", extra);
        let extra = " :field :thinking-level :value :extreme";
        check(":session-config {:thinking-level :extreme}", &[], "one of :off :minimal", extra);
    }

    #[test]
    fn a_session_has_fifty_at_most() {
        let context = |live| PsiContext { session: Some(session()), live, now: now() };
        // The cap is checked before the delay forms.
        let args = read(&args("", &["delay-ms"]));
        let refused = parse_call(&args, Notation::Edn, &context(50)).unwrap_err();
        let data = r#"{:phase :validate :action "scheduler" :op "create" :cap 50}"#;
        check_error(&refused, "scheduler pending cap exceeded", ":validate", data);
        let refused = parse_call(&args, Notation::Edn, &context(49)).unwrap_err();
        assert!(refused.value.to_string().contains("neither delay-ms nor at"));
    }

    /// With several faults, the first one in psi's order is reported.
    #[test]
    fn faults_are_named_in_order() {
        for (given, words) in [
            (":message 42 :kind 1 :session-config 5 :label 7", "message must be"),
            (":message \"m\" :kind 1 :session-config 5 :label 7", "kind is invalid"),
            (":message \"m\" :kind :message :session-config 5 :label 7", "session-config must be"),
            (":message \"m\" :kind :message :session-config {} :label 7", "not allowed"),
            (":message \"m\" :kind :message :label 7", "label must be"),
            (":message \"m\" :kind :message", "neither delay-ms"),
        ] {
            let answer = ask(&args(given, &["message", "kind", "delay-ms"])).unwrap_err();
            assert!(answer.value.to_string().contains(words), "{given}: {}", answer.value);
        }
    }

    /// Source: SEED-002, the two examples.
    #[test]
    fn calls_become_schedules() {
        let Ok(Call::Create(new)) =
            ask(r#"{:action "scheduler" :op "create" :kind "message" :label "check-build" :delay-ms 600000
                :message "Check whether the build finished."}"#)
        else {
            panic!()
        };
        assert_eq!(
            new,
            NewSchedule {
                made_by: None,
                id: None,
                dialect: Dialect::Psi,
                durability: Durability::Volatile,
                label: Some("check-build".into()),
                owner: session(),
                when: When::After(Span::from_millis(600_000)),
                payload: Payload::Turn { text: "Check whether the build finished.".into() },
                settings: None,
                session_live_max: 50,
            }
        );
        let Ok(Call::Create(new)) = ask(
            r#"{:action "scheduler" :op "create" :kind "session" :label "morning-review" :at "2026-04-22T13:00:00Z"
                :message "Review the overnight changes and summarize risks."
                :session-config {:session-name "Morning review" :thinking-level :high :cache-breakpoints #{:system}
                                 :preloaded-messages [{:role "user"
                                   :content [{:type :text :text "Context: review the last merged PR first."}]
                                   :timestamp #inst "2026-04-22T12:59:00Z"}]}}"#,
        ) else {
            panic!()
        };
        let config = new.payload.config().unwrap();
        assert_eq!(config.thinking_level, Some(ThinkingLevel::High));
        assert_eq!(config.preloaded_messages.as_ref().map(Vec::len), Some(1));
    }

    #[test]
    fn json_asks_for_the_same() {
        let edn = r#"{:action "scheduler" :op "create" :kind "session" :message "m" :label "l" :delay-ms 1000
                      :session-config {:model {:provider "p" :id "m"} :cache-breakpoints #{:tools}}}"#;
        let json = r#"{"action" "scheduler" "op" "create" "kind" "session" "message" "m" "label" "l" "delay-ms" 1000
                       "at" nil
                       "session-config" {"model" {"provider" "p" "id" "m"} "cache-breakpoints" ["tools"]}}"#;
        let context = PsiContext { session: Some(session()), live: 0, now: now() };
        let call = parse_call(&read(json), Notation::Json, &context);
        assert_eq!(call, ask(edn));
        assert!(call.is_ok());
        // String keys name arguments in EDN too, but not the keys of a configuration.
        let refused = parse_call(&read(json), Notation::Edn, &context).unwrap_err();
        let data = r#"{:phase :validate :action "scheduler" :op "create" :field :session-config
                       :unsupported-keys ["cache-breakpoints" "model"]}"#;
        check_error(&refused, "unsupported keys", ":validate", &read(data).to_string());
    }
}
