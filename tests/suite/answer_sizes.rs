//! What the tools cost a model: their declarations and their answers, in bytes and tokens. `docs/ANSWERS.md` has the figures.
//!
//! An answer is measured as MCP gives it to a model: as text in JSON. psi's answers are measured in EDN as well.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use reveille::dialect::{Answer, Notation, REQUEST_CAPS, json};
use reveille::domain::{Caller, Span};
use reveille::edn::Value;
use reveille::limits;
use reveille::service::Service;

use crate::{generated, simulated, tool_schemas};

struct Scene {
    service: Service,
    caller: Caller,
}

impl Scene {
    /// A session at an instant as real clocks have them, with all nine digits.
    fn new() -> Scene {
        let (handle, clock) = simulated::engine(&["main"]);
        clock.advance(Span::from_nanos(397_887_993));
        Scene { service: Service::new(handle), caller: Caller::session(simulated::session("main")) }
    }

    fn call(&self, tool: &str, args: &str) -> Value {
        self.answer(tool, args).value
    }

    fn answer(&self, tool: &str, args: &str) -> Answer {
        let args = json::read(args.as_bytes(), &REQUEST_CAPS).expect(args);
        let answer = self.service.call_tool(tool, &self.caller, &args, Notation::Json);
        answer.expect("a session may").expect(tool)
    }

    fn fill(self, count: usize, tool: &str, args: impl Fn(usize) -> String) -> Scene {
        for number in 0..count {
            let answer = self.answer(tool, &args(number));
            assert!(!answer.is_error, "{answer:?}");
        }
        self
    }
}

/// The larger of the answer's lengths in JSON and in EDN.
fn bytes(answer: &Value) -> usize {
    let mut text = String::new();
    json::write(answer, &mut text);
    text.len().max(if text.contains("psi-tool/") { answer.to_string().len() } else { 0 })
}

fn part(value: &Value, path: &str) -> Value {
    let step = |value: Value, key: &str| value.as_map().and_then(|map| map.keyword(key)).cloned();
    path.split(' ').try_fold(value.clone(), step).unwrap_or(Value::Nil)
}

fn psi(number: usize, message: &str) -> String {
    format!(
        r#"{{"action":"scheduler","op":"create","kind":"message","label":"check {number}","delay-ms":{},"message":"{message}"}}"#,
        600_000 + number * 1_000
    )
}

fn cron(number: usize, prompt: &str) -> String {
    format!(
        r#"{{"name":"News {number:03}","schedule":{{"kind":"daily","time":"08:00"}},"prompt":"{prompt}"}}"#
    )
}

fn reminder(number: usize) -> String {
    format!(
        r#"{{"type":"recurring","interval_seconds":3600,"description":"I'll check your email {number}",
            "action_prompt":"Read /home/ada/inbox and answer what is urgent."}}"#
    )
}

fn native(number: usize, message: &str) -> String {
    format!(r#"{{"message":"{message}","when":"in 20 minutes","label":"check {number}"}}"#)
}

fn claude(number: usize, prompt: &str) -> String {
    format!(r#"{{"cron":"{} 9 * * *","prompt":"{prompt}"}}"#, number % 60)
}

const WAKEUP: &str =
    r#"{"delaySeconds":1200,"reason":"watching the build","prompt":"Look at the build.","noop":true}"#;
const ACTION: &str =
    r#"{"action_kind":"remind_later","message":"Check the build status","delay_seconds":3600}"#;
const PSI_LIST: &str = r#"{"action":"scheduler","op":"list"}"#;
const SHORT: &str = "Check whether the build finished.";

/// Each answer that is measured: the call in words, the answer, and the most bytes it may have.
fn answers() -> Vec<(&'static str, Value, usize)> {
    let most = usize::try_from(limits::TOOL_ANSWER_BYTES.value).expect("it is small");
    let long = "x".repeat(60_000);
    let scene = Scene::new;
    let psi_of = |text: &str| scene().fill(50, "psi-tool", |number| psi(number, text));
    let cron_of = |count, text: &str| scene().fill(count, "cron_create", |number| cron(number, text));
    let native_of = |count, text: &str| scene().fill(count, "create", |number| native(number, text));
    let unlabelled =
        scene().fill(50, "psi-tool", |number| psi(number, "News?").replace("\"label\"", "\"query\""));
    let reminders = scene().fill(50, "reminderadd", reminder);
    let (many, native_many) = (cron_of(135, &long), native_of(30, &long));
    let first = |list: Value, path: &str| part(&list.as_items().expect("rows")[0], path).to_string();
    let job = first(part(&many.call("cron_list", "{}"), "jobs"), "job id");
    let schedule = first(part(&native_many.call("list", "{}"), "schedules"), "schedule_id");
    let stray: String = (0..3_000).map(|number| format!(r#","stray-{number:05}":{number}"#)).collect();
    let stray = format!(r#"{{"action":"scheduler","op":"list"{stray}}}"#);
    let query =
        r#"{"query":"[{:psi.scheduler/schedules [:psi.scheduler/message :psi.scheduler/schedule-id]}]"}"#;
    let remove = r#"{"description_pattern":"stop checking email 7"}"#;
    vec![
        ("psi-tool create", scene().call("psi-tool", &psi(0, SHORT)), 600),
        ("psi-tool list of 50", psi_of("News?").call("psi-tool", PSI_LIST), 12_800),
        ("psi-tool list of 50 without labels", unlabelled.call("psi-tool", PSI_LIST), 12_800),
        ("psi-tool list of 50 with 60,000 characters each", psi_of(&long).call("psi-tool", PSI_LIST), 12_800),
        (
            "psi-tool list of 50 with a sentence each",
            psi_of("Check whether the build has finished.").call("psi-tool", PSI_LIST),
            12_800,
        ),
        ("psi-tool query of 30 with 60,000 characters each", native_many.call("psi-tool", query), most),
        ("psi-tool with 3,000 unknown arguments", scene().call("psi-tool", &stray), most),
        ("cron_create", scene().call("cron_create", &cron(0, SHORT)), 700),
        ("cron_list of 20", cron_of(20, SHORT).call("cron_list", "{}"), most),
        ("cron_list of 135 with 60,000 characters each", many.call("cron_list", "{}"), most),
        ("cron_get of 60,000 characters", many.call("cron_get", &format!(r#"{{"job_id":{job}}}"#)), 61_000),
        ("reminderadd", scene().call("reminderadd", &reminder(0)), 220),
        ("reminderlist of 50", reminders.call("reminderlist", "{}"), 6_144),
        ("reminderadd, the 51st", reminders.call("reminderadd", &reminder(50)), 6_600),
        ("reminderremove", reminders.call("reminderremove", remove), 160),
        ("schedule_session_action create", scene().call("schedule_session_action", ACTION), 160),
        (
            "schedule_session_action list of 3",
            scene()
                .fill(3, "schedule_session_action", |_| ACTION.to_owned())
                .call("schedule_session_action", r#"{"operation":"list"}"#),
            700,
        ),
        ("CronCreate", scene().call("CronCreate", &claude(0, SHORT)), 600),
        (
            "CronList of 20",
            scene().fill(20, "CronCreate", |number| claude(number, SHORT)).call("CronList", "{}"),
            5_120,
        ),
        ("ScheduleWakeup", scene().call("ScheduleWakeup", WAKEUP), 400),
        ("create", scene().call("create", &native(0, SHORT)), 500),
        ("list of 20", native_of(20, SHORT).call("list", "{}"), 5_120),
        (
            "list of 50 with 60,000 characters each",
            native_of(50, &long).call("list", r#"{"first":100}"#),
            most,
        ),
        (
            "explain of 60,000 characters",
            native_many.call("explain", &format!(r#"{{"schedule_id":{schedule}}}"#)),
            61_000,
        ),
        ("query of 30 with 60,000 characters each", native_many.call("query", query), most),
    ]
}

/// The bounds of issue and seed hold, and the page has the figures.
#[test]
fn answers_are_short() {
    let mut page = String::from(
        "# What the tools cost a model\n\nGenerated by `tests/suite/answer_sizes.rs`. A token is about four bytes. No answer \
         is longer than `tool-answer-bytes` ([LIMITS](LIMITS.md)), unless one thing was asked for by its id: lists end at a \
         row and say how to go on, and long texts are cut with their length.\n\n## Names, descriptions and schemas\n\n\
         | tool | bytes | tokens |\n|---|---|---|\n",
    );
    let mut row = |name: &str, bytes: usize, most: Option<usize>| {
        let most = most.map(|most| format!(" {most} |")).unwrap_or_default();
        writeln!(page, "| {name} | {bytes} | {} |{most}", bytes.div_ceil(4)).expect("a string grows");
    };
    let tools = tool_schemas::sizes();
    tools.iter().for_each(|(name, bytes)| row(&format!("`{name}`"), *bytes, None));
    row("all", tools.iter().map(|(_, bytes)| bytes).sum(), None);
    page += "\n## Answers\n\n| call | bytes | tokens | most bytes |\n|---|---|---|---|\n";
    let mut too_long = Vec::new();
    for (call, answer, most) in answers() {
        let bytes = bytes(&answer);
        writeln!(page, "| {call} | {bytes} | {} | {most} |", bytes.div_ceil(4)).expect("a string grows");
        if bytes > most {
            too_long.push(format!("{call}: {bytes} bytes of {most}: {:.2000}", answer.to_string()));
        }
    }
    assert_eq!(too_long, Vec::<String>::new());
    generated::check("docs/ANSWERS.md", &page);
}

/// Follows the cursors of a list, and returns its rows in order with the number of pages.
fn walk(scene: &Scene, tool: &str, args: &str, (rows, id): (&str, &str)) -> (Vec<String>, usize) {
    let (mut found, mut pages, mut after) = (Vec::new(), 0, String::new());
    loop {
        let answer = scene.call(tool, &format!("{{{args}{after}}}"));
        let page = part(&answer, rows);
        found.extend(page.as_items().expect("rows").iter().map(|row| part(row, id).to_string()));
        pages += 1;
        let cursor = part(&answer, "after");
        if cursor.is_nil() {
            return (found, pages);
        }
        after = format!(r#"{}"after":{cursor}"#, if args.is_empty() { "" } else { "," });
    }
}

#[test]
fn the_pages_of_a_list_have_everything_once() {
    let long = "x".repeat(60_000);
    let jobs = Scene::new().fill(135, "cron_create", |number| cron(number, &long));
    let natives = Scene::new().fill(120, "create", |number| native(number, SHORT));
    let reminders = Scene::new().fill(50, "reminderadd", reminder);
    for (scene, tool, args, names, count, least) in [
        (&jobs, "cron_list", "", ("jobs", "job id"), 135, 4),
        (&jobs, "cron_list", r#""first":50"#, ("jobs", "job id"), 135, 3),
        (&natives, "list", r#""first":100"#, ("schedules", "schedule_id"), 120, 2),
        (&natives, "list", "", ("schedules", "schedule_id"), 120, 6),
        (&reminders, "reminderlist", r#""first":20"#, ("reminders", "description"), 50, 3),
        (&reminders, "reminderlist", "", ("reminders", "description"), 50, 1),
    ] {
        let (found, pages) = walk(scene, tool, args, names);
        assert_eq!(found.len(), count, "{tool} {args}");
        assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), count, "{tool} {args}: one twice");
        assert!(pages >= least, "{tool} {args}: {pages} pages");
    }
    let gone = jobs.call("cron_list", r#"{"after":"nothing"}"#);
    assert_eq!(part(&gone, "error kind"), Value::keyword("unknown_cursor"));
}

/// psi's `list` has no argument to go on with: its answer has the call that does.
#[test]
fn a_list_of_psi_that_is_cut_has_the_call_that_goes_on() {
    let scene = Scene::new().fill(120, "create", |number| native(number, SHORT));
    let list = scene.call("psi-tool", PSI_LIST);
    assert_eq!(part(&list, "psi-tool/scheduler schedule-count"), Value::Int(120));
    let rows = |value: &Value, path: &str, id: &str| -> Vec<String> {
        part(value, path).as_items().expect("rows").iter().map(|row| part(row, id).to_string()).collect()
    };
    let mut found = rows(&list, "psi-tool/scheduler schedules", "schedule-id");
    let cuts = part(&list, "psi-tool/scheduler psi-tool/truncated cuts");
    let mut next = String::new();
    json::write(&part(&cuts.as_items().expect("cuts")[0], "next"), &mut next);
    while found.len() < 120 {
        let page = scene.call("psi-tool", &next);
        let ids = rows(&page, "psi.scheduler/schedules", "psi.scheduler/schedule-id");
        let (before, last) = (found.last().expect("some").clone(), ids.last().expect("more").clone());
        next = next.replace(before.trim_matches('"'), last.trim_matches('"'));
        found.extend(ids);
    }
    assert_eq!((found.len(), found.iter().collect::<BTreeSet<_>>().len()), (120, 120));
}

/// A list shows at least one row. One that is too long by itself, for its session's name, is cut as any other answer is.
#[test]
fn a_row_of_psi_that_is_too_long_by_itself_is_cut() {
    let name = "n".repeat(30_000);
    let create = format!(
        r#"{{"action":"scheduler","op":"create","kind":"session","message":"{SHORT}","delay-ms":600000,
            "session-config":{{"session-name":"{name}"}}}}"#
    );
    let scene = Scene::new().fill(1, "psi-tool", |_| create.clone());
    let list = scene.call("psi-tool", PSI_LIST);
    let most = usize::try_from(limits::TOOL_ANSWER_BYTES.value).expect("it is small");
    assert!(bytes(&list) <= most, "{} bytes", bytes(&list));
    let cuts = part(&list, "psi-tool/truncated cuts");
    let cut = &cuts.as_items().expect("cuts")[0];
    assert!(part(cut, "path").to_string().ends_with(":session-config-summary :session-name]"), "{cut}");
    assert_eq!(part(cut, "of"), Value::Int(30_000));
}
