//! The stdio transport: one message per line, one answer per line.
//!
//! Invariants: at most one request's length is buffered per line; for any input, only messages are written. Source:
//! MCP, stdio transport.

use std::io::{self, BufRead, ErrorKind, Write};

use super::fault::McpFault;
use super::message;
use super::wire_version::WireVersion;
use crate::limits;

/// Answers line by line until the input ends.
///
/// # Errors
/// The first error of either stream, including a closed output.
pub fn serve(
    mut input: impl BufRead,
    mut output: impl Write,
    mut answer: impl FnMut(&[u8]) -> Option<String>,
) -> io::Result<()> {
    loop {
        let answer = match next(&mut input)? {
            StdioLine::End => return Ok(()),
            StdioLine::TooLong => Some(too_long()),
            StdioLine::Whole(line) if line.iter().all(u8::is_ascii_whitespace) => None,
            StdioLine::Whole(line) => answer(&line),
        };
        if let Some(mut answer) = answer {
            answer.push('\n');
            output.write_all(answer.as_bytes())?;
            output.flush()?;
        }
    }
}

enum StdioLine {
    Whole(Vec<u8>),
    TooLong,
    End,
}

/// Reads one line. A line that is too long is read to its end and discarded.
fn next(input: &mut impl BufRead) -> io::Result<StdioLine> {
    let (mut line, mut read) = (Vec::new(), 0_u64);
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        // Without a byte since the last line break, this is the end. A last line without a break is still a line.
        if chunk.is_empty() && read == 0 {
            return Ok(StdioLine::End);
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(chunk.len());
        let is_over = end.is_some() || chunk.is_empty();
        read = read.saturating_add(taken as u64);
        if read <= limits::REQUEST_BYTES.value {
            line.extend_from_slice(&chunk[..taken]);
        } else {
            // The rest of the line is skipped, so its beginning is of no use.
            line = Vec::new();
        }
        let used = taken + usize::from(end.is_some());
        input.consume(used);
        if is_over {
            let fits = read <= limits::REQUEST_BYTES.value;
            return Ok(if fits { StdioLine::Whole(line) } else { StdioLine::TooLong });
        }
    }
}

/// The error for a line that is too long. Its id is unknown, because the line was not parsed.
fn too_long() -> String {
    let limit = limits::REQUEST_BYTES;
    let error = format!("it is longer than {} {}", limit.value, limit.unit);
    message::error(None, &McpFault::Unreadable { error }, WireVersion::Stateless)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &[u8], expected: &[&str]) {
        for room in [1, 7, 8_192] {
            let mut output = Vec::new();
            let echo = |line: &[u8]| Some(String::from_utf8_lossy(line).into_owned());
            serve(io::BufReader::with_capacity(room, input), &mut output, echo).unwrap();
            let output = String::from_utf8(output).unwrap();
            assert_eq!(output.lines().collect::<Vec<_>>(), expected, "{room}");
        }
    }

    #[test]
    fn lines_are_answered_one_by_one() {
        check(b"", &[]);
        check(b"\n \n\r\n", &[]);
        check(b"a\n\nb", &["a", "b"]);
        check(b"a\nb\n", &["a", "b"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_and_the_next_is_read() {
        let max = usize::try_from(limits::REQUEST_BYTES.value).unwrap();
        let (fits, too_long) = ("x".repeat(max), "x".repeat(max + 1));
        check(format!("{fits}\nb\n").as_bytes(), &[&fits, "b"]);
        check(format!("{too_long}\nb\n").as_bytes(), &[&super::too_long(), "b"]);
        check(too_long.as_bytes(), &[&super::too_long()]);
    }
}
