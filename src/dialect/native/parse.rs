//! Parses one call of a tool, or answers with what is wrong and how it could be called.

use super::call::{Call, read};
use super::repair::RefusedCall;
use super::tool::Tool;
use crate::dialect::args::{ArgError, TOOL_WORDS};
use crate::dialect::{Answer, Notation};
use crate::edn::Value;

/// Parses the arguments of one call of a tool.
///
/// # Errors
/// The complete error answer to an invalid call.
pub fn parse(tool: Tool, args: &Value, notation: Notation) -> Result<Call, Answer> {
    let refused =
        |error: ArgError| error.answer(&TOOL_WORDS, RefusedCall::new(tool, args, notation).without(&error));
    read(tool, args, notation).map_err(refused)
}
