//! The notation of one stream: EDN, or JSON with a line for each message. It cuts the input into requests and writes answers.
//!
//! The first form decides, for the whole connection: it is JSON if it is a map whose first key is a string with a colon
//! directly behind it (`{"op":`), and EDN otherwise. In EDN a space stands there (`{"action" "scheduler"}`). Only white space
//! of JSON may come before. What lives elsewhere: the mapping between the notations (`dialect/json.rs`), what a request means
//! (`request.rs`).
//!
//! Invariants: how the input is split into pieces changes nothing. Both notations have the same bounds, of bytes, depth and
//! forms.

use super::json_lines::JsonLines;
use crate::dialect::{Notation, json};
use crate::edn::{Caps, Framer, Map, ReadError, Value, read};

/// Cuts the input of one client into requests.
pub(super) struct Codec {
    caps: Caps,
    state: State,
}

enum State {
    /// What came of the first form, as long as it does not tell.
    Undecided(FirstForm),
    Edn(Framer),
    Json(JsonLines),
}

impl Codec {
    /// A codec for a stream of this notation; without one, the first form decides.
    pub(super) fn new(caps: Caps, notation: Option<Notation>) -> Codec {
        let undecided = || State::Undecided(FirstForm::default());
        Codec { caps, state: notation.map_or_else(undecided, |notation| State::of(notation, caps)) }
    }

    /// The notation, once it is known.
    pub(super) fn notation(&self) -> Option<Notation> {
        match self.state {
            State::Undecided(_) => None,
            State::Edn(_) => Some(Notation::Edn),
            State::Json(_) => Some(Notation::Json),
        }
    }

    /// Accepts the next bytes of the stream. The requests that they complete are to be taken out before the next push.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        match &mut self.state {
            State::Undecided(first) => {
                if let Some(notation) = first.push(bytes, self.caps.bytes_max as usize) {
                    // What was looked at so far is read like all that follows.
                    let bytes = std::mem::take(&mut first.bytes);
                    self.state = State::of(notation, self.caps);
                    // The notation is known by then, so this call does not come here again.
                    self.push(&bytes);
                }
            }
            State::Edn(framer) => framer.push(bytes),
            State::Json(lines) => lines.push(bytes),
        }
    }

    /// Takes out the next request, or the error in its place.
    pub(super) fn next_form(&mut self) -> Option<Result<Value, ReadError>> {
        match &mut self.state {
            State::Undecided(_) => None,
            State::Edn(framer) => {
                framer.next_frame().map(|frame| frame.and_then(|frame| read(&frame, &self.caps)))
            }
            State::Json(lines) => lines.next_form(),
        }
    }

    /// Ends the stream and takes out the request that ends with it.
    pub(super) fn finish(&mut self) -> Option<Result<Value, ReadError>> {
        if let State::Undecided(first) = &mut self.state {
            // A beginning that never told is no JSON; the framer says what is missing of it.
            let bytes = std::mem::take(&mut first.bytes);
            self.state = State::of(Notation::Edn, self.caps);
            self.push(&bytes);
        }
        match &mut self.state {
            State::Undecided(_) => None,
            State::Edn(framer) => {
                framer.finish().map(|frame| frame.and_then(|frame| read(&frame, &self.caps)))
            }
            State::Json(lines) => lines.finish(),
        }
    }
}

impl State {
    fn of(notation: Notation, caps: Caps) -> State {
        match notation {
            Notation::Edn => State::Edn(Framer::new(caps)),
            Notation::Json => State::Json(JsonLines::new(caps)),
        }
    }
}

/// The beginning of the first form, up to the byte that decides about the notation.
#[derive(Default)]
struct FirstForm {
    /// Without the white space before it.
    bytes: Vec<u8>,
    place: Place,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Default)]
enum Place {
    #[default]
    Before,
    /// Behind the brace.
    Opened,
    /// In the first key.
    Key,
    /// Behind a backslash in the first key.
    Escape,
    /// Directly behind the first key.
    Behind,
}

impl FirstForm {
    /// Accepts bytes. Returns the notation once they tell; from then on [`FirstForm::bytes`] holds all of them.
    fn push(&mut self, bytes: &[u8], max: usize) -> Option<Notation> {
        // Byte by byte, because a form may come in any pieces; no byte is looked at twice.
        for (at, byte) in bytes.iter().enumerate() {
            let is_blank = json::is_blank(*byte);
            let next = match (self.place, byte) {
                // Not stored, because there may be any number of blanks.
                (Place::Before, _) if is_blank => continue,
                (Place::Before, b'{') => Some(Place::Opened),
                (Place::Opened, _) if is_blank => Some(Place::Opened),
                (Place::Opened, b'"') | (Place::Escape, _) => Some(Place::Key),
                (Place::Key, b'\\') => Some(Place::Escape),
                (Place::Key, b'"') => Some(Place::Behind),
                (Place::Key, _) => Some(Place::Key),
                (Place::Before | Place::Opened | Place::Behind, _) => None,
            };
            // A key beyond the bound decides too: without a notation its error would never be reported.
            let Some(next) = next.filter(|_| self.bytes.len() < max) else {
                let is_json = matches!((self.place, byte), (Place::Behind, b':'));
                self.bytes.extend_from_slice(&bytes[at..]);
                return Some(if is_json { Notation::Json } else { Notation::Edn });
            };
            self.place = next;
            self.bytes.push(*byte);
        }
        None
    }
}

/// Writes a message as one line.
pub(super) fn line(value: &Value, notation: Notation) -> String {
    let mut text = String::new();
    match notation {
        Notation::Edn => crate::edn::write(value, &mut text),
        Notation::Json => json::write(value, &mut text),
    }
    text.push('\n');
    text
}

/// The entry of a request with this key, which is a keyword in EDN and a string in JSON.
pub(super) fn entry<'a>(map: &'a Map, key: &str, notation: Notation) -> Option<&'a Value> {
    match notation {
        Notation::Edn => map.keyword(key),
        Notation::Json => map.text(key),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::edn::ReadErrorKind;

    const CAPS: Caps = Caps { bytes_max: 40, depth_max: 3, digits_max: 20, forms_max: 6 };

    /// The notation that is found, and each form or the message and offset of its error. Where a bound was exceeded is left out:
    /// the framer of EDN says where the piece began that did.
    fn said(input: &[u8], size: usize) -> (Option<Notation>, Vec<String>) {
        let mut codec = Codec::new(CAPS, None);
        let mut said = Vec::new();
        let told = |form: Result<Value, ReadError>| match form {
            Ok(form) => form.to_string(),
            Err(error) if matches!(error.kind(), ReadErrorKind::Limit { .. }) => error.message().to_owned(),
            Err(error) => format!("{} @{}", error.message(), error.offset()),
        };
        for piece in input.chunks(size.max(1)) {
            codec.push(piece);
            while let Some(form) = codec.next_form() {
                said.push(told(form));
            }
        }
        while let Some(form) = codec.finish() {
            said.push(told(form));
        }
        (codec.notation(), said)
    }

    #[track_caller]
    fn check(input: &str, notation: Notation, forms: &[&str]) {
        let forms: Vec<String> = forms.iter().map(|form| (*form).to_owned()).collect();
        for size in [1, 3, input.len()] {
            assert_eq!(said(input.as_bytes(), size), (Some(notation), forms.clone()), "{input} by {size}");
        }
    }

    #[test]
    fn the_first_form_decides() {
        check(r#"{"a":1}"#, Notation::Json, &[r#"{"a" 1}"#]);
        check("\r\n\t { \"a\\\"b\":1 }\n", Notation::Json, &[r#"{"a\"b" 1}"#]);
        check(r#"{:a 1} {"b" 2}"#, Notation::Edn, &["{:a 1}", r#"{"b" 2}"#]);
        check(r#"{"a" :b} {:c 1}"#, Notation::Edn, &[r#"{"a" :b}"#, "{:c 1}"]);
        check("{}\n{:a 1}", Notation::Edn, &["{}", "{:a 1}"]);
        check(", {:a 1}", Notation::Edn, &["{:a 1}"]);
        check("[1]", Notation::Edn, &["[1]"]);
        assert_eq!(said(b"", 1), (Some(Notation::Edn), vec![]));
        let ended = (Some(Notation::Edn), vec!["the stream ends inside a form @3".to_owned()]);
        assert_eq!(said(b" {\"a", 1), ended);
        let long = format!("{{\"{}", "x".repeat(100));
        check(&long, Notation::Edn, &["the input exceeds the limit of 40 bytes"]);
    }

    #[test]
    fn a_json_request_is_one_line() {
        check("{\"a\":1}\n\n \r\n{\"b\":2}\n", Notation::Json, &[r#"{"a" 1}"#, r#"{"b" 2}"#]);
        check("{\"a\":\n1}", Notation::Json, &["the line ends inside a value @5", "trailing characters @1"]);
        check("{\"a\":1} {}\n[]\n", Notation::Json, &["trailing characters @8", "[]"]);
        check("{\"a\":1,\"a\":2}\n7", Notation::Json, &["duplicate key \"a\" @12", "7"]);
        check("{\"a\":[[[1]]]}\n7", Notation::Json, &["the input exceeds the limit of 3 levels of nesting"]);
        check("{\"a\":[1,2,3,4]}\n7", Notation::Json, &["the input exceeds the limit of 6 forms"]);
        let long = format!("{{\"a\":\"{}\"}}\n7", "x".repeat(100));
        check(&long, Notation::Json, &["the input exceeds the limit of 40 bytes"]);
    }

    proptest! {
        /// Requests do not depend on how the input is split.
        #[test]
        fn pieces_make_no_difference(text in "[{}\\[\\]\":\\\\,a1 \n]{0,60}", size in 1_usize..7) {
            prop_assert_eq!(said(text.as_bytes(), size), said(text.as_bytes(), text.len()));
        }
    }
}
