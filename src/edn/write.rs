//! Writer: prints values as EDN text.
//!
//! Lives here: the writer. Does not live here: number, instant and name texts, which their
//! types print themselves.
//!
//! Invariant: the text is one line, free of control characters, and `clojure.edn` and our
//! reader read it back equal. Characters beyond `U+FFFF` are the one exception for Clojure,
//! whose characters end there.

use std::fmt::{self, Write};

use super::hidden::is_hidden;
use super::{Map, Set, Value};

/// Appends the text of `value` to `out`.
///
/// ```
/// use reveille::edn::{Value, write};
/// let mut out = String::new();
/// write(&Value::vector([Value::Float(1.0), Value::Nil, "a\n".into()]), &mut out);
/// assert_eq!(out, r#"[1.0 nil "a\n"]"#);
/// ```
pub fn write(value: &Value, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = value_to(value, out);
}

/// Appends a text as an EDN string, with its quotes.
pub(crate) fn write_string(text: &str, out: &mut String) -> fmt::Result {
    string(text, out)
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        value_to(self, out)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        value_to(self, out)
    }
}

fn value_to<W: Write>(value: &Value, out: &mut W) -> fmt::Result {
    match value {
        Value::Nil => out.write_str("nil"),
        Value::Bool(flag) => out.write_str(if *flag { "true" } else { "false" }),
        Value::Int(number) => write!(out, "{number}"),
        // Also for numbers that 64 bits hold, so that `1N` prints as it was read.
        Value::BigInt(number) => write!(out, "{number}N"),
        Value::Float(number) => float(*number, out),
        Value::BigDec(number) => write!(out, "{number}"),
        Value::Ratio(number) => write!(out, "{number}"),
        Value::Char(character) => character_to(*character, out),
        Value::Str(text) => string(text, out),
        Value::Keyword(keyword) => {
            out.write_char(':')?;
            out.write_str(keyword.as_str())
        }
        Value::Symbol(symbol) => out.write_str(symbol.as_str()),
        Value::List(items) => delimited("(", items.iter(), ")", out),
        Value::Vector(items) => delimited("[", items.iter(), "]", out),
        Value::Map(map) => map_to(map, out),
        Value::Set(set) => set_to(set, out),
        Value::Inst(inst) => {
            // Not by way of a format: answers are full of instants.
            out.write_str("#inst \"")?;
            inst.print(out)?;
            out.write_char('"')
        }
        Value::Uuid(uuid) => write!(out, "#uuid \"{}\"", uuid.as_hyphenated()),
        Value::Tagged(tagged) => {
            write!(out, "#{} ", tagged.tag)?;
            value_to(&tagged.value, out)
        }
        // Metadata is not printed, as in Clojure with `*print-meta*` off.
        Value::Meta(meta) => value_to(meta.value(), out),
    }
}

pub(super) fn map_to<W: Write>(map: &Map, out: &mut W) -> fmt::Result {
    delimited("{", map.iter().flat_map(|(key, value)| [key, value]), "}", out)
}

pub(super) fn set_to<W: Write>(set: &Set, out: &mut W) -> fmt::Result {
    delimited("#{", set.iter(), "}", out)
}

fn delimited<'a, W: Write>(
    open: &str,
    items: impl Iterator<Item = &'a Value>,
    close: &str,
    out: &mut W,
) -> fmt::Result {
    out.write_str(open)?;
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.write_char(' ')?;
        }
        value_to(item, out)?;
    }
    out.write_str(close)
}

/// Prints a float. Rust's debug form is the shortest text that reads back to the same float, always
/// with a point or an exponent.
fn float<W: Write>(number: f64, out: &mut W) -> fmt::Result {
    if number.is_nan() {
        out.write_str("##NaN")
    } else if number == f64::INFINITY {
        out.write_str("##Inf")
    } else if number == f64::NEG_INFINITY {
        out.write_str("##-Inf")
    } else {
        write!(out, "{number:?}")
    }
}

fn character_to<W: Write>(character: char, out: &mut W) -> fmt::Result {
    match character {
        '\n' => out.write_str("\\newline"),
        '\r' => out.write_str("\\return"),
        ' ' => out.write_str("\\space"),
        '\t' => out.write_str("\\tab"),
        '\u{8}' => out.write_str("\\backspace"),
        '\u{C}' => out.write_str("\\formfeed"),
        // Four digits, or up to six for a tag character, which Clojure's characters cannot hold.
        hidden if hidden.is_control() || hidden.is_whitespace() || is_hidden(hidden) => {
            write!(out, "\\u{:04x}", u32::from(hidden))
        }
        visible => {
            out.write_char('\\')?;
            out.write_char(visible)
        }
    }
}

/// Prints a string. Stretches of plain text are copied in one go; most strings are one stretch.
fn string<W: Write>(text: &str, out: &mut W) -> fmt::Result {
    out.write_char('"')?;
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| ESCAPE[usize::from(byte)]) {
        let (plain, special) = rest.split_at(at);
        out.write_str(plain)?;
        // The byte may begin a longer character, so a whole character is taken.
        let mut characters = special.chars();
        if let Some(character) = characters.next() {
            escaped(character, out)?;
        }
        rest = characters.as_str();
    }
    out.write_str(rest)?;
    out.write_char('"')
}

fn escaped<W: Write>(character: char, out: &mut W) -> fmt::Result {
    match character {
        '"' => out.write_str("\\\""),
        '\\' => out.write_str("\\\\"),
        '\n' => out.write_str("\\n"),
        '\t' => out.write_str("\\t"),
        '\r' => out.write_str("\\r"),
        '\u{C}' => out.write_str("\\f"),
        '\u{8}' => out.write_str("\\b"),
        // Escaped, because many readers of lines take these two for line breaks.
        hidden if hidden.is_control() || matches!(hidden, '\u{2028}' | '\u{2029}') => {
            write!(out, "\\u{:04x}", u32::from(hidden))
        }
        plain => out.write_char(plain),
    }
}

/// First bytes of characters that may need an escape. `0xC2` and `0xE2` begin the control
/// characters and line separators beyond ASCII, and also many characters that are copied after a
/// closer look.
const ESCAPE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = true;
        byte += 1;
    }
    table[b'"' as usize] = true;
    table[b'\\' as usize] = true;
    table[0x7F] = true;
    table[0xC2] = true;
    table[0xE2] = true;
    table
};
