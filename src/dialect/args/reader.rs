//! Checked access to values and to the fields of maps.
//!
//! Invariant: lengths are checked before anything is copied.

use std::borrow::Cow;

use super::error::{ArgError, key_text};
use super::error_kind::ArgErrorKind;
use super::synonyms::synonym;
use super::wording::Wording;
#[cfg(feature = "embed")]
use crate::dialect::json;
use crate::dialect::{Notation, echo};
use crate::domain::{Moment, nearest};
use crate::edn::{Keyword, Value};
use crate::limits::Limit;

/// How a dialect spells names and times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) notation: Notation,
    pub(crate) keys: Keys,
    pub(crate) choices: Choices,
    /// True if timestamps may omit their seconds.
    pub(crate) short_times: bool,
}

/// How the keys of maps are spelled.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Keys {
    /// Snake case, as keywords or strings; in EDN also kebab case.
    Snake,
    /// Exactly as listed, as keywords or strings.
    Plain,
    /// Exactly as listed, as keywords; in JSON, which has no keywords, as strings.
    Notated,
}

/// How the names of closed lists are spelled. A name is a string or a keyword.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choices {
    /// Exactly as listed.
    Exact,
    /// As listed; in EDN also in kebab case where the list has snake case.
    Snake,
    /// In upper or lower case, with hyphens or underscores.
    AnyCase,
}

/// One value, and the style in which it is written.
#[derive(Clone, Copy)]
pub(crate) struct Arg<'a> {
    value: &'a Value,
    style: Style,
}

/// The fields of one map.
pub(crate) struct Args<'a> {
    style: Style,
    known: &'static [&'static str],
    /// The values of the known fields, in the order of `known`.
    values: Vec<Option<&'a Value>>,
    /// The entries with unknown keys.
    unknown: Vec<(&'a Value, &'a Value)>,
}

impl<'a> Arg<'a> {
    pub(crate) fn new(value: &'a Value, style: Style) -> Arg<'a> {
        Arg { value, style }
    }

    pub(crate) fn value(self) -> &'a Value {
        self.value
    }

    /// The notation in which it is written.
    pub(crate) fn notation(self) -> Notation {
        self.style.notation
    }

    /// The text of a string, or of a keyword without its colon.
    pub(crate) fn name(self) -> Option<&'a str> {
        plain_name(self.value)
    }

    /// Creates an error about this value.
    pub(crate) fn error(self, kind: ArgErrorKind) -> ArgError {
        ArgError::new("", kind).with(&self.echo())
    }

    /// Creates an error for a dialect's own rule that this value violates.
    pub(crate) fn breaks(self, words: Wording, detail: impl Into<String>) -> ArgError {
        ArgError::own("", words, detail).with(&self.echo())
    }

    /// An echo of the value: of a long one, the beginning of its text in the caller's notation.
    fn echo(self) -> Value {
        // Without JSON, no value was written in it.
        #[cfg(feature = "embed")]
        if self.notation() == Notation::Json
            && self.value.as_str().is_none()
            && echo(self.value) != *self.value
        {
            let mut text = String::new();
            json::write(self.value, &mut text);
            return echo(&text.into());
        }
        echo(self.value)
    }

    /// Wraps another value of the same style.
    pub(crate) fn like(self, value: &'a Value) -> Arg<'a> {
        Arg { value, ..self }
    }

    /// The fields of a map; an unknown key is an error.
    pub(crate) fn map(self, known: &'static [&'static str]) -> Result<Args<'a>, ArgError> {
        let args = self.open_map(known)?;
        match args.unknown_keys() {
            Some(error) => Err(error),
            None => Ok(args),
        }
    }

    /// The fields of a map; unknown keys are recorded for [`Args::unknown_keys`].
    pub(crate) fn open_map(self, known: &'static [&'static str]) -> Result<Args<'a>, ArgError> {
        let not_a_map = || self.error(ArgErrorKind::NotAMap { found: self.value.type_name() });
        let map = self.value.as_map().ok_or_else(not_a_map)?;
        let mut args = Args::empty(self.style, known);
        for (key, value) in map {
            // A key that cannot be a name, such as a number, is unknown like any other.
            let name = self.style.key(key);
            // A scan, because no map has more than some twenty fields.
            match known.iter().position(|known| name.as_deref() == Some(*known)) {
                // Two spellings of one field: which one counts would depend on the order of the map.
                Some(place) if args.values[place].is_some() => {
                    return Err(ArgError::new(known[place], ArgErrorKind::GivenTwice));
                }
                Some(place) => args.values[place] = Some(value),
                None => args.unknown.push((key, value)),
            }
        }
        Ok(args)
    }

    /// A string, untrimmed.
    pub(crate) fn raw_text(self, max: Limit) -> Result<&'a str, ArgError> {
        let not_text = || self.error(ArgErrorKind::NotText { found: self.value.type_name() });
        let text = self.value.as_str().ok_or_else(not_text)?;
        // Checked on the borrowed text, before anything is copied.
        if max.admits(text) { Ok(text) } else { Err(self.error(ArgErrorKind::TooLong { limit: max })) }
    }

    /// A string, trimmed.
    pub(crate) fn text(self, max: Limit) -> Result<&'a str, ArgError> {
        self.raw_text(max).map(str::trim)
    }

    /// A string, trimmed; blank is an error.
    pub(crate) fn filled_text(self, max: Limit) -> Result<&'a str, ArgError> {
        let text = self.text(max)?;
        if text.is_empty() { Err(self.error(ArgErrorKind::Blank)) } else { Ok(text) }
    }

    pub(crate) fn flag(self) -> Result<bool, ArgError> {
        self.value.as_bool().ok_or_else(|| self.error(ArgErrorKind::NotABoolean))
    }

    /// An integer. One that does not fit 64 bits is clamped to the nearest that does. A float without a fraction, such as
    /// `60.0`, is one too: JSON Schema says so, and Python writes integers that were computed in that form.
    pub(crate) fn integer(self) -> Result<i64, ArgError> {
        let not_whole = || self.error(ArgErrorKind::NotWhole);
        let text = match (self.value, self.value.as_int()) {
            (Value::BigInt(number), _) => number.to_string(),
            // Printed without an exponent, and without a point if there is no fraction.
            (Value::Float(number), _) if number.is_finite() => number.to_string(),
            (_, number) => return number.ok_or_else(not_whole),
        };
        if text.contains('.') {
            return Err(not_whole());
        }
        let nearest = if text.starts_with('-') { i64::MIN } else { i64::MAX };
        Ok(text.parse().unwrap_or(nearest))
    }

    /// An integer from `min` to `max`, inclusive.
    pub(crate) fn int_in(self, min: u64, max: u64) -> Result<u64, ArgError> {
        // `integer` clamps: the largest integer may stand for a larger one, which no bound may let pass.
        let number = u64::try_from(self.integer()?).ok().filter(|number| *number < i64::MAX.unsigned_abs());
        let number = number.filter(|number| (min..=max).contains(number));
        number.ok_or_else(|| self.error(ArgErrorKind::OutOfRange { min, max }))
    }

    /// A timestamp with an offset, as a string or an `#inst`.
    pub(crate) fn instant(self) -> Result<Moment, ArgError> {
        let not_an_instant = || self.error(ArgErrorKind::NotAnInstant);
        if let Some(inst) = self.value.as_inst() {
            return Moment::new(inst.seconds(), inst.nanos()).ok_or_else(not_an_instant);
        }
        let text = self.value.as_str().ok_or_else(not_an_instant)?.trim();
        let text = if self.style.short_times { with_seconds(text) } else { text.into() };
        Moment::parse(&text).map_err(|_| {
            // A missing offset is the most common mistake, and has a hint of its own.
            let lacks_offset = Moment::parse(&format!("{text}Z")).is_ok();
            if lacks_offset { self.error(ArgErrorKind::NoOffset) } else { not_an_instant() }
        })
    }

    /// A name of a closed list, as the element of `all` in the same position as in `names`.
    pub(crate) fn one_of<T: Copy>(self, names: &'static [&'static str], all: &[T]) -> Result<T, ArgError> {
        debug_assert_eq!(names.len(), all.len());
        let given = plain_name(self.value).map(|text| self.style.choice(text));
        let place = names.iter().position(|name| given.as_ref() == Some(&self.style.listed(name)));
        let found = place.and_then(|place| all.get(place)).copied();
        found.ok_or_else(|| self.error(ArgErrorKind::NotOneOf { known: names }))
    }

    /// An id, parsed by `parse`.
    pub(crate) fn id<T>(self, max: Limit, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, ArgError> {
        parse(self.filled_text(max)?).ok_or_else(|| self.error(ArgErrorKind::NotAnId))
    }

    /// A value of a type that only one dialect knows. `expected` describes it in the error.
    pub(crate) fn parse<T>(
        self,
        expected: &'static str,
        parse: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<T, ArgError> {
        let found = self.value.type_name();
        parse(self.value).ok_or_else(|| self.error(ArgErrorKind::NotA { expected, found }))
    }

    /// Reads each item of a list.
    pub(crate) fn items<T>(
        self,
        max: Limit,
        read: impl Fn(Arg<'a>) -> Result<T, ArgError>,
    ) -> Result<Vec<T>, ArgError> {
        let items = self.value.as_items();
        let items = items.ok_or_else(|| self.error(ArgErrorKind::NotAList { or_set: false }))?;
        self.each(items.iter(), max, read)
    }

    /// Reads each item of a set, or of a list given instead.
    pub(crate) fn set<C: FromIterator<T>, T>(
        self,
        max: Limit,
        read: impl Fn(Arg<'a>) -> Result<T, ArgError>,
    ) -> Result<C, ArgError> {
        // JSON has no sets, so a list is accepted in place of one.
        let items = match (self.value.as_set(), self.value.as_items()) {
            (Some(set), _) => self.each(set.iter(), max, read),
            (None, Some(items)) => self.each(items.iter(), max, read),
            (None, None) => Err(self.error(ArgErrorKind::NotAList { or_set: true })),
        };
        Ok(items?.into_iter().collect())
    }

    fn each<T>(
        self,
        items: impl ExactSizeIterator<Item = &'a Value>,
        max: Limit,
        read: impl Fn(Arg<'a>) -> Result<T, ArgError>,
    ) -> Result<Vec<T>, ArgError> {
        // The length is checked before any item is read.
        if items.len() as u64 > max.value {
            return Err(self.error(ArgErrorKind::TooLong { limit: max }));
        }
        // The index becomes part of the error's path.
        let item = |(index, value)| read(self.like(value)).map_err(|error| error.at(index));
        items.enumerate().map(item).collect()
    }
}

impl<'a> Args<'a> {
    /// The fields of a call's arguments. Nil is accepted as an empty map.
    pub(crate) fn of_call(
        value: &'a Value,
        style: Style,
        known: &'static [&'static str],
    ) -> Result<Args<'a>, ArgError> {
        if value.is_nil() { Ok(Args::empty(style, known)) } else { Arg::new(value, style).map(known) }
    }

    /// The notation in which they are written.
    #[cfg(feature = "embed")]
    pub(crate) fn notation(&self) -> Notation {
        self.style.notation
    }

    fn empty(style: Style, known: &'static [&'static str]) -> Args<'a> {
        Args { style, known, values: vec![None; known.len()], unknown: Vec::new() }
    }

    /// The error about unknown fields, if there are any.
    pub(crate) fn unknown_keys(&self) -> Option<ArgError> {
        let (key, value) = self.unknown.first()?;
        // A key that cannot be a name, such as a number, is compared by its text.
        let name = self.style.key(key).unwrap_or_else(|| key_text(&echo(key)).into());
        let near = nearest(self.known.iter().map(|known| (*known, *known)), &name);
        let nearest = near.or_else(|| synonym(self.known, &name));
        let keys: Vec<Value> = self.unknown.iter().map(|(key, _)| echo(key)).collect();
        let path = keys.first().map(key_text).unwrap_or_default();
        let kind = ArgErrorKind::UnknownKeys { keys, known: self.known, nearest };
        Some(ArgError::new(&path, kind).with(value))
    }

    /// A field; nil counts as absent.
    pub(crate) fn get(&self, name: &str) -> Option<Arg<'a>> {
        // A name that is not in `known` is a defect of the caller: `open_map` never fills it.
        let place = self.known.iter().position(|known| *known == name);
        debug_assert!(place.is_some(), "{name} is read and not known");
        // Models often fill the fields that they do not use with null.
        let value = self.values[place?].filter(|value| !value.is_nil())?;
        Some(Arg { value, style: self.style })
    }

    /// Reads an optional field.
    pub(crate) fn opt<T>(
        &self,
        name: &str,
        read: impl FnOnce(Arg<'a>) -> Result<T, ArgError>,
    ) -> Result<Option<T>, ArgError> {
        self.get(name).map(|arg| read(arg).map_err(|error| error.under(name))).transpose()
    }

    /// Reads a required field.
    pub(crate) fn required<T>(
        &self,
        name: &str,
        read: impl FnOnce(Arg<'a>) -> Result<T, ArgError>,
    ) -> Result<T, ArgError> {
        self.opt(name, read)?.ok_or_else(|| ArgError::new(name, ArgErrorKind::Missing))
    }

    /// Reads a required field, and nil if it is absent, so that the error names the expected type.
    pub(crate) fn or_nil<T>(
        &self,
        name: &str,
        read: impl FnOnce(Arg<'a>) -> Result<T, ArgError>,
    ) -> Result<T, ArgError> {
        let arg = self.get(name).unwrap_or(Arg { value: &Value::Nil, style: self.style });
        read(arg).map_err(|error| error.under(name))
    }

    /// An optional text, trimmed; blank counts as absent.
    pub(crate) fn opt_text(&self, name: &str, max: Limit) -> Result<Option<&'a str>, ArgError> {
        Ok(self.opt(name, |arg| arg.text(max))?.filter(|text| !text.is_empty()))
    }

    /// An optional text, untrimmed.
    pub(crate) fn raw_text(&self, name: &str, max: Limit) -> Result<Option<&'a str>, ArgError> {
        self.opt(name, |arg| arg.raw_text(max))
    }

    /// A required text, trimmed; blank is an error.
    pub(crate) fn required_text(&self, name: &str, max: Limit) -> Result<&'a str, ArgError> {
        self.required(name, |arg| arg.filled_text(max))
    }

    /// A required text, untrimmed; blank is an error.
    pub(crate) fn required_raw_text(&self, name: &str, max: Limit) -> Result<&'a str, ArgError> {
        // Whether it is blank is judged on the trimmed text; the text itself is returned verbatim.
        self.required(name, |arg| arg.filled_text(max).and_then(|_| arg.raw_text(max)))
    }

    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, ArgError> {
        self.opt(name, Arg::flag)
    }

    /// An optional integer from `min` to `max`, inclusive.
    pub(crate) fn int_in(&self, name: &str, min: u64, max: u64) -> Result<Option<u64>, ArgError> {
        self.opt(name, |arg| arg.int_in(min, max))
    }

    /// An optional timestamp; a blank string counts as absent.
    pub(crate) fn opt_instant(&self, name: &str) -> Result<Option<Moment>, ArgError> {
        // SEED-000's code treats every blank string as absent.
        let is_blank = |arg: &Arg<'_>| arg.value.as_str().is_some_and(|text| text.trim().is_empty());
        if self.get(name).as_ref().is_some_and(is_blank) { Ok(None) } else { self.opt(name, Arg::instant) }
    }

    /// An optional name of a closed list, as the element of `all` in the same position as in `names`.
    pub(crate) fn one_of<T: Copy>(
        &self,
        name: &str,
        names: &'static [&'static str],
        all: &[T],
    ) -> Result<Option<T>, ArgError> {
        self.opt(name, |arg| arg.one_of(names, all))
    }
}

impl Style {
    /// The style of the tools that spell fields in snake case.
    pub(crate) const fn tools(notation: Notation) -> Style {
        Style { notation, keys: Keys::Snake, choices: Choices::AnyCase, short_times: true }
    }

    /// The name that a key spells; `None` if the key cannot be a name.
    pub(in crate::dialect) fn key(self, key: &Value) -> Option<Cow<'_, str>> {
        match (self.keys, self.notation) {
            // Kebab case is customary in EDN. In JSON a hyphen is a mistake, which the error names.
            (Keys::Snake, Notation::Edn) => Some(plain_name(key)?.replace('-', "_").into()),
            (Keys::Plain, _) | (Keys::Snake | Keys::Notated, Notation::Json) => {
                plain_name(key).map(Cow::Borrowed)
            }
            (Keys::Notated, Notation::Edn) => key.as_keyword().map(|key| Cow::Borrowed(key.as_str())),
        }
    }

    /// Normalizes a given name for comparison.
    fn choice(self, name: &str) -> Cow<'_, str> {
        match (self.choices, self.notation) {
            (Choices::Exact, _) => name.into(),
            // JSON has one spelling; only EDN writes names in kebab case.
            (Choices::Snake, Notation::Json) => name.trim().into(),
            (Choices::Snake, Notation::Edn) => name.trim().replace('-', "_").into(),
            (Choices::AnyCase, _) => name.trim().to_lowercase().replace('-', "_").into(),
        }
    }

    /// Normalizes a listed name for comparison.
    fn listed(self, name: &str) -> Cow<'_, str> {
        match self.choices {
            Choices::Exact | Choices::Snake => name.into(),
            Choices::AnyCase => name.to_lowercase().replace('-', "_").into(),
        }
    }
}

/// The text of a string, or of a keyword without its colon.
fn plain_name(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.as_keyword().map(Keyword::as_str))
}

/// Adds the seconds to a timestamp that lacks them: `2026-04-11T09:00Z` becomes `2026-04-11T09:00:00Z`.
fn with_seconds(text: &str) -> Cow<'_, str> {
    match text.split_at_checked(MINUTES_END) {
        // A colon after the minutes means that seconds are given.
        // Byte 13 is the colon between hour and minute. Any other text is left for the parser to refuse.
        Some((minutes, rest)) if minutes.as_bytes()[13] == b':' && !rest.starts_with(':') => {
            format!("{minutes}:00{rest}").into()
        }
        Some(_) | None => text.into(),
    }
}

/// The length of `2026-04-11T09:00`.
const MINUTES_END: usize = 16;
