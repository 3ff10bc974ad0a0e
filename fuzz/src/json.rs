//! Any bytes as JSON, and whatever is EDN as an answer in JSON. What is read writes and reads back equal and means what
//! another parser makes of it; the scan before it never finds less depth than there is; what is refused here, and by
//! that parser is not, says a key twice, or too much.

use reveille::dialect::{REQUEST_CAPS, json};
use reveille::edn::{self, Value};
use reveille::surface::graphql::Request;
use reveille::surface::http::{Syntax, depth};

use super::edn::nested;

/// Fails where one of that does not hold.
pub fn run(input: &[u8]) {
    let other = serde_json::from_slice::<serde_json::Value>(input);
    match (json::read(input, &REQUEST_CAPS), other) {
        (Ok(value), Ok(other)) => taken(input, &value, &other),
        (Ok(value), Err(error)) => unreachable!("taken for {value}, and it is none: {error}"),
        (Err(error), Ok(_)) => {
            let text = error.to_string();
            assert!(text.contains("duplicate key") || text.contains("the input is"), "{text}");
        }
        (Err(error), Err(_)) => assert!(!error.to_string().is_empty()),
    }
    if let Ok(value) = edn::read_keeping_meta(input, &REQUEST_CAPS) {
        let text = written(&value);
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
        assert!(is_json && !text.contains('\n'), "{value}: {text}");
    }
}

fn taken(input: &[u8], value: &Value, other: &serde_json::Value) {
    let text = written(value);
    let again = json::read(text.as_bytes(), &REQUEST_CAPS).expect("it was within the caps");
    assert_eq!((&again, written(&again)), (value, text.clone()), "written");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).ok().as_ref(), Some(other), "meant");
    assert!(nested(value) <= depth(input, Syntax::Json), "scanned");
    // A request is read off the same object, whichever way it came.
    let (whole, part) = (Request::from_json(input), Request::from_value(value));
    assert_eq!(whole.is_ok(), part.is_ok(), "a request");
}

fn written(value: &Value) -> String {
    let mut text = String::new();
    json::write(value, &mut text);
    text
}
