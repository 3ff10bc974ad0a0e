//! Finds the position of a part of a value in its text, for error messages.
//!
//! Lives here: from a path into a value to a byte offset. Does not live here: positions of syntax
//! errors, see `error.rs`.
//!
//! Invariant: values carry no positions, so reading pays nothing for them; only an error
//! reads its text a second time.

use super::read::Reader;
use super::{Caps, Value};

/// Finds the byte at which a part of the first form of `input` begins.
///
/// The path is like that of Clojure's `get-in`: an index selects an item of a list or vector, any
/// value selects the entry of a map by its key. Nothing is found if `input` cannot be read or has
/// no such part.
///
/// ```
/// use reveille::edn::{Caps, Value, locate};
/// let caps = Caps { bytes_max: 1024, depth_max: 8, digits_max: 32, forms_max: 100 };
/// let path = [Value::Int(1), Value::keyword("tasks"), Value::Int(0)];
/// assert_eq!(locate(b"[:a {:tasks [7]}]", &path, &caps), Some(13));
/// ```
pub fn locate(input: &[u8], path: &[Value], caps: &Caps) -> Option<usize> {
    let text = std::str::from_utf8(input).ok()?;
    let mut reader = Reader::new(text, caps);
    reader.skip_to_form()?;
    for step in path {
        enter(&mut reader, step)?;
        reader.skip_to_form()?;
    }
    Some(reader.offset())
}

/// Moves from the bracket at which the reader stands to the part that `step` names.
fn enter(reader: &mut Reader<'_>, step: &Value) -> Option<()> {
    let bracket = reader.peek(0)?;
    reader.advance(1);
    match (bracket, step) {
        (b'[' | b'(', Value::Int(index)) => {
            // The items before it are read and dropped.
            for _ in 0..*index {
                reader.form().ok()??;
            }
            Some(())
        }
        (b'{', key) => {
            // A key that does not match is skipped with its value.
            while reader.form().ok()?? != *key {
                reader.form().ok()??;
            }
            Some(())
        }
        _ => None,
    }
}
