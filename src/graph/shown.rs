//! What is shown of a schedule, the same in every language: statuses, phases and errors in psi's words where
//! psi has one.
//!
//! Invariant: what psi's tools can make is shown in psi's words only; a delivery under way is still pending,
//! and an attribute of its own says so. Source: psi's record and its projections.

use std::collections::BTreeSet;

use crate::domain::{
    Attachment, Failure, Kind, Model, Moment, Notice, Phase, Reason, RunState, SessionConfig, SessionId,
    Status,
};
use crate::edn::{Inst, Map, Value};
use crate::engine::{ScheduleRecord, State};

/// The statuses that are shown.
pub const STATUSES: &[&str] = &[
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
pub const ERROR_CLASS: &str = "clojure.lang.ExceptionInfo";

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
pub fn delivery_phase(state: &State, record: &ScheduleRecord) -> Option<Phase> {
    match (record.status(), record.schedule().payload.kind()) {
        (Status::Delivered, Kind::Session) => Some(Phase::PromptSubmit),
        (Status::Failed, _) => failure(state, record).map(|failure| failure.phase),
        (Status::Delivered, Kind::Message | Kind::Notice)
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
pub fn created_session<'a>(state: &'a State, record: &ScheduleRecord) -> Option<&'a SessionId> {
    let run = state.newest_run(record)?.run();
    run.session.as_ref().filter(|_| run.session_created)
}

/// The error of a schedule whose last run failed.
pub fn error_summary(state: &State, record: &ScheduleRecord) -> Option<Value> {
    let failure = failure(state, record)?;
    let lead = match (record.schedule().payload.kind(), failure.phase) {
        (Kind::Session, Phase::CreateSession) => "scheduled session creation failed",
        (Kind::Session, Phase::PromptSubmit) => "scheduled session prompt submission failed",
        (Kind::Message, Phase::CreateSession | Phase::PromptSubmit) => "scheduled prompt submission failed",
        (Kind::Notice, Phase::CreateSession | Phase::PromptSubmit) => "scheduled notice failed",
        (Kind::Session | Kind::Message | Kind::Notice, Phase::Outside) => {
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

/// A configuration in psi's nine keys; what is silent is nil, 0 or false. Prompts, messages and tools are counted,
/// never repeated.
pub fn config_summary(config: &SessionConfig) -> Value {
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

/// What a notice is about, and its file.
pub fn notice(notice: &Notice) -> Map {
    let about = Value::keyword(notice.about.name());
    Map::new().with("about", about).with("file", notice.file.as_ref().map(file))
}

/// A file that goes with a message.
pub fn file(file: &Attachment) -> Map {
    Map::new().with("path", &*file.path).with("name", file.name.as_deref())
}

fn count(items: usize) -> Value {
    i64::try_from(items).unwrap_or(i64::MAX).into()
}

/// A model as a map.
pub fn model(model: &Model) -> Value {
    Map::new()
        .with("provider", &*model.provider)
        .with("id", &*model.id)
        .with("reasoning", model.reasoning)
        .into()
}

/// `#inst` ends with the year 9999; what lies beyond is shown as an ISO string.
pub fn instant(moment: Moment) -> Value {
    let inst = Inst::new(moment.seconds(), moment.nanos());
    inst.map_or_else(|| Value::string(moment.to_string()), Value::Inst)
}
