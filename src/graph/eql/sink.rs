//! Where an answer goes as it is read: straight into text, in whichever notation.
//!
//! Lives here: what a notation must be able to write, and EDN. JSON for GraphQL is its surface's.
//!
//! Invariant: what is written through a sink in EDN is, letter for letter, what the answer's value prints.

use std::fmt::Write;

use crate::edn::{self, Value};
use crate::graph::registry::Datum;

/// A text in the making.
pub trait Sink {
    /// Begins a map.
    fn open_map(&mut self);
    /// Writes the key of a map's next entry.
    fn key(&mut self, key: &Value, is_first: bool);
    /// Ends a map.
    fn close_map(&mut self);
    /// Begins a vector.
    fn open_list(&mut self);
    /// Begins the next item of a vector.
    fn item(&mut self, is_first: bool);
    /// Ends a vector.
    fn close_list(&mut self);
    /// Writes a value that refers to nothing.
    fn datum(&mut self, datum: &Datum<'_>);
    /// Where the text ends now.
    fn mark(&self) -> usize;
    /// Takes back what was written since.
    fn rewind(&mut self, mark: usize);
}

/// EDN.
pub struct EdnSink<'a> {
    out: &'a mut String,
}

impl<'a> EdnSink<'a> {
    /// Appends to a text.
    pub fn new(out: &'a mut String) -> Self {
        Self { out }
    }
}

impl Sink for EdnSink<'_> {
    fn open_map(&mut self) {
        self.out.push('{');
    }

    fn key(&mut self, key: &Value, is_first: bool) {
        if !is_first {
            self.out.push(' ');
        }
        if let Value::Keyword(keyword) = key {
            self.out.push(':');
            self.out.push_str(keyword.as_str());
        } else {
            edn::write(key, self.out);
        }
        self.out.push(' ');
    }

    fn close_map(&mut self) {
        self.out.push('}');
    }

    fn open_list(&mut self) {
        self.out.push('[');
    }

    fn item(&mut self, is_first: bool) {
        if !is_first {
            self.out.push(' ');
        }
    }

    fn close_list(&mut self) {
        self.out.push(']');
    }

    fn datum(&mut self, datum: &Datum<'_>) {
        // Writing to a string cannot fail.
        let _ = match datum {
            Datum::Nil | Datum::Entity(_) | Datum::Entities(_) => self.out.write_str("nil"),
            Datum::Bool(flag) => self.out.write_str(if *flag { "true" } else { "false" }),
            Datum::Int(number) => write!(self.out, "{number}"),
            Datum::Text(text) => edn::write_string(text, self.out),
            // An id may hold what must be escaped; mostly it does not, and no copy is made to find out.
            Datum::Shown(shown) => {
                self.out.push('"');
                let start = self.out.len();
                let written = write!(self.out, "{shown}");
                if self.out[start..].bytes().any(|byte| byte == b'"' || byte == b'\\' || byte < b' ') {
                    let text = self.out.split_off(start);
                    self.out.pop();
                    edn::write_string(&text, self.out)
                } else {
                    self.out.push('"');
                    written
                }
            }
            Datum::Name(name) => {
                self.out.push(':');
                self.out.write_str(name)
            }
            Datum::Inst(inst) => {
                self.out.push_str("#inst \"");
                inst.push(self.out, edn::Fraction::Always);
                self.out.write_str("-00:00\"")
            }
            Datum::Value(value) => {
                edn::write(value, self.out);
                Ok(())
            }
        };
    }

    fn mark(&self) -> usize {
        self.out.len()
    }

    fn rewind(&mut self, mark: usize) {
        self.out.truncate(mark);
    }
}
