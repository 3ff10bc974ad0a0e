//! Splits a file into lines, and parses them as JSON.
//!
//! Invariant: a line is bounded before it is parsed. A line that is too long costs no more than finding its end.

use super::warning::Oddity;
use crate::dialect::json;
use crate::edn::{Caps, Value};
use crate::limits;

/// One line that is not blank.
pub(super) struct JsonlLine<'a> {
    /// The line number, from 1.
    pub(super) number: u64,
    bytes: &'a [u8],
    /// True if the line has no line break at its end.
    is_torn: bool,
}

/// The lines of a file that are not blank.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = JsonlLine<'_>> {
    // Numbered before blank lines are dropped, so the numbers are those of the file.
    let lines = text.split_inclusive(|byte| *byte == b'\n').zip(1..);
    lines.filter(|(bytes, _)| !bytes.trim_ascii().is_empty()).map(|(bytes, number)| JsonlLine {
        number,
        bytes,
        is_torn: !bytes.ends_with(b"\n"),
    })
}

impl JsonlLine<'_> {
    /// Parses the line.
    pub(super) fn value(&self) -> Result<Value, Oddity> {
        // The parser counts from the beginning of the line; the number of the line is reported separately.
        let place = |error: &json::JsonError| error.to_string().replace(" at line 1 column ", " at column ");
        // Trimmed, so that the line ends of other systems, with a carriage return, do no harm.
        json::read(self.bytes.trim_ascii(), &LINE_CAPS).map_err(|error| self.malformed(&place(&error)))
    }

    /// The warning about a line that is not an event.
    pub(super) fn malformed(&self, fault: &str) -> Oddity {
        if self.is_torn { Oddity::Torn } else { Oddity::Malformed { fault: fault.into() } }
    }
}

/// A line contains a job at most twice, as a patch and as a snapshot. JSON escapes make a text up to six times
/// longer; the other fields are small.
#[expect(clippy::cast_possible_truncation, reason = "the assertion below proves that nothing is cut")]
const LINE_CAPS: Caps = Caps {
    bytes_max: LINE_BYTES as u32,
    depth_max: limits::REQUEST_DEPTH.value as u16,
    digits_max: limits::REQUEST_DIGITS.value as u16,
    forms_max: limits::REQUEST_FORMS.value as u32,
};

const LINE_BYTES: u64 = 2 * 6 * limits::REQUEST_BYTES.value;
const _: () = assert!(LINE_BYTES < 1 << 31 && limits::REQUEST_DEPTH.value < 1 << 15);
