//! Error of reader and framer: what is wrong with an input, and where. The reader of a stream in JSON has the same.
//!
//! Lives here: the error type. Does not live here: the text of each message, which is written where
//! the fault is found.
//!
//! Invariant: every error carries a byte offset inside the input (or its length), and the
//! line and column that belong to that offset. They are computed only when an error is
//! made, so that reading good input pays nothing for them.

use std::fmt;

/// What is wrong with the input, as a closed set for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadErrorKind {
    /// The text is not EDN.
    Syntax,
    /// The input ends inside a form.
    UnexpectedEnd,
    /// The input holds no form at all.
    Empty,
    /// A form follows where the input should have ended.
    Trailing,
    /// A map has one key twice, or a set one element twice.
    Duplicate,
    /// The input is not UTF-8, or holds half of a UTF-16 surrogate pair.
    Encoding,
    /// The input exceeds a cap.
    Limit {
        /// Name of the cap: `bytes`, `depth`, `digits` or `forms`.
        limit: &'static str,
        /// The cap's value.
        max: u64,
    },
}

/// A refused input: kind, message and position.
///
/// ```
/// use reveille::edn::{Caps, ReadErrorKind, read};
/// let caps = Caps { bytes_max: 1024, depth_max: 8, digits_max: 32, forms_max: 100 };
/// let error = read(b"{:a 1\n :a 2}", &caps).unwrap_err();
/// assert_eq!(error.kind(), ReadErrorKind::Duplicate);
/// assert_eq!((error.offset(), error.line(), error.column()), (7, 2, 2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (line {line}, column {column})")]
pub struct ReadError {
    kind: ReadErrorKind,
    message: Box<str>,
    offset: u64,
    line: u32,
    column: u32,
}

impl ReadError {
    /// Makes an error at `offset` of `input`, counting the line and the column.
    pub(crate) fn new(
        kind: ReadErrorKind,
        message: impl Into<Box<str>>,
        input: &[u8],
        offset: usize,
    ) -> Self {
        let (line, column) = line_and_column(input, offset);
        let offset = u64::try_from(offset).unwrap_or(u64::MAX);
        Self { kind, message: message.into(), offset, line, column }
    }

    /// Makes the error of an exceeded cap.
    pub(crate) fn limit(limit: &'static str, max: u64, input: &[u8], offset: usize) -> Self {
        let unit = match limit {
            "depth" => "levels of nesting",
            "digits" => "characters in one number",
            other => other,
        };
        let message = format!("the input exceeds the limit of {max} {unit}");
        Self::new(ReadErrorKind::Limit { limit, max }, message, input, offset)
    }

    /// Returns what is wrong, for programs.
    pub fn kind(&self) -> ReadErrorKind {
        self.kind
    }

    /// Returns what is wrong, for people: lower case, one line, without the position.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns where the fault is, in bytes from the start of the input.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the line of the fault, counted from 1 at every `\n`.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// Returns the column of the fault, counted from 1 in characters.
    pub fn column(&self) -> u32 {
        self.column
    }
}

impl fmt::Display for ReadErrorKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Syntax => "syntax",
            Self::UnexpectedEnd => "unexpected-end",
            Self::Empty => "empty",
            Self::Trailing => "trailing",
            Self::Duplicate => "duplicate",
            Self::Encoding => "encoding",
            Self::Limit { .. } => "limit",
        })
    }
}

/// Counts lines and, on the last of them, characters. Bytes that continue a UTF-8
/// character are not counted, so that this works on input that is not UTF-8 as well.
fn line_and_column(input: &[u8], offset: usize) -> (u32, u32) {
    let before = input.get(..offset).unwrap_or(input);
    let lines = before.iter().filter(|byte| **byte == b'\n').count();
    let line_from = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let columns = before.iter().skip(line_from).filter(|byte| **byte & 0xC0 != 0x80).count();
    (count_from_one(lines), count_from_one(columns))
}

fn count_from_one(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1)
}
