//! Serde serializer: from Rust types to values.
//!
//! Lives here: the serializer. Does not live here: any text form.
//!
//! Invariant: `de.rs` accepts what `ser.rs` makes.

use ::serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::SerdeError;
use crate::edn::{BigInt, Keyword, Map, Value};

/// Turns anything serializable into a value.
///
/// Structs become maps with keywords, unit variants keywords, variants with content maps of
/// one entry, `None` and `()` become `nil`.
///
/// # Errors
///
/// What the type complains about, and names that no keyword can have.
pub fn to_value<T: Serialize + ?Sized>(thing: &T) -> Result<Value, SerdeError> {
    thing.serialize(ToValue)
}

struct ToValue;

/// The items of a sequence, tuple or tuple variant.
struct Items {
    variant: Option<Keyword>,
    items: Vec<Value>,
}

/// The entries of a map, struct or struct variant.
struct Entries {
    variant: Option<Keyword>,
    entries: Vec<(Value, Value)>,
    key: Option<Value>,
}

impl Serializer for ToValue {
    type Ok = Value;
    type Error = SerdeError;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = Items;
    type SerializeMap = Entries;
    type SerializeStruct = Entries;
    type SerializeStructVariant = Entries;

    fn serialize_bool(self, flag: bool) -> Result<Value, SerdeError> {
        Ok(Value::Bool(flag))
    }

    fn serialize_i8(self, number: i8) -> Result<Value, SerdeError> {
        self.serialize_i64(number.into())
    }

    fn serialize_i16(self, number: i16) -> Result<Value, SerdeError> {
        self.serialize_i64(number.into())
    }

    fn serialize_i32(self, number: i32) -> Result<Value, SerdeError> {
        self.serialize_i64(number.into())
    }

    fn serialize_i64(self, number: i64) -> Result<Value, SerdeError> {
        Ok(Value::Int(number))
    }

    fn serialize_i128(self, number: i128) -> Result<Value, SerdeError> {
        let big = |_| Value::BigInt(Box::new(BigInt::from(number)));
        Ok(i64::try_from(number).map_or_else(big, Value::Int))
    }

    fn serialize_u8(self, number: u8) -> Result<Value, SerdeError> {
        self.serialize_i64(number.into())
    }

    fn serialize_u16(self, number: u16) -> Result<Value, SerdeError> {
        self.serialize_i64(number.into())
    }

    fn serialize_u32(self, number: u32) -> Result<Value, SerdeError> {
        self.serialize_i64(number.into())
    }

    fn serialize_u64(self, number: u64) -> Result<Value, SerdeError> {
        // By way of 128 bits, because the upper half of these numbers does not fit an `Int`.
        self.serialize_u128(number.into())
    }

    fn serialize_u128(self, number: u128) -> Result<Value, SerdeError> {
        let big = |_| Value::BigInt(Box::new(BigInt::from(number)));
        Ok(i64::try_from(number).map_or_else(big, Value::Int))
    }

    fn serialize_f32(self, number: f32) -> Result<Value, SerdeError> {
        self.serialize_f64(number.into())
    }

    fn serialize_f64(self, number: f64) -> Result<Value, SerdeError> {
        Ok(Value::Float(number))
    }

    fn serialize_char(self, character: char) -> Result<Value, SerdeError> {
        Ok(Value::Char(character))
    }

    fn serialize_str(self, text: &str) -> Result<Value, SerdeError> {
        Ok(Value::from(text))
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<Value, SerdeError> {
        // EDN has no type for bytes.
        Ok(bytes.iter().map(|byte| Value::Int((*byte).into())).collect::<Vec<_>>().into())
    }

    fn serialize_none(self) -> Result<Value, SerdeError> {
        Ok(Value::Nil)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, thing: &T) -> Result<Value, SerdeError> {
        to_value(thing)
    }

    fn serialize_unit(self) -> Result<Value, SerdeError> {
        Ok(Value::Nil)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<Value, SerdeError> {
        Ok(Value::Nil)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Value, SerdeError> {
        keyword(variant).map(Value::Keyword)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        thing: &T,
    ) -> Result<Value, SerdeError> {
        to_value(thing)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        thing: &T,
    ) -> Result<Value, SerdeError> {
        Ok(in_variant(Some(keyword(variant)?), to_value(thing)?))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Items, SerdeError> {
        Ok(Items::new(None, len))
    }

    fn serialize_tuple(self, len: usize) -> Result<Items, SerdeError> {
        Ok(Items::new(None, Some(len)))
    }

    fn serialize_tuple_struct(self, _name: &'static str, len: usize) -> Result<Items, SerdeError> {
        Ok(Items::new(None, Some(len)))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Items, SerdeError> {
        Ok(Items::new(Some(keyword(variant)?), Some(len)))
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Entries, SerdeError> {
        Ok(Entries::new(None, len))
    }

    fn serialize_struct(self, _name: &'static str, len: usize) -> Result<Entries, SerdeError> {
        Ok(Entries::new(None, Some(len)))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Entries, SerdeError> {
        Ok(Entries::new(Some(keyword(variant)?), Some(len)))
    }
}

impl Items {
    /// Reserves room for items. The announced length is only a hint, and may be anything.
    fn new(variant: Option<Keyword>, len: Option<usize>) -> Self {
        Self { variant, items: Vec::with_capacity(len.unwrap_or(0).min(RESERVE_MAX)) }
    }

    fn add<T: Serialize + ?Sized>(&mut self, thing: &T) -> Result<(), SerdeError> {
        self.items.push(to_value(thing)?);
        Ok(())
    }

    fn finish(self) -> Value {
        in_variant(self.variant, self.items.into())
    }
}

impl Entries {
    fn new(variant: Option<Keyword>, len: Option<usize>) -> Self {
        let entries = Vec::with_capacity(len.unwrap_or(0).min(RESERVE_MAX));
        Self { variant, entries, key: None }
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, thing: &T) -> Result<(), SerdeError> {
        self.entries.push((Value::Keyword(keyword(name)?), to_value(thing)?));
        Ok(())
    }

    fn finish(self) -> Value {
        in_variant(self.variant, Value::Map(self.entries.into_iter().collect::<Map>()))
    }
}

/// Serde has a trait for each kind of sequence; all of them become one list.
macro_rules! sequences {
    ($($kind:ident by $add:ident,)*) => {$(
        impl $kind for Items {
            type Ok = Value;
            type Error = SerdeError;

            fn $add<T: Serialize + ?Sized>(&mut self, thing: &T) -> Result<(), SerdeError> {
                self.add(thing)
            }

            fn end(self) -> Result<Value, SerdeError> {
                Ok(self.finish())
            }
        }
    )*};
}

sequences! {
    SerializeSeq by serialize_element,
    SerializeTuple by serialize_element,
    SerializeTupleStruct by serialize_field,
    SerializeTupleVariant by serialize_field,
}

impl SerializeMap for Entries {
    type Ok = Value;
    type Error = SerdeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), SerdeError> {
        // Stored until its value arrives, because serde passes the two in separate calls.
        self.key = Some(to_value(key)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, thing: &T) -> Result<(), SerdeError> {
        let value = to_value(thing)?;
        let key = self.key.take();
        let key =
            key.ok_or_else(|| SerdeError::Type("the type gives a map's value before its key".into()))?;
        self.entries.push((key, value));
        Ok(())
    }

    fn end(self) -> Result<Value, SerdeError> {
        Ok(self.finish())
    }
}

/// A struct, and a variant with named fields.
macro_rules! structs {
    ($($kind:ident)*) => {$(
        impl $kind for Entries {
            type Ok = Value;
            type Error = SerdeError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                thing: &T,
            ) -> Result<(), SerdeError> {
                self.field(name, thing)
            }

            fn end(self) -> Result<Value, SerdeError> {
                Ok(self.finish())
            }
        }
    )*};
}

structs! { SerializeStruct SerializeStructVariant }

fn keyword(name: &'static str) -> Result<Keyword, SerdeError> {
    Keyword::new(name).map_err(|error| SerdeError::Name { name: name.into(), error })
}

fn in_variant(variant: Option<Keyword>, value: Value) -> Value {
    match variant {
        Some(variant) => Value::Map(std::iter::once((Value::Keyword(variant), value)).collect()),
        None => value,
    }
}

/// Largest capacity that is reserved on the announcement of a type, in items.
const RESERVE_MAX: usize = 1024;
