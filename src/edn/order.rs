//! Equality, total order and hash of values.
//!
//! Lives here: the three relations, which have to agree. Does not live here: those of maps, see
//! `map.rs`.
//!
//! Invariant: `a == b` exactly when `a.cmp(b)` is `Equal`, and equal values hash alike.
//! Equality is Clojure's: integers of either size compare by value, decimals compare by
//! value whatever their scale, `0.0` equals `-0.0`, lists equal vectors, and numbers of
//! different classes (`1`, `1.0`, `1M`) are different. `##NaN` equals itself and comes last
//! among floats; in Clojure it equals nothing, which no lawful `Eq` can say.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use super::{BigInt, Value};

/// The classes of values, in their order. Values of different classes are never equal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Rank {
    Nil,
    Bool,
    Integer,
    Float,
    BigDec,
    Ratio,
    Char,
    Str,
    Keyword,
    Symbol,
    Sequence,
    Map,
    Set,
    Inst,
    Uuid,
    Tagged,
}

impl Value {
    /// Returns the class of values that this one is compared with.
    pub(super) fn rank(&self) -> Rank {
        match self {
            Self::Nil => Rank::Nil,
            Self::Bool(_) => Rank::Bool,
            Self::Int(_) | Self::BigInt(_) => Rank::Integer,
            Self::Float(_) => Rank::Float,
            Self::BigDec(_) => Rank::BigDec,
            Self::Ratio(_) => Rank::Ratio,
            Self::Char(_) => Rank::Char,
            Self::Str(_) => Rank::Str,
            Self::Keyword(_) => Rank::Keyword,
            Self::Symbol(_) => Rank::Symbol,
            Self::List(_) | Self::Vector(_) => Rank::Sequence,
            Self::Map(_) => Rank::Map,
            Self::Set(_) => Rank::Set,
            Self::Inst(_) => Rank::Inst,
            Self::Uuid(_) => Rank::Uuid,
            Self::Tagged(_) => Rank::Tagged,
            Self::Meta(meta) => meta.value().rank(),
        }
    }

    /// Returns whether comparing the value never recurses.
    pub(super) fn is_scalar(&self) -> bool {
        let plain = self.plain();
        !matches!(plain, Self::List(_) | Self::Vector(_) | Self::Map(_) | Self::Set(_) | Self::Tagged(_))
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(left), Self::Bool(right)) => left.cmp(right),
            (Self::Int(left), Self::Int(right)) => left.cmp(right),
            (Self::BigInt(left), Self::BigInt(right)) => left.cmp(right),
            (Self::Int(left), Self::BigInt(right)) => cmp_small_big(*left, right),
            (Self::BigInt(left), Self::Int(right)) => cmp_small_big(*right, left).reverse(),
            (Self::Float(left), Self::Float(right)) => canonical(*left).total_cmp(&canonical(*right)),
            (Self::BigDec(left), Self::BigDec(right)) => left.cmp(right),
            (Self::Ratio(left), Self::Ratio(right)) => left.cmp(right),
            (Self::Char(left), Self::Char(right)) => left.cmp(right),
            (Self::Str(left), Self::Str(right)) => left.cmp(right),
            (Self::Keyword(left), Self::Keyword(right)) => left.cmp(right),
            (Self::Symbol(left), Self::Symbol(right)) => left.cmp(right),
            (Self::List(left) | Self::Vector(left), Self::List(right) | Self::Vector(right)) => {
                left.cmp(right)
            }
            (Self::Map(left), Self::Map(right)) => left.cmp(right),
            (Self::Set(left), Self::Set(right)) => left.cmp(right),
            (Self::Inst(left), Self::Inst(right)) => left.cmp(right),
            (Self::Uuid(left), Self::Uuid(right)) => left.cmp(right),
            (Self::Tagged(left), Self::Tagged(right)) => left.cmp(right),
            // Metadata is transparent, on either side.
            (Self::Meta(left), right) => left.value().cmp(right),
            (left, Self::Meta(right)) => left.cmp(right.value()),
            // Two values of one class are compared above; what is left differs in class,
            // or is `nil` twice.
            (left, right) => left.rank().cmp(&right.rank()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The classes that are frequent as keys, or whose order costs more than their equality,
/// are compared on their own; all others through their order.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Keyword(left), Self::Keyword(right)) => left == right,
            (Self::Str(left), Self::Str(right)) => left == right,
            (Self::List(left) | Self::Vector(left), Self::List(right) | Self::Vector(right)) => left == right,
            (Self::Map(left), Self::Map(right)) => left == right,
            (Self::Set(left), Self::Set(right)) => left == right,
            (Self::Meta(left), right) => left.value() == right,
            (left, Self::Meta(right)) => left == right.value(),
            (left, right) => left.cmp(right) == Ordering::Equal,
        }
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        if let Self::Meta(meta) = self {
            return meta.value().hash(state);
        }
        self.rank().hash(state);
        match self {
            // Metadata was looked through above.
            Self::Nil | Self::Meta(_) => {}
            Self::Bool(flag) => flag.hash(state),
            Self::Int(number) => number.hash(state),
            // `1N` must hash like `1`, because they are equal.
            Self::BigInt(number) => match i64::try_from(number.as_ref()) {
                Ok(small) => small.hash(state),
                Err(_) => number.hash(state),
            },
            Self::Float(number) => canonical(*number).to_bits().hash(state),
            Self::BigDec(number) => number.hash(state),
            Self::Ratio(number) => number.hash(state),
            Self::Char(character) => character.hash(state),
            Self::Str(text) => text.hash(state),
            Self::Keyword(keyword) => keyword.hash(state),
            Self::Symbol(symbol) => symbol.hash(state),
            Self::List(items) | Self::Vector(items) => items.hash(state),
            Self::Map(map) => map.hash(state),
            Self::Set(set) => set.hash(state),
            Self::Inst(inst) => inst.hash(state),
            Self::Uuid(uuid) => uuid.hash(state),
            Self::Tagged(tagged) => tagged.hash(state),
        }
    }
}

/// Compares a small with a big integer. A `BigInt` may hold a small number, as `1N` does, so its
/// sign alone does not decide.
fn cmp_small_big(small: i64, big: &BigInt) -> Ordering {
    match i64::try_from(big) {
        Ok(big) => small.cmp(&big),
        Err(_) if big.sign() == num_bigint::Sign::Minus => Ordering::Greater,
        Err(_) => Ordering::Less,
    }
}

/// One bit pattern for both zeros and one for every NaN.
fn canonical(number: f64) -> f64 {
    // Adding 0.0 turns -0.0 into 0.0 and leaves every other number as it is.
    if number.is_nan() { f64::NAN } else { number + 0.0 }
}
