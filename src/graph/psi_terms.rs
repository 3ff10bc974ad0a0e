//! Shows schedules in psi's terms, where psi has one: statuses, phases, errors and configurations. All query languages
//! and psi's tools share these functions.
//!
//! Invariant: a schedule that psi's tools can create is shown in psi's terms only. A delivery in progress counts as
//! pending, and an attribute of its own shows it. Source: psi's record and its projections.

use std::collections::BTreeSet;

use super::params::field;
use super::registry::{Param, ParamType, Record};
use crate::domain::{
    About, Attachment, Call, CallPurpose, CallVia, Failure, Model, Moment, Notice, NotifyWhen, PayloadKind,
    Phase, Reason, RunState, SessionConfig, SessionId, Sink, Status, Target, ThinkingLevel,
};
use crate::edn::{Inst, Map, Value};
use crate::engine::{ScheduleRecord, State};

/// The statuses that are shown, psi's first: all but `in-flight`.
pub(crate) const STATUSES: &[&str] = &[
    Status::Pending.name(),
    Status::Queued.name(),
    Status::Left.name(),
    Status::Delivered.name(),
    Status::Cancelled.name(),
    Status::Failed.name(),
    Status::Paused.name(),
    Status::Skipped.name(),
    Status::Finished.name(),
];

/// The Java class of psi's exceptions. Programs match on it, so errors here have it as well.
pub(crate) const ERROR_CLASS: &str = "clojure.lang.ExceptionInfo";

/// Returns the status that is shown for a status of the engine.
pub fn status(status: Status) -> Status {
    match status {
        // psi has no status between pending and delivered.
        Status::Pending | Status::InFlight => Status::Pending,
        Status::Paused
        | Status::Queued
        | Status::Left
        | Status::Delivered
        | Status::Skipped
        | Status::Finished
        | Status::Cancelled
        | Status::Failed => status,
    }
}

/// Returns how far the delivery came: for a delivered fresh session, and for a failure of any kind.
pub(crate) fn delivery_phase(state: &State, record: &ScheduleRecord) -> Option<Phase> {
    match (record.status(), record.schedule().payload.kind()) {
        // As in psi: a delivered fresh session has a phase, a delivered prompt has none.
        (Status::Left | Status::Delivered, PayloadKind::Session) => Some(Phase::PromptSubmit),
        (Status::Failed, _) => failure(state, record).map(|failure| failure.phase),
        (
            Status::Left | Status::Delivered,
            PayloadKind::Message | PayloadKind::Notice | PayloadKind::Call,
        )
        | (
            Status::Pending
            | Status::Paused
            | Status::Queued
            | Status::InFlight
            | Status::Skipped
            | Status::Finished
            | Status::Cancelled,
            _,
        ) => None,
    }
}

/// Returns the fresh session that the last run of a schedule created.
pub(crate) fn created_session<'a>(state: &'a State, record: &ScheduleRecord) -> Option<&'a SessionId> {
    let run = state.newest_run(record)?.run();
    // The name alone proves nothing: a run into an existing session has one, and so has a run that failed to create one.
    run.session.as_ref().filter(|_| run.session_created)
}

/// The fields of [`error_summary`].
pub(crate) const ERROR_SUMMARY: Record = Record {
    name: "error-summary",
    doc: "The error that a schedule ended in, as psi shows it.",
    params: &[
        field::<Box<str>>("message", "The error message."),
        field::<Box<str>>("class", "The Java class of psi's exceptions: always clojure.lang.ExceptionInfo."),
        Param::shown("data", ParamType::Record(&ERROR_DATA), "The data of the error, for programs."),
    ],
};

const ERROR_DATA: Record = Record {
    name: "error-data",
    doc: "The data of an error, for programs.",
    params: &[field::<Reason>("reason", "Why the run failed.")],
};

/// Returns the error of a schedule whose last run failed.
pub(crate) fn error_summary(state: &State, record: &ScheduleRecord) -> Option<Value> {
    let failure = failure(state, record)?;
    // The message begins with psi's text for the failed step, where psi has one. The cause follows.
    let lead = match (record.schedule().payload.kind(), failure.phase) {
        (PayloadKind::Session, Phase::CreateSession) => "scheduled session creation failed",
        (PayloadKind::Session, Phase::PromptSubmit) => "scheduled session prompt submission failed",
        (PayloadKind::Message, Phase::CreateSession | Phase::PromptSubmit) => {
            "scheduled prompt submission failed"
        }
        (PayloadKind::Notice, Phase::CreateSession | Phase::PromptSubmit) => "scheduled notice failed",
        (PayloadKind::Session | PayloadKind::Message | PayloadKind::Notice, Phase::Outside) => {
            "scheduled delivery to a channel failed"
        }
        (PayloadKind::Call, _) | (_, Phase::Call) => "scheduled call failed",
    };
    let summary = Map::new()
        .with("message", format!("{lead}: {}", failure.message))
        .with("class", ERROR_CLASS)
        .with("data", Map::new().with("reason", Value::keyword(failure.reason.name())));
    Some(summary.into())
}

/// Returns the failure of the last run, if the run ended in it.
fn failure<'a>(state: &'a State, record: &ScheduleRecord) -> Option<&'a Failure> {
    let run = state.newest_run(record)?.run();
    // A run that will be attempted again has the failure of its last attempt, but has not failed.
    run.failure.as_deref().filter(|_| run.state == RunState::Failed)
}

/// Returns why a schedule waits, or why it ended other than by delivery.
pub fn reason(state: &State, record: &ScheduleRecord) -> Option<Reason> {
    let failed = || failure(state, record).map(|failure| failure.reason);
    state.waits_for(record).or_else(|| record.ended_for()).or_else(failed)
}

/// The fields of [`config_summary`].
pub(crate) const CONFIG_SUMMARY: Record = Record {
    name: "session-config-summary",
    doc: "The configuration of a fresh session, in summary.",
    params: &[
        field::<Box<str>>("session-name", "The name of the session, for people.").or_nil(),
        Param::shown("model", ParamType::Record(&MODEL), "The model.").or_nil(),
        field::<ThinkingLevel>("thinking-level", "The thinking level of the model.").or_nil(),
        Param::shown("skill-count", ParamType::COUNT, "The number of different skills."),
        Param::shown("tool-count", ParamType::COUNT, "The number of tools."),
        field::<bool>("has-system-prompt?", "Whether there is a system prompt."),
        field::<bool>("has-developer-prompt?", "Whether there is a developer prompt."),
        field::<bool>("has-prompt-component-selection?", "Whether components of the prompt were selected."),
        Param::shown("preloaded-message-count", ParamType::COUNT, "The number of preloaded messages."),
    ],
};

/// Returns a configuration as psi's summary of nine keys. A part that is not configured is nil, 0 or false. Prompts,
/// messages and tools are counted, never repeated.
pub(crate) fn config_summary(config: &SessionConfig) -> Value {
    let skills = config.skills.as_deref().unwrap_or_default();
    // psi counts distinct names: a skill that is listed twice counts once.
    let skill_names: BTreeSet<&str> = skills.iter().map(|skill| &*skill.name).collect();
    let level = config.thinking_level.map(|level| Value::keyword(level.name()));
    Map::new()
        .with("session-name", config.session_name.as_deref())
        .with("model", config.model.as_ref().map(model))
        .with("thinking-level", level)
        .with("skill-count", count(skill_names.len()))
        .with("tool-count", count(config.tool_ids.as_ref().map_or(0, Vec::len)))
        .with("has-system-prompt?", config.system_prompt.is_some())
        .with("has-developer-prompt?", config.developer_prompt.is_some())
        .with("has-prompt-component-selection?", config.prompt_component_selection.is_some())
        .with("preloaded-message-count", count(config.preloaded_messages.as_ref().map_or(0, Vec::len)))
        .into()
}

/// The fields of [`notice`](fn@notice).
pub(crate) const NOTICE: Record = Record {
    name: "notice",
    doc: "The subject of a notice, and the attached file.",
    params: &[
        field::<About>("about", "The subject of the notice."),
        Param::shown("file", ParamType::Record(&FILE), "The attached file. Nil if there is none.").or_nil(),
    ],
};

/// Returns a notice as a map: its subject and the attached file.
pub fn notice(notice: &Notice) -> Map {
    // The text is shown as the message of the schedule.
    let Notice { about, text: _, file: attached } = notice;
    Map::new().with("about", Value::keyword(about.name())).with("file", attached.as_ref().map(file))
}

/// The fields of [`call`](fn@call).
pub(crate) const CALL: Record = Record {
    name: "call",
    doc: "A call of a tool.",
    params: &[
        field::<Box<str>>("tool", "The tool, by its name."),
        Param::shown("args", ParamType::Map, "The arguments, by name."),
        field::<CallVia>("via", "Where its executor is looked for."),
        field::<CallPurpose>("purpose", "What the call is made for."),
        field::<Box<str>>("sink", "Who is told what it came to: nobody, session, or channel."),
        field::<Box<str>>("channel", "The channel that is told. Nil for other sinks.").or_nil(),
        field::<NotifyWhen>(
            "notify-when",
            "Of a watch: the strategy that decides which checks are notified. Nil for others.",
        )
        .or_nil(),
        Param::shown("notify-config", ParamType::Map, "Of a watch: the settings of its strategy.").or_nil(),
    ],
};

/// Returns a call as a map.
pub fn call(call: &Call) -> Map {
    // Taken apart, so that a part that is added does not compile before it is shown.
    let Call { tool, args, via, purpose, sink, filter } = call;
    let (sink, channel) = match sink {
        Sink::Nobody => ("nobody", None),
        Sink::Session => ("session", None),
        Sink::Channel(name) => ("channel", Some(&**name)),
    };
    Map::new()
        .with("tool", tool.as_str())
        .with("args", (**args).clone())
        .with("via", Value::keyword(via.name()))
        .with("purpose", Value::keyword(purpose.name()))
        .with("sink", sink)
        .with("channel", channel)
        .with("notify-when", filter.as_ref().map(|filter| Value::keyword(filter.when.name())))
        .with("notify-config", filter.as_ref().map(|filter| Value::Map(filter.config())))
}

/// The fields of [`file`](fn@file).
pub(crate) const FILE: Record = Record {
    name: "file",
    doc: "A file that is attached to a message.",
    params: &[
        field::<Box<str>>("path", "The path of the file."),
        field::<Box<str>>("name", "The display name of the file. Nil if not given.").or_nil(),
    ],
};

/// Returns an attached file as a map.
pub fn file(file: &Attachment) -> Map {
    let Attachment { path, name } = file;
    Map::new().with("path", &**path).with("name", name.as_deref())
}

fn count(items: usize) -> Value {
    i64::try_from(items).unwrap_or(i64::MAX).into()
}

/// The fields of [`model`](fn@model).
pub(crate) const MODEL: Record = Record {
    name: "model",
    doc: "A model.",
    params: &[
        field::<Box<str>>("provider", "The provider of the model."),
        field::<Box<str>>("id", "The provider's id of the model."),
        field::<bool>("reasoning", "Whether the model can reason."),
    ],
};

/// Returns a model as a map.
pub(crate) fn model(model: &Model) -> Value {
    let Model { provider, id, reasoning } = model;
    Map::new().with("provider", &**provider).with("id", &**id).with("reasoning", *reasoning).into()
}

/// The type of a target's kind.
pub(crate) const TARGET_KIND: ParamType = ParamType::Enum { name: "target-kind", values: Target::NAMES };

/// Returns an instant as `#inst`, which ends with the year 9999; a later instant as an ISO string.
pub(crate) fn instant(moment: Moment) -> Value {
    let inst = Inst::new(moment.seconds(), moment.nanos());
    inst.map_or_else(|| Value::string(moment.to_string()), Value::Inst)
}
