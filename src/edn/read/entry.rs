//! Entry points of the reader.
//!
//! Lives here: what each of them requires of the input as a whole. Does not live here: reading a
//! form, see `reader.rs`.
//!
//! Invariant: the length cap is checked before anything else.

use std::str::FromStr;

use super::reader::Reader;
use crate::edn::{Caps, ReadError, ReadErrorKind, Value};

/// Reads an input that holds exactly one form.
///
/// Comments and discarded forms may stand around it. Metadata is read, checked as Clojure
/// checks it, and dropped.
///
/// # Errors
///
/// Whatever is wrong with the input, `Empty` when it holds no form, `Trailing` when a
/// second one follows.
pub fn read(input: &[u8], caps: &Caps) -> Result<Value, ReadError> {
    only(Reader::new(utf8(input, caps)?, caps), input)
}

/// Reads an input that holds exactly one form, and keeps metadata as [`Value::Meta`].
///
/// ```
/// use reveille::edn::{Caps, Value, read_keeping_meta};
/// let caps = Caps { bytes_max: 1024, depth_max: 8, digits_max: 32, forms_max: 100 };
/// let query = read_keeping_meta(b"^:task/open [:task/title]", &caps).unwrap();
/// assert_eq!(query.meta().and_then(|meta| meta.keyword("task/open")), Some(&Value::Bool(true)));
/// assert_eq!(query, Value::vector([Value::keyword("task/title")]));
/// ```
///
/// # Errors
///
/// As [`read`].
pub fn read_keeping_meta(input: &[u8], caps: &Caps) -> Result<Value, ReadError> {
    let mut reader = Reader::new(utf8(input, caps)?, caps);
    reader.keeps_meta = true;
    only(reader, input)
}

/// Reads one form within [`Caps::DEFAULT`], as [`read`] does.
///
/// ```
/// use reveille::edn::Value;
/// let tool: Value = "{:action \"scheduler\" :op \"list\"}".parse()?;
/// assert_eq!(tool.as_map().and_then(|map| map.keyword("op")).and_then(Value::as_str), Some("list"));
/// assert!("{:action".parse::<Value>().is_err());
/// # Ok::<(), reveille::edn::ReadError>(())
/// ```
impl FromStr for Value {
    type Err = ReadError;

    fn from_str(text: &str) -> Result<Self, ReadError> {
        read(text.as_bytes(), &Caps::DEFAULT)
    }
}

fn only(mut reader: Reader<'_>, input: &[u8]) -> Result<Value, ReadError> {
    let value = first(&mut reader, input)?;
    // Read and not only looked at, because comments and discarded forms may follow the form.
    match reader.form().map_err(|fault| *fault)? {
        None => Ok(value),
        Some(_) => {
            let message = "a second form follows where the input should end";
            Err(ReadError::new(ReadErrorKind::Trailing, message, input, reader.form_from()))
        }
    }
}

/// Reads the first form of an input and ignores the rest, as `clojure.edn/read-string` does.
///
/// # Errors
///
/// Whatever is wrong up to the end of the form, `Empty` when there is none.
pub fn read_first(input: &[u8], caps: &Caps) -> Result<Value, ReadError> {
    check_length(input, caps)?;
    let Err(broken) = std::str::from_utf8(input) else {
        return first(&mut Reader::new(utf8(input, caps)?, caps), input);
    };
    // Bytes that are not UTF-8 matter only if the form touches them.
    let good = input.get(..broken.valid_up_to()).unwrap_or_default();
    let mut reader = Reader::new(utf8(good, caps)?, caps);
    match first(&mut reader, good) {
        // A form that reaches the end of the good part might go on in the bad one.
        Ok(value) if reader.offset() < good.len() => Ok(value),
        // The form is broken before the bad bytes, so they are not what is wrong with it.
        Err(error) if !matches!(error.kind(), ReadErrorKind::UnexpectedEnd | ReadErrorKind::Empty) => {
            Err(error)
        }
        Ok(_) | Err(_) => Err(not_utf8(input, good.len())),
    }
}

/// Reads all forms of an input, which may be none.
///
/// # Errors
///
/// Whatever is wrong with the input.
pub fn read_all(input: &[u8], caps: &Caps) -> Result<Vec<Value>, ReadError> {
    let mut reader = Reader::new(utf8(input, caps)?, caps);
    let mut values = Vec::new();
    while let Some(value) = reader.form().map_err(|fault| *fault)? {
        values.push(value);
    }
    Ok(values)
}

fn first(reader: &mut Reader<'_>, input: &[u8]) -> Result<Value, ReadError> {
    let nothing = || ReadError::new(ReadErrorKind::Empty, "the input holds no form", input, input.len());
    reader.form().map_err(|fault| *fault)?.ok_or_else(nothing)
}

/// Checks length and encoding, once for the whole input.
fn utf8<'a>(input: &'a [u8], caps: &Caps) -> Result<&'a str, ReadError> {
    check_length(input, caps)?;
    std::str::from_utf8(input).map_err(|error| not_utf8(input, error.valid_up_to()))
}

fn check_length(input: &[u8], caps: &Caps) -> Result<(), ReadError> {
    match usize::try_from(caps.bytes_max) {
        Ok(bytes_max) if input.len() > bytes_max => {
            Err(ReadError::limit("bytes", u64::from(caps.bytes_max), input, bytes_max))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

fn not_utf8(input: &[u8], offset: usize) -> ReadError {
    ReadError::new(ReadErrorKind::Encoding, "the input is not UTF-8 here", input, offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let answer = text.parse::<Value>().map_or_else(|error| error.to_string(), |value| value.to_string());
        assert_eq!(answer, expected, "{}", text.get(..40).unwrap_or(text));
    }

    #[test]
    fn texts_parse_within_the_default_caps() {
        check(" {:a [1 2.0 3N]} ; and a comment", "{:a [1 2.0 3N]}");
        check("^:open [1]", "[1]");
        check("1 2", "a second form follows where the input should end (line 1, column 3)");
        check("", "the input holds no form (line 1, column 1)");
        check(
            &format!("{}{}", "[".repeat(64), "]".repeat(64)),
            &format!("{}{}", "[".repeat(64), "]".repeat(64)),
        );
        let limit = "the input exceeds the limit of";
        check(&"[".repeat(65), &format!("{limit} 64 levels of nesting (line 1, column 65)"));
        check(&"1".repeat(1_001), &format!("{limit} 1000 characters in one number (line 1, column 1)"));
        check(&"1 ".repeat(600_000), &format!("{limit} 1048576 bytes (line 1, column 1048577)"));
        check(
            &format!("[{}]", "1 ".repeat(100_000)),
            &format!("{limit} 100000 forms (line 1, column 200003)"),
        );
        assert_eq!(Caps::default(), Caps::DEFAULT);
    }
}
