//! Prints answers and messages, which contain text of agents: a terminal shows all of it, and acts on none of it.
//!
//! Invariants: printed text stays on its line, in its order and in its place. A line break, an escape sequence or a change
//! of direction is printed by its number, and an answer in EDN or JSON reads back as the same value. Every command prints
//! through this file; the exceptions are protocols for programs (`stdio`, `mcp`) and text that no agent writes.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::{self, Write as _};

use crate::domain::Moment;
use crate::edn::{Value, is_hidden};

/// Returns a text as it is, or in quotes with escapes if it could be taken for another text, or for more than one: if a
/// terminal would do more with it than show it, if it looks quoted already, or if its blanks look like those between columns.
pub(super) fn visible(text: &str) -> String {
    let is_read_alike =
        text.trim() == text && !text.is_empty() && !text.starts_with('"') && !text.contains("  ");
    let is_as_it_looks = is_read_alike && text.chars().all(is_plain);
    if is_as_it_looks { text.to_owned() } else { shown(&Value::string(text)) }
}

/// Returns an instant as it is written without EDN's tag, and any other value as EDN, with escapes for what a terminal would not
/// show.
pub(super) fn shown(value: &Value) -> String {
    if let Some(at) = value.as_inst().and_then(|inst| Moment::new(inst.seconds(), inst.nanos())) {
        return at.brief().to_string();
    }
    let mut out = String::new();
    for found in value.to_string().chars() {
        if is_plain(found) {
            out.push(found);
        } else {
            out.extend(found.escape_unicode());
        }
    }
    out
}

/// Prints an answer to stdout. It is EDN, JSON or text of ours, and reads back as the same value: a line break is layout,
/// because both notations escape those inside strings, and so do we everything else that a terminal would not just show.
pub(super) fn print(answer: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(escaped(answer).as_bytes())?;
    output.flush()
}

/// Prints a message to stderr, on one line.
pub(super) fn complain(message: impl Display) {
    let message = escaped(&message.to_string()).replace('\n', "\\n");
    // If stderr is closed, nothing can be reported.
    let _ = writeln!(io::stderr(), "reveille: {message}");
}

/// Prints a message of ours to stderr that has several lines.
pub(super) fn complain_in_lines(message: &str) {
    // If stderr is closed, nothing can be reported.
    let _ = io::stderr().write_all(escaped(message).as_bytes());
}

/// Escapes what a terminal would not just show, line breaks excepted, as EDN and JSON write it in strings. Outside of
/// strings neither has such characters.
pub(super) fn escaped(text: &str) -> Cow<'_, str> {
    let stays = |found: char| is_plain(found) || found == '\n';
    // Most texts are ASCII, of which a look at each byte tells.
    let is_printable = |byte: u8| matches!(byte, b' '..=b'~' | b'\n');
    if text.bytes().all(is_printable) || text.chars().all(stays) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for found in text.chars() {
        if stays(found) {
            out.push(found);
        } else {
            for unit in found.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    Cow::Owned(out)
}

/// Whether a terminal shows a character, and does nothing else with it.
fn is_plain(found: char) -> bool {
    !found.is_control() && !is_hidden(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::REQUEST_CAPS;
    use crate::edn::{self, Caps, Map};
    use crate::surface::json;

    #[test]
    fn what_a_terminal_would_act_on_is_plain() {
        for (text, expected) in [
            ("Nice morning review", "Nice morning review"),
            ("grün, 日本語, C:\\temp", "grün, 日本語, C:\\temp"),
            ("a\n  rule  safe", "\"a\\n  rule  safe\""),
            ("\u{1b}]0;pwned\u{7}\u{1b}[2J", "\"\\u001b]0;pwned\\u0007\\u001b[2J\""),
            ("\u{9b}2J", "\"\\u009b2J\""),
            ("tfel\u{202e}right", "\"tfel\\u{202e}right\""),
            ("a\u{200b}b", "\"a\\u{200b}b\""),
            ("\"quoted\"", "\"\\\"quoted\\\"\""),
            ("x  by operator", "\"x  by operator\""),
            ("x ", "\"x \""),
            ("", "\"\""),
            ("\u{e0041}\u{e0042}", "\"\\u{e0041}\\u{e0042}\""),
            ("\u{3164}", "\"\\u{3164}\""),
            ("paid\u{2800}\u{115f}", "\"paid\\u{2800}\\u{115f}\""),
        ] {
            assert_eq!(visible(text), expected);
            assert!(visible(text).chars().all(is_plain));
        }
    }

    /// Every character that a terminal would act on or hide, in EDN and in JSON.
    #[test]
    fn escaped_answers_read_back_as_the_same_value() {
        const CAPS: Caps = Caps { bytes_max: 1 << 20, ..REQUEST_CAPS };
        let hidden = |found: &char| !is_plain(*found);
        for found in ('\0'..=char::MAX).filter(hidden) {
            let mut value = Value::Map(Map::new().with("said", format!("a{found}\\{found}\"b").as_str()));
            let mut text = String::new();
            json::write(&value, &mut text);
            let printed = escaped(&text);
            assert!(printed.chars().all(is_plain), "{printed:?}");
            let [before, after] = [&*text, &*printed].map(|text| json::read(text.as_bytes(), &CAPS));
            assert_eq!(after.expect("it is JSON"), before.expect("it is JSON"));
            // JSON has no characters; in EDN they have a notation of their own.
            if let Value::Map(map) = &mut value {
                map.insert(Value::keyword("one"), Value::Char(found));
            }
            let text = value.to_string();
            let printed = escaped(&text);
            assert!(printed.chars().all(is_plain), "{printed:?}");
            assert_eq!(edn::read(printed.as_bytes(), &CAPS).as_ref(), Ok(&value));
        }
        assert_eq!(escaped("{:a 1\n :b \"\u{e0041}\"}\n"), "{:a 1\n :b \"\\udb40\\udc41\"}\n");
    }
}
