//! The crate's own tools, and those of reminders and delayed actions, without an engine: what they declare is what their rules
//! know, and whatever stands in a field is understood or explained. What needs an engine is tested with one, in
//! `cron_engine` and `mcp`.

use std::collections::BTreeSet;

use reveille::calendar::Zones;
use reveille::dialect::{
    Answer, Notation, REQUEST_CAPS, claude_cron, memory, native, reminder, scheduler, session_action, watch,
};
use reveille::domain::{Code, Edge, Gaps, Moment, Show};
use reveille::edn::{Value, read};
use reveille::limits;
use reveille::service::TOOLBOX;

fn now() -> Moment {
    Moment::parse("2026-06-01T00:00:00Z").expect("an instant")
}

/// Parses a call of a tool of the scheduler.
fn job(tool: scheduler::Tool, args: &Value) -> Result<(), Answer> {
    scheduler::parse(tool, args, Notation::Edn, (now(), &Zones::bundled())).map(|_| ())
}

fn edn(text: &str) -> Value {
    read(text.as_bytes(), &REQUEST_CAPS).expect("EDN")
}

/// Every tool of the three dialects, by its name, its declaration and its reader of arguments.
type Parse = fn(&Value) -> Result<(), Answer>;

fn tools() -> Vec<(&'static str, Value, Parse)> {
    TOOLS.into_iter().map(|(name, parse)| (name, schema(name), parse)).collect()
}

/// What the toolbox prints of a tool.
fn schema(name: &str) -> Value {
    TOOLBOX.iter().find(|tool| tool.name == name).expect("a tool").input_schema()
}

const TOOLS: [(&str, Parse); 32] = [
    ("reminderadd", |args| reminder::parse(reminder::Tool::Add, args, Notation::Edn).map(|_| ())),
    ("reminderlist", |args| reminder::parse(reminder::Tool::List, args, Notation::Edn).map(|_| ())),
    ("reminderremove", |args| reminder::parse(reminder::Tool::Remove, args, Notation::Edn).map(|_| ())),
    ("schedule_session_action", |args| {
        session_action::parse(session_action::Tool::Schedule, args, Notation::Edn, now()).map(|_| ())
    }),
    ("report_job_ready", |args| {
        session_action::parse(session_action::Tool::ReportReady, args, Notation::Edn, now()).map(|_| ())
    }),
    ("CronCreate", |args| claude_cron::parse(claude_cron::Tool::Create, args, Notation::Edn).map(|_| ())),
    ("CronList", |args| claude_cron::parse(claude_cron::Tool::List, args, Notation::Edn).map(|_| ())),
    ("CronDelete", |args| claude_cron::parse(claude_cron::Tool::Delete, args, Notation::Edn).map(|_| ())),
    ("ScheduleWakeup", |args| claude_cron::parse(claude_cron::Tool::Wakeup, args, Notation::Edn).map(|_| ())),
    ("Monitor", |args| claude_cron::parse(claude_cron::Tool::Monitor, args, Notation::Edn).map(|_| ())),
    ("memory.remember", |args| memory::parse(memory::Tool::Remember, args, Notation::Edn).map(|_| ())),
    ("memory.set_goal", |args| memory::parse(memory::Tool::SetGoal, args, Notation::Edn).map(|_| ())),
    ("memory.task_create", |args| memory::parse(memory::Tool::TaskCreate, args, Notation::Edn).map(|_| ())),
    ("memory.task_update", |args| memory::parse(memory::Tool::TaskUpdate, args, Notation::Edn).map(|_| ())),
    ("watch_start", |args| watch::parse(watch::Tool::Start, args, Notation::Edn).map(|_| ())),
    ("watch_stop", |args| watch::parse(watch::Tool::Stop, args, Notation::Edn).map(|_| ())),
    ("watch_pause", |args| watch::parse(watch::Tool::Pause, args, Notation::Edn).map(|_| ())),
    ("watch_resume", |args| watch::parse(watch::Tool::Resume, args, Notation::Edn).map(|_| ())),
    ("watch_status", |args| watch::parse(watch::Tool::Status, args, Notation::Edn).map(|_| ())),
    ("watch_list", |args| watch::parse(watch::Tool::List, args, Notation::Edn).map(|_| ())),
    ("watch_history", |args| watch::parse(watch::Tool::History, args, Notation::Edn).map(|_| ())),
    ("ping.age", |args| watch::parse(watch::Tool::PingAge, args, Notation::Edn).map(|_| ())),
    ("schedule", |args| job(scheduler::Tool::Schedule, args)),
    ("cancel_schedule", |args| job(scheduler::Tool::Cancel, args)),
    ("remind", |args| job(scheduler::Tool::Remind, args)),
    ("create", |args| native::parse(native::Tool::Create, args, Notation::Edn).map(|_| ())),
    ("inbox", |args| native::parse(native::Tool::Inbox, args, Notation::Edn).map(|_| ())),
    ("list", |args| native::parse(native::Tool::List, args, Notation::Edn).map(|_| ())),
    ("cancel", |args| native::parse(native::Tool::Cancel, args, Notation::Edn).map(|_| ())),
    ("update", |args| native::parse(native::Tool::Update, args, Notation::Edn).map(|_| ())),
    ("explain", |args| native::parse(native::Tool::Explain, args, Notation::Edn).map(|_| ())),
    ("query", |args| native::parse(native::Tool::Query, args, Notation::Edn).map(|_| ())),
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
    for (name, schema, parse) in tools() {
        assert_eq!(part(&schema, "additionalProperties"), Value::Bool(false), "{name}");
        let properties = keys(&part(&schema, "properties"));
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
    let add = part(&schema("reminderadd"), "properties");
    let action = part(&schema("schedule_session_action"), "properties");
    let ready = part(&schema("report_job_ready"), "properties");
    let job = part(&schema("CronCreate"), "properties");
    let wakeup = part(&schema("ScheduleWakeup"), "properties");
    let watch = part(&schema("watch_start"), "properties");
    let config = part(&watch, "notify_config properties");
    let history = part(&schema("watch_history"), "properties");
    let ping = part(&schema("ping.age"), "properties");
    let call = part(&schema("schedule"), "properties");
    let (remind, cancel) =
        (part(&schema("remind"), "properties"), part(&schema("cancel_schedule"), "properties"));
    assert_eq!(part(&config, "edge enum"), words(Edge::NAMES));
    assert_eq!(part(&config, "gaps enum"), words(Gaps::NAMES));
    assert_eq!(part(&config, "show enum"), words(Show::NAMES));
    assert_eq!(part(&add, "type enum"), words(reminder::ReminderKind::NAMES));
    assert_eq!(part(&action, "operation enum"), words(session_action::Operation::NAMES));
    assert_eq!(part(&action, "action_kind enum"), words(session_action::ActionKind::NAMES));
    let fact = part(&schema("memory.remember"), "properties");
    let task = part(&schema("memory.task_create"), "properties");
    for (schema, path, bound) in [
        (&fact, "content maxLength", limits::MEMORY_TEXT.value),
        (&task, "subject maxLength", limits::TASK_SUBJECT.value),
        (&task, "description maxLength", limits::MEMORY_TEXT.value),
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
        (&job, "cron maxLength", limits::CRON_BYTES.value),
        (&job, "prompt maxLength", limits::TEXT_BYTES.value),
        (&wakeup, "delaySeconds minimum", limits::WAKEUP_SECONDS_MIN.value),
        (&wakeup, "delaySeconds maximum", limits::WAKEUP_SECONDS_MAX.value),
        (&wakeup, "reason maxLength", limits::LABEL_BYTES.value),
        (&wakeup, "prompt maxLength", limits::TEXT_BYTES.value),
        (&watch, "name maxLength", limits::TOOL_NAME_BYTES.value),
        (&watch, "interval minimum", limits::WATCH_SECONDS_MIN.value),
        (&watch, "interval maximum", limits::WATCH_SECONDS_MAX.value),
        (&watch, "label maxLength", limits::WATCH_LABEL_CHARS.value),
        (&watch, "max_checks maximum", limits::WATCH_CHECKS.value),
        (&config, "expression maxLength", limits::CONDITION_BYTES.value),
        (&config, "batch_size maximum", limits::WATCH_BATCH.value),
        (&config, "for_checks maximum", limits::WATCH_HOLD.value),
        (&config, "recall maximum", limits::WATCH_RECALL.value),
        (&config, "ignore maxItems", limits::WATCH_PATHS.value),
        (&config, "only maxItems", limits::WATCH_PATHS.value),
        (&history, "watcher_id maxLength", limits::WATCHER_ID_BYTES.value),
        (&history, "last_n maximum", limits::WATCH_HISTORY.value),
        (&ping, "name maxLength", limits::PING_NAME_BYTES.value),
        (&call, "when maxLength", limits::JOB_WHEN_BYTES.value),
        (&call, "name maxLength", limits::JOB_NAME_CHARS.value),
        (&call, "output_channel maxLength", limits::JOB_NAME_CHARS.value),
        (&call, "max_runs maximum", limits::JOB_RUNS.value),
        (&remind, "message maxLength", limits::REMIND_CHARS.value),
        (&cancel, "job_id maxLength", limits::JOB_ID_BYTES.value),
    ] {
        assert_eq!(part(schema, path).to_string(), bound.to_string(), "{path}");
    }
}

/// A monitor is a watch, so its bounds are those of watches where it has the argument of one.
#[test]
fn the_schema_of_a_monitor_has_the_bounds_of_the_rules() {
    let monitor = part(&schema("Monitor"), "properties");
    let watch = part(&schema("watch_start"), "properties");
    assert_eq!(part(&monitor, "notify_when enum"), part(&watch, "notify_when enum"));
    for (path, bound) in [
        ("description maxLength", limits::LABEL_BYTES.value),
        ("timeout_ms minimum", limits::MONITOR_MS_MIN.value),
        ("timeout_ms maximum", limits::MONITOR_MS_MAX.value),
        ("timeout_ms default", limits::MONITOR_MS.value),
        ("tool maxLength", limits::TOOL_NAME_BYTES.value),
        ("interval minimum", limits::WATCH_SECONDS_MIN.value),
        ("interval maximum", limits::WATCH_SECONDS_MAX.value),
        ("expression maxLength", limits::CONDITION_BYTES.value),
    ] {
        assert_eq!(part(&monitor, path).to_string(), bound.to_string(), "{path}");
    }
}

/// Whatever stands in a field: the call is understood, or the answer says what is wrong and what to do.
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
    for (name, schema, parse) in tools() {
        for field in keys(&part(&schema, "properties")) {
            for value in values {
                let args = edn(&format!("{{:{field} {value}}}"));
                let Err(answer) = parse(&args) else { continue };
                let error = part(&answer.value, "error");
                for key in ["message", "hint", "class"] {
                    let said = part(&error, key);
                    assert!(!said.as_str().unwrap_or_default().is_empty(), "{name} {args} {key}: {answer:?}");
                }
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
