//! One value as a reader hands it over: borrowed from the world wherever that spares a copy.
//!
//! Invariant: the numbers of entities are good for the look in which they were handed out, no longer.

use std::fmt;

use crate::edn::{Inst, Value};

/// A value off the world.
///
/// Its tag is a whole word, so that it is moved by words. With a tag of one byte, what follows it is moved in overlapping
/// pieces from odd places, and the processor waits for each.
#[repr(u64)]
pub enum Datum<'a> {
    /// Nothing.
    Nil,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Text.
    Text(&'a str),
    /// Text, as it prints itself: an id.
    Shown(&'a dyn fmt::Display),
    /// A keyword without the colon: a value of a closed enum.
    Name(&'static str),
    /// An instant.
    Inst(Inst),
    /// An entity, by the number under which its readers find it.
    Entity(u64),
    /// Entities, likewise.
    Entities(Vec<u64>),
    /// Anything else.
    Value(Value),
}

/// What finding an entity yields: a small number that leads to it as long as the look lasts.
pub trait RowKey: Copy + 'static {
    /// Returns the number.
    fn number(self) -> u64;

    /// Makes it of its number again.
    fn numbered(number: u64) -> Self;
}

impl RowKey for () {
    fn number(self) -> u64 {
        0
    }

    fn numbered(_: u64) -> Self {}
}

impl RowKey for u64 {
    fn number(self) -> u64 {
        self
    }

    fn numbered(number: u64) -> Self {
        number
    }
}

impl Datum<'_> {
    /// Makes text of its own of an id and the like.
    pub fn shown(text: impl fmt::Display) -> Self {
        Datum::Value(Value::string(text.to_string()))
    }

    /// Returns a value of its own; entities have none, see [`Datum::Entity`].
    pub(crate) fn into_value(self) -> Value {
        match self {
            Datum::Nil | Datum::Entity(_) | Datum::Entities(_) => Value::Nil,
            Datum::Bool(flag) => flag.into(),
            Datum::Int(number) => number.into(),
            Datum::Text(text) => text.into(),
            Datum::Shown(shown) => Value::string(shown.to_string()),
            Datum::Name(name) => Value::keyword(name),
            Datum::Inst(inst) => Value::Inst(inst),
            Datum::Value(value) => value,
        }
    }
}

impl<V: Into<Value>> From<V> for Datum<'_> {
    fn from(value: V) -> Self {
        Datum::Value(value.into())
    }
}
