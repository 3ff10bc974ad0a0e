//! What is left of a line behind a form whose brackets do not match, which the framer drops.
//!
//! Strings, characters and comments are respected, because a line break inside a string ends no line. Brackets are not:
//! they are what is wrong. Costs: each byte is examined once. Does not live here: when a line is dropped (`frame.rs`).
//!
//! Invariant: what is dropped does not depend on how the stream was split.

/// The place in the rest of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Skip {
    Line,
    Comment,
    String,
    StringEscape,
    /// Behind a `\`: the next byte is part of the character, even a quote.
    Character,
}

impl Skip {
    /// Counts the bytes ahead that change nothing.
    pub(super) fn dull_len(self, bytes: &[u8]) -> usize {
        match self {
            Skip::Line => len_until(bytes, |byte| matches!(byte, b'\n' | b'\r' | b'"' | b';' | b'\\')),
            Skip::Comment => len_until(bytes, |byte| matches!(byte, b'\n' | b'\r')),
            Skip::String => len_until(bytes, |byte| matches!(byte, b'"' | b'\\')),
            Skip::StringEscape | Skip::Character => 0,
        }
    }

    /// The place behind this byte, or nothing at the end of the line.
    pub(super) fn behind(self, byte: u8) -> Option<Skip> {
        match (self, byte) {
            (Skip::Line | Skip::Comment, b'\n' | b'\r') => None,
            (Skip::Line, b'"') => Some(Skip::String),
            (Skip::Line, b';') => Some(Skip::Comment),
            (Skip::Line, b'\\') => Some(Skip::Character),
            (Skip::String, b'\\') => Some(Skip::StringEscape),
            (Skip::String, b'"') | (Skip::Character, _) => Some(Skip::Line),
            (Skip::StringEscape, _) => Some(Skip::String),
            (Skip::Line | Skip::Comment | Skip::String, _) => Some(self),
        }
    }
}

/// Counts the bytes before the first that ends a stretch. Generic, so that each loop is compiled
/// with its test inlined.
pub(super) fn len_until(bytes: &[u8], is_end: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| is_end(*byte)).unwrap_or(bytes.len())
}
