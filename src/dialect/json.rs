//! Converts JSON arguments to EDN values, and EDN answers to JSON text.
//!
//! Objects become maps with string keys, in order. In the other direction, keywords become strings without the colon
//! (qualified ones `ns/name`), instants become ISO strings, and sets become arrays.
//!
//! Invariants: duplicate keys are refused; length and depth are checked on the raw bytes before the parser runs.

use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};

use crate::domain::Moment;
use crate::edn::{BigInt, Caps, Map, Value};

/// Why a JSON text was refused.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// The text is longer than the cap.
    #[error("the input is longer than {max} bytes")]
    TooLong {
        /// The cap in bytes.
        max: u32,
    },
    /// The text is nested deeper than the cap.
    #[error("the input is nested deeper than {max} levels")]
    TooDeep {
        /// The cap in levels.
        max: u16,
        /// The bracket that is too deep, in bytes from the beginning.
        offset: usize,
    },
    /// The text is not JSON, or an object has a duplicate key.
    #[error("{0}")]
    Malformed(#[from] serde_json::Error),
}

/// Parses one JSON text.
///
/// # Errors
/// [`JsonError`], with line and column if the parser knows them.
pub fn read(input: &[u8], caps: &Caps) -> Result<Value, JsonError> {
    if input.len() > caps.bytes_max as usize {
        return Err(JsonError::TooLong { max: caps.bytes_max });
    }
    // The parser recurses into nested values, so the depth is bounded on the bytes first.
    if let Some(offset) = deeper_than(input, usize::from(caps.depth_max)) {
        return Err(JsonError::TooDeep { max: caps.depth_max, offset });
    }
    let mut parser = serde_json::Deserializer::from_slice(input);
    let value = Seed.deserialize(&mut parser)?;
    // Anything but white space after the value is an error.
    parser.end()?;
    Ok(value)
}

/// Writes a value as one line of JSON. Decimals, ratios and symbols, which JSON lacks, become strings of their EDN
/// text; NaN and the infinities become null. Tags and metadata are dropped.
pub fn write(value: &Value, out: &mut String) {
    match value {
        Value::Nil => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Int(number) => out.push_str(&number.to_string()),
        Value::BigInt(number) => out.push_str(&number.to_string()),
        // JSON has no text for NaN and the infinities; they become null below.
        Value::Float(number) if number.is_finite() => {
            out.push_str(
                &serde_json::Number::from_f64(*number).map_or("null".into(), |number| number.to_string()),
            );
        }
        Value::Float(_) => out.push_str("null"),
        Value::List(items) | Value::Vector(items) => write_items(items.iter(), out),
        Value::Set(items) => write_items(items.iter(), out),
        Value::Map(map) => write_map(map, out),
        Value::Tagged(tagged) => write(&tagged.value, out),
        Value::Meta(meta) => write(meta.value(), out),
        Value::BigDec(_)
        | Value::Ratio(_)
        | Value::Char(_)
        | Value::Str(_)
        | Value::Keyword(_)
        | Value::Symbol(_)
        | Value::Inst(_)
        | Value::Uuid(_) => write_as_text(value, out),
    }
}

fn write_items<'a>(items: impl Iterator<Item = &'a Value>, out: &mut String) {
    out.push('[');
    for (place, item) in items.enumerate() {
        if place > 0 {
            out.push(',');
        }
        write(item, out);
    }
    out.push(']');
}

fn write_map(map: &Map, out: &mut String) {
    out.push('{');
    for (place, (key, value)) in map.iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        write_as_text(key, out);
        out.push(':');
        write(value, out);
    }
    out.push('}');
}

/// Writes text with its quotes, without a copy.
pub(crate) fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let mut from = 0;
    // Only ASCII characters are escaped, so that every cut is at a character boundary.
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[from..at]);
        from = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ => out.push_str(&format!("\\u{byte:04x}")),
        }
    }
    out.push_str(&text[from..]);
    out.push('"');
}

/// Writes a value that JSON has as text, or the key of an object.
fn write_as_text(value: &Value, out: &mut String) {
    match (value.as_str(), value.as_keyword()) {
        (Some(text), _) => write_text(text, out),
        (None, Some(keyword)) => write_text(keyword.as_str(), out),
        (None, None) => write_text(&text(value), out),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Char(char) => char.to_string(),
        Value::Uuid(uuid) => uuid.hyphenated().to_string(),
        Value::Inst(inst) => Moment::new(inst.seconds(), inst.nanos())
            .map_or_else(|| value.to_string(), |moment| moment.to_string()),
        Value::Nil
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::BigDec(_)
        | Value::Ratio(_)
        | Value::Str(_)
        | Value::Keyword(_)
        | Value::Symbol(_)
        | Value::List(_)
        | Value::Vector(_)
        | Value::Map(_)
        | Value::Set(_)
        | Value::Tagged(_)
        | Value::Meta(_) => value.to_string(),
    }
}

/// Whether a byte is white space of JSON.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The number of forms in a value, itself, keys and all depths included.
pub(crate) fn forms(value: &Value) -> u64 {
    // The reader makes no other value with parts.
    let items = value.as_items().into_iter().flatten().map(forms);
    let entries = value.as_map().into_iter().flatten().map(|(_, value)| 1 + forms(value));
    1 + items.chain(entries).sum::<u64>()
}

/// The text of a parser's error without line and column.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = error.to_string();
    text.strip_suffix(&place).map_or_else(|| text.clone(), str::to_owned)
}

/// The first bracket outside strings that nests deeper than `max`, in bytes from the beginning. For text that is not JSON the
/// figure means little; the parser rejects such text.
fn deeper_than(input: &[u8], max: usize) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, byte) in input.iter().enumerate() {
        match byte {
            // The byte after a backslash ends nothing, not even a string.
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                if depth > max {
                    return Some(at);
                }
            }
            // A surplus closing bracket must not hide the depth of what follows.
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

struct Seed;

impl<'de> DeserializeSeed<'de> for Seed {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        // Values above the range of `i64` must not wrap.
        Ok(i64::try_from(value).map_or_else(|_| Value::BigInt(Box::new(BigInt::from(value))), Value::from))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut vector = Vec::new();
        while let Some(item) = items.next_element_seed(Seed)? {
            vector.push(item);
        }
        Ok(vector.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(Seed)?;
            // Parsers differ in which of two equal keys counts, so neither does.
            if map.insert(Value::string(key.as_str()), value).is_some() {
                return Err(A::Error::custom(format_args!("duplicate key {key:?}")));
            }
        }
        Ok(map.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPS: Caps = Caps { bytes_max: 1_000, depth_max: 3, digits_max: 100, forms_max: 100 };

    #[track_caller]
    fn check(input: &str, expected: &str) {
        let answer = read(input.as_bytes(), &CAPS);
        assert_eq!(
            answer.map_or_else(|error| error.to_string(), |value| value.to_string()),
            expected,
            "{input}"
        );
    }

    #[test]
    fn json_becomes_edn() {
        check(r#"{"a": [1, 2.5, null, true, "x"]}"#, r#"{"a" [1 2.5 nil true "x"]}"#);
        check("18446744073709551615", "18446744073709551615N");
        check(r#"{"a":1,"a":2}"#, r#"duplicate key "a" at line 1 column 13"#);
        check(r#"{"a":1"#, "EOF while parsing an object at line 1 column 6");
        check("[[[1]]]", "[[[1]]]");
        check("[[[[1]]]]", "the input is nested deeper than 3 levels");
        check(r#"["[[[[[", "\"[[["]"#, r#"["[[[[[" "\"[[["]"#);
        check(&"[".repeat(2_000), "the input is longer than 1000 bytes");
    }

    #[test]
    fn text_is_written_as_json() {
        let controls: String = ('\0'..' ').collect();
        for sample in ["", "plain", "a\"b\\c\nd\te\r", "\u{7f}é🦀", "\u{2028}", &controls] {
            let mut out = String::new();
            write_text(sample, &mut out);
            assert_eq!(out, serde_json::Value::from(sample).to_string());
        }
    }

    #[test]
    fn edn_becomes_json() {
        let edn = br#"{:psi-tool/action :scheduler :n 1.0 :set #{1} :at #inst "2026-04-22T13:00:00Z" "s" nil :big 7N}"#;
        let mut out = String::new();
        write(&crate::edn::read(edn, &CAPS).unwrap(), &mut out);
        let at = r#""at":"2026-04-22T13:00:00Z""#;
        assert_eq!(
            out,
            format!(r#"{{"psi-tool/action":"scheduler","n":1.0,"set":[1],{at},"s":null,"big":7}}"#)
        );
    }
}
