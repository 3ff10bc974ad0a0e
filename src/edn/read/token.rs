//! Parses names and the symbolic floats.
//!
//! Lives here: keywords, symbols with `nil`, `true` and `false`, and `##Inf`. Does not live
//! here: the rule of names, see `name.rs`.
//!
//! Invariant: a token ends at the first byte of class `STOP`, for the framer as well.

use super::reader::{Fault, Reader};
use crate::edn::{Keyword, Symbol, Value, class, name};

impl Reader<'_> {
    /// Reads a keyword.
    pub(super) fn keyword(&mut self) -> Result<Value, Fault> {
        let from = self.at + 1;
        let (end, classes) = self.token_end(from);
        let text = self.slice(from, end);
        // A text without an odd byte is a valid name as it stands, and needs no full check.
        if text.is_empty() || classes & class::ODD != 0 {
            name::check_keyword(text).map_err(|error| self.syntax(error.to_string(), self.at))?;
        }
        self.at = end;
        Ok(Value::Keyword(Keyword::checked(text)))
    }

    /// Reads a symbol, or one of the three words that look like one.
    pub(super) fn symbol(&mut self) -> Result<Value, Fault> {
        let from = self.at;
        let (end, _) = self.token_end(from);
        let text = self.slice(from, end);
        let value = match text {
            "nil" => Value::Nil,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => {
                name::check_symbol(text).map_err(|error| self.syntax(error.to_string(), from))?;
                Value::Symbol(Symbol::checked(text))
            }
        };
        self.at = end;
        Ok(value)
    }

    /// Reads `##Inf`, `##-Inf` or `##NaN`.
    pub(super) fn symbolic(&mut self) -> Result<Value, Fault> {
        let from = self.at + 2;
        let (end, _) = self.token_end(from);
        let number = match self.slice(from, end) {
            "Inf" => f64::INFINITY,
            "-Inf" => f64::NEG_INFINITY,
            "NaN" => f64::NAN,
            _ => return Err(self.syntax("only Inf, -Inf and NaN can follow '##'", self.at)),
        };
        self.at = end;
        Ok(Value::Float(number))
    }

    /// Finds the end of the token that begins at `from`, and all classes of its bytes.
    pub(super) fn token_end(&self, from: usize) -> (usize, u8) {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        let mut classes = 0;
        for (index, byte) in rest.iter().enumerate() {
            let of = class::of(*byte);
            if of & class::STOP != 0 {
                return (from + index, classes);
            }
            classes |= of;
        }
        (from + rest.len(), classes)
    }
}
