//! Values as conditions, differences and texts for models see them: as JSON would have them, whatever notation they came in.
//!
//! Invariant: keywords, symbols, characters, instants and UUIDs are texts, so `:ok` and `"ok"` are equal; numbers are equal by
//! value, so `1` and `1.0` are; sets are lists; tags and metadata are looked through; NaN and the infinities are null.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::domain::Moment;
use crate::edn::{BigDec, Map, Ratio, Set, Value};

/// A value as JSON would have it.
pub(crate) enum Plain<'v> {
    Nil,
    Bool(bool),
    Number(Number),
    Text(Cow<'v, str>),
    List(Items<'v>),
    Map(&'v Map),
}

/// A number, exact.
pub(crate) enum Number {
    Whole(i64),
    Exact(BigDec),
}

/// The items of a list or a set.
#[derive(Clone, Copy)]
pub(crate) struct Items<'v>(&'v [Value], Option<&'v Set>);

impl<'v> Plain<'v> {
    pub(crate) fn of(value: &'v Value) -> Plain<'v> {
        match value {
            Value::Nil => Plain::Nil,
            Value::Bool(flag) => Plain::Bool(*flag),
            Value::Int(number) => Plain::Number(Number::Whole(*number)),
            Value::Float(number) => float(*number),
            Value::BigInt(number) => exact(&number.to_string()),
            Value::BigDec(number) => Plain::Number(Number::Exact((**number).clone())),
            Value::Ratio(ratio) => divided(ratio),
            Value::Str(text) => Plain::Text(Cow::Borrowed(text)),
            Value::Keyword(keyword) => Plain::Text(Cow::Borrowed(keyword.as_str())),
            Value::Symbol(symbol) => Plain::Text(Cow::Borrowed(symbol.as_str())),
            Value::Char(character) => Plain::Text(Cow::Owned(character.to_string())),
            Value::Uuid(uuid) => Plain::Text(Cow::Owned(uuid.hyphenated().to_string())),
            Value::Inst(inst) => Plain::Text(Cow::Owned(
                Moment::new(inst.seconds(), inst.nanos())
                    .map_or_else(|| value.to_string(), |moment| moment.to_string()),
            )),
            Value::List(items) | Value::Vector(items) => Plain::List(Items(items, None)),
            Value::Set(set) => Plain::List(Items(&[], Some(set))),
            Value::Map(map) => Plain::Map(map),
            Value::Tagged(tagged) => Plain::of(&tagged.value),
            Value::Meta(meta) => Plain::of(meta.value()),
        }
    }

    /// Whether both are the same value.
    pub(crate) fn same(&self, other: &Plain<'_>) -> bool {
        match (self, other) {
            (Plain::Nil, Plain::Nil) => true,
            (Plain::Bool(left), Plain::Bool(right)) => left == right,
            (Plain::Number(left), Plain::Number(right)) => left.order(right) == Ordering::Equal,
            (Plain::Text(left), Plain::Text(right)) => left == right,
            (Plain::List(left), Plain::List(right)) => {
                let same = |(left, right)| Plain::of(left).same(&Plain::of(right));
                left.len() == right.len() && left.iter().zip(right.iter()).all(same)
            }
            (Plain::Map(left), Plain::Map(right)) => {
                let same = |(key, value): (&Value, &Value)| {
                    let other = get(right, &key_text(key));
                    other.is_some_and(|other| Plain::of(value).same(&Plain::of(other)))
                };
                left.len() == right.len() && left.iter().all(same)
            }
            (
                Plain::Nil
                | Plain::Bool(_)
                | Plain::Number(_)
                | Plain::Text(_)
                | Plain::List(_)
                | Plain::Map(_),
                _,
            ) => false,
        }
    }

    /// The order of two numbers or two texts; `None` between anything else.
    pub(crate) fn order(&self, other: &Plain<'_>) -> Option<Ordering> {
        match (self, other) {
            (Plain::Number(left), Plain::Number(right)) => Some(left.order(right)),
            (Plain::Text(left), Plain::Text(right)) => Some(left.cmp(right)),
            _ => None,
        }
    }

    /// How many entries a collection has, or how many characters a text.
    pub(crate) fn length(&self) -> Option<usize> {
        match self {
            Plain::Text(text) => Some(text.chars().count()),
            Plain::List(items) => Some(items.len()),
            Plain::Map(map) => Some(map.len()),
            Plain::Nil | Plain::Bool(_) | Plain::Number(_) => None,
        }
    }
}

impl Number {
    pub(crate) fn order(&self, other: &Number) -> Ordering {
        match (self, other) {
            (Number::Whole(left), Number::Whole(right)) => left.cmp(right),
            (Number::Exact(left), Number::Exact(right)) => left.cmp(right),
            // The digits of a whole number always parse.
            (Number::Whole(left), Number::Exact(right)) => {
                BigDec::parse(&left.to_string()).map_or(Ordering::Less, |left| left.cmp(right))
            }
            (Number::Exact(_), Number::Whole(_)) => other.order(self).reverse(),
        }
    }

    /// By how much this number is greater than the other; `None` where that is no number.
    pub(crate) fn minus(&self, other: &Number) -> Option<Plain<'static>> {
        if let (Number::Whole(left), Number::Whole(right)) = (self, other) {
            // In 128 bits: the difference of two numbers of 64 bits may need 65.
            let difference = i128::from(*left) - i128::from(*right);
            let small = i64::try_from(difference).map(|small| Plain::Number(Number::Whole(small)));
            return Some(small.unwrap_or_else(|_| exact(&difference.to_string())));
        }
        match float(self.approximate()? - other.approximate()?) {
            Plain::Number(number) => Some(Plain::Number(number)),
            Plain::Nil | Plain::Bool(_) | Plain::Text(_) | Plain::List(_) | Plain::Map(_) => None,
        }
    }

    fn approximate(&self) -> Option<f64> {
        match self {
            Number::Whole(number) => number.to_string().parse().ok(),
            Number::Exact(number) => format!("{}e{}", number.unscaled(), number.exponent()).parse().ok(),
        }
    }

    /// One text for each number, however it was written: its digits without zeros at the end, and a power of ten.
    pub(crate) fn canonical(&self) -> String {
        let (digits, exponent) = match self {
            Number::Whole(number) => (number.to_string(), 0),
            Number::Exact(number) => (number.unscaled(), i64::from(number.exponent())),
        };
        let significant = digits.trim_end_matches('0');
        if matches!(significant, "" | "-") {
            return "0".to_owned();
        }
        let zeros = i64::try_from(digits.len() - significant.len()).unwrap_or(i64::MAX);
        format!("{significant}e{}", exponent.saturating_add(zeros))
    }
}

impl<'v> Items<'v> {
    pub(crate) fn len(self) -> usize {
        self.0.len() + self.1.map_or(0, Set::len)
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = &'v Value> {
        self.0.iter().chain(self.1.into_iter().flat_map(Set::iter))
    }

    pub(crate) fn get(self, place: usize) -> Option<&'v Value> {
        self.iter().nth(place)
    }
}

/// The value under a key, be the key a text or a keyword.
pub(crate) fn get<'m>(map: &'m Map, key: &str) -> Option<&'m Value> {
    let other = || map.iter().find(|(known, _)| is_other(known) && key_text(known) == key);
    map.text(key).or_else(|| map.keyword(key)).or_else(|| other().map(|(_, value)| value))
}

/// A key that is neither text nor keyword, such as a number.
fn is_other(key: &Value) -> bool {
    key.as_str().is_none() && key.as_keyword().is_none()
}

/// A key as JSON would have it.
pub(crate) fn key_text(key: &Value) -> Cow<'_, str> {
    match Plain::of(key) {
        Plain::Text(text) => text,
        Plain::Nil | Plain::Bool(_) | Plain::Number(_) | Plain::List(_) | Plain::Map(_) => {
            Cow::Owned(key.to_string())
        }
    }
}

fn float(number: f64) -> Plain<'static> {
    // Printed with an exponent, so that the text is short whatever the number is.
    if number.is_finite() { exact(&format!("{number:e}")) } else { Plain::Nil }
}

fn exact(text: &str) -> Plain<'static> {
    BigDec::parse(text).map_or(Plain::Nil, |number| Plain::Number(Number::Exact(number)))
}

fn divided(ratio: &Ratio) -> Plain<'static> {
    // A numerator beyond the range of floats makes the ratio infinite or no number, and so null.
    let part = |part: String| part.parse().unwrap_or(f64::NAN);
    let (over, under): (f64, f64) =
        (part(ratio.numerator().to_string()), part(ratio.denominator().to_string()));
    float(over / under)
}
