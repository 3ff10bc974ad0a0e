//! Puts one fault of a call right, and leaves everything else as the caller wrote it.
//!
//! What a dialect alone can put right is in its own `repair.rs`. Invariant: a fault whose correction is not certain is not
//! corrected; the hint of its error says what is accepted.

use std::borrow::Cow;

use super::error::{ArgError, key_text};
use super::error_kind::ArgErrorKind;
use super::reader::Style;
use super::synonyms::synonym;
use crate::dialect::echo;
use crate::domain::{Moment, clearly_nearest};
use crate::edn::{Keyword, Map, Value};

/// The arguments of a refused call, in their own spelling.
#[derive(Clone, Copy)]
pub(crate) struct Repair<'a> {
    args: &'a Value,
    style: Style,
}

impl<'a> Repair<'a> {
    pub(crate) fn new(args: &'a Value, style: Style) -> Repair<'a> {
        Repair { args, style }
    }

    /// The call without the fault, if its correction is certain.
    pub(crate) fn without(self, error: &ArgError) -> Option<Value> {
        match error.kind() {
            ArgErrorKind::UnknownKeys { keys, known, .. } => {
                let key = keys.first()?;
                let map = self.at(error.place())?;
                let (spelled, value) = map.iter().find(|(given, _)| echo(given) == *key)?;
                // Nil is as good as nothing, whatever its name.
                if value.is_nil() {
                    return self.dropped(error.place(), spelled);
                }
                let wrong = self.style.key(spelled).unwrap_or_else(|| key_text(key).into());
                let near = clearly_nearest(known.iter().map(|known| (*known, *known)), &wrong);
                let meant = near.or_else(|| synonym(known, &wrong))?;
                self.replaced(error.place(), spelled, meant, |value| Some(value.clone()))
            }
            ArgErrorKind::GivenTwice => self.once(error.path()),
            ArgErrorKind::NotText { .. } => self.with(error.path(), text),
            ArgErrorKind::NotABoolean => self.with(error.path(), flag),
            ArgErrorKind::NotWhole => self.with(error.path(), whole),
            ArgErrorKind::NotAList { .. } => self.with(error.path(), listed),
            ArgErrorKind::NotAnInstant => self.with(error.path(), instant),
            ArgErrorKind::NotOneOf { known } => {
                let meant = |value: &Value| word(known, value);
                self.with_each(error.path(), error.value()?, meant)
            }
            ArgErrorKind::NotAMap { .. }
            | ArgErrorKind::Missing
            | ArgErrorKind::Blank
            | ArgErrorKind::NotA { .. }
            | ArgErrorKind::OutOfRange { .. }
            | ArgErrorKind::TooLong { .. }
            | ArgErrorKind::NoOffset
            | ArgErrorKind::NotAnId
            | ArgErrorKind::Own { .. } => None,
        }
    }

    /// The call with another value in one of the fields that were given.
    pub(crate) fn with(self, path: &str, change: impl Fn(&Value) -> Option<Value>) -> Option<Value> {
        edit(self.args, &fields(path), self.style, &change)
    }

    /// As [`Repair::with`], but for the items of a list the change concerns only those like `wrong`.
    pub(crate) fn with_each(
        self,
        path: &str,
        wrong: &Value,
        change: impl Fn(&Value) -> Option<Value>,
    ) -> Option<Value> {
        let item = |item: &Value| if echo(item) == *wrong { change(item) } else { Some(item.clone()) };
        self.with(path, |value| {
            let items = value.as_items().map(<[Value]>::to_vec);
            // The items of a set are listed, because JSON has no sets.
            let items = items.or_else(|| Some(value.as_set()?.iter().cloned().collect()));
            let Some(items) = items else { return change(value) };
            Some(Value::vector(items.iter().map(item).collect::<Option<Vec<Value>>>()?))
        })
    }

    /// The call with one entry of the map at `place` under another name, where no value is given yet.
    pub(crate) fn replaced(
        self,
        place: &str,
        key: &Value,
        name: &str,
        change: impl Fn(&Value) -> Option<Value>,
    ) -> Option<Value> {
        let named = if key.as_str().is_some() { Value::string(name) } else { Value::keyword(name) };
        let is_other = |given: &Value| self.style.key(given).as_deref() != Some(name);
        self.with(place, |value| {
            let map = value.as_map()?;
            // Two values for one field: nothing says which is meant. Nil is none.
            if map.iter().any(|(given, value)| !is_other(given) && !value.is_nil()) {
                return None;
            }
            let kept = map.iter().filter(|(given, _)| is_other(given));
            let entries = kept.map(|(given, value)| {
                Some(if given == key {
                    (named.clone(), change(value)?)
                } else {
                    (given.clone(), value.clone())
                })
            });
            Some(Value::Map(entries.collect::<Option<Map>>()?))
        })
    }

    /// The call with this top-level field, given or not.
    pub(crate) fn with_field(self, name: &str, value: Value) -> Option<Value> {
        let map = self.args.as_map()?;
        let given = map.keys().find(|key| self.style.key(key).as_deref() == Some(name));
        // A new key is spelled like the first one that the caller wrote.
        let is_text = || map.keys().next().is_some_and(|key| key.as_str().is_some());
        let named = || if is_text() { Value::string(name) } else { Value::keyword(name) };
        let key = given.cloned().unwrap_or_else(named);
        let mut map = map.clone();
        map.insert(key, value);
        Some(Value::Map(map))
    }

    /// The key of a top-level field, as the caller spelled it, and its name in this style.
    pub(crate) fn keys(self) -> impl Iterator<Item = (&'a Value, Cow<'a, str>)> {
        let entries = self.args.as_map().into_iter().flatten();
        entries.filter_map(move |(key, _)| Some((key, self.style.key(key)?)))
    }

    /// The value of a top-level field.
    pub(crate) fn field(self, name: &str) -> Option<&'a Value> {
        let map = self.args.as_map()?;
        map.iter().find(|(key, _)| self.style.key(key).as_deref() == Some(name)).map(|(_, value)| value)
    }

    /// The call with one spelling of a field that is given twice, if both say the same.
    fn once(self, path: &str) -> Option<Value> {
        let (place, name) = path.rsplit_once('.').unwrap_or(("", path));
        self.with(place, |value| {
            let is_meant = |key: &Value| self.style.key(key).as_deref() == Some(name);
            let map = value.as_map()?;
            let mut values = map.iter().filter(|(key, _)| is_meant(key));
            let (first, said) = values.next()?;
            if values.any(|(_, value)| value != said) {
                return None;
            }
            let kept = map.iter().filter(|(key, _)| *key == first || !is_meant(key));
            Some(Value::Map(kept.map(|(key, value)| (key.clone(), value.clone())).collect()))
        })
    }

    fn dropped(self, place: &str, key: &Value) -> Option<Value> {
        self.with(place, |value| {
            let kept = value.as_map()?.iter().filter(|(given, _)| *given != key);
            Some(Value::Map(kept.map(|(key, value)| (key.clone(), value.clone())).collect()))
        })
    }

    /// The map at a place.
    fn at(self, place: &str) -> Option<&'a Map> {
        let inner = |value: &'a Value, name: &&str| {
            value
                .as_map()?
                .iter()
                .find(|(key, _)| self.style.key(key).as_deref() == Some(*name))
                .map(|it| it.1)
        };
        fields(place).iter().try_fold(self.args, inner)?.as_map()
    }
}

/// The names on a path.
fn fields(path: &str) -> Vec<&str> {
    path.split('.').filter(|name| !name.is_empty()).collect()
}

fn edit(
    value: &Value,
    path: &[&str],
    style: Style,
    change: &dyn Fn(&Value) -> Option<Value>,
) -> Option<Value> {
    let Some((name, rest)) = path.split_first() else { return change(value) };
    let map = value.as_map()?;
    // An index, as in `calls[0]`, is no key: what stands in a list is not found, and so not changed.
    let (key, inner) = map.iter().find(|(key, _)| style.key(key).as_deref() == Some(*name))?;
    let mut map = map.clone();
    map.insert(key.clone(), edit(inner, rest, style, change)?);
    Some(Value::Map(map))
}

/// The text of a number or of a name.
fn text(value: &Value) -> Option<Value> {
    let number = value.as_int().map(|number| number.to_string());
    number.or_else(|| Some(value.as_keyword()?.as_str().to_owned())).map(Value::string)
}

fn flag(value: &Value) -> Option<Value> {
    match value.as_str()?.trim().to_lowercase().as_str() {
        "true" | "yes" => Some(Value::Bool(true)),
        "false" | "no" => Some(Value::Bool(false)),
        _ => None,
    }
}

/// A whole number that was written as a text.
fn whole(value: &Value) -> Option<Value> {
    value.as_str()?.trim().parse().ok().map(Value::Int)
}

/// A single value as a list.
fn listed(value: &Value) -> Option<Value> {
    let is_single = value.as_str().is_some() || value.as_keyword().is_some();
    is_single.then(|| Value::vector(vec![value.clone()]))
}

/// An instant whose date and time are separated by a blank, or that lacks its seconds.
fn instant(value: &Value) -> Option<Value> {
    let given = value.as_str()?.trim();
    let joined = given.replacen(' ', "T", 1);
    let (minutes, rest) = joined.split_at_checked("2026-04-11T09:00".len())?;
    let filled = format!("{minutes}:00{rest}");
    let is_instant = |text: &&String| Moment::parse(text).is_ok();
    [joined.clone(), filled].iter().find(is_instant).map(|text| Value::string(text.clone()))
}

/// The listed word that is meant, in the notation of the one given.
fn word(known: &[&'static str], value: &Value) -> Option<Value> {
    let name = value.as_str().or_else(|| value.as_keyword().map(Keyword::as_str))?;
    let plain = name.trim().to_lowercase().replace(['-', ' '], "_");
    let meant = clearly_nearest(known.iter().map(|known| (*known, *known)), &plain)?;
    Some(if value.as_str().is_some() { Value::string(meant) } else { Value::keyword(meant) })
}
