//! Values and the fields of maps, read with checks.
//!
//! Invariant: what is read is bounded before anything is copied.

use std::borrow::Cow;

use super::error::{ArgError, ArgErrorKind, key_text};
use super::words::Wording;
use crate::dialect::{Notation, echo};
use crate::domain::{Moment, nearest};
use crate::edn::{Keyword, Value};
use crate::limits::Limit;

/// How a dialect spells what it reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) notation: Notation,
    pub(crate) keys: Keys,
    pub(crate) choices: Choices,
    /// Whether an instant as text may leave out its seconds.
    pub(crate) short_times: bool,
}

/// How the keys of maps are spelled.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Keys {
    /// In snake case, as keywords or strings; in EDN in kebab case too.
    Snake,
    /// As they are, as keywords or strings.
    Plain,
    /// As keywords; in JSON, which has none, as strings.
    Notated,
}

/// How the names of closed lists are spelled. A name is a string or a keyword.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choices {
    /// As in the list.
    Exact,
    /// As in the list, or in EDN in kebab case where the list has snake case.
    Snake,
    /// In any case, with hyphens or underscores.
    AnyCase,
}

/// One value.
#[derive(Clone, Copy)]
pub(crate) struct Arg<'a> {
    value: &'a Value,
    style: Style,
}

/// The fields of one map.
pub(crate) struct Args<'a> {
    style: Style,
    known: &'static [&'static str],
    values: Vec<Option<&'a Value>>,
    unknown: Vec<(&'a Value, &'a Value)>,
}

impl<'a> Arg<'a> {
    pub(crate) fn new(value: &'a Value, style: Style) -> Arg<'a> {
        Arg { value, style }
    }

    pub(crate) fn value(self) -> &'a Value {
        self.value
    }

    /// The text of a string, or of a keyword without its colon.
    pub(crate) fn name(self) -> Option<&'a str> {
        plain_name(self.value)
    }

    /// What is wrong with this value.
    pub(crate) fn error(self, kind: ArgErrorKind) -> ArgError {
        ArgError::new("", kind).with(self.value)
    }

    /// The dialect's own rule that this value breaks.
    pub(crate) fn breaks(self, words: Wording, detail: impl Into<String>) -> ArgError {
        ArgError::own("", words, detail).with(self.value)
    }

    /// Another value that is written in the same way.
    pub(crate) fn like(self, value: &'a Value) -> Arg<'a> {
        Arg { value, ..self }
    }

    /// The fields of a map that has no other ones than these.
    pub(crate) fn map(self, known: &'static [&'static str]) -> Result<Args<'a>, ArgError> {
        let args = self.open_map(known)?;
        match args.unknown_keys() {
            Some(error) => Err(error),
            None => Ok(args),
        }
    }

    /// The fields of a map that may have others too; those are for somebody else to judge.
    pub(crate) fn open_map(self, known: &'static [&'static str]) -> Result<Args<'a>, ArgError> {
        let not_a_map = || self.error(ArgErrorKind::NotAMap { found: self.value.type_name() });
        let map = self.value.as_map().ok_or_else(not_a_map)?;
        let mut args = Args::empty(self.style, known);
        for (key, value) in map {
            let name = self.style.key(key);
            match known.iter().position(|known| name.as_deref() == Some(*known)) {
                Some(place) if args.values[place].is_some() => {
                    return Err(ArgError::new(known[place], ArgErrorKind::GivenTwice));
                }
                Some(place) => args.values[place] = Some(value),
                None => args.unknown.push((key, value)),
            }
        }
        Ok(args)
    }

    /// A string as it stands.
    pub(crate) fn raw_text(self, max: Limit) -> Result<&'a str, ArgError> {
        let not_text = || self.error(ArgErrorKind::NotText { found: self.value.type_name() });
        let text = self.value.as_str().ok_or_else(not_text)?;
        if text.len() as u64 > max.value {
            return Err(self.error(ArgErrorKind::TooLong { limit: max }));
        }
        Ok(text)
    }

    /// A string without the blanks around it.
    pub(crate) fn text(self, max: Limit) -> Result<&'a str, ArgError> {
        self.raw_text(max).map(str::trim)
    }

    /// A string that is not blank, without the blanks around it.
    pub(crate) fn filled_text(self, max: Limit) -> Result<&'a str, ArgError> {
        let text = self.text(max)?;
        if text.is_empty() { Err(self.error(ArgErrorKind::Blank)) } else { Ok(text) }
    }

    pub(crate) fn flag(self) -> Result<bool, ArgError> {
        self.value.as_bool().ok_or_else(|| self.error(ArgErrorKind::NotABoolean))
    }

    /// A whole number of any size; one beyond 64 bits counts as the last within.
    pub(crate) fn integer(self) -> Result<i64, ArgError> {
        if let Value::BigInt(number) = self.value {
            return Ok(if number.to_string().starts_with('-') { i64::MIN } else { i64::MAX });
        }
        self.value.as_int().ok_or_else(|| self.error(ArgErrorKind::NotWhole))
    }

    /// A whole number within bounds, both included.
    pub(crate) fn int_in(self, min: u64, max: u64) -> Result<u64, ArgError> {
        let number = u64::try_from(self.integer()?).ok().filter(|number| (min..=max).contains(number));
        let is_small = !matches!(self.value, Value::BigInt(_));
        number.filter(|_| is_small).ok_or_else(|| self.error(ArgErrorKind::OutOfRange { min, max }))
    }

    /// An instant with its offset as text, or an `#inst`.
    pub(crate) fn instant(self) -> Result<Moment, ArgError> {
        let not_an_instant = || self.error(ArgErrorKind::NotAnInstant);
        if let Some(inst) = self.value.as_inst() {
            return Moment::new(inst.seconds(), inst.nanos()).ok_or_else(not_an_instant);
        }
        let text = self.value.as_str().ok_or_else(not_an_instant)?.trim();
        let text = if self.style.short_times { with_seconds(text) } else { text.into() };
        Moment::parse(&text).map_err(|_| {
            // A reading without an offset is the likeliest mistake, and has a hint of its own.
            let lacks_offset = Moment::parse(&format!("{text}Z")).is_ok();
            if lacks_offset { self.error(ArgErrorKind::NoOffset) } else { not_an_instant() }
        })
    }

    /// One of a closed list; `names` are those of `all`, in its order.
    pub(crate) fn one_of<T: Copy>(self, names: &'static [&'static str], all: &[T]) -> Result<T, ArgError> {
        debug_assert_eq!(names.len(), all.len());
        let given = plain_name(self.value).map(|text| self.style.choice(text));
        let place = names.iter().position(|name| given.as_ref() == Some(&self.style.listed(name)));
        let found = place.and_then(|place| all.get(place)).copied();
        found.ok_or_else(|| self.error(ArgErrorKind::NotOneOf { known: names }))
    }

    /// An id, of the type that `parse` makes.
    pub(crate) fn id<T>(self, max: Limit, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, ArgError> {
        parse(self.filled_text(max)?).ok_or_else(|| self.error(ArgErrorKind::NotAnId))
    }

    /// What only one dialect has, by its own reading.
    pub(crate) fn parse<T>(
        self,
        expected: &'static str,
        parse: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<T, ArgError> {
        let found = self.value.type_name();
        parse(self.value).ok_or_else(|| self.error(ArgErrorKind::NotA { expected, found }))
    }

    /// Each item of a list, read.
    pub(crate) fn items<T>(
        self,
        max: Limit,
        read: impl Fn(Arg<'a>) -> Result<T, ArgError>,
    ) -> Result<Vec<T>, ArgError> {
        let items = self.value.as_items();
        let items = items.ok_or_else(|| self.error(ArgErrorKind::NotAList { or_set: false }))?;
        self.each(items.iter(), max, read)
    }

    /// Each item of a set, or of a list in its place, read.
    pub(crate) fn set<C: FromIterator<T>, T>(
        self,
        max: Limit,
        read: impl Fn(Arg<'a>) -> Result<T, ArgError>,
    ) -> Result<C, ArgError> {
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
        if items.len() as u64 > max.value {
            return Err(self.error(ArgErrorKind::TooLong { limit: max }));
        }
        let item = |(index, value)| read(self.like(value)).map_err(|error| error.at(index));
        items.enumerate().map(item).collect()
    }
}

impl<'a> Args<'a> {
    /// The arguments of one call; nothing at all is as good as an empty map.
    pub(crate) fn of_call(
        value: &'a Value,
        style: Style,
        known: &'static [&'static str],
    ) -> Result<Args<'a>, ArgError> {
        if value.is_nil() { Ok(Args::empty(style, known)) } else { Arg::new(value, style).map(known) }
    }

    fn empty(style: Style, known: &'static [&'static str]) -> Args<'a> {
        Args { style, known, values: vec![None; known.len()], unknown: Vec::new() }
    }

    /// What is wrong with a map that has unknown fields.
    pub(crate) fn unknown_keys(&self) -> Option<ArgError> {
        let (key, value) = self.unknown.first()?;
        let name = self.style.key(key).unwrap_or_else(|| key_text(&echo(key)).into());
        let nearest = nearest(self.known.iter().map(|known| (*known, *known)), &name);
        let keys: Vec<Value> = self.unknown.iter().map(|(key, _)| echo(key)).collect();
        let path = keys.first().map(key_text).unwrap_or_default();
        let kind = ArgErrorKind::UnknownKeys { keys, known: self.known, nearest };
        Some(ArgError::new(&path, kind).with(value))
    }

    /// A field; nil is as good as none.
    pub(crate) fn get(&self, name: &str) -> Option<Arg<'a>> {
        let place = self.known.iter().position(|known| *known == name);
        debug_assert!(place.is_some(), "{name} is read and not known");
        let value = self.values[place?].filter(|value| !value.is_nil())?;
        Some(Arg { value, style: self.style })
    }

    /// A field, read; nothing if it is absent or nil.
    pub(crate) fn opt<T>(
        &self,
        name: &str,
        read: impl FnOnce(Arg<'a>) -> Result<T, ArgError>,
    ) -> Result<Option<T>, ArgError> {
        self.get(name).map(|arg| read(arg).map_err(|error| error.under(name))).transpose()
    }

    /// A field that must be there, read.
    pub(crate) fn required<T>(
        &self,
        name: &str,
        read: impl FnOnce(Arg<'a>) -> Result<T, ArgError>,
    ) -> Result<T, ArgError> {
        self.opt(name, read)?.ok_or_else(|| ArgError::new(name, ArgErrorKind::Missing))
    }

    /// A field read as nil where it is absent: the error says what belongs there.
    pub(crate) fn or_nil<T>(
        &self,
        name: &str,
        read: impl FnOnce(Arg<'a>) -> Result<T, ArgError>,
    ) -> Result<T, ArgError> {
        let arg = self.get(name).unwrap_or(Arg { value: &Value::Nil, style: self.style });
        read(arg).map_err(|error| error.under(name))
    }

    /// A text without the blanks around it; a blank one is as good as none.
    pub(crate) fn opt_text(&self, name: &str, max: Limit) -> Result<Option<&'a str>, ArgError> {
        Ok(self.opt(name, |arg| arg.text(max))?.filter(|text| !text.is_empty()))
    }

    /// A text as it stands.
    pub(crate) fn raw_text(&self, name: &str, max: Limit) -> Result<Option<&'a str>, ArgError> {
        self.opt(name, |arg| arg.raw_text(max))
    }

    /// A text that must be there and not be blank, without the blanks around it.
    pub(crate) fn required_text(&self, name: &str, max: Limit) -> Result<&'a str, ArgError> {
        self.required(name, |arg| arg.filled_text(max))
    }

    /// A text that must be there and not be blank, as it stands.
    pub(crate) fn required_raw_text(&self, name: &str, max: Limit) -> Result<&'a str, ArgError> {
        self.required(name, |arg| arg.filled_text(max).and_then(|_| arg.raw_text(max)))
    }

    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, ArgError> {
        self.opt(name, Arg::flag)
    }

    /// A whole number within bounds, both included.
    pub(crate) fn int_in(&self, name: &str, min: u64, max: u64) -> Result<Option<u64>, ArgError> {
        self.opt(name, |arg| arg.int_in(min, max))
    }

    /// An instant; a blank text is as good as none.
    pub(crate) fn opt_instant(&self, name: &str) -> Result<Option<Moment>, ArgError> {
        let is_blank = |arg: &Arg<'_>| arg.value.as_str().is_some_and(|text| text.trim().is_empty());
        if self.get(name).as_ref().is_some_and(is_blank) { Ok(None) } else { self.opt(name, Arg::instant) }
    }

    /// One of a closed list; `names` are those of `all`, in its order.
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
    /// How tools are written to whose fields are in snake case.
    pub(crate) const fn tools(notation: Notation) -> Style {
        Style { notation, keys: Keys::Snake, choices: Choices::AnyCase, short_times: true }
    }

    /// The name that a key is; `None` for one that can be no name.
    fn key(self, key: &Value) -> Option<Cow<'_, str>> {
        match (self.keys, self.notation) {
            (Keys::Snake, Notation::Edn) => Some(plain_name(key)?.replace('-', "_").into()),
            (Keys::Plain, _) | (Keys::Snake | Keys::Notated, Notation::Json) => {
                plain_name(key).map(Cow::Borrowed)
            }
            (Keys::Notated, Notation::Edn) => key.as_keyword().map(|key| Cow::Borrowed(key.as_str())),
        }
    }

    /// A given name, ready to be compared.
    fn choice(self, name: &str) -> Cow<'_, str> {
        match (self.choices, self.notation) {
            (Choices::Exact, _) => name.into(),
            (Choices::Snake, Notation::Json) => name.trim().into(),
            (Choices::Snake, Notation::Edn) => name.trim().replace('-', "_").into(),
            (Choices::AnyCase, _) => name.trim().to_lowercase().replace('-', "_").into(),
        }
    }

    /// A name of a list, ready to be compared.
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

/// The instant with seconds: `2026-04-11T09:00Z` as `2026-04-11T09:00:00Z`.
fn with_seconds(text: &str) -> Cow<'_, str> {
    match text.split_at_checked(MINUTES_END) {
        Some((minutes, rest)) if minutes.as_bytes()[13] == b':' && !rest.starts_with(':') => {
            format!("{minutes}:00{rest}").into()
        }
        Some(_) | None => text.into(),
    }
}

/// Where `2026-04-11T09:00` ends.
const MINUTES_END: usize = 16;
