//! The fields of one map: an argument map, one of its parts, or a map of the log.
//!
//! A name is written in snake case. In EDN it may be a keyword or a string, and in kebab case too; in JSON it is what it
//! is. Invariant: no field is given twice in two spellings, and none that is not known is passed over in silence, but in
//! maps of the log, which a later version may have written.

use std::borrow::Cow;

use super::fault::{Fault, Problem};
use crate::dialect::{Notation, echo};
use crate::domain::Moment;
use crate::edn::{Keyword, Map, Value};
use crate::limits::Limit;

/// The fields of one map, by name.
pub(super) struct Fields<'a> {
    /// Where the map stands, with a dot behind it: `patch.schedule.`.
    prefix: String,
    names: &'static [&'static str],
    values: Vec<Option<&'a Value>>,
    notation: Notation,
}

impl<'a> Fields<'a> {
    /// The fields of the map at `path`; a field that is not among `names` is refused.
    pub(super) fn new(
        value: &'a Value,
        path: &str,
        notation: Notation,
        names: &'static [&'static str],
    ) -> Result<Fields<'a>, Problem> {
        let mut fields = Fields::empty(path, notation, names);
        fields.fill(value, path, true)?;
        Ok(fields)
    }

    /// The kind of the map at `path`; its other fields are looked at when it is known.
    pub(super) fn kind_of(value: &'a Value, path: &str, notation: Notation) -> Result<Fields<'a>, Problem> {
        let mut fields = Fields::empty(path, notation, &["kind"]);
        fields.fill(value, path, false)?;
        Ok(fields)
    }

    /// The fields of a map of the log, at `path`. Those that are not known come from a later version.
    #[cfg(feature = "json")]
    pub(super) fn of_log(
        value: &'a Value,
        path: &str,
        names: &'static [&'static str],
    ) -> Result<Fields<'a>, Problem> {
        let mut fields = Fields::empty(path, Notation::Json, names);
        fields.fill(value, path, false)?;
        Ok(fields)
    }

    fn empty(path: &str, notation: Notation, names: &'static [&'static str]) -> Fields<'a> {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
        Fields { prefix, names, values: vec![None; names.len()], notation }
    }

    fn fill(&mut self, value: &'a Value, path: &str, only_known: bool) -> Result<(), Problem> {
        let not_a_map = || Problem::new(path, Fault::NotAMap { found: value.type_name() }).with(value);
        let map = value.as_map().ok_or_else(not_a_map)?;
        for (key, value) in map {
            let name = key.as_str().or_else(|| key.as_keyword().map(Keyword::as_str)).unwrap_or_default();
            let name = snake(name, self.notation);
            match self.names.iter().position(|known| *known == name) {
                Some(place) if self.values[place].is_some() => {
                    return Err(self.problem(self.names[place], Fault::GivenTwice));
                }
                Some(place) => self.values[place] = Some(value),
                None if only_known => return Err(self.unknown(key, path).with(value)),
                None => {}
            }
        }
        Ok(())
    }

    fn unknown(&self, key: &Value, path: &str) -> Problem {
        let shown = echo(key);
        let field = shown.as_str().map_or_else(|| shown.to_string(), str::to_owned);
        let field = field.trim_start_matches(':');
        let place = if path.is_empty() { "the arguments".into() } else { path.into() };
        Problem::new(&format!("{}{field}", self.prefix), Fault::UnknownField { place, known: self.names })
    }

    /// The notation in which the map came.
    pub(super) fn notation(&self) -> Notation {
        self.notation
    }

    /// The name of a field with the path to it.
    pub(super) fn path(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// What is wrong with a field.
    pub(super) fn problem(&self, name: &str, fault: Fault) -> Problem {
        Problem::new(&self.path(name), fault)
    }

    /// A field's value; null is as good as none.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        let place = self.names.iter().position(|known| *known == name)?;
        self.values[place].filter(|value| !value.is_nil())
    }

    /// The value of a field that must be there.
    pub(super) fn required(&self, name: &str) -> Result<&'a Value, Problem> {
        self.get(name).ok_or_else(|| self.problem(name, Fault::Missing))
    }

    /// A text without the blanks around it.
    pub(super) fn text(&self, name: &str, max: Limit) -> Result<Option<&'a str>, Problem> {
        Ok(self.exact(name, max)?.map(str::trim))
    }

    /// A text as it stands.
    pub(super) fn exact(&self, name: &str, max: Limit) -> Result<Option<&'a str>, Problem> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let not_text = || self.problem(name, Fault::NotText { found: value.type_name() }).with(value);
        let text = value.as_str().ok_or_else(not_text)?;
        if text.len() as u64 > max.value {
            return Err(self.problem(name, Fault::TooLong { limit: max }).with(value));
        }
        Ok(Some(text))
    }

    /// A text that must say something, if it is there.
    pub(super) fn filled(&self, name: &str, max: Limit) -> Result<Option<&'a str>, Problem> {
        match self.text(name, max)? {
            Some("") => Err(self.problem(name, Fault::Blank).with(self.required(name)?)),
            text => Ok(text),
        }
    }

    /// A text that must be there and say something.
    pub(super) fn required_text(&self, name: &str, max: Limit) -> Result<&'a str, Problem> {
        self.filled(name, max)?.ok_or_else(|| self.problem(name, Fault::Missing))
    }

    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, Problem> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| self.problem(name, Fault::NotABoolean).with(value))
    }

    /// A whole number within bounds, both included.
    pub(super) fn whole(&self, name: &str, min: u64, max: u64) -> Result<Option<u64>, Problem> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let is_number = value.as_int().is_some() || matches!(value, Value::BigInt(_));
        let number = value.as_int().and_then(|number| u64::try_from(number).ok());
        match number.filter(|number| (min..=max).contains(number)) {
            Some(number) => Ok(Some(number)),
            None if is_number => Err(self.problem(name, Fault::OutOfRange { min, max }).with(value)),
            None => Err(self.problem(name, Fault::NotWhole).with(value)),
        }
    }

    /// An instant in RFC 3339, or, in EDN, an `#inst`.
    pub(super) fn moment(&self, name: &str) -> Result<Option<Moment>, Problem> {
        let Some(value) = self.get(name) else { return Ok(None) };
        if let Some(inst) = value.as_inst() {
            let moment = Moment::new(inst.seconds(), inst.nanos());
            return moment.map(Some).ok_or_else(|| self.problem(name, Fault::NotAnInstant).with(value));
        }
        let text = value.as_str().ok_or_else(|| self.problem(name, Fault::NotAnInstant).with(value))?.trim();
        Moment::parse(text).map(Some).map_err(|_| {
            // A reading without an offset is the likeliest slip, and has an advice of its own.
            let lacks_offset = Moment::parse(&format!("{text}Z")).is_ok();
            let fault = if lacks_offset { Fault::NoOffset } else { Fault::NotAnInstant };
            self.problem(name, fault).with(value)
        })
    }

    pub(super) fn required_moment(&self, name: &str) -> Result<Moment, Problem> {
        self.moment(name)?.ok_or_else(|| self.problem(name, Fault::Missing))
    }

    /// One of the words of a closed list.
    pub(super) fn word<T>(
        &self,
        name: &str,
        known: &'static [&'static str],
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let parsed = word_of(value, self.notation).and_then(|word| parse(&word));
        parsed.map(Some).ok_or_else(|| self.problem(name, Fault::UnknownWord { known }).with(value))
    }
}

/// The text of a word: a string, or in EDN a keyword, there also in kebab case.
pub(super) fn word_of(value: &Value, notation: Notation) -> Option<Cow<'_, str>> {
    let text = value.as_str().or_else(|| value.as_keyword().map(Keyword::as_str))?;
    Some(snake(text.trim(), notation))
}

fn snake(name: &str, notation: Notation) -> Cow<'_, str> {
    match notation {
        Notation::Edn if name.contains('-') => Cow::Owned(name.replace('-', "_")),
        Notation::Edn | Notation::Json => Cow::Borrowed(name),
    }
}

/// Puts a value under a name, if there is one: what is absent is left out, as the seed leaves it out.
pub(super) fn with_some(map: Map, name: &str, value: Option<impl Into<Value>>) -> Map {
    match value {
        Some(value) => map.with(name, value),
        None => map,
    }
}

/// A number as EDN: revisions and seconds are far from the end of the range.
pub(super) fn integer(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// An instant as the seed writes it: RFC 3339 in UTC.
pub(super) fn instant(moment: Moment) -> Value {
    Value::string(moment.to_string())
}
