//! Fuzzes EDN. Parsed values print and parse back equal; the framer finds the forms however the
//! bytes are split; the scan before parsing never finds less depth than there is.

use reveille::edn::{Caps, Framer, Value, read, read_all};
use reveille::surface::http::{Syntax, depth};

const CAPS: Caps = Caps { bytes_max: 1 << 20, depth_max: 64, digits_max: 512, forms_max: 100_000 };

/// Panics if one of these properties does not hold for `input`.
pub fn run(input: &[u8]) {
    let all = read_all(input, &CAPS);
    let whole = framed(input, input.len().max(1));
    assert_eq!(framed(input, 1), whole, "frames depend on the pieces");
    let Ok(values) = all else { return };
    let scanned = depth(input, Syntax::Edn);
    for value in &values {
        let text = value.to_string();
        let again = read(text.as_bytes(), &CAPS);
        assert_eq!(again.as_ref(), Ok(value), "printed");
        assert_eq!(again.map(|value| value.to_string()), Ok(text), "printed twice");
        assert!(nested(value) <= scanned, "{scanned} levels were scanned");
    }
    assert_eq!(whole, Some(values), "framed");
}

/// Feeds the input in pieces of `size` bytes and parses each frame; `None` if any of it fails.
fn framed(bytes: &[u8], size: usize) -> Option<Vec<Value>> {
    let mut framer = Framer::new(CAPS);
    let mut frames = Vec::new();
    for piece in bytes.chunks(size) {
        framer.push(piece);
        frames.extend(std::iter::from_fn(|| framer.next_frame()));
    }
    frames.extend(std::iter::from_fn(|| framer.finish()));
    frames.into_iter().map(|frame| read(&frame.ok()?, &CAPS).ok()).collect()
}

/// The nesting depth of a value.
pub(super) fn nested(value: &Value) -> usize {
    let below = |items: &mut dyn Iterator<Item = &Value>| 1 + items.map(nested).max().unwrap_or(0);
    match value {
        Value::List(items) | Value::Vector(items) => below(&mut items.iter()),
        Value::Set(items) => below(&mut items.iter()),
        Value::Map(map) => below(&mut map.iter().flat_map(|(key, value)| [key, value])),
        Value::Tagged(tagged) => nested(&tagged.value),
        Value::Meta(meta) => nested(meta.value()),
        Value::Nil
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::BigDec(_)
        | Value::Ratio(_)
        | Value::Char(_)
        | Value::Str(_)
        | Value::Keyword(_)
        | Value::Symbol(_)
        | Value::Inst(_)
        | Value::Uuid(_) => 0,
    }
}
