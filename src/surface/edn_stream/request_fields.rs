//! Fields that several requests have.

use super::error::RequestError;
use crate::dialect::args::{ArgError, ArgErrorKind, Args};
use crate::domain::{Address, RunId, SessionId};
use crate::edn::{Map, Value};

/// Reads the agent's conversation behind a session.
pub(super) fn address(args: &Args<'_>) -> Result<Option<Address>, RequestError> {
    let part = |key| args.opt(key, |arg| arg.parse("a string", |value| value.as_str().map(Box::<str>::from)));
    let (text, directory, profile) = (part("address")?, part("directory")?, part("agent-profile")?);
    let read = Address::from_parts(text.as_deref(), directory.as_deref(), profile.as_deref());
    read.map_err(|fault| RequestError::invalid(fault.to_string(), Map::new()))
}

pub(super) fn session(args: &Args<'_>) -> Result<SessionId, ArgError> {
    read(args, "session-id", SESSION_ID, session_id)
}

pub(super) fn session_id(value: &Value) -> Option<SessionId> {
    SessionId::new(value.as_str()?).ok()
}

pub(super) fn run(args: &Args<'_>) -> Result<RunId, ArgError> {
    read(args, "delivery-id", "the id of a pushed delivery: a string", |value| RunId::parse(value.as_str()?))
}

/// Reads a required key. The error describes the expected type.
pub(super) fn read<T>(
    args: &Args<'_>,
    key: &str,
    expected: &'static str,
    parse: impl FnOnce(&Value) -> Option<T>,
) -> Result<T, ArgError> {
    let missing = || ArgError::new(key, ArgErrorKind::NotA { expected, found: "nothing" });
    args.opt(key, |arg| arg.parse(expected, parse))?.ok_or_else(missing)
}

pub(super) fn optional_session(args: &Args<'_>) -> Result<Option<SessionId>, ArgError> {
    args.opt("session-id", |arg| arg.parse(SESSION_ID, session_id))
}

const SESSION_ID: &str =
    "a session's id: a string that is not blank, of at most 128 bytes and without control characters";
