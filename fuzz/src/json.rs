//! Fuzzes JSON, and prints any EDN as JSON. Parsed values print and parse back equal, and agree
//! with serde_json; the scan before parsing never finds less depth than there is; input that only
//! serde_json accepts has a duplicate key or exceeds a limit.

use reveille::dialect::{REQUEST_CAPS, json};
use reveille::edn::{self, Value};
use reveille::surface::graphql::GraphqlRequest;
use reveille::surface::http::{Syntax, depth};

use super::edn::nested;

/// Panics if one of these properties does not hold for `input`.
pub fn run(input: &[u8]) {
    let other = serde_json::from_slice::<serde_json::Value>(input);
    match (json::read(input, &REQUEST_CAPS), other) {
        (Ok(value), Ok(other)) => taken(input, &value, &other),
        (Ok(value), Err(error)) => unreachable!("taken for {value}, and it is none: {error}"),
        (Err(error), Ok(_)) => {
            let text = error.to_string();
            // serde_json accepts duplicate keys and has none of our limits; in all else both must
            // agree.
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
    // A GraphQL request must be accepted alike from text and from a parsed value.
    let (whole, part) = (GraphqlRequest::from_json(input), GraphqlRequest::from_value(value));
    assert_eq!(whole.is_ok(), part.is_ok(), "a request");
}

fn written(value: &Value) -> String {
    let mut text = String::new();
    json::write(value, &mut text);
    text
}
