//! The answers to calls that were refused, as data first: a kind, a message made of it, a hint.
//!
//! What lives elsewhere: faults of single fields (`dialect/slip.rs`). Source of the messages: SEED-003, "Reminder tools".

use super::answer::{lines, maps};
use super::example::example;
use super::tool::Tool;
use super::view::Reminder;
use crate::dialect::slip::{self, Slip, SlipFault};
use crate::dialect::{Answer, echo};
use crate::domain::{Code, Refusal};
use crate::edn::Value;
use crate::limits;

/// The answer to a call of nobody's: an operator that names no session.
pub fn no_session(tool: Tool) -> Answer {
    Slip::new("", SlipFault::NoSession).answer(example(tool))
}

/// The answer to a `reminderadd` in a session that has as many as it may.
pub fn full(reminders: &[Reminder], max: u32) -> Answer {
    let active = reminders.len();
    let message = format!(
        "Can't set more reminders, too many reminders already active. ({active}/{max})\n{}",
        lines(reminders)
    );
    let error = slip::error("too_many_reminders", Code::Limit, message.trim_end())
        .with("active", i64::try_from(active).unwrap_or(i64::MAX))
        .with("max", i64::from(max))
        .with("reminders", maps(reminders))
        .with("hint", "let the user choose one to remove with reminderremove, then set the reminder again");
    slip::finish(error, Code::Limit)
}

/// The answer to a `reminderremove` that fits none of the active ones.
pub fn not_found(pattern: &str, reminders: &[Reminder]) -> Answer {
    let error = slip::error("no_matching_reminder", Code::NotFound, "No matching reminder found")
        .with("field", "description_pattern")
        .with("value", echo(&Value::from(pattern)))
        .with("reminders", maps(reminders))
        .with("hint", "use words that stand in the description or the prompt of one of these reminders");
    slip::finish(error, Code::NotFound)
}

/// The answer to a call that the engine refused.
pub fn refused(refusal: &Refusal) -> Answer {
    slip::refused(refusal)
}

/// Every error of the tools themselves, with its name, its class and an example, for the index of errors.
pub fn errors() -> Vec<(&'static str, Code, Value)> {
    let given = |text: &str| Value::from(text);
    let (min, max) = (limits::REMINDER_SECONDS_MIN.value, limits::PERIOD_MS_MAX.value / 1_000);
    let slips = [
        (Tool::Add, Slip::new("", SlipFault::NotAMap { found: "string" }).with(&given("in an hour"))),
        (Tool::List, Slip::new("", SlipFault::UnknownField { known: &[] }).with(&given("all"))),
        (Tool::Add, Slip::new("interval_seconds", SlipFault::GivenTwice)),
        (Tool::Add, Slip::new("type", SlipFault::Missing)),
        (Tool::Remove, Slip::new("description_pattern", SlipFault::Blank).with(&given(" "))),
        (Tool::Add, Slip::new("description", SlipFault::NotText { found: "integer" }).with(&Value::Int(1))),
        (Tool::Add, Slip::new("interval_seconds", SlipFault::NotWhole).with(&given("1h"))),
        (Tool::Add, Slip::new("interval_seconds", SlipFault::OutOfRange { min, max }).with(&Value::Int(29))),
        (Tool::Add, Slip::new("description", SlipFault::TooLong { limit: limits::LABEL_BYTES })),
        (
            Tool::Add,
            Slip::new("type", SlipFault::UnknownWord { known: &["one-time", "recurring"] })
                .with(&given("daily")),
        ),
        (Tool::Add, Slip::new("", SlipFault::NoSession)),
    ];
    let slips = slips.into_iter().map(|(tool, slip)| (slip.kind(), slip.answer(example(tool))));
    let most = u32::try_from(limits::REMINDERS.value).unwrap_or(u32::MAX);
    let others = [("too_many_reminders", full(&[], most)), ("no_matching_reminder", not_found("email", &[]))];
    slips.chain(others).map(|(name, answer)| slip::entry(name, &answer)).collect()
}
