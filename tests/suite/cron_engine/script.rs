//! The rows of `fixtures/cron/engine.txt` and of the other dialects: scenes, each played from its heading on.
//!
//! `# TITLE` begins a scene at `START ZONE`; `> STEP` is done, and below it stands what came of it. A job is called by its
//! name, as `$News`.
//!
//! `fixtures/reminder/engine.txt` has the table of tests that SEED-003's systems have. Left out of it is what has no place
//! here: timers that are created and replaced one by one (one deadline, checked by the laws), leases between processes with
//! their files, pids and guards (one process owns a store: `store`), fences on reload, records that cannot be read
//! (`store::damage`), toasts, the agent that made a reminder (a session is one agent here), and the abort of a turn
//! by a cancel (nobody stops a turn; nothing comes after it). A missed cadence is made up for once, as the seed has it, and
//! not skipped as its later plugin does.
//!
//! `fixtures/session_action/engine.txt` has the table of SEED-000's. Left out of it is what has no place here: ticks and
//! leases (one deadline, and a run is with its host or not), channels with their kinds, their running states and their user's
//! notifications (a session has one host, and what waits for one that is gone waits), the file that all is kept in
//! (`store`), switches and slash commands, retries of a model's own turns, and likeness without a key, which is
//! none here. An action is cancelled as long as no host has it.

use std::collections::VecDeque;

use reveille::dialect::Answer;
use reveille::domain::{Caller, Reason, ScheduleId, Scope, Span};
use reveille::edn::{Map, Value};
use reveille::engine::{Command, ForecastQuery, ForecastSlot, Input, Report};
use reveille::port::Clock;

use super::scene::{Scene, session};

#[test]
fn scenes_go_as_the_rows_say() {
    scenes_go_as_said("fixtures/cron/engine.txt");
}

#[test]
fn reminders_go_as_the_rows_say() {
    scenes_go_as_said("fixtures/reminder/engine.txt");
}

#[test]
fn delayed_actions_go_as_the_rows_say() {
    scenes_go_as_said("fixtures/session_action/engine.txt");
}

#[test]
fn guarded_runs_go_as_the_rows_say() {
    scenes_go_as_said("fixtures/guard/engine.txt");
}

#[test]
fn lines_go_as_the_rows_say() {
    scenes_go_as_said("fixtures/guard/lines.txt");
}

#[track_caller]
fn scenes_go_as_said(path: &str) {
    let rows = std::fs::read_to_string(path).expect("the rows");
    let mut said = String::new();
    let mut scene = None;
    for line in rows.lines() {
        if let Some(step) = line.strip_prefix("> ") {
            said += line;
            said.push('\n');
            let (verb, rest) = step.split_once(' ').unwrap_or((step, ""));
            if verb == "start" {
                let (start, zone) = rest.split_once(' ').unwrap_or((rest, "UTC"));
                scene = Some(Scene::new(start, zone));
                continue;
            }
            let scene = scene.as_mut().expect("a scene begins with its start");
            for line in play(scene, verb, rest) {
                said += &format!("  {line}\n");
            }
        } else if line.is_empty() || line.starts_with('#') || line.starts_with(';') {
            said += line;
            said.push('\n');
        }
    }
    super::check(path, &said);
}

/// Does one step, and says what came of it.
fn play(scene: &mut Scene, verb: &str, rest: &str) -> Vec<String> {
    if let Some(done) = super::guarding::play(scene, verb, rest) {
        let mut lines = outcome(done);
        lines.extend(scene.news());
        return lines.iter().map(|line| by_name(scene, line)).collect();
    }
    let mut lines = match verb {
        _ if is_done(scene, verb, rest) => Vec::new(),
        "close" => outcome(scene.command(Command::CloseSession { session: session(rest), by: None })),
        "ack" => outcome(scene.acknowledge()),
        "hold" => outcome(scene.command(Command::HoldAll { by: Scope::Operator.into(), reason: None })),
        "release" => outcome(scene.command(Command::ReleaseAll { by: Scope::Operator.into() })),
        "repeat" => repeat(scene, rest),
        "say" => say(scene, rest),
        "explain" => explain(scene, rest),
        "forecast" => forecast(scene),
        "text" => scene.last_text().lines().map(str::to_owned).collect(),
        _ => call(scene, verb, rest),
    };
    lines.extend(scene.news());
    lines.iter().map(|line| by_name(scene, line)).collect()
}

/// Does a step that says nothing of its own, if it is one.
fn is_done(scene: &mut Scene, verb: &str, rest: &str) -> bool {
    match verb {
        "pass" => scene.pass(span(rest)),
        "oversleep" => scene.oversleep(span(rest)),
        "down" => scene.down(span(rest)),
        "turn" => scene.turn(),
        "open" => scene.open(rest),
        "attach" => scene.attach(&rest.split(' ').map(session).collect::<Vec<_>>()),
        "detach" => scene.detach(),
        "busy" => scene.busy(rest, true),
        "idle" => scene.busy(rest, false),
        "refuse" => scene.refuse_prompts(),
        "silence" => scene.answer_nothing(),
        "answer" => scene.answer_again(),
        _ => return false,
    }
    true
}

fn outcome(outcome: Result<(), String>) -> Vec<String> {
    outcome.err().map(|refusal| format!("refused: {refusal}")).into_iter().collect()
}

/// `JOB`: why it is as it is, in words.
fn explain(scene: &Scene, rest: &str) -> Vec<String> {
    let id = &scene.names[rest.trim_start_matches('$')];
    let (zones, now) = (&scene.stage.zones, scene.stage.clock.now());
    vec![scene.handle.view(|state| state.explain(zones, now, (id, None), &VecDeque::new()).sentence())]
}

/// What is to come within a day.
fn forecast(scene: &Scene) -> Vec<String> {
    let (zones, now) = (&scene.stage.zones, scene.stage.clock.now());
    let ask = ForecastQuery { first: 5, ..ForecastQuery::of(&Scope::Operator, now.wall) };
    let slots = scene.handle.view(|state| state.forecast(zones, now, &ask).slots);
    let line = |coming: ForecastSlot| {
        let reason = coming.reason.map_or("", Reason::name);
        format!("{} {} {reason} {}", coming.slot, coming.outcome.name(), coming.rule.unwrap_or_default())
            .trim_end()
            .to_owned()
    };
    slots.into_iter().map(line).collect()
}

/// `SESSION TEXT`: a person speaks.
fn say(scene: &mut Scene, rest: &str) -> Vec<String> {
    let (id, text) = rest.split_once(' ').expect("a text");
    let report = Report::UserMessage { session: session(id), text: text.into(), by: None };
    outcome(scene.submit(Input::Report(report)))
}

/// `COUNT TOOL ARGS`: the last answer.
fn repeat(scene: &mut Scene, rest: &str) -> Vec<String> {
    let (count, call_text) = rest.split_once(' ').expect("a count");
    let (tool, args) = call_text.split_once(' ').unwrap_or((call_text, "{}"));
    let count: usize = count.parse().expect("a number");
    let mut last = Vec::new();
    for _ in 0..count {
        last = call(scene, tool, args);
    }
    last
}

pub(crate) fn span(text: &str) -> Span {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).expect("a unit"));
    let units = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
    let (_, millis) = units.into_iter().find(|(known, _)| *known == unit).expect("a unit of time");
    Span::from_millis(number.parse::<u64>().expect("a number") * millis)
}

/// `TOOL[@CALLER] ARGS`; the caller is the session `s`, unless one is named.
fn call(scene: &mut Scene, tool: &str, args: &str) -> Vec<String> {
    let (tool, caller) = tool.split_once('@').unwrap_or((tool, "s"));
    let caller = if caller == "operator" { Caller::OPERATOR } else { Caller::session(session(caller)) };
    let mut args = args.to_owned();
    for (name, id) in &scene.names {
        args = args.replace(&format!("${name}"), &format!("\"{id}\""));
    }
    let args = if args.is_empty() { "{}" } else { &args };
    let answer = scene.call(&caller, tool, args);
    remember(scene, &answer);
    tell(&answer)
}

fn remember(scene: &mut Scene, answer: &Answer) {
    let job = answer.value.as_map().and_then(|map| part(map, "job")).and_then(Value::as_map);
    let text = |name: &str| job.and_then(|job| part(job, name)).and_then(Value::as_str);
    // An action has no name: it is called by its number.
    let map = answer.value.as_map();
    if let Some(id) = map
        .filter(|map| part(map, "status") == Some(&Value::keyword("created")))
        .and_then(|map| part(map, "actionId"))
    {
        let name = format!("A{}", scene.names.len() + 1);
        scene.names.insert(name, ScheduleId::new(id.as_str().expect("a text")).expect("an id"));
    }
    if let (Some(name), Some(id)) = (text("name"), text("id")) {
        scene.names.insert(name.to_owned(), ScheduleId::new(id).expect("an id"));
    }
}

fn by_name(scene: &Scene, line: &str) -> String {
    let jobs = scene.names.iter();
    jobs.fold(line.to_owned(), |line, (name, id)| line.replace(&id.to_string(), &format!("${name}")))
}

fn part<'a>(map: &'a Map, name: &str) -> Option<&'a Value> {
    map.keyword(name).filter(|value| !value.is_nil())
}

/// What matters of an answer, part by part.
fn tell(answer: &Answer) -> Vec<String> {
    let Some(map) = answer.value.as_map() else { return vec![answer.value.to_string()] };
    if let Some(error) = part(map, "error").and_then(Value::as_map) {
        let word = |name: &str| part(error, name).map(Value::to_string).unwrap_or_default();
        let told = format!("error {} {} {}", word("kind"), word("class"), word("message"));
        let reminders = part(error, "reminders")
            .and_then(Value::as_items)
            .map(|rows| format!("{} reminders, first {}", rows.len(), rows.first().unwrap_or(&Value::Nil)));
        return [told].into_iter().chain(reminders).collect();
    }
    if let Some(message) = part(map, "message").and_then(Value::as_str) {
        let status = part(map, "status").map(Value::to_string);
        let lines = status.into_iter().chain(message.lines().map(str::to_owned));
        return lines.chain(tell_rows(map)).collect();
    }
    if let Some(jobs) = part(map, "jobs").and_then(Value::as_items) {
        let lines = jobs.iter().flat_map(|view| tell_job(view.as_map().expect("a map")));
        let warnings = part(map, "warnings").map(Value::to_string);
        return lines.chain(warnings.filter(|text| text != "[]")).collect();
    }
    let status = part(map, "status").map(Value::to_string);
    let rest = ["next_runs", "note", "warnings"]
        .into_iter()
        .filter_map(|name| Some(format!("{name} {}", part(map, name)?)));
    status.into_iter().chain(tell_job(map)).chain(rest).collect()
}

/// The rows of a list, or what an answer about an action says besides its sentence.
fn tell_rows(map: &Map) -> Vec<String> {
    let rows =
        ["actions", "reminders"].into_iter().find_map(|name| part(map, name).and_then(Value::as_items));
    if let Some(rows) = rows {
        return rows.iter().map(Value::to_string).collect();
    }
    let is_told =
        |key: &Value| key.as_keyword().is_some_and(|key| ["status", "message"].contains(&key.as_str()));
    let rest: Map = map
        .iter()
        .filter(|(key, _)| part(map, "actionId").is_some() && !is_told(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if rest.is_empty() { Vec::new() } else { vec![Value::Map(rest).to_string()] }
}

fn tell_job(view: &Map) -> Vec<String> {
    let job = part(view, "job").and_then(Value::as_map).map(|job| {
        let word = |name: &str| part(job, name).map(Value::to_string).unwrap_or_default();
        let on = if part(job, "enabled") == Some(&Value::Bool(true)) { "enabled" } else { "disabled" };
        let (name, revision) = (word("name"), word("revision"));
        format!("{name} revision {revision}, {on}, {} to {}", word("schedule"), word("target"))
    });
    let state = part(view, "state").map(Value::to_string);
    job.into_iter().chain(state).collect()
}
