//! What is shown of a schedule, the same in every language: statuses, phases and errors in psi's words where
//! psi has one.
//!
//! Invariant: what psi's tools can make is shown in psi's words only; a delivery under way is still pending,
//! and an attribute of its own says so. Source: psi's record and its projections.

use std::collections::BTreeSet;

use super::params::field;
use super::registry::{Param, ParamType, Record};
use crate::domain::{
    About, Attachment, Failure, Model, Moment, Notice, PayloadKind, Phase, Reason, RunState, SessionConfig,
    SessionId, Status, Target, ThinkingLevel,
};
use crate::edn::{Inst, Map, Value};
use crate::engine::{ScheduleRecord, State};

/// The statuses that are shown.
pub(crate) const STATUSES: &[&str] = &[
    Status::Pending.name(),
    Status::Queued.name(),
    Status::Delivered.name(),
    Status::Cancelled.name(),
    Status::Failed.name(),
    Status::Paused.name(),
    Status::Skipped.name(),
    Status::Finished.name(),
];

/// psi's exceptions are of one Java class; programs match on it.
pub(crate) const ERROR_CLASS: &str = "clojure.lang.ExceptionInfo";

/// The status that is shown for one of ours.
pub fn status(status: Status) -> Status {
    match status {
        Status::Pending | Status::InFlight => Status::Pending,
        Status::Paused
        | Status::Queued
        | Status::Delivered
        | Status::Skipped
        | Status::Finished
        | Status::Cancelled
        | Status::Failed => status,
    }
}

/// How far the delivery came: of a fresh session that has its prompt, and of anything that failed.
pub(crate) fn delivery_phase(state: &State, record: &ScheduleRecord) -> Option<Phase> {
    match (record.status(), record.schedule().payload.kind()) {
        (Status::Delivered, PayloadKind::Session) => Some(Phase::PromptSubmit),
        (Status::Failed, _) => failure(state, record).map(|failure| failure.phase),
        (Status::Delivered, PayloadKind::Message | PayloadKind::Notice)
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

/// The fresh session that the last run of a schedule created.
pub(crate) fn created_session<'a>(state: &'a State, record: &ScheduleRecord) -> Option<&'a SessionId> {
    let run = state.newest_run(record)?.run();
    run.session.as_ref().filter(|_| run.session_created)
}

/// The fields of [`error_summary`].
pub(crate) const ERROR_SUMMARY: Record = Record {
    name: "error-summary",
    doc: "The error that a schedule ended in, as psi shows it.",
    params: &[
        field::<Box<str>>("message", "What went wrong."),
        field::<Box<str>>("class", "The class of psi's exceptions."),
        Param::shown("data", ParamType::Record(&ERROR_DATA), "What programs match on."),
    ],
};

const ERROR_DATA: Record = Record {
    name: "error-data",
    doc: "What programs match on.",
    params: &[field::<Reason>("reason", "Why it failed.")],
};

/// The error of a schedule whose last run failed.
pub(crate) fn error_summary(state: &State, record: &ScheduleRecord) -> Option<Value> {
    let failure = failure(state, record)?;
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
    };
    let summary = Map::new()
        .with("message", format!("{lead}: {}", failure.message))
        .with("class", ERROR_CLASS)
        .with("data", Map::new().with("reason", Value::keyword(failure.reason.name())));
    Some(summary.into())
}

fn failure<'a>(state: &'a State, record: &ScheduleRecord) -> Option<&'a Failure> {
    let run = state.newest_run(record)?.run();
    run.failure.as_deref().filter(|_| run.state == RunState::Failed)
}

/// Why a schedule waits at this moment, or why it ended otherwise than by delivery.
pub fn reason(state: &State, record: &ScheduleRecord) -> Option<Reason> {
    let failed = || failure(state, record).map(|failure| failure.reason);
    state.waits_for(record).or_else(|| record.ended_for()).or_else(failed)
}

/// The fields of [`config_summary`].
pub(crate) const CONFIG_SUMMARY: Record = Record {
    name: "session-config-summary",
    doc: "What was asked of a fresh session, in short.",
    params: &[
        field::<Box<str>>("session-name", "A name for people.").or_nil(),
        Param::shown("model", ParamType::Record(&MODEL), "The model.").or_nil(),
        field::<ThinkingLevel>("thinking-level", "How hard the model is to think.").or_nil(),
        Param::shown("skill-count", ParamType::COUNT, "How many skills."),
        Param::shown("tool-count", ParamType::COUNT, "How many tools."),
        field::<bool>("has-system-prompt?", "Whether there is a system prompt."),
        field::<bool>("has-developer-prompt?", "Whether there is a developer prompt."),
        field::<bool>("has-prompt-component-selection?", "Whether components of the prompt are selected."),
        Param::shown("preloaded-message-count", ParamType::COUNT, "How many preloaded messages."),
    ],
};

/// A configuration in psi's nine keys; what is silent is nil, 0 or false. Prompts, messages and tools are counted,
/// never repeated.
pub(crate) fn config_summary(config: &SessionConfig) -> Value {
    let skills = config.skills.as_deref().unwrap_or_default();
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
pub const NOTICE: Record = Record {
    name: "notice",
    doc: "What a notice is about, and its file.",
    params: &[
        field::<About>("about", "What it is about."),
        Param::shown("file", ParamType::Record(&FILE), "The file that goes with it.").or_nil(),
    ],
};

/// What a notice is about, and its file.
pub fn notice(notice: &Notice) -> Map {
    let about = Value::keyword(notice.about.name());
    Map::new().with("about", about).with("file", notice.file.as_ref().map(file))
}

/// The fields of [`file`](fn@file).
pub const FILE: Record = Record {
    name: "file",
    doc: "A file that goes with a message.",
    params: &[
        field::<Box<str>>("path", "Its path."),
        field::<Box<str>>("name", "The name that it is to have.").or_nil(),
    ],
};

/// A file that goes with a message.
pub fn file(file: &Attachment) -> Map {
    Map::new().with("path", &*file.path).with("name", file.name.as_deref())
}

fn count(items: usize) -> Value {
    i64::try_from(items).unwrap_or(i64::MAX).into()
}

/// The fields of [`model`](fn@model).
pub(crate) const MODEL: Record = Record {
    name: "model",
    doc: "A model.",
    params: &[
        field::<Box<str>>("provider", "Who provides it."),
        field::<Box<str>>("id", "What its provider calls it."),
        field::<bool>("reasoning", "Whether it can think."),
    ],
};

/// A model as a map.
pub fn model(model: &Model) -> Value {
    Map::new()
        .with("provider", &*model.provider)
        .with("id", &*model.id)
        .with("reasoning", model.reasoning)
        .into()
}

/// The kind of a target.
pub(crate) const TARGET_KIND: ParamType = ParamType::Enum { name: "target-kind", values: Target::NAMES };

/// `#inst` ends with the year 9999; what lies beyond is shown as an ISO string.
pub fn instant(moment: Moment) -> Value {
    let inst = Inst::new(moment.seconds(), moment.nanos());
    inst.map_or_else(|| Value::string(moment.to_string()), Value::Inst)
}
