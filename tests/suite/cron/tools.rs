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
        let context = cron::CronContext { session: None, now: at("2026-06-01T00:00:00Z") };
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
        let policy = |name: &str| part(&schema, &format!("$defs policy properties {name}"));
        assert_eq!(part(&policy("overlap"), "enum"), words(Overlap::NAMES));
        assert_eq!(part(&policy("missed_run"), "enum"), words(MissedRun::NAMES));
        assert_eq!(part(&policy("overlap"), "default"), Value::from(JobPolicy::default().overlap.name()));
        assert_eq!(
            part(&policy("missed_run"), "default"),
            Value::from(JobPolicy::default().missed_run.name())
        );
        let kinds = |def: &str, count: usize| -> Vec<Value> {
            (0..count)
                .map(|i| part(&schema, &format!("$defs {def} oneOf {i} properties kind const")))
                .collect()
        };
        assert_eq!(Value::vector(kinds("schedule", 4)), words(ScheduleKind::NAMES));
        assert_eq!(Value::vector(kinds("target", 3)), words(TargetKind::NAMES));
        let bounds = [
            ("$defs schedule oneOf 1 properties every_seconds minimum", limits::PERIOD_MS_MIN.value / 1_000),
            ("$defs schedule oneOf 1 properties every_seconds maximum", limits::PERIOD_MS_MAX.value / 1_000),
            ("$defs policy properties timeout_seconds maximum", JobPolicy::TIMEOUT_SECONDS_MAX),
            ("$defs policy properties timeout_seconds default", JobPolicy::default().timeout_seconds),
            ("$defs timezone maxLength", limits::ZONE_BYTES.value),
            ("$defs target oneOf 1 properties session_id maxLength", limits::ID_BYTES.value),
        ];
        for (path, bound) in bounds {
            assert_eq!(part(&schema, path).to_string(), bound.to_string(), "{path}");
        }
        let holder = if tool == Tool::Create { "properties" } else { "properties patch properties" };
        for (name, limit) in [("name", limits::LABEL_BYTES), ("prompt", limits::TEXT_BYTES)] {
            let path = format!("{holder} {name} maxLength");
            assert_eq!(part(&schema, &path).to_string(), limit.value.to_string(), "{path}");
        }
    }
}
