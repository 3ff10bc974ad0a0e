//! Values as one line of JSON, for texts that a model reads.
//!
//! Invariant: the text has no line break and no invisible character, so nothing in it can pose as a line of ours. (JSON for
//! programs is written by `dialect/json.rs`.)

use std::fmt::Write as _;

use super::plain::{Items, Number, Plain, key_text};
use crate::edn::{Map, Value, is_hidden};

/// The value as one line of JSON.
pub(crate) fn json_line(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// The text as JSON has it, in quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::new();
    write_text(text, &mut out);
    out
}

/// The text on one line, without quotes around it: blanks stand for line breaks and for what is not seen.
pub(crate) fn flat(text: &str) -> String {
    text.replace(is_unseen, " ")
}

/// The first characters of a text, and how many it has; `None` if they are all.
pub(crate) fn beginning(text: &str, most: u64) -> Option<(&str, usize)> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let (end, _) = text.char_indices().nth(most)?;
    Some((&text[..end], text.chars().count()))
}

fn write(value: &Value, out: &mut String) {
    match Plain::of(value) {
        Plain::Nil => out.push_str("null"),
        Plain::Bool(flag) => out.push_str(if flag { "true" } else { "false" }),
        Plain::Number(number) => write_number(value, &number, out),
        Plain::Text(text) => write_text(&text, out),
        Plain::List(items) => write_items(items, out),
        Plain::Map(map) => write_map(map, out),
    }
}

/// A number as it was written, where JSON can have it so.
fn write_number(value: &Value, number: &Number, out: &mut String) {
    let printed = match (value, number) {
        // Debug output has a fraction or an exponent in any case, so a float stays one for the reader.
        (Value::Float(float), _) => format!("{float:?}"),
        (_, Number::Whole(number)) => number.to_string(),
        // EDN marks exact decimals with an `M`, and JSON has no such mark.
        (_, Number::Exact(number)) => number.to_string().trim_end_matches('M').to_owned(),
    };
    out.push_str(&printed);
}

fn write_items(items: Items<'_>, out: &mut String) {
    out.push('[');
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            out.push_str(", ");
        }
        write(item, out);
    }
    out.push(']');
}

fn write_map(map: &Map, out: &mut String) {
    out.push('{');
    for (place, (key, value)) in map.iter().enumerate() {
        if place > 0 {
            out.push_str(", ");
        }
        write_text(&key_text(key), out);
        out.push_str(": ");
        write(value, out);
    }
    out.push('}');
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    // What stays as it is, is copied in one piece: a result of a tool may be long.
    while let Some(at) = rest.find(|found| matches!(found, '"' | '\\') || is_unseen(found)) {
        let (plain, escaped) = rest.split_at(at);
        out.push_str(plain);
        let mut characters = escaped.chars();
        if let Some(character) = characters.next() {
            write_character(character, out);
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

/// Whether a character breaks lines, or is not seen.
fn is_unseen(found: char) -> bool {
    found.is_control() || is_hidden(found)
}

fn write_character(character: char, out: &mut String) {
    match character {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        _ if is_unseen(character) => {
            let mut units = [0; 2];
            // Two escapes above U+FFFF, as JSON demands.
            for unit in character.encode_utf16(&mut units) {
                // Writing to a string does not fail.
                write!(out, "\\u{unit:04x}").unwrap_or_default();
            }
        }
        _ => out.push(character),
    }
}
