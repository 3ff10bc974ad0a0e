//! The value that a reader returns: borrowed from the world wherever that saves a copy.
//!
//! Invariant: the number of an entity is valid only during the query in which a reader returned it.

use std::fmt;

use crate::edn::{Inst, Value};

/// A value that was read from the world.
///
/// The tag is a full word, so that the compiler moves the value word by word. After a tag of one byte it moves the rest in
/// overlapping, unaligned pieces, and the processor stalls on each.
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
    /// Text that is displayed only when it is written, such as an id.
    Shown(&'a dyn fmt::Display),
    /// A keyword without the colon: a value of a closed enum.
    Name(&'static str),
    /// An instant.
    Inst(Inst),
    /// An entity, by the number by which its readers find it.
    Entity(u64),
    /// Entities, by their numbers.
    Entities(Vec<u64>),
    /// Anything else.
    Value(Value),
}

/// What finding an entity returns: a small number that identifies the entity for the rest of the query.
pub trait RowKey: Copy + 'static {
    /// Returns the number.
    fn number(self) -> u64;

    /// Converts the number back.
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
    /// Returns an owned text, for an id or the like that cannot be borrowed.
    pub fn shown(text: impl fmt::Display) -> Self {
        Datum::Value(Value::string(text.to_string()))
    }

    /// Returns an owned value. An entity has none and becomes nil, see [`Datum::Entity`].
    pub(crate) fn into_value(self) -> Value {
        match self {
            // `eql/fetch.rs` replaces entities by their keys before it gets here.
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
