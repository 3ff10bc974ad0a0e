//! Fuzzes the stream, as an operator, or as a session if the input begins with `!`. The answers do not depend on how the bytes
//! are split, and every line that is sent is one map, all of them in EDN or all of them in JSON.

use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex};

use reveille::dialect::json;
use reveille::edn::{Caps, Value, read};
use reveille::service::Service;
use reveille::surface::edn_stream::{Connection, Peer, serve};

use super::scene::{Scene, session};

const CAPS: Caps = Caps { bytes_max: 1 << 28, depth_max: 512, digits_max: u16::MAX, forms_max: u32::MAX };

/// Panics if one of these properties does not hold for `input`.
pub fn run(input: &[u8]) {
    let (peer, input) = match input.strip_prefix(b"!") {
        Some(rest) => (Peer::Session(session("main")), rest),
        None => (Peer::Operator, input),
    };
    let whole = said(input, &peer, input.len().max(1));
    // Three bytes cut most tokens, and a UTF-8 sequence of four.
    assert_eq!(said(input, &peer, 3), whole, "in pieces");
}

/// The answers to the input. Pushes are left out: they come at any time.
fn said(input: &[u8], peer: &Peer, size: usize) -> Vec<Value> {
    let connection = Connection::new(Service::new(Scene::new().handle), peer.clone());
    let output = Output::default();
    // Ending the stream because of its input is not an I/O error.
    serve(connection, Pieces { rest: input, size }, output.clone()).expect("memory");
    let bytes = output.0.lock().expect("nobody panicked").clone();
    let text = String::from_utf8(bytes).expect("what goes out is text");
    assert!(text.is_empty() || text.ends_with('\n'), "{text}");
    // In EDN, the keys of what goes out are keywords.
    let is_json = text.starts_with("{\"");
    let line = |line: &str| match is_json {
        true => json::read(line.as_bytes(), &CAPS).expect("what goes out is JSON"),
        false => read(line.as_bytes(), &CAPS).expect("what goes out is EDN"),
    };
    let said: Vec<Value> = text.lines().map(line).collect();
    let is_answer = |value: &Value| {
        // psi's words about a query, or about an action that it does not have.
        if value.as_str().is_some_and(|text| text.starts_with("EQL query error: ")) {
            return true;
        }
        let map = value.as_map().expect("what goes out is a map");
        ["ok", "error"].iter().any(|key| map.keyword(key).or_else(|| map.text(key)).is_some())
    };
    said.into_iter().filter(is_answer).collect()
}

/// A reader that returns at most `size` bytes at a time.
struct Pieces<'a> {
    rest: &'a [u8],
    size: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (piece, rest) = self.rest.split_at(self.rest.len().min(self.size).min(buffer.len()));
        buffer[..piece.len()].copy_from_slice(piece);
        self.rest = rest;
        Ok(piece.len())
    }
}

/// A writer shared by two threads.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panicked").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
