//! Cuts a stream of JSON into lines and reads each as one value.
//!
//! Invariant: a line that cannot be read costs its own error and nothing else, unless it exceeds a bound: then where the next
//! request begins is not looked for, and the stream should be closed, as in EDN. Blanks between requests are not stored.

use std::collections::VecDeque;

use serde_json::error::Category;

use crate::dialect::json::{self, JsonError};
use crate::edn::{Caps, ReadError, ReadErrorKind, Value};

/// The lines of one client.
pub(super) struct JsonLines {
    caps: Caps,
    /// The line that has begun, without the blanks before it.
    line: Vec<u8>,
    ready: VecDeque<Result<Value, ReadError>>,
    /// Whether a line was longer than the bound: all that follows is ignored.
    is_over: bool,
}

impl JsonLines {
    pub(super) fn new(caps: Caps) -> JsonLines {
        JsonLines { caps, line: Vec::new(), ready: VecDeque::new(), is_over: false }
    }

    /// Accepts the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.keep(piece);
            if piece.ends_with(b"\n") {
                self.complete();
            }
        }
    }

    /// Takes out the next request, or the error in its place.
    pub(super) fn next_form(&mut self) -> Option<Result<Value, ReadError>> {
        self.ready.pop_front()
    }

    /// Ends the stream; a last line needs no line feed.
    pub(super) fn finish(&mut self) -> Option<Result<Value, ReadError>> {
        self.complete();
        self.ready.pop_front()
    }

    fn keep(&mut self, piece: &[u8]) {
        // Blanks before a line are dropped at once, however many they are.
        let from = if self.line.is_empty() {
            piece.iter().position(|byte| !json::is_blank(*byte)).unwrap_or(piece.len())
        } else {
            0
        };
        let room = (self.caps.bytes_max as usize).saturating_sub(self.line.len());
        let rest = piece.get(from..).unwrap_or_default();
        // The line feed is no part of the line.
        let rest = rest.strip_suffix(b"\n").unwrap_or(rest);
        if self.is_over {
            return;
        }
        if rest.len() > room {
            // Filled up to the bound, so that the error shows where the line exceeds it.
            self.line.extend_from_slice(&rest[..room]);
            let error = self.limit("bytes", u64::from(self.caps.bytes_max), self.line.len());
            self.ready.push_back(Err(error));
            self.line.clear();
            self.is_over = true;
            return;
        }
        self.line.extend_from_slice(rest);
    }

    /// Reads the line that has ended.
    fn complete(&mut self) {
        // An empty line is no request: it keeps a connection busy and is not answered.
        if self.line.is_empty() || self.is_over {
            return;
        }
        let read = self.read();
        self.is_over = matches!(&read, Err(error) if matches!(error.kind(), ReadErrorKind::Limit { .. }));
        self.ready.push_back(read);
        self.line.clear();
    }

    fn read(&self) -> Result<Value, ReadError> {
        let value = json::read(&self.line, &self.caps).map_err(|error| self.fault(&error))?;
        // Counted afterwards: the bound of bytes holds for what the parser makes.
        if json::forms(&value) > u64::from(self.caps.forms_max) {
            return Err(self.limit("forms", u64::from(self.caps.forms_max), self.line.len()));
        }
        Ok(value)
    }

    fn fault(&self, error: &JsonError) -> ReadError {
        match error {
            JsonError::TooLong { max } => self.limit("bytes", u64::from(*max), self.line.len()),
            JsonError::TooDeep { max, offset } => self.limit("depth", u64::from(*max), *offset),
            JsonError::Malformed(error) => match error.classify() {
                Category::Eof => {
                    let message = "the line ends inside a value";
                    ReadError::new(ReadErrorKind::UnexpectedEnd, message, &self.line, self.line.len())
                }
                Category::Data => self.malformed(ReadErrorKind::Duplicate, error),
                Category::Syntax | Category::Io => self.malformed(ReadErrorKind::Syntax, error),
            },
        }
    }

    fn malformed(&self, kind: ReadErrorKind, error: &serde_json::Error) -> ReadError {
        // The parser counts bytes from 1, and a line has no second one.
        ReadError::new(kind, json::without_place(error), &self.line, error.column().saturating_sub(1))
    }

    fn limit(&self, limit: &'static str, max: u64, offset: usize) -> ReadError {
        ReadError::limit(limit, max, &self.line, offset)
    }
}
