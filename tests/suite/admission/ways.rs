//! The ways in which a caller can name something: every mutation in both languages, generated from the tables of their
//! parameters, reads of everything that has an id, which for GraphQL are generated from its schema, calls of every tool that
//! takes one, and operations of the stream.
//!
//! The matrix takes them in process (`walls.rs`), and the blackbox tests take them on a daemon and by the clock
//! (`attacks/timing.rs`), so this file knows no engine.

use reveille::domain::Op;
use reveille::edn::{Map, Value};
use reveille::graph::mutation::MutationName as Name;
use reveille::graph::registry::{Param, ParamType};

/// Something that a call is about.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// What it is to most callers.
    pub(crate) name: &'static str,
    pub(crate) session: String,
    pub(crate) schedule: String,
    pub(crate) run: String,
}

impl Subject {
    /// A text about whatever subject, as one about this.
    pub(crate) fn put_into(&self, text: &str) -> String {
        text.replace("SCHEDULE", &self.schedule).replace("RUN", &self.run).replace("SESSION", &self.session)
    }

    /// The text of a call or an answer without what tells this subject from another.
    pub(crate) fn hide(&self, text: &str) -> String {
        text.replace(&self.run, "RUN").replace(&self.schedule, "SCHEDULE").replace(&self.session, "SESSION")
    }
}

/// The parameters of a call about this subject.
pub(crate) fn params(mutation: Name, subject: &Subject) -> Map {
    let all = mutation.params().iter().flat_map(|group| group.params);
    let named = all.filter(|param| param.is_required || param.name.ends_with("session-id"));
    named.fold(Map::new(), |map, param| {
        // The session may be optional, and text in the table; it is the subject all the same.
        let is_session = param.name.ends_with("session-id");
        let value = if is_session { subject.session.as_str().into() } else { sample(param, subject) };
        map.with(param.name, value)
    })
}

fn sample(param: &Param, subject: &Subject) -> Value {
    match param.kind {
        ParamType::Id if param.name.contains("session") => subject.session.as_str().into(),
        ParamType::Id if param.name.contains("schedule") => subject.schedule.as_str().into(),
        ParamType::Id if param.name.contains("run") => subject.run.as_str().into(),
        ParamType::Id => "job-1".into(),
        ParamType::Text => "0".repeat(64).into(),
        ParamType::Boolean => true.into(),
        ParamType::Integer { min, .. } => min.into(),
        ParamType::Instant => "2030-01-01T00:00:00Z".into(),
        ParamType::Enum { values, .. } => Value::keyword(values[0]),
        ParamType::List(_) => Vec::<Value>::new().into(),
        ParamType::Record(_) | ParamType::Map => Map::new().into(),
    }
}

/// The document that carries out a mutation.
pub(crate) fn document(mutation: Name, params: &Map) -> String {
    let parts: Vec<String> = params
        .iter()
        .map(|(name, value)| {
            let name = camel(name.as_keyword().expect("a name").as_str());
            // Names of enums are spelt otherwise, and maps are empty here.
            let word = value.as_keyword().map(|word| word.as_str().to_uppercase().replace('-', "_"));
            let part = format!("{name}: {}", word.unwrap_or_else(|| value.to_string()));
            // A filter is one argument in GraphQL.
            let is_of_filter = mutation == Name::ChangeMany && name == "sessionId";
            if is_of_filter { format!("filter: {{{part}}}") } else { part }
        })
        .collect();
    let inner = parts.join(", ");
    let has_input = matches!(mutation, Name::Create | Name::Reschedule);
    let args = match (has_input, inner.is_empty()) {
        (true, _) => format!("(input: {{{inner}}})"),
        (false, true) => inner,
        (false, false) => format!("({inner})"),
    };
    format!("mutation {{ {}{args} {{ __typename }} }}", field(mutation))
}

/// The field of each mutation.
fn field(mutation: Name) -> &'static str {
    match mutation {
        Name::Create => "createSchedule",
        Name::Cancel => "cancelSchedule",
        Name::Reschedule => "rescheduleSchedule",
        Name::RunNow => "runScheduleNow",
        Name::Pause => "pauseSchedule",
        Name::Resume => "resumeSchedule",
        Name::SkipNext => "skipNextSlot",
        Name::Retry => "retrySchedule",
        Name::ChangeMany => "changeSchedules",
        Name::CancelAll => "cancelAllSchedules",
        Name::PauseAll => "pauseAllSchedules",
        Name::ResumeAll => "resumeAllSchedules",
        Name::HoldAll => "holdAll",
        Name::ReleaseAll => "releaseAll",
        Name::Approve => "approveRun",
        Name::Deny => "denyRun",
        Name::SetGrant => "setSessionGrant",
        Name::Open => "openSession",
        Name::Close => "closeSession",
        Name::TakeMessages => "takeMessages",
        Name::Remember => "remember",
        Name::SetGoal => "setGoal",
        Name::CreateTask => "createTask",
        Name::UpdateTask => "updateTask",
        Name::UserMessage => "sendUserMessage",
        Name::Busy => "setSessionBusy",
        Name::JobReady => "reportJobReady",
        Name::Ping => "pingSession",
    }
}

fn camel(name: &str) -> String {
    let mut words = name.split('-');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &word[..1].to_uppercase() + &word[1..])
}

/// Reads of everything that a caller can name.
pub(crate) const READS: &[&str] = &[
    "[{[:psi.scheduler/schedule-id \"SCHEDULE\"] [:psi.scheduler/status :psi.scheduler/message :psi.scheduler/fire-at]}]",
    "[{[:psi.scheduler/schedule-id \"SCHEDULE\"] [{:psi.scheduler/runs [:reveille.run/state]}]}]",
    "[{[:reveille.run/id \"RUN\"] [:reveille.run/state :reveille.run/reason]}]",
    "[{[:psi.agent-session/session-id \"SESSION\"] \
       [:psi.agent-session/busy? {:psi.agent-session/messages [:reveille.message/text]}]}]",
    "[{[:psi.agent-session/session-id \"SESSION\"] [:psi.agent-session/grant]}]",
    "[{(:reveille/explain {:schedule-id \"SCHEDULE\"}) [:reveille.explanation/verdict :reveille.explanation/reason]}]",
    "[{(:reveille.engine/decisions {:schedule-id \"SCHEDULE\"}) [:reveille.decision/kind]}]",
    "[{(:reveille.engine/decisions {:by \"SESSION\"}) [:reveille.decision/kind]}]",
    "[{(:psi.scheduler/schedules {:session-id \"SESSION\"}) [:psi.scheduler/schedule-id]}]",
    "[{(:reveille/forecast {:schedule-id \"SCHEDULE\"}) [:reveille.slot/at]}]",
    "[{(:reveille/what-if {:schedule-id \"SCHEDULE\" :delay-ms 60000}) [:reveille.slot/at]}]",
    "[{(:reveille/what-if {:schedule-id \"SCHEDULE\" :zone \"Nowhere/At-all\"}) [:reveille.slot/at]}]",
];

/// Reads in GraphQL: every field of the root and of the engine, with each of its arguments that names something.
pub(crate) fn documents() -> Vec<String> {
    let of_root = reads_of("Query").into_iter().map(|read| format!("{{ {read} }}"));
    let of_engine = reads_of("Engine").into_iter().map(|read| format!("{{ engine {{ {read} }} }}"));
    of_root.chain(of_engine).collect()
}

/// The fields of a type, each with one argument that names something.
fn reads_of(holder: &str) -> Vec<String> {
    let (mut reads, mut field, mut args) = (Vec::new(), "", Vec::new());
    for line in block("type", holder).map(str::trim) {
        if let Some(name) = line.strip_suffix('(') {
            (field, args) = (name, Vec::new());
        } else if let Some(answered) = line.strip_prefix("): ") {
            let chosen = chosen(answered);
            let more = if field == "whatIf" { ", delayMs: 60000" } else { "" };
            reads.extend(args.drain(..).map(|arg: String| format!("{field}({arg}{more}) {{ {chosen} }}")));
        } else if let Some((name, kind)) = line.split_once(": ") {
            args.extend(naming(name, kind.trim_end_matches([',', '!'])));
        }
    }
    reads
}

/// What names something in an argument of GraphQL.
fn naming(name: &str, kind: &str) -> Vec<String> {
    let subject = match (name, kind) {
        ("scheduleId" | "id" | "idPrefix", _) => "\"SCHEDULE\"",
        ("sessionId" | "by", "ID" | "String") => "\"SESSION\"",
        ("runId", _) => "\"RUN\"",
        ("filter", _) => {
            let parts = block("input", kind);
            let parts = parts.filter_map(|line| line.trim().split_once(": "));
            let named = parts.flat_map(|(name, kind)| naming(name, kind.trim_end_matches([',', '!'])));
            return named.map(|part| format!("filter: {{{part}}}")).collect();
        }
        _ => return Vec::new(),
    };
    vec![format!("{name}: {subject}")]
}

/// What is asked of an answer: how many there are, or what has no text and no time in it, which may tell of the moment.
fn chosen(answered: &str) -> String {
    let kind = answered.trim_matches(['[', ']', '!']);
    if kind.ends_with("Connection") {
        return "totalCount".to_owned();
    }
    let is_plain =
        |kind: &str| ["ID", "Int", "Boolean"].contains(&kind) || block("enum", kind).next().is_some();
    // Arguments have more blanks in front than fields, and are none.
    let fields = block("type", kind).filter_map(|line| line.strip_prefix("  ")?.split_once(": "));
    let fields = fields.filter(|(name, _)| !name.starts_with([' ', ')']));
    let plain = fields.filter(|(_, kind)| is_plain(kind.trim_end_matches('!')));
    plain.fold("__typename".to_owned(), |chosen, (name, _)| chosen + " " + name)
}

/// The lines of a declaration in the schema, without what describes them.
fn block(keyword: &str, name: &str) -> impl Iterator<Item = &'static str> + use<> {
    let declaration = format!("\n{keyword} {name} {{\n");
    let text = SCHEMA.split_once(&declaration).and_then(|(_, rest)| rest.split_once("\n}"));
    text.map_or("", |(lines, _)| lines).lines().filter(|line| !line.trim_start().starts_with('"'))
}

const SCHEMA: &str = include_str!("../../../schema/reveille.graphql");

/// Calls of tools that name a schedule.
pub(crate) const CALLS: &[(&str, &str)] = &[
    ("psi-tool", "{:action \"scheduler\" :op \"cancel\" :schedule-id \"SCHEDULE\"}"),
    ("cron_get", "{:job_id \"SCHEDULE\"}"),
    ("cron_update", "{:job_id \"SCHEDULE\" :patch {:prompt \"x\"}}"),
    ("cron_delete", "{:job_id \"SCHEDULE\"}"),
    ("cron_pause", "{:job_id \"SCHEDULE\"}"),
    ("cron_resume", "{:job_id \"SCHEDULE\"}"),
    ("report_job_ready", "{:job_id \"SCHEDULE\"}"),
    ("cancel_schedule", "{:job_id \"SCHEDULE\"}"),
    ("background_run", "{:task_id \"SCHEDULE\"}"),
    ("background_run", "{:task_id \"SCHEDULE\" :cancel true}"),
    ("watch_stop", "{:watcher_id \"SCHEDULE\"}"),
    ("watch_pause", "{:watcher_id \"SCHEDULE\"}"),
    ("watch_resume", "{:watcher_id \"SCHEDULE\"}"),
    ("watch_status", "{:watcher_id \"SCHEDULE\"}"),
    ("watch_history", "{:watcher_id \"SCHEDULE\"}"),
    ("schedule_session_action", "{:operation \"cancel\" :action_id \"SCHEDULE\"}"),
    ("schedule_session_action", "{:operation \"run-now\" :action_id \"SCHEDULE\"}"),
    ("CronDelete", "{:id \"SCHEDULE\"}"),
    ("cancel", "{:id \"SCHEDULE\"}"),
    ("update", "{:id \"SCHEDULE\" :label \"l\"}"),
    ("explain", "{:id \"SCHEDULE\"}"),
    ("query", "{:query \"[{[:psi.scheduler/schedule-id \\\"SCHEDULE\\\"] [:psi.scheduler/status]}]\"}"),
];

/// What each operation of the stream is, and a request of it about `SESSION`.
pub(crate) const OPS: &[(&str, Op, &str)] = &[
    ("call", Op::Query, "{:op :call :tool \"list\" :args {} :session-id \"SESSION\"}"),
    ("session/open", Op::OpenSession, "{:op :session/open :session-id \"SESSION\"}"),
    ("session/close", Op::CloseSession, "{:op :session/close :session-id \"SESSION\"}"),
    ("session/busy", Op::Busy, "{:op :session/busy :session-id \"SESSION\" :busy? false}"),
    (
        "session/user-message",
        Op::UserMessage,
        "{:op :session/user-message :session-id \"SESSION\" :text \"hi\"}",
    ),
    ("session/job-ready", Op::JobReady, "{:op :session/job-ready :session-id \"SESSION\" :job-id \"j\"}"),
    ("host/attach", Op::AttachHost, "{:op :host/attach :sessions [\"SESSION\"]}"),
    ("agent/bind", Op::BindAgent, "{:op :agent/bind :pid 7 :started \"1\" :address \"claude:SESSION\"}"),
    ("agent/whose", Op::BindAgent, "{:op :agent/whose :pid 7 :started \"1\"}"),
    ("agent/wait", Op::AttachHost, "{:op :agent/wait :session-id \"SESSION\"}"),
    (
        "agent/handed",
        Op::Receipt,
        "{:op :agent/handed :session-id \"SESSION\" :delivery-id \"SESSION~1~2026-01-01T00:00:00Z\"}",
    ),
    (
        "agent/shown",
        Op::BindAgent,
        "{:op :agent/shown :session-id \"SESSION\" :delivery-id \"SESSION~1~2026-01-01T00:00:00Z\"}",
    ),
    ("agent/idle", Op::BindAgent, "{:op :agent/idle :session-id \"SESSION\"}"),
    (
        "agent/schedules",
        Op::BindAgent,
        "{:op :agent/schedules :session-id \"SESSION\" :schedules [] :count 0}",
    ),
    ("agent/release", Op::BindAgent, "{:op :agent/release :session-id \"SESSION\"}"),
    ("delivery/ack", Op::Receipt, "{:op :delivery/ack :delivery-id \"SESSION~1~2026-01-01T00:00:00Z\"}"),
    ("delivery/nack", Op::Receipt, "{:op :delivery/nack :delivery-id \"SESSION~1~2026-01-01T00:00:00Z\"}"),
    ("subscribe", Op::Follow, "{:op :subscribe}"),
    (
        "eql",
        Op::Graph,
        "{:op :eql :query [{[:psi.agent-session/session-id \"SESSION\"] [:psi.agent-session/busy?]}]}",
    ),
    ("tools/offer", Op::AttachHost, "{:op :tools/offer :tools [{:name \"own.read\"}]}"),
    ("tool/result", Op::Receipt, "{:op :tool/result :call-id \"SESSION\" :ok 1}"),
];
