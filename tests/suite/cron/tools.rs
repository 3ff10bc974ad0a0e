//! The declarations of the tools say what the rules say.

use reveille::dialect::cron::{JobPolicy, MissedRun, Overlap, ScheduleKind, TargetKind, Tool};
use reveille::dialect::{Notation, REQUEST_CAPS, cron};
use reveille::edn::{Value, read};
use reveille::limits;

use super::at;

fn schema(tool: Tool) -> Value {
    let value = read(tool.declaration().as_bytes(), &REQUEST_CAPS).expect("EDN");
    let map = value.as_map().expect("a map");
    assert!(!map.keyword("description").and_then(Value::as_str).unwrap_or_default().is_empty());
    map.keyword("input-schema").cloned().expect("a schema")
}

/// The value at a path of keys and places.
fn part(schema: &Value, path: &str) -> Value {
    path.split(' ').fold(schema.clone(), |value, step| {
        let of_map = value.as_map().and_then(|map| map.keyword(step)).cloned();
        let place = step.parse::<usize>().ok();
        let of_items = || place.and_then(|place| value.as_items()?.get(place).cloned());
        of_map.or_else(of_items).unwrap_or(Value::Nil)
    })
}

fn keys(value: &Value) -> Vec<String> {
    let keys = value.as_map().expect("a map").keys();
    keys.map(|key| key.as_keyword().expect("a keyword").as_str().to_owned()).collect()
}

/// A call with a field that is not known names those that are.
#[test]
fn the_schemas_have_the_fields_that_the_rules_know() {
    for tool in Tool::ALL {
        let schema = schema(*tool);
        let args = read(b"{:no_such_field 1}", &REQUEST_CAPS).expect("EDN");
        let context = cron::CronContext {
            session: None,
            now: at("2026-06-01T00:00:00Z"),
            zone: reveille::domain::Zone::Local,
        };
        let answer = cron::parse(*tool, &args, Notation::Edn, &context).expect_err("unknown").value;
        let known = keys(&part(&schema, "properties")).join(", ");
        assert!(answer.to_string().contains(&format!("the arguments may have {known}\"")), "{answer}");
        assert_eq!(part(&schema, "additionalProperties"), Value::Bool(false));
    }
}

#[test]
fn the_schemas_have_the_words_and_bounds_of_the_rules() {
    let words =
        |words: &[&str]| Value::vector(words.iter().map(|word| Value::from(*word)).collect::<Vec<_>>());
    for tool in [Tool::Create, Tool::Update] {
        let schema = schema(tool);
        let holder = if tool == Tool::Create { "properties" } else { "properties patch properties" };
        let policy = |name: &str| part(&schema, &format!("{holder} policy properties {name}"));
        assert_eq!(part(&policy("overlap"), "enum"), words(Overlap::NAMES));
        assert_eq!(part(&policy("missed_run"), "enum"), words(MissedRun::NAMES));
        // A policy is replaced as a whole, so that its defaults are those of cron_create.
        if tool == Tool::Create {
            let default = JobPolicy::default();
            assert_eq!(part(&policy("overlap"), "default"), Value::from(default.overlap.name()));
            assert_eq!(part(&policy("missed_run"), "default"), Value::from(default.missed_run.name()));
            let timeout = part(&policy("timeout_seconds"), "default");
            assert_eq!(timeout.to_string(), default.timeout_seconds.to_string());
        }
        let kinds = |of: &str| part(&schema, &format!("{holder} {of} properties kind enum"));
        assert_eq!(kinds("schedule"), words(ScheduleKind::NAMES));
        assert_eq!(kinds("target"), words(TargetKind::NAMES));
        let bounds = [
            ("schedule properties every_seconds minimum", limits::PERIOD_MS_MIN.value / 1_000),
            ("schedule properties every_seconds maximum", limits::PERIOD_MS_MAX.value / 1_000),
            ("policy properties timeout_seconds maximum", JobPolicy::TIMEOUT_SECONDS_MAX),
            ("schedule properties timezone maxLength", limits::ZONE_BYTES.value),
            ("target properties session_id maxLength", limits::ID_BYTES.value),
        ];
        for (path, bound) in bounds {
            let path = format!("{holder} {path}");
            assert_eq!(part(&schema, &path).to_string(), bound.to_string(), "{path}");
        }
        for (name, limit) in [("name", limits::LABEL_BYTES), ("prompt", limits::TEXT_BYTES)] {
            let path = format!("{holder} {name} maxLength");
            assert_eq!(part(&schema, &path).to_string(), limit.value.to_string(), "{path}");
        }
    }
}
