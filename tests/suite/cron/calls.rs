//! Calls and what becomes of them: the rows of `fixtures/cron/calls.txt`, which `UPDATE=1` writes anew.
//!
//! A row is `> TOOL NOTATION ARGUMENTS`, and below it the call as it was understood, or the answer.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use reveille::dialect::cron::{Call, CronContext, ScheduleKind, TargetKind, Tool, errors, parse};
use reveille::dialect::{Notation, REQUEST_CAPS, json};
use reveille::domain::{Code, SessionId, Zone};
use reveille::edn::{Value, read};

use super::at;

const ROWS: &str = "fixtures/cron/calls.txt";

#[test]
#[expect(clippy::disallowed_methods, reason = "UPDATE=1 is how a person asks for the files to be written")]
fn calls_are_understood_or_refused_as_the_rows_say() {
    let rows = std::fs::read_to_string(ROWS).expect("the rows");
    let mut said = String::new();
    for line in rows.lines() {
        if line.starts_with(';') || line.is_empty() {
            said += line;
            said.push('\n');
        } else if let Some(row) = line.strip_prefix("> ") {
            let _ = writeln!(said, "{line}\n{}", answer_to(row));
        }
    }
    if std::env::var("UPDATE").is_ok() {
        std::fs::write(ROWS, said).expect("the rows are written");
        return;
    }
    for (line, (expected, said)) in (1..).zip(rows.lines().zip(said.lines())) {
        assert_eq!(said, expected, "{ROWS} line {line}");
    }
    assert_eq!(rows.lines().count(), said.lines().count(), "{ROWS}");
}

/// The index has every kind of error that a row of a call ends in, once.
#[test]
fn the_index_of_errors_is_whole() {
    let index: Vec<&str> = errors().into_iter().map(|(name, _, _)| name).collect();
    let names: BTreeSet<&str> = index.iter().copied().collect();
    assert_eq!(names.len(), index.len(), "{index:?}");
    let rows = std::fs::read_to_string(ROWS).expect("the rows");
    for row in rows.split("\"kind\":\"").skip(1) {
        let kind = row.split('"').next().unwrap_or_default();
        let is_word = [ScheduleKind::NAMES, TargetKind::NAMES].concat().contains(&kind);
        assert!(is_word || names.contains(kind), "{kind}");
    }
}

/// Whatever stands in a field: the call is understood, or the answer says which field, and what to do.
#[test]
fn anything_in_any_field_is_understood_or_explained() {
    let schedules = [
        "{:kind :once :at %}",
        "{:kind :interval :every_seconds %}",
        "{:kind :interval :every_seconds 1 :anchor %}",
        "{:kind :daily :time %}",
        "{:kind :daily :time \"8:00\" :timezone %}",
        "{:kind :weekly :weekdays % :time \"8:00\"}",
        "{:kind %}",
        "%",
        "{:kind :daily :time \"8:00\" % 1}",
    ];
    let parts = [
        "{:kind %}",
        "{:kind :session :session_id %}",
        "{:kind :gateway :channel % :conversation_id %}",
        "%",
    ];
    let policies = ["{:overlap %}", "{:missed_run %}", "{:timeout_seconds %}", "%"];
    let of = |name: &'static str, values: &[&str]| -> Vec<String> {
        values.iter().map(|value| format!(":{name} {value}")).collect()
    };
    let texts = ["name", "prompt", "description"].map(|name| format!(":{name} %"));
    let fields =
        [&texts[..], &of("schedule", &schedules), &of("target", &parts), &of("policy", &policies)].concat();
    let wholes = [
        (Tool::Create, "{:name \"n\" :prompt \"p\" :schedule {:kind :daily :time \"8:00\"} ", "}"),
        (Tool::Update, "{:job_id \"job_1\" :patch {", "}}"),
    ];
    let mut calls: Vec<(Tool, String)> = Vec::new();
    for (tool, head, tail) in wholes {
        calls.extend(fields.iter().map(|field| {
            let name = field.split(' ').next().unwrap_or_default();
            let rest = head.replace(":name \"n\"", if name == ":name" { "" } else { ":name \"n\"" });
            let rest = rest.replace(":prompt \"p\"", if name == ":prompt" { "" } else { ":prompt \"p\"" });
            let daily = ":schedule {:kind :daily :time \"8:00\"}";
            let rest = rest.replace(daily, if name == ":schedule" { "" } else { daily });
            (tool, format!("{rest}{field}{tail}"))
        }));
    }
    for tool in Tool::ALL {
        let args =
            ["%", "{:job_id %}", "{:job_id \"job_1\" :base_revision %}", "{% 1}", "{:include_disabled %}"];
        calls.extend(args.map(|args| (*tool, args.to_owned())));
    }
    let context = CronContext {
        session: SessionId::new("s-1").ok(),
        now: at("2026-06-01T00:00:00Z"),
        zone: Zone::Local,
    };
    for (tool, call) in calls {
        for value in ANYTHING {
            let args = read(call.replace('%', value).as_bytes(), &REQUEST_CAPS).expect("EDN");
            if let Err(answer) = parse(tool, &args, Notation::Edn, &context) {
                let text = answer.value.to_string();
                assert_eq!(answer.is_error, !text.starts_with("{:status :not_found"));
                assert!(
                    !answer.is_error || text.contains(":message \"") && text.contains(":hint \""),
                    "{text}"
                );
            }
        }
    }
}

const ANYTHING: [&str; 24] = [
    "nil",
    "true",
    "0",
    "-1",
    "7",
    "1.5",
    "1/2",
    "2.50M",
    "99999999999999999999N",
    "##NaN",
    "\\a",
    "x",
    ":x",
    ":mon",
    "\"\"",
    "\" \\n\"",
    "\"x\"",
    "\"2026-06-01T08:05:00\"",
    "[]",
    "[nil]",
    "[:mon]",
    "{}",
    "#inst \"2026-06-02T00:00:00Z\"",
    "#x/y {:kind 1}",
];

/// A text at the bound is taken, one past it is refused with the bound's name.
#[test]
fn texts_are_bounded() {
    let call = |name: usize, prompt: usize| {
        let (name, prompt) = ("n".repeat(name), "p".repeat(prompt));
        let schedule = r#"{"kind": "interval", "every_seconds": 300}"#;
        let args = format!(r#"{{"name": "{name}", "prompt": "{prompt}", "schedule": {schedule}}}"#);
        let args = json::read(args.as_bytes(), &REQUEST_CAPS).expect("JSON");
        let context = CronContext {
            session: SessionId::new("s-1").ok(),
            now: at("2026-06-01T00:00:00Z"),
            zone: Zone::Local,
        };
        parse(Tool::Create, &args, Notation::Json, &context)
    };
    assert!(call(1_024, 65_536).is_ok());
    for (name, prompt, message) in [
        (1_025, 1, "name is too long: label-bytes is 1024 bytes"),
        (1, 65_537, "prompt is too long: text-bytes is 65536 bytes"),
    ] {
        let answer = call(name, prompt).expect_err("too long");
        assert_eq!(answer.code, Some(Code::Limit));
        let text = answer.value.to_string();
        assert!(text.contains(message) && text.len() < 2_000, "{text}");
    }
}

fn answer_to(row: &str) -> String {
    let mut parts = row.splitn(3, ' ');
    let tool = parts.next().and_then(Tool::parse).expect("a tool");
    let notation = parts.next().expect("a notation");
    let args = parts.next().expect("arguments").as_bytes();
    let is_edn = notation.starts_with("edn");
    let (notation, args) = if is_edn {
        (Notation::Edn, read(args, &REQUEST_CAPS).expect("EDN"))
    } else {
        (Notation::Json, json::read(args, &REQUEST_CAPS).expect("JSON"))
    };
    let session = (!row.contains("/operator ")).then(|| SessionId::new("s-1").expect("an id"));
    let context = CronContext { session, now: at("2026-06-01T00:00:00Z"), zone: Zone::Local };
    match parse(tool, &args, notation, &context) {
        Ok(call) => shown(&call),
        Err(answer) => printed(&answer.value, notation),
    }
}

fn printed(value: &Value, notation: Notation) -> String {
    match notation {
        Notation::Edn => value.to_string(),
        Notation::Json => {
            let mut text = String::new();
            json::write(value, &mut text);
            text
        }
    }
}

/// A call as Rust prints it, without what says nothing.
fn shown(call: &Call) -> String {
    format!("{call:?}").replace("(\"", " \"").replace("\")", "\"")
}
