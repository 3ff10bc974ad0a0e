//! Prints the answers to refused calls: a kind, a message generated from it, a hint.
//!
//! Errors of single arguments are in `args`. Source of the beginnings of the messages: SEED-000's code.

use super::action::ActionStatus;
use super::operation::Operation;
use crate::dialect::args::{ArgError, ArgErrorKind, NO_SESSION, TOOL_WORDS, wordings};
use crate::dialect::{Answer, echo, page, tool_error};
use crate::domain::{Code, Refusal};
use crate::edn::Value;
use crate::limits::{self, Limit};

/// The operation that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Cancelling an action.
    Cancel,
    /// Running an action now.
    Run,
}

/// The answer to a caller that is not a session and names none.
pub fn no_session() -> Answer {
    ArgError::own("", NO_SESSION, "").answer(&TOOL_WORDS, None)
}

/// The answer to a `cancel` or `run_now` of an unknown action.
pub fn not_found(what: Refused, action_id: &str) -> Answer {
    let (_, able) = words(what);
    let message = format!("Delayed action not found or not {able}");
    let error = tool_error::error("action_not_found", Code::NotFound, &message)
        .with("field", "action_id")
        .with("value", echo(&action_id.into()))
        .with("hint", "call with operation list to see the ids that exist");
    tool_error::finish(error, Code::NotFound)
}

/// The answer to a `cancel` or `run_now` of an action whose state forbids it.
pub fn standing(what: Refused, action_id: &str, status: ActionStatus) -> Answer {
    let (kind, able) = words(what);
    let message = format!("Delayed action not found or not {able}: it is {}", status.name());
    let error = tool_error::error(kind, Code::Conflict, &message)
        .with("field", "action_id")
        .with("value", echo(&action_id.into()))
        .with("action_status", Value::keyword(status.name()))
        .with("hint", "what has ended, or is with its session, takes its course; create another action");
    tool_error::finish(error, Code::Conflict)
}

const fn words(what: Refused) -> (&'static str, &'static str) {
    match what {
        Refused::Cancel => ("action_not_cancellable", "cancellable"),
        Refused::Run => ("action_not_runnable", "runnable"),
    }
}

/// The answer to a call that the engine refused.
pub fn refused(refusal: &Refusal) -> Answer {
    // The seed's code has words for a full session. Every other refusal gets the general answer.
    let Refusal::SessionFull { max } = refusal else { return tool_error::refused(refusal) };
    let message =
        format!("{LEAD}: maximum pending reached: a session has at most {max} actions that have not ended");
    let error =
        tool_error::error("too_many_actions", Code::Limit, &message).with("max", i64::from(*max)).with(
            "hint",
            "list them and cancel one, or create with the dedupe_key of the one that this is to replace",
        );
    tool_error::finish(error, Code::Limit)
}

/// All errors of these tools, with name, class and a sample, for the index of errors.
pub fn errors() -> Vec<(&'static str, Code, Value)> {
    let given = |text: &str| Value::from(text);
    let limit = limits::ACTION_DELAY_MS_MAX;
    let keys = vec![given("when")];
    let unknown = ArgErrorKind::UnknownKeys { keys, known: &["operation", "action_kind"], nearest: None };
    let error = ArgError::new;
    let errors = [
        error("", ArgErrorKind::NotAMap { found: "string" }).with(&given("in an hour")),
        error("when", unknown).with(&given("soon")),
        error("message", ArgErrorKind::GivenTwice),
        error("action_kind", ArgErrorKind::Missing),
        error("message", ArgErrorKind::NotText { found: "integer" }).with(&Value::Int(1)),
        error("cancel_on_user_activity", ArgErrorKind::NotABoolean).with(&given("yes")),
        error("delay_seconds", ArgErrorKind::NotWhole).with(&given("1h")),
        error("max_attempts", ArgErrorKind::OutOfRange { min: 1, max: limits::ATTEMPTS.value })
            .with(&Value::Int(99)),
        error("message", ArgErrorKind::TooLong { limit: limits::TEXT_BYTES }),
        error("operation", ArgErrorKind::NotOneOf { known: Operation::NAMES }).with(&given("delete")),
        error("run_at", ArgErrorKind::NoOffset).with(&given("2026-04-11T09:00:00")),
        error("run_at", ArgErrorKind::NotAnInstant).with(&given("tomorrow")),
        ArgError::own("run_at", TWO_TIMES, ""),
        ArgError::own("delay_seconds", NO_TIME, ""),
        ArgError::own("delay_seconds", NOT_AHEAD, "").with(&Value::Int(0)),
        ArgError::own("message", NOTHING_TOLD, ""),
        ArgError::own("action_id", NO_ID_YET, "").with(&given("delay-1a2b3c4d")),
        error("job_id", ArgErrorKind::NotAnId).with(&given("a\nb")),
        too_far("delay_seconds", limit).with(&Value::Int(9_999_999)),
        ArgError::own("", NO_SESSION, ""),
    ];
    let errors = errors.into_iter().map(|error| (error.name(&TOOL_WORDS), error.answer(&TOOL_WORDS, None)));
    let max = u32::try_from(limits::SESSION_ACTIONS.value).unwrap_or(u32::MAX);
    let id = "delay-1a2b3c4d";
    let others = [
        ("too_many_actions", refused(&Refusal::SessionFull { max })),
        ("action_not_found", not_found(Refused::Cancel, id)),
        ("action_not_cancellable", standing(Refused::Cancel, id, ActionStatus::Completed)),
        ("action_not_runnable", standing(Refused::Run, id, ActionStatus::Leased)),
        ("unknown_cursor", page::no_such_cursor(id)),
    ];
    errors.chain(others).map(|(name, answer)| tool_error::entry(name, &answer)).collect()
}

/// The error about a time that is too far ahead.
pub(super) fn too_far(field: &str, limit: Limit) -> ArgError {
    // In the unit of the argument: nobody counts in milliseconds here.
    let (seconds, days) = (limit.value / 1_000, limit.value / 86_400_000);
    ArgError::own(field, TOO_FAR, format!("{seconds} seconds from now, {days} days"))
}

const LEAD: &str = "Failed to schedule delayed action";

wordings! {
    TWO_TIMES "two_times" "delay_seconds and run_at are given, and only one can be meant" "leave one of them out";
    NO_TIME "no_time" "provide either delay_seconds or run_at"
        "say how long from now, or when; only notify_job_ready may wait for a job_id instead";
    NOT_AHEAD "not_ahead" "provide either delay_seconds or run_at: a delay of {value} s is none"
        "say how many seconds from now, 1 at least";
    NO_ID_YET "id_of_new" "{field} is for cancel and run_now: a new action gets its id in the answer"
        "leave it out, or say which operation is meant";
    NOTHING_TOLD "nothing_told" "message or artifact_path is required" "say something in message, or name a file";
    TOO_FAR "too_far_ahead" "Failed to schedule delayed action: {field} exceeds the maximum delay: {detail}"
        "choose a nearer time: at most {detail}" Limit;
}
