//! Prefixes of forms: tags, namespaces of maps, and metadata.
//!
//! Lives here: what stands before a form and changes or checks it. Does not live here:
//! `#_`, which needs nothing but the stack.
//!
//! Invariant: `#inst` and `#uuid` become values or errors; every other tag becomes data.

use super::reader::{Fault, Kind, Level, Reader};
use crate::edn::{Inst, Symbol, Tagged, Uuid, Value, class, name};

impl Reader<'_> {
    /// Reads `#tag` and opens the level that waits for its form.
    pub(super) fn tag(&mut self) -> Result<Option<Value>, Fault> {
        let from = self.at + 1;
        let (end, _) = self.token_end(from);
        let tag = self.slice(from, end);
        name::check_symbol(tag).map_err(|error| self.syntax(error.to_string(), from))?;
        // Source: EDN specification, "tagged elements".
        if !tag.starts_with(char::is_alphabetic) {
            return Err(self.syntax("a tag begins with a letter behind '#'", from));
        }
        self.open(Kind::Tag(tag), end)
    }

    /// Reads `#:namespace{` and opens the map.
    pub(super) fn namespace(&mut self) -> Result<Option<Value>, Fault> {
        let from = self.at + 2;
        let (end, _) = self.token_end(from);
        let namespace = self.slice(from, end);
        // A qualified name is a symbol, but no namespace.
        if namespace.contains('/') || name::check_symbol(namespace).is_err() {
            return Err(self.syntax("'#:' needs a plain namespace, as in #:ns{:a 1}", from));
        }
        let rest = self.text.as_bytes().get(end..).unwrap_or_default();
        // Like Clojure's reader, this allows whitespace before the brace, but no comment.
        let blanks = rest.iter().take_while(|byte| class::is(**byte, class::BLANK)).count();
        if rest.get(blanks) != Some(&b'{') {
            return Err(self.syntax("'#:' and a namespace need a map behind them", end));
        }
        self.open(Kind::NamespacedMap(namespace), end + blanks + 1)
    }

    /// Makes the value of a tag and the form behind it.
    pub(super) fn tagged(&self, tag: &str, value: Value, level: Level<'_>) -> Result<Value, Fault> {
        let made = match tag {
            "inst" => value.as_str().and_then(Inst::parse).map(Value::Inst),
            "uuid" => value.as_str().and_then(uuid).map(Value::Uuid),
            _ => Some(Value::Tagged(Box::new(Tagged { tag: Symbol::checked(tag), value }))),
        };
        let expected = "needs a string such as";
        made.ok_or_else(|| match tag {
            "inst" => self.syntax(format!("#inst {expected} \"2026-01-31T12:00:00Z\""), level.from),
            _ => {
                self.syntax(format!("#uuid {expected} \"f81d4fae-7dec-11d0-a765-00a0c91e6bf6\""), level.from)
            }
        })
    }

    /// Checks what follows `^`. Source: `EdnReader.MetaReader`.
    pub(super) fn check_metadata(&self, value: &Value, level: Level<'_>) -> Result<(), Fault> {
        let is_metadata =
            matches!(value.plain(), Value::Symbol(_) | Value::Str(_) | Value::Keyword(_) | Value::Map(_));
        if is_metadata {
            return Ok(());
        }
        let noun = value.type_name();
        Err(self.syntax(format!("metadata is a symbol, keyword, string or map, not a {noun}"), level.from))
    }

    /// Checks what metadata is put on. Source: `EdnReader.MetaReader`.
    pub(super) fn check_metadata_target(&self, value: &Value, level: Level<'_>) -> Result<(), Fault> {
        let is_target = matches!(
            value.plain(),
            Value::Symbol(_) | Value::List(_) | Value::Vector(_) | Value::Map(_) | Value::Set(_)
        );
        if is_target {
            return Ok(());
        }
        let noun = value.type_name();
        Err(self.syntax(format!("metadata goes on a symbol or a collection, not on a {noun}"), level.from))
    }
}

/// Parses the canonical form of a UUID only; the crate's parser would accept braces and URNs as
/// well.
pub(in crate::edn) fn uuid(text: &str) -> Option<Uuid> {
    if text.len() == UUID_LEN { Uuid::try_parse(text).ok() } else { None }
}

/// Length of `f81d4fae-7dec-11d0-a765-00a0c91e6bf6`, which no other form of a UUID has.
const UUID_LEN: usize = 36;
