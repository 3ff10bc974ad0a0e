//! The arguments of a tool whose fields are all plain values: texts, numbers, words.
//!
//! A name is written in snake case. In EDN it may be a keyword or a string, and in kebab case too; in JSON it is what it is.
//! What lives elsewhere: what is said of a fault (`slip.rs`); the cron tools have fields within fields, and a reader of their
//! own. Invariant: no field is given twice in two spellings, and none that is not known is passed over in silence.

use std::borrow::Cow;

use super::Notation;
use super::slip::{Slip, SlipFault};
use crate::domain::Moment;
use crate::edn::{Keyword, Value};
use crate::limits::Limit;

/// The fields of one call, by name.
pub(super) struct Args<'a> {
    names: &'static [&'static str],
    values: Vec<Option<&'a Value>>,
}

impl<'a> Args<'a> {
    /// The fields of a call; one that is not among `names` is refused. Nothing at all is as good as an empty object.
    pub(super) fn new(
        value: &'a Value,
        notation: Notation,
        names: &'static [&'static str],
    ) -> Result<Args<'a>, Slip> {
        let mut args = Args { names, values: vec![None; names.len()] };
        if value.is_nil() {
            return Ok(args);
        }
        let not_a_map = || Slip::new("", SlipFault::NotAMap { found: value.type_name() }).with(value);
        for (key, value) in value.as_map().ok_or_else(not_a_map)? {
            let name = key.as_str().or_else(|| key.as_keyword().map(Keyword::as_str)).unwrap_or_default();
            let name = match notation {
                Notation::Edn => Cow::Owned(name.replace('-', "_")),
                Notation::Json => Cow::Borrowed(name),
            };
            match names.iter().position(|known| *known == name) {
                Some(place) if args.values[place].is_some() => {
                    return Err(Slip::new(names[place], SlipFault::GivenTwice));
                }
                Some(place) => args.values[place] = Some(value),
                None => return Err(Slip::new("", SlipFault::UnknownField { known: names }).with(key)),
            }
        }
        Ok(args)
    }

    /// A field's value; null is as good as none.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        let place = self.names.iter().position(|known| *known == name)?;
        self.values[place].filter(|value| !value.is_nil())
    }

    /// A text as it stands.
    pub(super) fn exact(&self, name: &'static str, max: Limit) -> Result<Option<&'a str>, Slip> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let not_text = || Slip::new(name, SlipFault::NotText { found: value.type_name() }).with(value);
        let text = value.as_str().ok_or_else(not_text)?;
        if text.len() as u64 > max.value {
            return Err(Slip::new(name, SlipFault::TooLong { limit: max }).with(value));
        }
        Ok(Some(text))
    }

    /// A text that must be there and say something, as it stands.
    pub(super) fn required(&self, name: &'static str, max: Limit) -> Result<&'a str, Slip> {
        match self.exact(name, max)? {
            Some(text) if text.trim().is_empty() => {
                Err(Slip::new(name, SlipFault::Blank).with(&Value::from(text)))
            }
            Some(text) => Ok(text),
            None => Err(Slip::new(name, SlipFault::Missing)),
        }
    }

    /// A text without the blanks around it; a blank one is as good as none.
    pub(super) fn said(&self, name: &'static str, max: Limit) -> Result<Option<&'a str>, Slip> {
        Ok(self.exact(name, max)?.map(str::trim).filter(|text| !text.is_empty()))
    }

    pub(super) fn flag(&self, name: &'static str) -> Result<Option<bool>, Slip> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| Slip::new(name, SlipFault::NotABoolean).with(value))
    }

    /// A whole number of any size; one beyond 64 bits counts as the last within.
    pub(super) fn number(&self, name: &'static str) -> Result<Option<i64>, Slip> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = if let Value::BigInt(number) = value {
            Some(if number.to_string().starts_with('-') { i64::MIN } else { i64::MAX })
        } else {
            value.as_int()
        };
        number.map(Some).ok_or_else(|| Slip::new(name, SlipFault::NotWhole).with(value))
    }

    /// An instant with its offset, or, in EDN, an `#inst`. Seconds may be left out; a blank text is as good as none.
    pub(super) fn instant(&self, name: &'static str) -> Result<Option<Moment>, Slip> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let fault = |fault| Slip::new(name, fault).with(value);
        if let Some(inst) = value.as_inst() {
            let moment = Moment::new(inst.seconds(), inst.nanos());
            return moment.map(Some).ok_or_else(|| fault(SlipFault::NotAnInstant));
        }
        let text = value.as_str().ok_or_else(|| fault(SlipFault::NotAnInstant))?.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let text = with_seconds(text);
        Moment::parse(&text).map(Some).map_err(|_| {
            // A reading without an offset is the likeliest slip, and has an advice of its own.
            let lacks_offset = Moment::parse(&format!("{}Z", with_seconds(&text))).is_ok();
            fault(if lacks_offset { SlipFault::NoOffset } else { SlipFault::NotAnInstant })
        })
    }

    /// A whole number within bounds, both included.
    pub(super) fn whole(&self, name: &'static str, min: u64, max: u64) -> Result<Option<u64>, Slip> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let is_number = value.as_int().is_some() || matches!(value, Value::BigInt(_));
        let number = value.as_int().and_then(|number| u64::try_from(number).ok());
        match number.filter(|number| (min..=max).contains(number)) {
            Some(number) => Ok(Some(number)),
            None if is_number => Err(Slip::new(name, SlipFault::OutOfRange { min, max }).with(value)),
            None => Err(Slip::new(name, SlipFault::NotWhole).with(value)),
        }
    }

    /// One of the words of a closed list, in whatever case, with hyphens or underscores.
    pub(super) fn word<T: Copy>(
        &self,
        name: &'static str,
        names: &'static [&'static str],
        all: &[T],
    ) -> Result<Option<T>, Slip> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let text = value.as_str().or_else(|| value.as_keyword().map(Keyword::as_str)).unwrap_or_default();
        let plain = |text: &str| text.trim().to_lowercase().replace('-', "_");
        let place = names.iter().position(|known| plain(known) == plain(text));
        let word = place.and_then(|place| all.get(place)).copied();
        word.map(Some).ok_or_else(|| Slip::new(name, SlipFault::UnknownWord { known: names }).with(value))
    }
}

/// The same instant with seconds: `2026-04-11T09:00Z` as `2026-04-11T09:00:00Z`.
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
