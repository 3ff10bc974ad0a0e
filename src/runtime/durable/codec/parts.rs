//! Typed access to the parts of a form. Everything is checked, because any program may have written the log.

use super::form::Form;
use super::{FactError, VERSION};
use crate::dialect::echo;
use crate::domain::{BootTime, HostId, Moment, RunId, ScheduleId, SessionId, Span};
use crate::edn::Value;

pub(super) fn host(form: &Form<'_>) -> Result<HostId, FactError> {
    let value = part(form, "host");
    let number = value.as_int().and_then(|number| u32::try_from(number).ok());
    number.map(HostId::new).ok_or_else(|| wrong("host", "a host's number", value))
}

pub(super) fn session_id(form: &Form<'_>, key: &'static str) -> Result<SessionId, FactError> {
    let id = SessionId::new(text(form, key)?);
    id.map_err(|_| wrong(key, "a session's id", part(form, key)))
}

pub(super) fn schedule_id(form: &Form<'_>, key: &'static str) -> Result<ScheduleId, FactError> {
    let id = ScheduleId::new(text(form, key)?);
    id.map_err(|_| wrong(key, "a schedule's id", part(form, key)))
}

pub(super) fn run_id(form: &Form<'_>, key: &'static str) -> Result<RunId, FactError> {
    RunId::parse(text(form, key)?).ok_or_else(|| wrong(key, "a run's id", part(form, key)))
}

pub(super) fn instant(form: &Form<'_>, key: &'static str) -> Result<Moment, FactError> {
    Moment::parse(text(form, key)?).map_err(|_| wrong(key, "an ISO instant", part(form, key)))
}

/// An instant, as such or as nanoseconds after another one.
pub(super) fn after(form: &Form<'_>, key: &'static str, first: Moment) -> Result<Moment, FactError> {
    if part(form, key).as_int().is_none() {
        return instant(form, key);
    }
    let at = first.checked_add(Span::from_nanos(number(form, key)?));
    at.ok_or_else(|| wrong(key, "nanoseconds to an instant that exists", part(form, key)))
}

pub(super) fn boot(form: &Form<'_>, key: &'static str) -> Result<BootTime, FactError> {
    let value = part(form, key);
    let small = value.as_int().and_then(|nanos| u64::try_from(nanos).ok());
    // `u64` reaches farther than EDN's plain integers, which have 64 bits with a sign.
    let nanos = if let Form::Other(Value::BigInt(nanos)) = value {
        u64::try_from(nanos.as_ref()).ok()
    } else {
        small
    };
    nanos.map(BootTime::from_nanos).ok_or_else(|| wrong(key, "nanoseconds, 0 or more", value))
}

pub(super) fn number<T: TryFrom<i64>>(form: &Form<'_>, key: &'static str) -> Result<T, FactError> {
    let value = part(form, key);
    let number = value.as_int().and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| wrong(key, "a whole number in its bounds", value))
}

pub(super) fn span(form: &Form<'_>, key: &'static str) -> Result<Span, FactError> {
    boot(form, key).map(|nanos| Span::from_nanos(nanos.nanos()))
}

/// An optional part; nil and a missing part are `None`.
pub(super) fn maybe<T>(
    form: &Form<'_>,
    key: &'static str,
    read: impl Fn(&Form<'_>, &'static str) -> Result<T, FactError>,
) -> Result<Option<T>, FactError> {
    if part(form, key).is_nil() { Ok(None) } else { read(form, key).map(Some) }
}

/// A count; 0 if it is missing.
pub(super) fn count<T: TryFrom<i64> + Default>(form: &Form<'_>, key: &'static str) -> Result<T, FactError> {
    maybe(form, key, number).map(Option::unwrap_or_default)
}

/// One of a closed list of keywords.
pub(super) fn one<T>(
    form: &Form<'_>,
    key: &'static str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, FactError> {
    let value = part(form, key);
    let found = value.as_keyword().and_then(parse);
    found.ok_or_else(|| wrong(key, "one of a closed list of keywords", value))
}

/// One of a closed list of keywords, or the default if it is missing.
pub(super) fn one_or<T>(
    plain: T,
    form: &Form<'_>,
    key: &'static str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, FactError> {
    maybe(form, key, |form, key| one(form, key, &parse)).map(|found| found.unwrap_or(plain))
}

/// A flag, or the default if it is missing.
pub(super) fn flag_or(plain: bool, form: &Form<'_>, key: &'static str) -> Result<bool, FactError> {
    maybe(form, key, flag).map(|found| found.unwrap_or(plain))
}

pub(super) fn flag(form: &Form<'_>, key: &'static str) -> Result<bool, FactError> {
    part(form, key).as_bool().ok_or_else(|| wrong(key, "true or false", part(form, key)))
}

pub(super) fn text<'f>(form: &'f Form<'_>, key: &'static str) -> Result<&'f str, FactError> {
    part(form, key).as_str().ok_or_else(|| wrong(key, "a string", part(form, key)))
}

pub(super) fn map<'f, 'a>(form: &'f Form<'a>, key: &'static str) -> Result<&'f Form<'a>, FactError> {
    let found = part(form, key);
    if found.is_map() { Ok(found) } else { Err(wrong(key, "a map", found)) }
}

/// An optional string.
pub(super) fn own_text(form: &Form<'_>, key: &'static str) -> Result<Option<Box<str>>, FactError> {
    maybe(form, key, |form, key| text(form, key).map(Into::into))
}

/// Refuses a version that this program does not know.
pub(super) fn check_version(form: &Form<'_>) -> Result<(), FactError> {
    let version: u32 = number(form, "v")?;
    // Another version may give a known key another meaning, so nothing of it is read.
    if version == VERSION {
        Ok(())
    } else {
        Err(wrong("v", "a version that this program knows", part(form, "v")))
    }
}

/// The value under a key; nil if it is missing.
pub(super) fn part<'f, 'a>(form: &'f Form<'a>, key: &str) -> &'f Form<'a> {
    form.part(key)
}

pub(super) fn wrong(part: &'static str, expected: &'static str, found: &Form<'_>) -> FactError {
    FactError::Part { part, expected, found: echo(&found.to_value()) }
}

/// Parses each map of a vector; a missing vector is empty.
pub(super) fn each_map<T>(
    form: &Form<'_>,
    key: &'static str,
    parse: impl Fn(&Form<'_>) -> Result<T, FactError>,
) -> Result<Vec<T>, FactError> {
    let found = part(form, key);
    if found.is_nil() {
        return Ok(Vec::new());
    }
    let not_maps = |found| wrong(key, "a vector of maps", found);
    let items = found.as_items().ok_or_else(|| not_maps(found))?;
    items.iter().map(|item| if item.is_map() { parse(item) } else { Err(not_maps(item)) }).collect()
}
