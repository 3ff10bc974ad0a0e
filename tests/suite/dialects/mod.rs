//! The crate's own tools, and those of reminders and delayed actions, without an engine: what they declare is what their rules
//! know, and whatever stands in a field is understood or explained. What needs an engine is tested with one, in
//! `cron_engine` and `mcp`.

use std::collections::BTreeSet;

use reveille::dialect::{Answer, Notation, REQUEST_CAPS, native, reminder, session_action};
use reveille::domain::{Code, Kind, Moment};
use reveille::edn::{Value, read};
use reveille::limits;

fn now() -> Moment {
    Moment::parse("2026-06-01T00:00:00Z").expect("an instant")
}

fn edn(text: &str) -> Value {
    read(text.as_bytes(), &REQUEST_CAPS).expect("EDN")
}

/// Every tool of the three dialects, by its name, its declaration and its reader of arguments.
type Parse = fn(&Value) -> Result<(), Answer>;

const TOOLS: [(&str, &str, Parse); 11] = [
    ("reminderadd", reminder::Tool::Add.declaration(), |args| {
        reminder::parse(reminder::Tool::Add, args, Notation::Edn).map(|_| ())
    }),
    ("reminderlist", reminder::Tool::List.declaration(), |args| {
        reminder::parse(reminder::Tool::List, args, Notation::Edn).map(|_| ())
    }),
    ("reminderremove", reminder::Tool::Remove.declaration(), |args| {
        reminder::parse(reminder::Tool::Remove, args, Notation::Edn).map(|_| ())
    }),
    ("schedule_session_action", session_action::Tool::Schedule.declaration(), |args| {
        session_action::parse(session_action::Tool::Schedule, args, Notation::Edn, now()).map(|_| ())
    }),
    ("report_job_ready", session_action::Tool::ReportReady.declaration(), |args| {
        session_action::parse(session_action::Tool::ReportReady, args, Notation::Edn, now()).map(|_| ())
    }),
    ("create", native::Tool::Create.declaration(), |args| {
        native::parse(native::Tool::Create, args, Notation::Edn).map(|_| ())
    }),
    ("list", native::Tool::List.declaration(), |args| {
        native::parse(native::Tool::List, args, Notation::Edn).map(|_| ())
    }),
    ("cancel", native::Tool::Cancel.declaration(), |args| {
        native::parse(native::Tool::Cancel, args, Notation::Edn).map(|_| ())
    }),
    ("update", native::Tool::Update.declaration(), |args| {
        native::parse(native::Tool::Update, args, Notation::Edn).map(|_| ())
    }),
    ("explain", native::Tool::Explain.declaration(), |args| {
        native::parse(native::Tool::Explain, args, Notation::Edn).map(|_| ())
    }),
    ("query", native::Tool::Query.declaration(), |args| {
        native::parse(native::Tool::Query, args, Notation::Edn).map(|_| ())
    }),
];

fn part(value: &Value, path: &str) -> Value {
    let step = |value: Value, key: &str| value.as_map().and_then(|map| map.keyword(key)).cloned();
    path.split(' ').try_fold(value.clone(), step).unwrap_or(Value::Nil)
}

fn keys(value: &Value) -> Vec<String> {
    let keys = value.as_map().expect("a map").keys();
    keys.map(|key| key.as_keyword().expect("a keyword").as_str().to_owned()).collect()
}

#[test]
fn the_schemas_have_the_fields_that_the_rules_know() {
    for (name, declaration, parse) in TOOLS {
        let declaration = edn(declaration);
        assert!(!part(&declaration, "description").as_str().unwrap_or_default().is_empty(), "{name}");
        assert_eq!(part(&declaration, "input-schema additionalProperties"), Value::Bool(false), "{name}");
        let properties = keys(&part(&declaration, "input-schema properties"));
        let said = parse(&edn("{:no_such_field 1}")).expect_err("unknown").value;
        let message = part(&said, "error message").as_str().expect("a message").to_owned();
        match message.split_once("may have ") {
            Some((_, known)) => {
                let known: BTreeSet<&str> = known.split(", ").collect();
                assert_eq!(known, properties.iter().map(String::as_str).collect(), "{name}");
            }
            None => assert_eq!(properties, Vec::<String>::new(), "{name}"),
        }
    }
}

#[test]
fn the_schemas_have_the_words_and_bounds_of_the_rules() {
    let words =
        |words: &[&str]| Value::vector(words.iter().map(|word| Value::from(*word)).collect::<Vec<_>>());
    let add = part(&edn(reminder::Tool::Add.declaration()), "input-schema properties");
    let action = part(&edn(session_action::Tool::Schedule.declaration()), "input-schema properties");
    let ready = part(&edn(session_action::Tool::ReportReady.declaration()), "input-schema properties");
    let create = part(&edn(native::Tool::Create.declaration()), "input-schema properties");
    let list = part(&edn(native::Tool::List.declaration()), "input-schema properties");
    let update = part(&edn(native::Tool::Update.declaration()), "input-schema properties");
    assert_eq!(part(&create, "kind enum"), words(Kind::NAMES));
    assert_eq!(part(&add, "type enum"), words(reminder::ReminderKind::NAMES));
    assert_eq!(part(&action, "operation enum"), words(session_action::Operation::NAMES));
    assert_eq!(part(&action, "action_kind enum"), words(session_action::ActionKind::NAMES));
    for (schema, path, bound) in [
        (&add, "interval_seconds minimum", limits::REMINDER_SECONDS_MIN.value),
        (&add, "interval_seconds maximum", limits::PERIOD_MS_MAX.value / 1_000),
        (&add, "action_prompt maxLength", limits::TEXT_BYTES.value),
        (&add, "description maxLength", limits::LABEL_BYTES.value),
        (&action, "delay_seconds maximum", limits::ACTION_DELAY_MS_MAX.value / 1_000),
        (&action, "message maxLength", limits::TEXT_BYTES.value),
        (&action, "instruction maxLength", limits::TEXT_BYTES.value),
        (&action, "job_id maxLength", limits::ID_BYTES.value),
        (&action, "artifact_path maxLength", limits::PATH_BYTES.value),
        (&action, "max_attempts maximum", limits::ATTEMPTS.value),
        (&action, "dedupe_key maxLength", limits::LABEL_BYTES.value),
        (&ready, "job_id maxLength", limits::ID_BYTES.value),
        (&create, "message maxLength", limits::TEXT_BYTES.value),
        (&create, "when maxLength", limits::PHRASE_BYTES.value),
        (&create, "zone maxLength", limits::ZONE_BYTES.value),
        (&create, "label maxLength", limits::LABEL_BYTES.value),
        (&create, "key maxLength", limits::LABEL_BYTES.value),
        (&create, "session_id maxLength", limits::ID_BYTES.value),
        (&list, "first default", limits::TOOL_PAGE.value),
        (&list, "first maximum", limits::TOOL_PAGE_MAX.value),
        (&list, "after maxLength", limits::LABEL_BYTES.value),
        (&update, "schedule_id maxLength", limits::ID_BYTES.value),
        (&update, "message maxLength", limits::TEXT_BYTES.value),
        (&update, "when maxLength", limits::PHRASE_BYTES.value),
    ] {
        assert_eq!(part(schema, path).to_string(), bound.to_string(), "{path}");
    }
}

/// Whatever stands in a field: the call is understood, or the answer says what is wrong and shows a call that is right.
#[test]
fn anything_in_any_field_is_understood_or_explained() {
    let values = [
        "nil",
        "true",
        "-1",
        "0",
        "31",
        "1.5",
        "99999999999999999999999",
        "\"\"",
        "\" x \"",
        "\"2026-06-01T09:00:00Z\"",
        "\"\\u0000\"",
        ":remind-later",
        "[]",
        "{}",
        "#inst \"2026-06-01T09:00:00Z\"",
    ];
    for (name, declaration, parse) in TOOLS {
        for field in keys(&part(&edn(declaration), "input-schema properties")) {
            for value in values {
                let args = edn(&format!("{{:{field} {value}}}"));
                let Err(answer) = parse(&args) else { continue };
                let error = part(&answer.value, "error");
                for key in ["message", "hint", "class"] {
                    let said = part(&error, key);
                    assert!(!said.as_str().unwrap_or_default().is_empty(), "{name} {args} {key}: {answer:?}");
                }
                let example = part(&error, "example");
                assert_eq!(parse(&example), Ok(()), "{name} {args}: {example}");
            }
        }
    }
}

#[test]
fn the_indexes_of_errors_name_each_once() {
    for errors in [reminder::errors(), session_action::errors(), native::errors()] {
        let names: BTreeSet<&str> = errors.iter().map(|(name, _, _)| *name).collect();
        assert_eq!(names.len(), errors.len(), "{errors:?}");
        for (name, code, error) in &errors {
            assert_eq!(part(error, "kind"), Value::keyword(name));
            assert_eq!(part(error, "class").as_str(), Some(code.name()));
            assert!(Code::ALL.contains(code));
        }
    }
}
