//! Reads the texts of a configuration, one or a list of them.

use crate::dialect::args::{Arg, ArgError};
use crate::limits;

/// Reads a string.
pub(super) fn text(arg: Arg<'_>) -> Result<Box<str>, ArgError> {
    arg.raw_text(limits::TEXT_BYTES).map(Into::into)
}

/// Reads a list of strings.
pub(super) fn texts(arg: Arg<'_>) -> Result<Vec<Box<str>>, ArgError> {
    arg.items(limits::CONFIG_ITEMS, text)
}
