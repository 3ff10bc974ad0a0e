//! The codec of calls and of what they came to.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::FactError;
use super::form::Form;
use super::parts::{count, flag, flag_or, maybe, number, one, own_text, part, span, text, wrong};
use super::printed::{Printed, Word, unless};
use crate::dialect::watch::filter_of;
use crate::domain::{
    Call, CallPurpose, CallVia, Filter, NotifyWhen, Outcome, Reason, Sink, Telling, ToolName,
};
use crate::edn::Value;

/// Adds a call to the form of a payload, whose text is the name of the tool.
pub(super) fn print(map: Printed, call: &Call) -> Printed {
    let map = map
        .with("args", &*call.args)
        .with("via", unless(CallVia::Any, call.via).map(|via| Word(via.name())))
        .with("purpose", Word(call.purpose.name()));
    let map = match &call.sink {
        Sink::Nobody => map,
        Sink::Session => map.with("sink", Word("session")),
        Sink::Channel(name) => map.with("sink", &**name),
    };
    match &call.filter {
        None => map,
        Some(filter) => {
            let config = Value::Map(filter.config());
            map.with("notify-when", Word(filter.when.name())).with("notify-config", &config)
        }
    }
}

fn filter(form: &Form<'_>) -> Result<Option<Arc<Filter>>, FactError> {
    let Some(when) = maybe(form, "notify-when", |form, key| one(form, key, NotifyWhen::parse))? else {
        return Ok(None);
    };
    let config = part(form, "notify-config");
    // Filters are stored in the words of the watch tools, whose parser reads them.
    let filter = filter_of(when, &config.to_value());
    filter
        .map(|filter| Some(Arc::new(filter)))
        .ok_or_else(|| wrong("notify-config", "the words of a filter", config))
}

/// Parses the name of a tool.
pub(super) fn tool_name(form: &Form<'_>, key: &'static str) -> Result<ToolName, FactError> {
    ToolName::new(text(form, key)?).map_err(|_| wrong(key, "the name of a tool", part(form, key)))
}

/// Parses the call of a payload.
///
/// # Errors
/// [`FactError`], for the first thing that is wrong with it.
pub(super) fn parse(form: &Form<'_>) -> Result<Call, FactError> {
    Ok(Call {
        // The text of a payload that is a call is the name of its tool (`definition::of_payload`).
        tool: tool_name(form, "text")?,
        args: Arc::new(part(form, "args").to_value()),
        via: maybe(form, "via", |form, key| one(form, key, CallVia::parse))?.unwrap_or(CallVia::Any),
        purpose: one(form, "purpose", CallPurpose::parse)?,
        sink: maybe(form, "sink", sink)?.unwrap_or(Sink::Nobody),
        filter: filter(form)?,
    })
}

fn sink(form: &Form<'_>, key: &'static str) -> Result<Sink, FactError> {
    let found = part(form, key);
    match (found.as_keyword(), found.as_str()) {
        (Some("session"), _) => Ok(Sink::Session),
        (_, Some(name)) => Ok(Sink::Channel(name.into())),
        (_, None) => Err(wrong(key, "session, or the name of a channel", found)),
    }
}

/// Prints what a call came to.
pub(super) fn of_outcome(outcome: &Outcome) -> Printed {
    Printed::new()
        .with("ok?", outcome.ok)
        .with("value", outcome.value.as_deref())
        .with("error", outcome.error.as_deref())
        .with("reason", outcome.reason.map(|reason| Word(reason.name())))
        .with("bytes", outcome.bytes)
        .with("cut?", outcome.cut.then_some(true))
        .with("took-ns", outcome.took.nanos())
        .with("code", outcome.code)
}

/// Parses what a call came to.
///
/// # Errors
/// [`FactError`], for the first thing that is wrong with it.
pub(super) fn outcome(form: &Form<'_>) -> Result<Outcome, FactError> {
    Ok(Outcome {
        ok: flag(form, "ok?")?,
        value: maybe(form, "value", |form, key| Ok(Arc::new(part(form, key).to_value())))?,
        error: own_text(form, "error")?,
        reason: maybe(form, "reason", |form, key| one(form, key, Reason::parse))?,
        bytes: count(form, "bytes")?,
        cut: flag_or(false, form, "cut?")?,
        took: span(form, "took-ns")?,
        code: maybe(form, "code", number::<i32>)?,
    })
}

/// Prints the words of a bulletin.
pub(super) fn of_telling(telling: &Telling) -> Printed {
    let Telling { text, channel, check, by_session } = telling;
    Printed::new()
        .with("text", &**text)
        .with("channel", channel.as_deref())
        .with("check", check.map(NonZeroU32::get))
        .with("by-session?", by_session.then_some(true))
}

/// Parses the number of the check that a bulletin tells of, if it tells of one.
///
/// # Errors
/// [`FactError`] if it is no such number.
pub(super) fn told_check(form: &Form<'_>, key: &'static str) -> Result<Option<NonZeroU32>, FactError> {
    Ok(maybe(form, key, number)?.and_then(NonZeroU32::new))
}

/// Parses the words of a bulletin.
///
/// # Errors
/// [`FactError`], for the first thing that is wrong with it.
pub(super) fn telling(form: &Form<'_>) -> Result<Telling, FactError> {
    Ok(Telling {
        text: text(form, "text")?.into(),
        channel: own_text(form, "channel")?,
        // Facts from before these were recorded do not say so.
        check: told_check(form, "check")?,
        by_session: flag_or(false, form, "by-session?")?,
    })
}
