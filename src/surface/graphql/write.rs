//! JSON of leaves, written straight into the answer.
//!
//! Invariant: what a scalar cannot represent is an error in graphql-js's words, and nothing is written then.

use std::fmt::Write;

use super::model::{Enum, Scalar};
use crate::domain::Moment;
use crate::edn::Value;
use crate::surface::json;

/// Writes one value as a scalar.
pub(super) fn scalar(scalar: Scalar, value: &Value, out: &mut String) -> Result<(), String> {
    match (scalar, value) {
        (Scalar::Json, _) => json::write(value, out),
        (Scalar::Int, Value::Int(number)) if i32::try_from(*number).is_ok() => integer(*number, out),
        (Scalar::Long, Value::Int(number)) => integer(*number, out),
        (Scalar::Int, Value::Int(number)) => {
            return Err(format!("Int cannot represent non 32-bit signed integer value: {number}"));
        }
        (Scalar::Float, Value::Float(number)) if number.is_finite() => json::write(value, out),
        (Scalar::Float, Value::Int(number)) => integer(*number, out),
        (Scalar::Boolean, Value::Bool(flag)) => out.push_str(if *flag { "true" } else { "false" }),
        (Scalar::String, Value::Str(string)) => text(string, out),
        (Scalar::String, Value::Keyword(_) | Value::Symbol(_) | Value::Uuid(_)) => json::write(value, out),
        (Scalar::Id, Value::Str(string)) => text(string, out),
        (Scalar::Id, Value::Int(number)) => text(&number.to_string(), out),
        (Scalar::Id, Value::Keyword(_) | Value::Uuid(_)) => json::write(value, out),
        (Scalar::DateTime, Value::Inst(inst)) => match Moment::new(inst.seconds(), inst.nanos()) {
            // An instant prints as digits and signs that need no escape.
            Some(moment) => out.push_str(&format!("\"{moment}\"")),
            None => return Err(cannot(scalar, value)),
        },
        _ => return Err(cannot(scalar, value)),
    }
    Ok(())
}

/// Writes the constant of a keyword.
pub(super) fn constant(each: &Enum, value: &Value, out: &mut String) -> Result<(), String> {
    let keyword = value.as_keyword().map(crate::edn::Keyword::as_str);
    match each.values.iter().find(|(name, _)| Some(name.as_str()) == keyword) {
        Some((_, constant)) => {
            out.push('"');
            out.push_str(constant);
            out.push('"');
            Ok(())
        }
        None => Err(format!("Enum \"{}\" cannot represent value: {}", each.name, shown(value))),
    }
}

/// Writes text with its quotes.
pub(super) fn text(text: &str, out: &mut String) {
    out.push('"');
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[from..at]);
        from = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ => out.push_str(&format!("\\u{byte:04x}")),
        }
    }
    out.push_str(&text[from..]);
    out.push('"');
}

fn integer(number: i64, out: &mut String) {
    // Writing to a string cannot fail.
    let written = write!(out, "{number}");
    debug_assert!(written.is_ok());
}

fn cannot(scalar: Scalar, value: &Value) -> String {
    let what = match scalar {
        Scalar::Int | Scalar::Long => "non-integer value",
        Scalar::Float => "non numeric value",
        Scalar::Boolean => "a non boolean value",
        Scalar::String | Scalar::Id | Scalar::DateTime | Scalar::Json => "value",
    };
    format!("{} cannot represent {what}: {}", scalar.name(), shown(value))
}

/// The value as it would stand in JSON.
fn shown(value: &Value) -> String {
    let mut out = String::new();
    json::write(value, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_written_as_json() {
        for sample in ["", "plain", "a\"b\\c\nd\te\r", "\u{1}\u{7f}é🦀", "\u{2028}"] {
            let mut out = String::new();
            text(sample, &mut out);
            assert_eq!(serde_json::from_str::<String>(&out).unwrap(), sample);
        }
    }
}
