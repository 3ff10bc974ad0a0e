//! Copies of a caller's values, for errors that repeat them.
//!
//! Invariant: an echo is small and shallow, so that a client can always parse the answer that contains it.

use crate::edn::Value;

/// Returns the value itself if it is small, else the beginning of its text, as a string that ends in `…`.
pub fn echo(value: &Value) -> Value {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if text.len() <= ECHO_BYTES_MAX && !nests_deeper(value, ECHO_DEPTH_MAX) {
        return value.clone();
    }
    // A deep value can have a short text, so the text may be shorter than the limit. A cut inside a character
    // would panic.
    let head = text.floor_char_boundary(ECHO_BYTES_MAX);
    Value::string(format!("{}…", &text[..head]))
}

fn nests_deeper(value: &Value, levels: u32) -> bool {
    let deeper = |inner: &Value| levels == 0 || nests_deeper(inner, levels - 1);
    match value {
        Value::List(items) | Value::Vector(items) => items.iter().any(deeper),
        Value::Set(set) => set.iter().any(deeper),
        Value::Map(map) => map.iter().any(|(key, value)| deeper(key) || deeper(value)),
        Value::Tagged(tagged) => deeper(&tagged.value),
        // Metadata is not printed, so it adds no level.
        Value::Meta(meta) => nests_deeper(meta.value(), levels),
        Value::Nil | Value::Bool(_) | Value::Int(_) | Value::BigInt(_) | Value::Float(_) => false,
        Value::BigDec(_) | Value::Ratio(_) | Value::Char(_) | Value::Str(_) | Value::Keyword(_) => false,
        Value::Symbol(_) | Value::Inst(_) | Value::Uuid(_) => false,
    }
}

/// Longest text of an echoed value, in bytes: enough for any value that a caller could plausibly mean.
const ECHO_BYTES_MAX: usize = 256;
/// Deepest nesting of an echoed value. A client's reader may have a depth limit of its own, and the answer adds levels.
const ECHO_DEPTH_MAX: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edn::{Caps, read};

    #[track_caller]
    fn check(value: &str, expected: &str) {
        let caps = Caps { bytes_max: 4_096, depth_max: 64, digits_max: 16, forms_max: 4_096 };
        assert_eq!(echo(&read(value.as_bytes(), &caps).unwrap()).to_string(), expected);
    }

    #[test]
    fn echoes_are_small_and_shallow() {
        check("{:a [1 #{2}]}", "{:a [1 #{2}]}");
        check("[[[[[[[[1]]]]]]]]", "[[[[[[[[1]]]]]]]]");
        check("[[[[[[[[[1]]]]]]]]]", "\"[[[[[[[[[1]]]]]]]]]…\"");
        check(&format!("\"{}\"", "a".repeat(256)), &format!("\"{}\"", "a".repeat(256)));
        check(&format!("\"{}\"", "é".repeat(129)), &format!("\"{}…\"", "é".repeat(128)));
        check(&format!("[{}]", "1 ".repeat(200)), &format!("\"[{}1…\"", "1 ".repeat(127)));
    }
}
