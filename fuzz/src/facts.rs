//! Fuzzes payloads of stored facts. The result is an error message, or a fact that prints and
//! parses back equal, by both parsers.

use reveille::edn::{Caps, Value, read_keeping_meta};
use reveille::runtime::codec::{parse, print, read};

const CAPS: Caps = Caps { bytes_max: 1 << 28, depth_max: 128, digits_max: 1_000, forms_max: u32::MAX };

/// Panics if one of these properties does not hold for `input`.
pub fn run(input: &[u8]) {
    let fact = match read(input) {
        Ok(fact) => fact,
        Err(error) => return assert!(!error.is_empty()),
    };
    let text = print(&fact).into_text();
    assert_eq!(read(text.as_bytes()).as_ref(), Ok(&fact), "printed");
    // The fast parser, which builds no value, must agree with the one for all EDN.
    for text in [input, text.as_bytes()] {
        let value = read_keeping_meta(text, &CAPS).expect("it was read");
        let form = bare(&value).as_map().expect("a fact is a map");
        assert_eq!(parse(form).as_ref(), Ok(&fact), "by the other reader");
    }
    let again = read(text.as_bytes()).map(|fact| print(&fact).into_text());
    assert_eq!(again.as_ref(), Ok(&text), "printed twice");
}

fn bare(value: &Value) -> &Value {
    if let Value::Meta(meta) = value { meta.value() } else { value }
}
