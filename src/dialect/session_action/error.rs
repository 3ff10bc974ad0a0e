//! The answers to calls that were refused, as data first: a kind, a message made of it, a hint.
//!
//! What lives elsewhere: faults of single fields (`dialect/slip.rs`). Source of the leads of the messages: SEED-000's code.

use super::action::ActionStatus;
use super::example::example;
use super::tool::Tool;
use crate::dialect::slip::{self, Slip, SlipFault};
use crate::dialect::{Answer, echo};
use crate::domain::{Code, Refusal};
use crate::edn::Value;
use crate::limits;

/// What was not done to an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It was to be cancelled.
    Cancel,
    /// It was to run now.
    Run,
}

/// The answer to a call of nobody's: an operator that names no session.
pub fn no_session(tool: Tool) -> Answer {
    Slip::new("", SlipFault::NoSession).answer(example(tool, ""))
}

/// The answer to a cancel or a run-now of something that is no action of the session.
pub fn not_found(what: Refused, action_id: &str) -> Answer {
    let (_, able) = words(what);
    let message = format!("Delayed action not found or not {able}");
    let error = slip::error("action_not_found", Code::NotFound, &message)
        .with("field", "action_id")
        .with("value", echo(&action_id.into()))
        .with("hint", "call with operation list to see the ids that exist");
    slip::finish(error, Code::NotFound)
}

/// The answer to a cancel or a run-now of an action that stands so that it cannot be.
pub fn standing(what: Refused, action_id: &str, status: ActionStatus) -> Answer {
    let (kind, able) = words(what);
    let message = format!("Delayed action not found or not {able}: it is {}", status.name());
    let error = slip::error(kind, Code::Conflict, &message)
        .with("field", "action_id")
        .with("value", echo(&action_id.into()))
        .with("action_status", Value::keyword(status.name()))
        .with("hint", "what has ended, or is with its session, takes its course; create another action");
    slip::finish(error, Code::Conflict)
}

const fn words(what: Refused) -> (&'static str, &'static str) {
    match what {
        Refused::Cancel => ("action_not_cancellable", "cancellable"),
        Refused::Run => ("action_not_runnable", "runnable"),
    }
}

/// The answer to a call that the engine refused.
pub fn refused(refusal: &Refusal) -> Answer {
    let Refusal::SessionFull { max } = refusal else { return slip::refused(refusal) };
    let message =
        format!("{LEAD}: maximum pending reached: a session has at most {max} actions that have not ended");
    let error = slip::error("too_many_actions", Code::Limit, &message).with("max", i64::from(*max)).with(
        "hint",
        "list them and cancel one, or create with the dedupe_key of the one that this is to replace",
    );
    slip::finish(error, Code::Limit)
}

/// Every error of the tools themselves, with its name, its class and an example, for the index of errors.
pub fn errors() -> Vec<(&'static str, Code, Value)> {
    let given = |text: &str| Value::from(text);
    let limit = limits::ACTION_DELAY_MS_MAX;
    let slips = [
        Slip::new("", SlipFault::NotAMap { found: "string" }).with(&given("in an hour")),
        Slip::new("", SlipFault::UnknownField { known: &["operation", "action_kind"] }).with(&given("when")),
        Slip::new("message", SlipFault::GivenTwice),
        Slip::new("action_kind", SlipFault::Missing),
        Slip::new("message", SlipFault::NotText { found: "integer" }).with(&Value::Int(1)),
        Slip::new("cancel_on_user_activity", SlipFault::NotABoolean).with(&given("yes")),
        Slip::new("delay_seconds", SlipFault::NotWhole).with(&given("1h")),
        Slip::new("max_attempts", SlipFault::OutOfRange { min: 1, max: limits::ATTEMPTS.value })
            .with(&Value::Int(99)),
        Slip::new("message", SlipFault::TooLong { limit: limits::TEXT_BYTES }),
        Slip::new("operation", SlipFault::UnknownWord { known: super::Operation::NAMES })
            .with(&given("delete")),
        Slip::new("run_at", SlipFault::NoOffset).with(&given("2026-04-11T09:00:00")),
        Slip::new("run_at", SlipFault::NotAnInstant).with(&given("tomorrow")),
        Slip::new("run_at", SlipFault::TwoTimes),
        Slip::new("delay_seconds", SlipFault::NoTime),
        Slip::new("message", SlipFault::NothingTold),
        Slip::new("job_id", SlipFault::NotAnId).with(&given("a\nb")),
        Slip::new("delay_seconds", SlipFault::TooFar { limit }).with(&Value::Int(9_999_999)),
        Slip::new("", SlipFault::NoSession),
    ];
    let slips = slips.into_iter().map(|slip| {
        let answer = slip.answer(example(Tool::Schedule, slip.field()));
        (slip.kind(), answer)
    });
    let max = u32::try_from(limits::SESSION_ACTIONS.value).unwrap_or(u32::MAX);
    let id = "delay-1a2b3c4d";
    let others = [
        ("too_many_actions", refused(&Refusal::SessionFull { max })),
        ("action_not_found", not_found(Refused::Cancel, id)),
        ("action_not_cancellable", standing(Refused::Cancel, id, ActionStatus::Completed)),
        ("action_not_runnable", standing(Refused::Run, id, ActionStatus::Leased)),
    ];
    slips.chain(others).map(|(name, answer)| slip::entry(name, &answer)).collect()
}

const LEAD: &str = "Failed to schedule delayed action";
