//! The arguments of the scheduler's tools: `when` (T52), and what is refused with which field, kind and hint.

#![expect(clippy::panic, reason = "a helper of tests says which row it failed on")]

use std::fmt::Write as _;

use reveille::calendar::Zones;
use reveille::dialect::Notation;
use reveille::dialect::scheduler::{Call, JobDraft, JobWhen, RemindDraft, Tool, job_id, parse};
use reveille::domain::{Entropy, Moment, Zone};
use reveille::edn::{Caps, Keyword, Value, read};

const CAPS: Caps = Caps { bytes_max: 1 << 20, depth_max: 16, digits_max: 100, forms_max: 100_000 };

fn table(name: &str) -> Value {
    let path = format!("{}/fixtures/scheduler/{name}.edn", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the table is there");
    read(text.as_bytes(), &CAPS).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    let value = value.as_map()?.keyword(key)?;
    value.as_str().or_else(|| value.as_keyword().map(Keyword::as_str))
}

fn call(tool: Tool, args: &str) -> Result<Call, Value> {
    let now = Moment::parse("2026-04-14T12:00:00Z").expect("an instant");
    let args = read(args.as_bytes(), &CAPS).expect("EDN");
    parse(tool, &args, Notation::Json, (now, &Zones::bundled())).map_err(|answer| {
        answer.value.as_map().and_then(|map| map.keyword("error")).cloned().expect("an error")
    })
}

fn printed(when: &JobWhen) -> String {
    match when {
        JobWhen::After(span) => format!("after {}s", span.millis() / 1_000),
        JobWhen::At(moment) => format!("at {moment}"),
        JobWhen::Cron(cron) => format!("cron {cron}"),
    }
}

/// What an error says: the fault, and what can be done about it.
fn told(error: &Value) -> String {
    ["message", "hint"].map(|part| text(error, part).expect("both are said")).join("; ")
}

/// T52.
#[test]
fn the_table_of_whens_holds() {
    let table = table("when");
    let rows = table.as_items().expect("rows");
    assert!(rows.len() > 60);
    let mut faults = String::new();
    for row in rows {
        let when = Value::from(text(row, "when").expect("a when"));
        let found = call(Tool::Schedule, &format!("{{\"when\" {when} \"action\" \"a.b\"}}"));
        let holds = match &found {
            Ok(Call::Schedule(job)) => text(row, "is") == Some(&printed(&job.timed.when)),
            Ok(_) => false,
            Err(error) => {
                let is_of_when = text(error, "field") == Some("when");
                is_of_when && text(row, "says").is_some_and(|says| told(error).contains(says))
            }
        };
        if !holds {
            writeln!(faults, "{row} is {found:?}").expect("a string grows");
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// Days and months have a hyphen and often a `t`, as timestamps have.
#[test]
fn ranges_of_names_are_cron_expressions_and_no_timestamps() {
    let days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
    let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let fields: [(&[&str], &str); 2] = [(&days, "0 9 * * RANGE"), (&months, "30 9-17 1 RANGE *")];
    for (names, cron) in fields {
        for (from, to) in names.iter().flat_map(|from| names.iter().map(move |to| (from, to))) {
            let when = cron.replace("RANGE", &format!("{from}-{to}"));
            for (when, zone) in [(when.clone(), ""), (when.to_uppercase(), r#" "zone" "Europe/Berlin""#)] {
                let found = job(&format!(r#"{{"when" "{when}" "action" "a.b"{zone}}}"#)).timed.when;
                assert_eq!(printed(&found), format!("cron {}", when.to_uppercase()));
            }
        }
    }
}

/// What was understood is not said to be unclear, and the hint leads back inside the bounds.
#[test]
fn a_when_outside_the_bounds_was_understood() {
    for (when, message, hint) in [
        ("2040-01-01T00:00:00Z", "2040-01-01T00:00:00Z is too far in the future", "an earlier instant"),
        ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z is in the past", "a later instant"),
        ("in 0s", "the delay is too short", "in 5m"),
        ("in 99999d", "the delay is too large", "in 5m"),
    ] {
        let error = call(Tool::Schedule, &format!(r#"{{"when" "{when}" "action" "a.b"}}"#)).expect_err(when);
        let said = text(&error, "message").expect("a message");
        assert!(said.starts_with("when is outside the bounds: ") && said.contains(message), "{said}");
        assert!(text(&error, "hint").is_some_and(|it| it.contains(hint)), "{error}");
    }
    let error = call(Tool::Schedule, r#"{"when" "soon" "action" "a.b"}"#).expect_err("it is no time");
    assert!(
        text(&error, "message").is_some_and(|it| it.starts_with("when cannot be understood: ")),
        "{error}"
    );
}

#[test]
fn what_is_refused_says_why() {
    for row in table("calls").as_items().expect("rows") {
        let tool = text(row, "tool").and_then(Tool::parse).expect("a tool");
        let args = row.as_map().and_then(|row| row.keyword("args")).expect("arguments");
        let error = call(tool, &args.to_string()).expect_err(&row.to_string());
        assert_eq!(text(&error, "kind"), text(row, "kind"), "{row} {error}");
        assert_eq!(text(&error, "field"), text(row, "field"), "{row} {error}");
        let says = text(row, "says").expect("a part of the words");
        assert!(told(&error).contains(says), "{row} {error}");
        assert!(text(&error, "hint").is_some_and(|hint| !hint.is_empty()), "{row} {error}");
    }
}

fn job(args: &str) -> JobDraft {
    match call(Tool::Schedule, args) {
        Ok(Call::Schedule(job)) => *job,
        other => panic!("{args}: {other:?}"),
    }
}

#[test]
fn what_is_left_out_is_as_the_seed_has_it() {
    let plain = job(r#"{"when" "0 9 * * *" "action" "channels__send_message"}"#);
    assert_eq!(plain.action.as_str(), "channels.send_message");
    assert_eq!((plain.max_runs, plain.output_channel, plain.warnings.len()), (0, None, 0));
    assert_eq!((plain.timed.zone, plain.timed.name), (Zone::Utc, None));
    let named = job(
        r#"{"when" "0 9 * * *" "action" "a.b" "name" " daily " "output_channel" "llm_notification" "max_runs" 52}"#,
    );
    assert_eq!(
        (named.timed.name.as_deref(), named.output_channel, named.max_runs),
        (Some("daily"), None, 52)
    );
    let told = job(
        r#"{"when" "0 9 * * *" "action" "a.b" "output_channel" "ops" "zone" "Europe/Berlin" "args" {"_approved" true "a" 1}}"#,
    );
    assert_eq!(
        (told.output_channel.as_deref(), told.timed.zone.to_string()),
        (Some("ops"), "Europe/Berlin".to_owned())
    );
    assert_eq!(told.args.to_string(), "{\"a\" 1}");
}

#[test]
fn a_zone_is_known_or_refused_and_its_clock_reads_what_has_no_offset() {
    let refused = |zone: &str| {
        let args = format!(r#"{{"when" "0 9 * * *" "action" "a.b" "zone" "{zone}"}}"#);
        call(Tool::Schedule, &args).expect_err("nobody knows it")
    };
    let error = refused("Europe/Berln");
    assert_eq!(text(&error, "kind"), Some("invalid_zone"));
    assert!(text(&error, "hint").is_some_and(|hint| hint.contains("Europe/Berlin")), "{error}");
    let example = error.as_map().and_then(|error| error.keyword("example")).map(Value::to_string);
    assert!(example.is_some_and(|example| example.contains("\"Europe/Berlin\"")), "{error}");
    assert_eq!(text(&refused("Nowhere/Xyz"), "kind"), Some("invalid_zone"));
    for (when, zone, expected) in [
        ("2026-12-01T09:00:00", "Europe/Berlin", "at 2026-12-01T08:00:00Z"),
        ("2026-12-01T09:00", "+05:30", "at 2026-12-01T03:30:00Z"),
        ("2026-12-01T09:00:00Z", "Europe/Berlin", "at 2026-12-01T09:00:00Z"),
        ("2026-12-01T09:00:00+02:00", "Europe/Berlin", "at 2026-12-01T07:00:00Z"),
        ("in 5m", "Europe/Berlin", "after 300s"),
    ] {
        let when = job(&format!(r#"{{"when" "{when}" "action" "a.b" "zone" "{zone}"}}"#)).timed.when;
        assert_eq!(printed(&when), expected);
    }
    // It is noon in UTC: two in the afternoon lies ahead there, and is over in Tokyo.
    let over = r#"{"when" "2026-04-14T14:00:00" "action" "a.b" "zone" "Asia/Tokyo"}"#;
    let error = call(Tool::Schedule, over).expect_err("it is over");
    assert!(
        text(&error, "message").is_some_and(|it| it.contains("2026-04-14T05:00:00Z is in the past")),
        "{error}"
    );
}

/// A Chinese character has three bytes, an emoji four.
#[test]
fn a_name_is_bounded_in_characters_and_always_has_an_id() {
    let named = |name: &str| {
        let args = format!(r#"{{"when" "in 5m" "action" "a.b" "name" "{name}" "output_channel" "{name}"}}"#);
        call(Tool::Schedule, &args).map(|_| ())
    };
    let id = |app: &str, name: &str| {
        job_id(app, Some(name), Entropy([7; 16])).unwrap_or_else(|| panic!("{name} has no id")).to_string()
    };
    for character in ["a", "\u{e9}", "\u{4e2d}", "\u{1f980}"] {
        let [longest, too_long] = [64, 65].map(|count| character.repeat(count));
        assert_eq!(named(&longest), Ok(()));
        let error = named(&too_long).expect_err("it is too long");
        assert_eq!((text(&error, "kind"), text(&error, "field")), (Some("too_long"), Some("name")));
        for app in ["default", &"x".repeat(32)] {
            let other = character.repeat(63) + "b";
            assert_eq!(id(app, &longest), id(app, &longest));
            assert_ne!(id(app, &longest), id(app, &other), "two names, two jobs");
        }
    }
    assert_eq!(id("default", "daily"), "cron_default_daily");
    assert_eq!(id("default", &"\u{4e2d}".repeat(22)), format!("cron_default_{}", "\u{4e2d}".repeat(22)));
}

/// T55, what the seed promises and its code does not.
#[test]
fn a_bound_on_runs_means_nothing_to_what_runs_once() {
    let once = job(r#"{"when" "in 5m" "action" "a.b" "max_runs" 7}"#);
    assert_eq!((once.max_runs, once.warnings), (0, vec!["max_runs is ignored: this runs once"]));
    assert!(job(r#"{"when" "in 5m" "action" "a.b" "max_runs" 1}"#).warnings.is_empty());
}

#[test]
fn a_message_is_bounded_in_characters_and_kept_as_it_is() {
    let remind = |message: &str| {
        call(Tool::Remind, &format!("{{\"when\" \"in 2m\" \"message\" {}}}", Value::from(message)))
    };
    let kept = |message: &str| match remind(message) {
        Ok(Call::Remind(remind)) => {
            let RemindDraft { message, .. } = *remind;
            Some(message)
        }
        _ => None,
    };
    assert_eq!(kept(" two\nlines ").as_deref(), Some(" two\nlines "));
    assert!(kept(&"é".repeat(2_000)).is_some());
    let error = remind(&"é".repeat(2_001)).expect_err("it is too long");
    assert_eq!((text(&error, "kind"), text(&error, "field")), (Some("too_long"), Some("message")));
}
