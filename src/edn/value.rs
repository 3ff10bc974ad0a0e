//! The EDN value: one type for all kinds.
//!
//! Lives here: the type, its accessors and its conversions. Does not live here: equality
//! and order (`order.rs`), the text form (`write.rs`, `read/`).
//!
//! Invariant: a value is 24 bytes; everything larger stands behind a pointer, so that
//! vectors and maps of values stay dense.

use super::{BigDec, BigInt, Inst, Keyword, Map, Meta, Ratio, Set, Symbol, Tagged, Uuid};

/// One EDN value.
///
/// Equality is Clojure's: `1` equals `1N` but not `1.0`, `[]` equals `()`, maps and sets
/// ignore their order. Unlike Clojure, `##NaN` equals itself, so that `Eq` is lawful.
/// `Display` and `Debug` print EDN on one line.
///
/// Values built by a program may nest deeper than the reader allows; comparing, printing
/// and dropping recurse once per level.
#[derive(Clone)]
pub enum Value {
    /// `nil`.
    Nil,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// An integer of any size: `1N`, or one that 64 bits do not hold.
    BigInt(Box<BigInt>),
    /// A float of 64 bits.
    Float(f64),
    /// An exact decimal: `1.50M`.
    BigDec(Box<BigDec>),
    /// A ratio in lowest terms: `1/3`.
    Ratio(Box<Ratio>),
    /// A character: `\a`.
    Char(char),
    /// A string.
    Str(Box<str>),
    /// A keyword: `:task/title`.
    Keyword(Keyword),
    /// A symbol: `task/title`.
    Symbol(Symbol),
    /// A list: `(1 2)`.
    List(Box<[Value]>),
    /// A vector: `[1 2]`.
    Vector(Box<[Value]>),
    /// A map: `{:a 1}`.
    Map(Map),
    /// A set: `#{1 2}`.
    Set(Set),
    /// An instant: `#inst "2026-01-01T00:00:00.000-00:00"`.
    Inst(Inst),
    /// A UUID: `#uuid "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"`.
    Uuid(Uuid),
    /// A value under an unknown tag: `#task/id 7`.
    Tagged(Box<Tagged>),
    /// A symbol or collection with metadata: `^:task/open [1]`. The accessors look through it.
    Meta(Box<Meta>),
}

const _: () = assert!(size_of::<Value>() <= 24, "a value must stay within 24 bytes");

impl Value {
    /// Makes a string.
    pub fn string(text: impl Into<Box<str>>) -> Self {
        Self::Str(text.into())
    }

    /// Makes a keyword from text without the colon, for names known in the program.
    ///
    /// Text that comes from outside goes through [`Keyword::new`], which checks it; here a
    /// wrong name is a bug of the caller, found by an assertion in debug builds.
    pub fn keyword(text: &str) -> Self {
        Self::Keyword(Keyword::checked(text))
    }

    /// Makes a vector.
    pub fn vector(items: impl Into<Vec<Self>>) -> Self {
        Self::Vector(items.into().into_boxed_slice())
    }

    /// Makes a list.
    pub fn list(items: impl Into<Vec<Self>>) -> Self {
        Self::List(items.into().into_boxed_slice())
    }

    /// Makes a set; of equal items the first stays.
    pub fn set(items: impl IntoIterator<Item = Self>) -> Self {
        Self::Set(items.into_iter().collect())
    }

    /// Returns the text of a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Str(text) = self { Some(text) } else { None }
    }

    /// Returns an integer that 64 bits hold, however it was written.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            Self::BigInt(number) => i64::try_from(number.as_ref()).ok(),
            Self::Nil | Self::Bool(_) | Self::Float(_) | Self::BigDec(_) | Self::Ratio(_) => None,
            Self::Char(_) | Self::Str(_) | Self::Keyword(_) | Self::Symbol(_) => None,
            Self::List(_) | Self::Vector(_) | Self::Map(_) | Self::Set(_) => None,
            Self::Inst(_) | Self::Uuid(_) | Self::Tagged(_) | Self::Meta(_) => None,
        }
    }

    /// Returns a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(flag) = self { Some(*flag) } else { None }
    }

    /// Returns a keyword.
    pub fn as_keyword(&self) -> Option<&Keyword> {
        // Without `plain`, because only symbols and collections can have metadata.
        if let Self::Keyword(keyword) = self { Some(keyword) } else { None }
    }

    /// Returns a symbol.
    pub fn as_symbol(&self) -> Option<&Symbol> {
        if let Self::Symbol(symbol) = self.plain() { Some(symbol) } else { None }
    }

    /// Returns a map.
    pub fn as_map(&self) -> Option<&Map> {
        if let Self::Map(map) = self.plain() { Some(map) } else { None }
    }

    /// Returns a set.
    pub fn as_set(&self) -> Option<&Set> {
        if let Self::Set(set) = self.plain() { Some(set) } else { None }
    }

    /// Returns the items of a list or vector.
    pub fn as_items(&self) -> Option<&[Self]> {
        if let Self::List(items) | Self::Vector(items) = self.plain() { Some(items) } else { None }
    }

    /// Returns an instant.
    pub fn as_inst(&self) -> Option<Inst> {
        if let Self::Inst(inst) = self { Some(*inst) } else { None }
    }

    /// Returns whether the value is `nil`.
    pub fn is_nil(&self) -> bool {
        matches!(self, Self::Nil)
    }

    /// Returns whether the value counts as true in Clojure: neither `nil` nor `false`.
    pub fn is_truthy(&self) -> bool {
        !matches!(self, Self::Nil | Self::Bool(false))
    }

    /// Returns the name of the value's type, for messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Nil => "nil",
            Self::Bool(_) => "boolean",
            Self::Int(_) => "integer",
            Self::BigInt(_) => "big integer",
            Self::Float(_) => "float",
            Self::BigDec(_) => "decimal",
            Self::Ratio(_) => "ratio",
            Self::Char(_) => "character",
            Self::Str(_) => "string",
            Self::Keyword(_) => "keyword",
            Self::Symbol(_) => "symbol",
            Self::List(_) => "list",
            Self::Vector(_) => "vector",
            Self::Map(_) => "map",
            Self::Set(_) => "set",
            Self::Inst(_) => "instant",
            Self::Uuid(_) => "uuid",
            Self::Tagged(_) => "tagged",
            // Metadata is transparent in messages as well.
            Self::Meta(meta) => meta.value().type_name(),
        }
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Self {
        Self::Int(i64::from(number))
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Int(i64::from(number))
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Str(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Str(text.into())
    }
}

impl From<Keyword> for Value {
    fn from(keyword: Keyword) -> Self {
        Self::Keyword(keyword)
    }
}

impl From<Symbol> for Value {
    fn from(symbol: Symbol) -> Self {
        Self::Symbol(symbol)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}

impl From<Set> for Value {
    fn from(set: Set) -> Self {
        Self::Set(set)
    }
}

impl From<Inst> for Value {
    fn from(inst: Inst) -> Self {
        Self::Inst(inst)
    }
}

impl From<Uuid> for Value {
    fn from(uuid: Uuid) -> Self {
        Self::Uuid(uuid)
    }
}

impl From<Vec<Self>> for Value {
    fn from(items: Vec<Self>) -> Self {
        Self::Vector(items.into())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(option: Option<T>) -> Self {
        option.map_or(Self::Nil, Into::into)
    }
}
