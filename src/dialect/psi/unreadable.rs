//! The answer to input that is not valid EDN.

use crate::dialect::Notation;
use crate::edn::{Map, ReadError, Value};

use super::value::integer;

/// Prints the fault and its place: byte offset, line and column; and how the input is read, which its first form has decided.
pub fn unreadable(error: &ReadError, notation: Notation) -> Value {
    let hint = match notation {
        Notation::Edn => {
            "this connection reads EDN, by its first form; JSON is an object whose first key is in quotes, with the colon \
             directly behind it"
        }
        Notation::Json => "this connection reads JSON, by its first form: one object a line",
    };
    let place = Map::new()
        .with("offset", integer(error.offset()))
        .with("line", error.line())
        .with("column", error.column())
        .with("hint", hint);
    let fault = Map::new()
        .with("message", error.message())
        .with("class", "reader")
        .with("phase", Value::keyword("read"))
        .with("data", place);
    Map::new().with("error", fault).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edn::{self, Caps};

    #[test]
    fn the_place_is_named() {
        let caps = Caps { bytes_max: 100, depth_max: 8, digits_max: 8, forms_max: 8 };
        let error = edn::read(b"{:a 1\n :a 2}", &caps).unwrap_err();
        let answer = unreadable(&error, Notation::Edn).to_string();
        assert!(answer.starts_with(r#"{:error {:message ""#), "{answer}");
        let place = r#":class "reader" :phase :read :data {:offset 7 :line 2 :column 2 :hint "this connection reads EDN"#;
        assert!(answer.contains(place) && answer.ends_with("directly behind it\"}}}"), "{answer}");
    }
}
