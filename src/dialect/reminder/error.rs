//! Prints the answers to refused calls: a kind, a message generated from it, a hint.
//!
//! Errors of single arguments are in `args`. Source of the messages: SEED-003, "Reminder tools".

use super::call::ReminderKind;
use super::view::{Match, Reminder};
use crate::dialect::args::{ArgError, ArgErrorKind, NO_SESSION, TOOL_WORDS};
use crate::dialect::{Answer, echo, page, tool_error};
use crate::domain::{Code, Refusal};
use crate::edn::Value;
use crate::limits;

/// The answer to a caller that is not a session and names none.
pub fn no_session() -> Answer {
    ArgError::own("", NO_SESSION, "").answer(&TOOL_WORDS, None)
}

/// The answer to a `reminderadd` in a session that is at its cap.
pub fn full(reminders: &[Reminder], max: u32) -> Answer {
    let active = reminders.len();
    let message = format!("Can't set more reminders, too many reminders already active. ({active}/{max})");
    let error = tool_error::error("too_many_reminders", Code::Limit, &message)
        .with("reminders", rows(reminders, page::ROOM))
        .with("hint", "let the user choose one to remove with reminderremove, then set the reminder again");
    tool_error::finish(error, Code::Limit)
}

/// The answer to a `reminderremove` whose pattern means no active reminder for certain.
pub fn not_found(pattern: &str, found: &Match) -> Answer {
    let (message, reminders) = match found {
        Match::Several(reminders) => ("Several reminders match; none was removed", reminders),
        Match::These(reminders) | Match::Perhaps(reminders) => ("No matching reminder found", reminders),
    };
    let hint = match reminders[..] {
        [] => "there is no reminder in this session",
        [_] => "use words that stand in the description or the prompt of this reminder, or its id",
        [_, _, ..] => "use words that stand in the description or the prompt of one of them alone, or its id",
    };
    let shown = page::fitting(reminders.iter().map(candidate), CANDIDATES_BYTES);
    // Without the total, a list that was cut would pass for the whole one.
    let total = (shown.len() < reminders.len()).then(|| i64::try_from(reminders.len()).unwrap_or(i64::MAX));
    let error = tool_error::error("no_matching_reminder", Code::NotFound, message)
        .with("field", "description_pattern")
        .with("value", echo(&Value::from(pattern)))
        .with("reminders", shown);
    let error = total.into_iter().fold(error, |error, total| error.with("total", total));
    let error = error.with("hint", hint);
    tool_error::finish(error, Code::NotFound)
}

/// A reminder that may be meant, with the id by which it can be named.
fn candidate(reminder: &Reminder) -> Value {
    reminder.to_map().with("id", reminder.id.to_string()).into()
}

fn rows(reminders: &[Reminder], bytes: usize) -> Vec<Value> {
    page::fitting(reminders.iter().map(|reminder| reminder.to_map().into()), bytes)
}

/// Room for the reminders that a pattern may have meant: about ten.
const CANDIDATES_BYTES: usize = 1_200;

/// The answer to a call that the engine refused.
pub fn refused(refusal: &Refusal) -> Answer {
    tool_error::refused(refusal)
}

/// All errors of these tools, with name, class and a sample, for the index of errors.
pub fn errors() -> Vec<(&'static str, Code, Value)> {
    let given = |text: &str| Value::from(text);
    let (min, max) = (limits::REMINDER_SECONDS_MIN.value, limits::PERIOD_MS_MAX.value / 1_000);
    let unknown =
        ArgErrorKind::UnknownKeys { keys: vec![given("all")], known: &["first", "after"], nearest: None };
    let error = ArgError::new;
    let errors = [
        error("", ArgErrorKind::NotAMap { found: "string" }).with(&given("in an hour")),
        error("all", unknown).with(&Value::Bool(true)),
        error("interval_seconds", ArgErrorKind::GivenTwice),
        error("type", ArgErrorKind::Missing),
        error("description_pattern", ArgErrorKind::Blank).with(&given(" ")),
        error("description", ArgErrorKind::NotText { found: "integer" }).with(&Value::Int(1)),
        error("interval_seconds", ArgErrorKind::NotWhole).with(&given("1h")),
        error("interval_seconds", ArgErrorKind::OutOfRange { min, max }).with(&Value::Int(29)),
        error("description", ArgErrorKind::TooLong { limit: limits::LABEL_BYTES }),
        error("type", ArgErrorKind::NotOneOf { known: ReminderKind::NAMES }).with(&given("daily")),
        ArgError::own("", NO_SESSION, ""),
    ];
    let errors = errors.into_iter().map(|error| (error.name(&TOOL_WORDS), error.answer(&TOOL_WORDS, None)));
    let most = u32::try_from(limits::REMINDERS.value).unwrap_or(u32::MAX);
    let others = [
        ("too_many_reminders", full(&[], most)),
        ("no_matching_reminder", not_found("email", &Match::Perhaps(Vec::new()))),
        ("unknown_cursor", page::no_such_cursor("sch-1")),
    ];
    errors.chain(others).map(|(name, answer)| tool_error::entry(name, &answer)).collect()
}
