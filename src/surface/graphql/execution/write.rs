//! Writes leaf values as JSON, straight into the answer.
//!
//! Invariant: a value that its scalar cannot represent is an error in graphql-js's words, and nothing is written for it.

use std::fmt::{Display, Write};

use crate::domain::Moment;
use crate::edn::{Fraction, Inst, Value};
use crate::surface::graphql::schema::model::{Enum, Scalar};
use crate::surface::json;
pub(in crate::surface::graphql) use crate::surface::json::write_text as text;

/// Writes one value as a scalar.
pub(in crate::surface::graphql) fn scalar(
    scalar: Scalar,
    value: &Value,
    out: &mut String,
) -> Result<(), String> {
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
        (Scalar::DateTime, Value::Inst(inst)) => instant(*inst, out),
        // Records such as triggers contain their instants as text.
        (Scalar::DateTime, Value::Str(string)) if Moment::parse(string).is_ok() => text(string, out),
        _ => return Err(cannot(scalar, value)),
    }
    Ok(())
}

/// Writes the enum constant of a keyword, or of a text that names one.
pub(in crate::surface::graphql) fn constant(
    each: &Enum,
    value: &Value,
    out: &mut String,
) -> Result<(), String> {
    let keyword = value.as_keyword().map(crate::edn::Keyword::as_str).or_else(|| value.as_str());
    if keyword.is_some_and(|keyword| name(each, keyword, out)) {
        return Ok(());
    }
    Err(format!("Enum \"{}\" cannot represent value: {}", each.name, as_json(value)))
}

/// Writes the enum constant of a keyword's name; returns whether there is one.
pub(in crate::surface::graphql) fn name(each: &Enum, name: &str, out: &mut String) -> bool {
    let found = each.values.iter().find(|(value, _)| value == name);
    if let Some((_, constant)) = found {
        // Constants are GraphQL names, so they need no escapes.
        out.push('"');
        out.push_str(constant);
        out.push('"');
    }
    found.is_some()
}

/// Writes an instant as RFC 3339.
pub(in crate::surface::graphql) fn instant(inst: Inst, out: &mut String) {
    out.push('"');
    inst.push(out, Fraction::AsNeeded);
    out.push_str("Z\"");
}

/// Writes a value as it prints itself, with quotes. A copy is made only if something must be escaped, which is rare.
pub(in crate::surface::graphql) fn shown(shown: &dyn Display, out: &mut String) {
    out.push('"');
    let start = out.len();
    // Writing to a string cannot fail.
    let written = write!(out, "{shown}");
    debug_assert!(written.is_ok());
    // Reads every byte: a loop without an early exit can be vectorised.
    let is_special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    if out.as_bytes()[start..].iter().fold(false, |found, byte| found | is_special(*byte)) {
        let plain = out.split_off(start);
        // Removes the quote as well, because `text` writes its own.
        out.pop();
        text(&plain, out);
    } else {
        out.push('"');
    }
}

fn integer(number: i64, out: &mut String) {
    // Writing to a string cannot fail.
    let written = write!(out, "{number}");
    debug_assert!(written.is_ok());
}

/// Returns the message for a value that a scalar cannot represent.
fn cannot(scalar: Scalar, value: &Value) -> String {
    let what = match scalar {
        Scalar::Int | Scalar::Long => "non-integer value",
        Scalar::Float => "non numeric value",
        Scalar::Boolean => "a non boolean value",
        Scalar::String | Scalar::Id | Scalar::DateTime | Scalar::Json => "value",
    };
    format!("{} cannot represent {what}: {}", scalar.name(), as_json(value))
}

/// Returns the value as JSON text.
fn as_json(value: &Value) -> String {
    let mut out = String::new();
    json::write(value, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_as_moments_print() {
        let seconds = [-62_167_219_200, -1, 0, 1_776_862_800, 253_402_300_799];
        for (seconds, nanos) in seconds
            .into_iter()
            .flat_map(|at| [0, 1, 1_000, 120_000_000, 999_999_999].map(|nanos| (at, nanos)))
        {
            let mut out = String::new();
            instant(Inst::new(seconds, nanos).unwrap(), &mut out);
            assert_eq!(out, format!("\"{}\"", Moment::new(seconds, nanos).unwrap()));
        }
    }

    #[test]
    fn what_prints_itself_is_escaped_like_text() {
        for sample in ["sch-1", "a\"b\\c", "line\nbreak", ""] {
            let (mut one, mut other) = (String::new(), String::new());
            shown(&sample, &mut one);
            text(sample, &mut other);
            assert_eq!(one, other);
        }
    }
}
