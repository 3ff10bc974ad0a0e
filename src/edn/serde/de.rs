//! Serde deserializer: from values to Rust types.
//!
//! Lives here: the deserializer, which borrows from the value. Does not live here: defaults
//! and unknown fields, which are each type's own affair.
//!
//! Invariant: recursion follows the value's nesting, which the reader has bounded.

use ::serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use ::serde::de::{Deserialize, Deserializer, Error, IntoDeserializer, Unexpected, Visitor};
use ::serde::forward_to_deserialize_any;

use super::SerdeError;
use crate::edn::{BigInt, Map, Value};

/// Turns a value into anything deserializable, borrowing strings where the type can.
///
/// Names of fields and variants may be keywords, strings or symbols. Instants and UUIDs are
/// seen as strings, decimals as floats, sets as sequences, tagged values as what they hold.
///
/// ```
/// # #[cfg(feature = "serde")] {
/// use reveille::edn::{Map, Value, from_value};
/// let value = Value::Map(Map::new().with("id", 7));
/// let back: std::collections::BTreeMap<String, i64> = from_value(&value).unwrap();
/// assert_eq!(back["id"], 7);
/// # }
/// ```
///
/// # Errors
///
/// What the type, or serde in its name, complains about.
pub fn from_value<'de, T: Deserialize<'de>>(value: &'de Value) -> Result<T, SerdeError> {
    T::deserialize(FromValue(value))
}

#[derive(Clone, Copy)]
struct FromValue<'de>(&'de Value);

impl<'de> Deserializer<'de> for FromValue<'de> {
    type Error = SerdeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        match self.0 {
            Value::Nil => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Int(number) => visitor.visit_i64(*number),
            Value::BigInt(number) => visit_big(number, visitor),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::BigDec(number) => {
                // Through text, because the nearest float of a decimal needs correct rounding.
                let text = format!("{}e{}", number.unscaled(), number.exponent());
                visitor.visit_f64(text.parse().map_err(SerdeError::custom)?)
            }
            Value::Ratio(_) => Err(SerdeError::invalid_type(Unexpected::Other("ratio"), &visitor)),
            Value::Char(character) => visitor.visit_char(*character),
            Value::Str(text) => visitor.visit_borrowed_str(text),
            Value::Keyword(keyword) => visitor.visit_borrowed_str(keyword.as_str()),
            Value::Symbol(symbol) => visitor.visit_borrowed_str(symbol.as_str()),
            Value::List(items) | Value::Vector(items) => visit_items(items.iter(), visitor),
            Value::Map(map) => visit_map(map, visitor),
            Value::Set(set) => visit_items(set.iter(), visitor),
            Value::Inst(inst) => visitor.visit_string(inst.to_string()),
            Value::Uuid(uuid) => visitor.visit_string(uuid.to_string()),
            Value::Tagged(tagged) => FromValue(&tagged.value).deserialize_any(visitor),
            Value::Meta(meta) => FromValue(meta.value()).deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        if self.0.is_nil() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        // A map of one entry is a variant with content: the key names the variant.
        if let Some(map) = self.0.as_map() {
            if map.len() != 1 {
                let count = u64::try_from(map.len()).unwrap_or(u64::MAX);
                return Err(SerdeError::VariantEntries(count));
            }
            return MapAccessDeserializer::new(entries(map)).deserialize_enum(name, variants, visitor);
        }
        // A variant without content is its name alone.
        let keyword = self.0.as_keyword().map(crate::edn::Keyword::as_str);
        let symbol = self.0.as_symbol().map(crate::edn::Symbol::as_str);
        let Some(variant) = keyword.or(symbol).or(self.0.as_str()) else {
            return Err(SerdeError::invalid_type(Unexpected::Other(self.0.type_name()), &visitor));
        };
        BorrowedStrDeserializer::new(variant).deserialize_enum(name, variants, visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        // The value is not looked at, because an ignored field may hold what serde has no type for, such as a ratio.
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map struct identifier
    }
}

impl<'de> IntoDeserializer<'de, SerdeError> for FromValue<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

type Entries<'de> = MapDeserializer<
    'de,
    std::iter::Map<crate::edn::MapIter<'de>, fn((&'de Value, &'de Value)) -> Pair<'de>>,
    SerdeError,
>;

type Pair<'de> = (FromValue<'de>, FromValue<'de>);

fn entries(map: &Map) -> Entries<'_> {
    fn pair<'de>((key, value): (&'de Value, &'de Value)) -> Pair<'de> {
        (FromValue(key), FromValue(value))
    }
    MapDeserializer::new(map.iter().map(pair))
}

fn visit_map<'de, V: Visitor<'de>>(map: &'de Map, visitor: V) -> Result<V::Value, SerdeError> {
    let mut access = entries(map);
    // `end` below refuses a map of which the type has read only a part.
    let value = visitor.visit_map(&mut access)?;
    access.end()?;
    Ok(value)
}

fn visit_items<'de, V: Visitor<'de>>(
    items: impl Iterator<Item = &'de Value>,
    visitor: V,
) -> Result<V::Value, SerdeError> {
    let mut access = SeqDeserializer::new(items.map(FromValue));
    let value = visitor.visit_seq(&mut access)?;
    access.end()?;
    Ok(value)
}

/// Takes the smallest of serde's integers that holds the number.
fn visit_big<'de, V: Visitor<'de>>(number: &BigInt, visitor: V) -> Result<V::Value, SerdeError> {
    if let Ok(number) = i64::try_from(number) {
        visitor.visit_i64(number)
    } else if let Ok(number) = u64::try_from(number) {
        visitor.visit_u64(number)
    } else if let Ok(number) = i128::try_from(number) {
        visitor.visit_i128(number)
    } else if let Ok(number) = u128::try_from(number) {
        visitor.visit_u128(number)
    } else {
        Err(SerdeError::invalid_value(Unexpected::Other("integer of more than 128 bits"), &visitor))
    }
}
