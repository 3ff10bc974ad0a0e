//! Conversions between our values and those of the crate edn-rs, for programs that use it.
//!
//! Does not live here: edn-rs' reader, which nothing of ours calls. Invariant: a value is converted without loss or
//! refused; what a conversion and its reverse return is equal to what went in.
//!
//! No part of a value is the order of maps and sets, which edn-rs sorts, and the spelling of a number (`1N`, `0x1`).

use ::edn_rs::edn;
use ::edn_rs::edn::Edn;

use super::read::uuid;
use super::{
    BigInt, Caps, Inst, Keyword, Map, NameError, Ratio, Set, Symbol, Tagged, Value, read_keeping_meta,
};

/// Why a value of one crate has no equal in the other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EdnRsError {
    /// edn-rs has no such type: decimals, integers beyond 64 bits, metadata.
    #[error("edn-rs cannot hold {0}")]
    NoType(&'static str),
    /// edn-rs has the keys of maps as text, and the text of this one does not read back equal. Such keys are floats
    /// with an integer value, which it prints without the point, and strings with control characters.
    #[error("the key {0} of a map does not survive as edn-rs' text")]
    Key(Box<str>),
    /// An `Edn::Empty`, which is no value: edn-rs read an input without a form.
    #[error("edn-rs' Empty is no value")]
    Empty,
    /// The text of a keyword, a symbol or a tag is not a name.
    #[error("{text:?} is not a name: {error}")]
    Name {
        /// The text.
        text: Box<str>,
        /// The rule that it breaks.
        error: NameError,
    },
    /// The text of a ratio, an instant or a UUID is not one.
    #[error("{text:?} is not {expected}")]
    Text {
        /// The text.
        text: Box<str>,
        /// What it should be.
        expected: &'static str,
    },
    /// Two keys of a map, or two items of a set, are different to one crate and equal to the other.
    #[error("two keys or items are equal: {0}")]
    Duplicate(Box<str>),
    /// The value nests deeper than [`Caps::DEPTH_CEILING`].
    #[error("the value nests deeper than {} levels", Caps::DEPTH_CEILING)]
    Depth,
    /// A kind of value that a later version of edn-rs added.
    #[error("a kind of value that is not known here")]
    Unknown,
}

/// Converts without loss, or says why not.
///
/// ```
/// use reveille::edn::Value;
/// let theirs: edn_rs::Edn = "{:at #inst \"2026-04-22T13:00:00Z\"}".parse().map_err(|_| "unreadable")?;
/// let ours = Value::try_from(theirs)?;
/// assert_eq!(ours.to_string(), "{:at #inst \"2026-04-22T13:00:00.000-00:00\"}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl TryFrom<Edn> for Value {
    type Error = EdnRsError;

    fn try_from(edn: Edn) -> Result<Value, EdnRsError> {
        ours(edn, Caps::DEPTH_CEILING)
    }
}

/// Converts without loss, or says why not. Integers are what edn-rs' reader makes of them: `UInt`, if not negative.
impl TryFrom<Value> for Edn {
    type Error = EdnRsError;

    fn try_from(value: Value) -> Result<Edn, EdnRsError> {
        theirs(value, Caps::DEPTH_CEILING)
    }
}

fn ours(edn: Edn, levels: u16) -> Result<Value, EdnRsError> {
    // Programs can build deeper values than any reader accepts, and this function recurses.
    let below = levels.checked_sub(1).ok_or(EdnRsError::Depth)?;
    let items = |items: Vec<Edn>| -> Result<Vec<Value>, EdnRsError> {
        items.into_iter().map(|item| ours(item, below)).collect()
    };
    Ok(match edn {
        Edn::Nil => Value::Nil,
        Edn::Bool(flag) => Value::Bool(flag),
        Edn::Int(number) => Value::Int(number),
        Edn::UInt(number) => {
            i64::try_from(number).map_or_else(|_| Value::BigInt(Box::new(BigInt::from(number))), Value::Int)
        }
        // The number inside is private.
        Edn::Double(_) => Value::Float(edn.to_float().ok_or(EdnRsError::Unknown)?),
        Edn::Rational(text) => ratio(text)?,
        Edn::Char(character) => Value::Char(character),
        Edn::Str(text) => Value::string(text),
        Edn::Key(text) => {
            let name = text.strip_prefix(':').unwrap_or(&text);
            Value::Keyword(Keyword::new(name).map_err(|error| misnamed(&text, error))?)
        }
        Edn::Symbol(text) => Value::Symbol(Symbol::new(&text).map_err(|error| misnamed(&text, error))?),
        Edn::List(list) => Value::list(items(list.to_vec())?),
        Edn::Vector(vector) => Value::vector(items(vector.to_vec())?),
        Edn::Map(map) => our_map(map, below)?,
        Edn::Set(set) => {
            let mut made = Set::new();
            for item in set.to_set() {
                let item = ours(item, below)?;
                // edn-rs tells `(1)` from `[1]`, which are equal here.
                if made.contains(&item) {
                    return Err(EdnRsError::Duplicate(item.to_string().into()));
                }
                made.insert(item);
            }
            Value::Set(made)
        }
        Edn::Tagged(tag, value) => our_tagged(&tag, ours(*value, below)?)?,
        Edn::Empty => return Err(EdnRsError::Empty),
        _ => return Err(EdnRsError::Unknown),
    })
}

fn our_map(map: edn::Map, levels: u16) -> Result<Value, EdnRsError> {
    let mut made = Map::new();
    for (text, value) in map.to_map() {
        let value = ours(value, levels)?;
        let Some(key) = key_of(&text) else { return Err(EdnRsError::Key(text.into())) };
        if made.insert(key, value).is_some() {
            return Err(EdnRsError::Duplicate(text.into()));
        }
    }
    Ok(Value::Map(made))
}

fn our_tagged(tag: &str, value: Value) -> Result<Value, EdnRsError> {
    let (made, expected) = match tag {
        "inst" => (value.as_str().and_then(instant).map(Value::Inst), "an instant"),
        "uuid" => (value.as_str().and_then(uuid).map(Value::Uuid), "a UUID"),
        _ => {
            let tag = Symbol::new(tag).map_err(|error| misnamed(tag, error))?;
            return Ok(Value::Tagged(Box::new(Tagged { tag, value })));
        }
    };
    made.ok_or_else(|| EdnRsError::Text { text: value.to_string().into(), expected })
}

/// Parses an instant that has no more than nanoseconds: our reader drops further digits, as Clojure does.
fn instant(text: &str) -> Option<Inst> {
    let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    if digits > NANO_DIGITS { None } else { Inst::parse(text) }
}

fn ratio(text: String) -> Result<Value, EdnRsError> {
    let made = text.split_once('/').and_then(|(numerator, denominator)| {
        Ratio::divide(numerator.parse().ok()?, denominator.parse().ok()?)
    });
    made.ok_or_else(|| EdnRsError::Text { text: text.into(), expected: "a ratio" })
}

/// Reads the key of a map from edn-rs' text.
fn key_of(text: &str) -> Option<Value> {
    read_keeping_meta(text.as_bytes(), &Caps::DEFAULT).ok()
}

fn misnamed(text: &str, error: NameError) -> EdnRsError {
    EdnRsError::Name { text: text.into(), error }
}

fn theirs(value: Value, levels: u16) -> Result<Edn, EdnRsError> {
    let below = levels.checked_sub(1).ok_or(EdnRsError::Depth)?;
    let items = |items: Box<[Value]>| -> Result<Vec<Edn>, EdnRsError> {
        items.into_iter().map(|item| theirs(item, below)).collect()
    };
    Ok(match value {
        Value::Nil => Edn::Nil,
        Value::Bool(flag) => Edn::Bool(flag),
        Value::Int(number) => u64::try_from(number).map_or(Edn::Int(number), Edn::UInt),
        Value::BigInt(number) => match (u64::try_from(number.as_ref()), i64::try_from(number.as_ref())) {
            (Ok(number), _) => Edn::UInt(number),
            (_, Ok(number)) => Edn::Int(number),
            _ => return Err(EdnRsError::NoType("an integer beyond 64 bits")),
        },
        Value::Float(number) => Edn::Double(number.into()),
        Value::BigDec(_) => return Err(EdnRsError::NoType("a decimal")),
        Value::Ratio(number) => Edn::Rational(number.to_string()),
        Value::Char(character) => Edn::Char(character),
        Value::Str(text) => Edn::Str(text.into()),
        Value::Keyword(keyword) => Edn::Key(keyword.to_string()),
        Value::Symbol(symbol) => Edn::Symbol(symbol.to_string()),
        Value::List(list) => Edn::List(edn::List::new(items(list)?)),
        Value::Vector(vector) => Edn::Vector(edn::Vector::new(items(vector)?)),
        Value::Map(map) => Edn::Map(edn::Map::new(
            map.into_iter()
                .map(|(key, value)| Ok((their_key(&key, below)?, theirs(value, below)?)))
                .collect::<Result<_, EdnRsError>>()?,
        )),
        Value::Set(set) => Edn::Set(edn::Set::new(
            set.into_iter().map(|item| theirs(item, below)).collect::<Result<_, EdnRsError>>()?,
        )),
        Value::Inst(inst) => Edn::Tagged("inst".into(), Box::new(Edn::Str(inst.to_string()))),
        Value::Uuid(uuid) => Edn::Tagged("uuid".into(), Box::new(Edn::Str(uuid.to_string()))),
        Value::Tagged(tagged) if ["inst", "uuid"].contains(&tagged.tag.as_str()) => {
            // It would come back as an instant or a UUID, or not at all.
            return Err(EdnRsError::NoType("a tag #inst or #uuid that is only a tag"));
        }
        Value::Tagged(tagged) => Edn::Tagged(tagged.tag.to_string(), Box::new(theirs(tagged.value, below)?)),
        Value::Meta(_) => return Err(EdnRsError::NoType("metadata")),
    })
}

/// Returns the text that edn-rs has for a key, if it reads back equal.
fn their_key(key: &Value, levels: u16) -> Result<String, EdnRsError> {
    let text = theirs(key.clone(), levels)?.to_string();
    let survives = key_of(&text).as_ref() == Some(key);
    if survives { Ok(text) } else { Err(EdnRsError::Key(key.to_string().into())) }
}

const NANO_DIGITS: usize = 9;

#[cfg(test)]
mod tests;
