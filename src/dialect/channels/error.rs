//! Prints the answers to refused calls: a kind, a message generated from it, a hint.
//!
//! Errors of single arguments are in `args`.

use super::tool::DIRECTIONS;
use crate::dialect::args::{ArgError, ArgErrorKind, NO_SESSION, TOOL_WORDS, wordings};
use crate::dialect::{Answer, echo, tool_error};
use crate::domain::{Code, Refusal};
use crate::edn::Value;
use crate::limits;

/// The answer to a caller that is not a session.
pub fn no_session() -> Answer {
    ArgError::own("", NO_SESSION, "").answer(&TOOL_WORDS, None)
}

/// The answer to a call that the engine refused.
pub fn refused(refusal: &Refusal) -> Answer {
    tool_error::refused(refusal)
}

/// The answer to the name of a channel that the caller does not have, in this argument; `known` are those that it has.
pub fn unknown_channel(field: &'static str, name: &str, known: &[&str]) -> Answer {
    let known: Vec<Value> = known.iter().map(|name| Value::from(*name)).collect();
    let error = tool_error::error("unknown_channel", Code::NotFound, "there is no such channel")
        .with("field", field)
        .with("value", echo(&Value::from(name)))
        .with("channels", known)
        .with("hint", "use one of these channels, or ask an operator to open one to sessions");
    tool_error::finish(error, Code::NotFound)
}

/// The answer to an event for a channel by which nothing comes in; by those in `open` something does.
pub fn not_inbound(name: &str, open: &[&str]) -> Answer {
    let open: Vec<Value> = open.iter().map(|name| Value::from(*name)).collect();
    let error = tool_error::error("not_inbound", Code::Conflict, "nothing comes in by this channel")
        .with("field", "provider")
        .with("value", echo(&Value::from(name)))
        .with("channels", open)
        .with("hint", "use one of these channels, or ask an operator to give this one a section inbound");
    tool_error::finish(error, Code::Conflict)
}

/// All errors of these tools, with name, class and a sample, for the index of errors.
pub fn errors() -> Vec<(&'static str, Code, Value)> {
    let error = ArgError::new;
    let errors = [
        error("", ArgErrorKind::NotAMap { found: "string" }).with(&Value::from("tell them")),
        error("message", ArgErrorKind::Missing),
        error("message", ArgErrorKind::Blank).with(&Value::from(" ")),
        error("message", ArgErrorKind::TooLong { limit: limits::CHANNEL_TEXT }),
        error("providers", ArgErrorKind::NotAList { or_set: false }).with(&Value::from("ops")),
        error("limit", ArgErrorKind::OutOfRange { min: 1, max: 100 }).with(&Value::Int(0)),
        error("direction", ArgErrorKind::NotOneOf { known: DIRECTIONS }).with(&Value::from("both")),
        ArgError::own("text", GIVEN_TWICE, "message"),
        ArgError::own("", NO_SESSION, ""),
    ];
    let errors = errors.into_iter().map(|error| (error.name(&TOOL_WORDS), error.answer(&TOOL_WORDS, None)));
    let unknown = ("unknown_channel", unknown_channel("channel", "ops", &["team"]));
    let outbound = ("not_inbound", not_inbound("ops", &["team"]));
    errors
        .chain([
            unknown,
            outbound,
            ("not_managed", not_managed("ops")),
            ("nothing_to_answer", nothing_to_answer()),
        ])
        .map(|(name, answer)| tool_error::entry(name, &answer))
        .collect()
}

/// The answer to a session that would pause, resume or try a channel that only operators may.
pub fn not_managed(channel: &str) -> Answer {
    let error = tool_error::error("not_managed", Code::Forbidden, "only operators manage this channel")
        .with("field", "provider")
        .with("value", echo(&Value::from(channel)))
        .with("hint", "ask an operator, who may set agents-manage = true for the channel");
    tool_error::finish(error, Code::Forbidden)
}

/// The answer to a reply where no event began the turn.
pub fn nothing_to_answer() -> Answer {
    let message = "reply is only available during a channel-triggered activation";
    let error = tool_error::error("nothing_to_answer", Code::Conflict, message)
        .with("hint", "send_message names the channel and its recipient; like a schedule, it counts in the depth of the turn");
    tool_error::finish(error, Code::Conflict)
}

wordings! {
    GIVEN_TWICE "given_twice_in_words" "{field} is another word for {detail}, which is given too" "give one of them";
}
