//! What callers ask of a schedule, read from parameters: when, by which policy, for how long. And the same, printed.
//!
//! Invariants: a key that is not known is an error, so that a misspelt `:missed` does not become the default; what has passed
//! is refused with what could be said instead, unless the caller says that it shall fire now.

use std::num::NonZeroU32;

use super::params::Params;
use super::registry::ResolverError;
use super::shown;
use crate::calendar::{Asked, PhraseError, Slots, Understood, Zones, from_edn, parse_cron, understand};
use crate::domain::{
    Code, CountFrom, EndsWith, Every, Lifetime, Missed, Moment, Overlap, Policy, Recovery, Span, Trigger,
    When, WhenBusy, Zone,
};
use crate::edn::{Map, Value};
use crate::engine::ScheduleChange;

/// The parameters that say when.
pub const WHEN: &[&str] = &["when", "trigger", "cron", "zone", "every-ms", "delay-ms", "at", "if-past"];
/// The parameters that a change may have.
pub const CHANGES: &[&str] = &[
    "when",
    "trigger",
    "cron",
    "zone",
    "every-ms",
    "delay-ms",
    "at",
    "if-past",
    "label",
    "description",
    "message",
    "policy",
    "lifetime",
];

/// When, as understood.
pub struct Meant {
    /// What it means.
    pub when: When,
    /// The same in words, with the zone and the next instants.
    pub echo: Value,
}

/// A change, and what was understood of its phrase.
pub struct Changed {
    /// The change.
    pub change: ScheduleChange,
    /// What was understood, where it says when.
    pub echo: Option<Value>,
}

/// Reads when something is to happen; `None` if nothing says so.
///
/// # Errors
/// More than one way of saying it, one that is not understood, or an instant that has passed.
pub fn when(map: &Map, now: Moment, zones: &Zones) -> Result<Option<Meant>, ResolverError> {
    let params = Params::loose(map);
    let ways = ["when", "trigger", "cron", "every-ms", "delay-ms", "at"];
    let given: Vec<&str> = ways.into_iter().filter(|way| params.get(way).is_some()).collect();
    let [way] = given[..] else {
        return match given.first() {
            None => Ok(None),
            Some(_) => {
                Err(wrong(&params, "when", &format!("said in one way, not in {}", given.join(" and "))))
            }
        };
    };
    let zone = match text(&params, "zone")? {
        None => Zone::Utc,
        Some(name) => {
            Zone::parse(name).map_err(|error| hinted(&error.to_string(), error.code(), error.hint()))?
        }
    };
    let now_instead = params.get("if-past").and_then(word) == Some("fire-now");
    let asked = Asked { now, zone, zones };
    let meant = match way {
        "when" => phrase(&params, &asked, now_instead)?,
        "trigger" => {
            let trigger = from_edn(&keyed(params.get(way).unwrap_or(&Value::Nil)));
            plain(When::By(trigger.map_err(|error| wrong(&params, "trigger", &error.to_string()))?), &asked)
        }
        "cron" => {
            let expr = text(&params, "cron")?.unwrap_or_default();
            let cron =
                parse_cron(expr).map_err(|error| hinted(&error.to_string(), error.code(), error.hint()))?;
            plain(When::By(Trigger::Cron(cron.into(), asked.zone.clone().into())), &asked)
        }
        "every-ms" => {
            let every =
                span(&params, "every-ms")?.and_then(|period| Every::new(period, now, CountFrom::Slot));
            let every =
                every.ok_or_else(|| wrong(&params, "every-ms", "within period-ms-min and period-ms-max"))?;
            plain(When::By(every.into()), &asked)
        }
        "delay-ms" => plain(When::After(span(&params, "delay-ms")?.unwrap_or_default()), &asked),
        _ => {
            let at = params.moment("at")?.unwrap_or(now);
            if at >= now {
                plain(When::At(at), &asked)
            } else if now_instead {
                plain(When::After(Span::ZERO), &asked)
            } else {
                return Err(past(at, &asked_again(&asked, at)));
            }
        }
    };
    Ok(Some(meant))
}

fn phrase(params: &Params<'_>, asked: &Asked<'_>, now_instead: bool) -> Result<Meant, ResolverError> {
    let phrase = text(params, "when")?.unwrap_or_default();
    match understand(phrase, asked) {
        Ok(understood) => Ok(Meant { echo: echo(&understood), when: understood.meant }),
        Err(PhraseError::Past { .. }) if now_instead => Ok(plain(When::After(Span::ZERO), asked)),
        Err(error) => {
            let mut refused = hinted(&error.to_string(), error.code(), &error.hint());
            if let (PhraseError::Past { fix, .. }, Some(data)) = (&error, refused.data.as_map()) {
                refused.data = data.clone().with("fix", &**fix).into();
            }
            Err(refused)
        }
    }
}

/// The next instant at the same time of day, as one may say it.
fn asked_again(asked: &Asked<'_>, at: Moment) -> String {
    let days = asked.now.since(at).nanos() / DAY_NS + 1;
    let next = at.checked_add(Span::from_nanos(days.saturating_mul(DAY_NS)));
    next.map_or_else(|| asked.now.to_string(), |next| next.to_string())
}

fn past(at: Moment, fix: &str) -> ResolverError {
    let hint = format!("the next such time is {fix}; or say :if-past :fire-now");
    let data = Map::new().with("reason", Value::keyword("past")).with("hint", hint).with("fix", fix);
    ResolverError::new(format!("{at} has passed"), data).coded(Code::Validation)
}

/// The echo of something that was not said in a phrase.
fn plain(when: When, asked: &Asked<'_>) -> Meant {
    let trigger = when.clone().resolve(asked.now);
    let next: Vec<Moment> = match &trigger {
        Some(Trigger::At(at)) => vec![*at],
        Some(trigger) => Slots::new(trigger, asked.zones).upcoming(asked.now, 3),
        None => Vec::new(),
    };
    let words = match &trigger {
        Some(Trigger::At(at)) => at.to_string(),
        Some(trigger) => crate::calendar::print(trigger),
        None => String::new(),
    };
    let echo = Map::new()
        .with("words", words)
        .with("zone", asked.zone.to_string())
        .with("next", next.into_iter().map(shown::instant).collect::<Vec<Value>>());
    Meant { when, echo: echo.into() }
}

fn echo(understood: &Understood) -> Value {
    let warnings: Vec<Value> = understood.warnings.iter().map(|it| Value::string(it.to_string())).collect();
    Map::new()
        .with("words", understood.words.as_str())
        .with("zone", understood.zone.to_string())
        .with("next", understood.next.iter().map(|next| shown::instant(*next)).collect::<Vec<Value>>())
        .with("warnings", warnings)
        .into()
}

/// Reads a change.
///
/// # Errors
/// A parameter that is not what it must be.
pub fn change(map: &Map, now: Moment, zones: &Zones) -> Result<Changed, ResolverError> {
    let params = Params::loose(map);
    let meant = when(map, now, zones)?;
    let optional = |name: &'static str| match params.given(name) {
        None => Ok(None),
        Some(value) if value.is_nil() => Ok(Some(None)),
        Some(_) => text(&params, name).map(|text| Some(text.map(Into::into))),
    };
    let (when, echo) = meant.map_or((None, None), |meant| (Some(meant.when), Some(meant.echo)));
    let change = ScheduleChange {
        label: optional("label")?,
        description: optional("description")?,
        when,
        text: text(&params, "message")?.map(Into::into),
        policy: policy(map)?,
        lifetime: lifetime(map)?,
        ..ScheduleChange::default()
    };
    Ok(Changed { change, echo })
}

/// Reads the policy, if one is given; what it leaves out is psi's.
///
/// # Errors
/// A key that is not known, or a value that is not what it must be.
pub fn policy(map: &Map) -> Result<Option<Policy>, ResolverError> {
    let Some(map) = part(map, "policy")? else { return Ok(None) };
    let params = Params::read(map, &[POLICY])?;
    let mut policy = Policy::PLAIN;
    policy.overlap = params.one("overlap", Overlap::parse, Overlap::NAMES)?.unwrap_or(policy.overlap);
    policy.missed = params.one("missed", Missed::parse, Missed::NAMES)?.unwrap_or(policy.missed);
    policy.when_busy = params.one("when-busy", WhenBusy::parse, WhenBusy::NAMES)?.unwrap_or(policy.when_busy);
    policy.recovery = params.one("recovery", Recovery::parse, Recovery::NAMES)?.unwrap_or(policy.recovery);
    policy.ends_with = params.one("ends-with", EndsWith::parse, EndsWith::NAMES)?.unwrap_or(policy.ends_with);
    policy.max_late = span(&params, "max-late-ms")?;
    policy.timeout = span(&params, "timeout-ms")?;
    if let Some(waits) = params.get("backoff-ms") {
        let millis = |wait: &Value| Some(Span::from_millis(u64::try_from(wait.as_int()?).ok()?));
        let waits = waits.as_items().and_then(|waits| waits.iter().map(millis).collect());
        policy.backoff = waits.ok_or_else(|| wrong(&params, "backoff-ms", "a vector of milliseconds"))?;
    }
    Ok(Some(policy))
}

/// Reads the lifetime, if one is given; what it leaves out is psi's.
///
/// # Errors
/// As [`policy`].
pub fn lifetime(map: &Map) -> Result<Option<Lifetime>, ResolverError> {
    let Some(map) = part(map, "lifetime")? else { return Ok(None) };
    let params = Params::read(map, &[LIFETIME])?;
    let flag = |name: &'static str, plain: bool| match params.get(name) {
        None => Ok(plain),
        Some(value) => value.as_bool().ok_or_else(|| wrong(&params, name, "true or false")),
    };
    let max_runs = match params.get("max-runs") {
        None => None,
        Some(value) => {
            let runs = value.as_int().and_then(|runs| u32::try_from(runs).ok()).and_then(NonZeroU32::new);
            Some(runs.ok_or_else(|| wrong(&params, "max-runs", "a number from 1"))?)
        }
    };
    Ok(Some(Lifetime {
        max_runs,
        expires_at: params.moment("expires-at")?,
        cancel_on_user_activity: flag("cancel-on-user-activity", false)?,
        dies_with_session: flag("dies-with-session", true)?,
    }))
}

/// A policy as a map that reads back equal.
pub fn print_policy(policy: &Policy) -> Value {
    let millis = |span: Span| i64::try_from(span.millis()).unwrap_or(i64::MAX);
    Map::new()
        .with("overlap", Value::keyword(policy.overlap.name()))
        .with("missed", Value::keyword(policy.missed.name()))
        .with("max-late-ms", policy.max_late.map(millis))
        .with("when-busy", Value::keyword(policy.when_busy.name()))
        .with("recovery", Value::keyword(policy.recovery.name()))
        .with("ends-with", Value::keyword(policy.ends_with.name()))
        .with("timeout-ms", policy.timeout.map(millis))
        .with("backoff-ms", policy.backoff.iter().map(|wait| millis(*wait).into()).collect::<Vec<Value>>())
        .into()
}

/// A lifetime as a map that reads back equal.
pub fn print_lifetime(lifetime: &Lifetime) -> Value {
    Map::new()
        .with("max-runs", lifetime.max_runs.map(|runs| i64::from(runs.get())))
        .with("expires-at", lifetime.expires_at.map(shown::instant))
        .with("cancel-on-user-activity", lifetime.cancel_on_user_activity)
        .with("dies-with-session", lifetime.dies_with_session)
        .into()
}

fn part<'a>(map: &'a Map, name: &'static str) -> Result<Option<&'a Map>, ResolverError> {
    let params = Params::loose(map);
    match params.get(name) {
        None => Ok(None),
        Some(value) => value.as_map().map(Some).ok_or_else(|| wrong(&params, name, "a map")),
    }
}

fn text<'a>(params: &Params<'a>, name: &'static str) -> Result<Option<&'a str>, ResolverError> {
    match params.get(name) {
        None => Ok(None),
        Some(value) => value.as_str().map(Some).ok_or_else(|| wrong(params, name, "a string")),
    }
}

fn span(params: &Params<'_>, name: &'static str) -> Result<Option<Span>, ResolverError> {
    match params.get(name) {
        None => Ok(None),
        Some(value) => {
            let millis = value.as_int().and_then(|millis| u64::try_from(millis).ok());
            let millis = millis.ok_or_else(|| wrong(params, name, "a number of milliseconds"))?;
            Ok(Some(Span::from_millis(millis)))
        }
    }
}

/// A trigger that came as JSON has texts where EDN has keywords.
fn keyed(trigger: &Value) -> Value {
    let keyword = |value: &Value| match value.as_str() {
        Some(text) if crate::edn::Keyword::new(text).is_ok() => Value::keyword(text),
        Some(_) | None => value.clone(),
    };
    let Some(map) = trigger.as_map() else { return trigger.clone() };
    let entries = map.iter().map(|(key, value)| {
        let name = key.as_keyword().map(crate::edn::Keyword::as_str).unwrap_or_default();
        let value = match (name, value.as_items()) {
            ("kind" | "from", _) => keyword(value),
            ("weekdays", Some(days)) => Value::vector(days.iter().map(keyword).collect::<Vec<Value>>()),
            _ => value.clone(),
        };
        (key.clone(), value)
    });
    Value::Map(entries.collect())
}

fn word(value: &Value) -> Option<&str> {
    value.as_keyword().map(crate::edn::Keyword::as_str).or_else(|| value.as_str())
}

fn wrong(params: &Params<'_>, name: &'static str, expected: &str) -> ResolverError {
    params.wrong(name, expected)
}

fn hinted(message: &str, code: &str, hint: &str) -> ResolverError {
    let data = Map::new().with("reason", Value::keyword(code)).with("hint", hint);
    ResolverError::new(message, data).coded(Code::Validation)
}

const POLICY: &[&str] =
    &["overlap", "missed", "max-late-ms", "when-busy", "recovery", "ends-with", "timeout-ms", "backoff-ms"];
const LIFETIME: &[&str] = &["max-runs", "expires-at", "cancel-on-user-activity", "dies-with-session"];
const DAY_NS: u64 = 86_400_000_000_000;
