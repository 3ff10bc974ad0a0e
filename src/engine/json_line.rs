//! A value as one line of JSON, as it stands in a message to a model.
//!
//! Keywords become strings without the colon, sets become arrays, and what JSON lacks becomes a string of its EDN text. What
//! lives elsewhere: the JSON of answers (`dialect/json.rs`), which needs a library that the engine does without.

use std::fmt::Write;

use crate::edn::Value;

/// Appends a value as JSON.
pub(super) fn write(value: &Value, out: &mut String) {
    match value {
        Value::Nil => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Int(number) => _ = write!(out, "{number}"),
        Value::BigInt(number) => _ = write!(out, "{number}"),
        // JSON has no text for NaN and the infinities.
        Value::Float(number) if number.is_finite() => _ = write!(out, "{number:?}"),
        Value::Float(_) => out.push_str("null"),
        Value::Str(text) => string(text, out),
        Value::Keyword(word) => string(word.as_str(), out),
        Value::List(items) | Value::Vector(items) => sequence(items.iter(), out),
        Value::Set(items) => sequence(items.iter(), out),
        Value::Map(map) => {
            out.push('{');
            for (place, (key, value)) in map.iter().enumerate() {
                out.push_str(if place > 0 { ", " } else { "" });
                match key {
                    Value::Str(text) => string(text, out),
                    Value::Keyword(word) => string(word.as_str(), out),
                    other => string(&other.to_string(), out),
                }
                out.push_str(": ");
                write(value, out);
            }
            out.push('}');
        }
        Value::Tagged(tagged) => write(&tagged.value, out),
        Value::Meta(meta) => write(meta.value(), out),
        Value::Inst(_) | Value::Uuid(_) | Value::BigDec(_) | Value::Ratio(_) | Value::Char(_) => {
            string(value.to_string().trim_matches('"'), out);
        }
        Value::Symbol(_) => string(&value.to_string(), out),
    }
}

/// Returns a text as a string of JSON.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    string(text, &mut out);
    out
}

fn sequence<'a>(items: impl Iterator<Item = &'a Value>, out: &mut String) {
    out.push('[');
    for (place, item) in items.enumerate() {
        out.push_str(if place > 0 { ", " } else { "" });
        write(item, out);
    }
    out.push(']');
}

fn string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Some readers break lines at these two.
            '\u{2028}' | '\u{2029}' => _ = write!(out, "\\u{:04x}", u32::from(character)),
            other if other.is_control() => _ = write!(out, "\\u{:04x}", u32::from(other)),
            other => out.push(other),
        }
    }
    out.push('"');
}
