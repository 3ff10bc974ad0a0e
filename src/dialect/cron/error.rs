//! Prints the answers to refused calls: the fault, its path, the value, and how to put it right.
//!
//! Errors of single arguments are in `args`, their texts in `words.rs`. Invariant: an error is data first; its
//! message is generated from the data, and every error has a hint. A missing job is not an error for `cron_get` and
//! `cron_delete`.

use super::repair::rebased;
use super::schedule::JobSchedule;
use super::shape::{instant, integer};
use super::tool::Tool;
use super::words::{self, CRON_WORDS, EMPTY_PATCH, NEVER_DUE, NO_OWNER, NO_SESSION, NO_WEEKDAYS, NOT_A_TIME};
use crate::dialect::args::{ArgError, ArgErrorKind};
use crate::dialect::tool_error::{entry, error, finish};
use crate::dialect::{Answer, echo, page, tool_error};
use crate::domain::{Code, Entropy, Moment, Refusal, ScheduleId, SessionId, Zone};
use crate::edn::{Map, Value};
use crate::limits;

/// The answer to a change that is based on an outdated revision. The example is the call on the current one.
pub fn conflict(job_id: &ScheduleId, current: u64, base: u64, args: &Value) -> Answer {
    let message = format!("{job_id} is at revision {current}, and the change was made for revision {base}");
    let hint = format!(
        "somebody else changed the job: look at it with cron_get, then call again with base_revision {current}"
    );
    let error = error("revision_conflict", Code::Conflict, &message)
        .with("job_id", job_id.to_string())
        .with("current_revision", integer(current))
        .with("base_revision", integer(base))
        .with("hint", hint);
    finish(error, Code::Conflict).with_example(rebased(args, integer(current)))
}

/// The answer to a call that names an unknown job. It is an error unless the tool is `cron_get` or `cron_delete`,
/// where nothing is left to do.
pub fn not_found(tool: Tool, job_id: &ScheduleId) -> Answer {
    missing(tool, &job_id.to_string())
}

pub(super) fn missing(tool: Tool, job_id: &str) -> Answer {
    let job_id = echo(&job_id.into());
    match tool {
        // As in the seed's code: for a model, a job that is gone is information and not a failed call.
        Tool::Get | Tool::Delete => {
            let value = Map::new().with("status", Value::keyword("not_found")).with("job_id", job_id);
            Answer::done(value)
        }
        Tool::Create | Tool::List | Tool::Update | Tool::Pause | Tool::Resume => {
            let text = job_id.as_str().unwrap_or_default();
            let error = error("job_not_found", Code::NotFound, &format!("there is no job {text}"))
                .with("field", "job_id")
                .with("value", job_id.clone())
                .with("hint", OF_OTHERS);
            finish(error, Code::NotFound)
        }
    }
}

/// Said alike of a job that is not there and of one that the caller may not change, so that it tells nothing of which it is.
const OF_OTHERS: &str = "list the jobs with cron_list to see the ids that exist; changing one of another session takes the grant \
                         cron-others";

/// The answer to an update whose schedule would never be due for a job created at `created_at`.
pub fn never_due(tool: Tool, schedule: &JobSchedule, created_at: Moment) -> Answer {
    let path = if tool == Tool::Update { "patch.schedule" } else { "schedule" };
    never_due_at(path, schedule, created_at).answer(&CRON_WORDS, None)
}

pub(super) fn never_due_at(path: &str, schedule: &JobSchedule, not_before: Moment) -> ArgError {
    let error = |path: &str| ArgError::own(path, NEVER_DUE, not_before.brief().to_string());
    match schedule {
        JobSchedule::Once { at } => error(&format!("{path}.at")).with(&instant(*at)),
        JobSchedule::Interval { .. } | JobSchedule::Daily { .. } | JobSchedule::Weekly { .. } => error(path),
    }
}

/// The answer to a call whose target is a session that is not there for the caller.
pub fn unknown_target(tool: Tool, session: &SessionId) -> Answer {
    let field = if tool == Tool::Update { "patch.target.session_id" } else { "target.session_id" };
    let refusal = Refusal::UnknownSession { session: session.clone() };
    tool_error::refused_for(&refusal, (field, session.as_str()))
}

/// The answer to a call that the engine refused.
pub fn refused(refusal: &Refusal) -> Answer {
    tool_error::refused(refusal)
}

/// All errors of these tools, with name, class and a sample, for the index of errors.
pub fn errors() -> Vec<(&'static str, Code, Value)> {
    let faulty =
        samples().into_iter().map(|error| (error.name(&CRON_WORDS), error.answer(&CRON_WORDS, None)));
    let job_id = ScheduleId::random(Entropy([0; 16]));
    let of_jobs = [
        ("revision_conflict", conflict(&job_id, 3, 2, &Value::Nil)),
        ("job_not_found", not_found(Tool::Pause, &job_id)),
        ("unknown_cursor", page::no_such_cursor("job_1")),
    ];
    faulty.chain(of_jobs).map(|(name, answer)| entry(name, &answer)).collect()
}

/// One sample of each argument error. The values are invented.
fn samples() -> Vec<ArgError> {
    let of = |path: &str, kind: ArgErrorKind, value: Option<&str>| {
        let error = ArgError::new(path, kind);
        match value {
            Some(value) => error.with(&value.into()),
            None => error,
        }
    };
    let own = |words, detail: String| ArgErrorKind::Own { words, detail };
    let zone = |text: &str| {
        let error = Zone::parse(text).err();
        error.map_or(ArgErrorKind::Missing, |error| own(words::zone(&error), error.to_string()))
    };
    let keys = vec!["cron".into()];
    let unknown = ArgErrorKind::UnknownKeys { keys, known: &["kind", "at"], nearest: None };
    vec![
        of("schedule", ArgErrorKind::NotAMap { found: "string" }, Some("every day")),
        of("schedule.cron", unknown, None),
        of("schedule.every_seconds", ArgErrorKind::GivenTwice, None),
        of("name", ArgErrorKind::Missing, None),
        of("prompt", ArgErrorKind::Blank, None),
        of("name", ArgErrorKind::NotText { found: "integer" }, None),
        of("patch.enabled", ArgErrorKind::NotABoolean, Some("yes")),
        of("schedule.every_seconds", ArgErrorKind::NotWhole, Some("300")),
        of("policy.timeout_seconds", ArgErrorKind::OutOfRange { min: 1, max: 315_360_000 }, None),
        of("prompt", ArgErrorKind::TooLong { limit: limits::TEXT_BYTES }, Some("…")),
        of("policy.overlap", ArgErrorKind::NotOneOf { known: &["skip", "parallel"] }, Some("queue")),
        of("schedule.at", ArgErrorKind::NoOffset, Some("2026-06-01T08:05:00")),
        of("schedule.at", ArgErrorKind::NotAnInstant, Some("in five minutes")),
        of("schedule.time", own(NOT_A_TIME, String::new()), Some("24:00")),
        of("schedule.timezone", zone("+24:00"), Some("+24:00")),
        of("schedule.timezone", zone(""), Some("")),
        of("schedule.weekdays", own(NO_WEEKDAYS, String::new()), None),
        of("target.session_id", ArgErrorKind::NotAnId, Some("a\nb")),
        of("target", own(NO_SESSION, String::new()), None),
        of("target", own(NO_OWNER, String::new()), None),
        of("patch", own(EMPTY_PATCH, String::new()), None),
        of("schedule.at", own(NEVER_DUE, Moment::EPOCH.to_string()), Some("1969-12-31T00:00:00Z")),
    ]
}
