//! A fact off an EDN map. Everything is checked: a log may have been written by anybody.

use std::sync::Arc;

use super::names;
use crate::dialect::psi::session_config;
use crate::dialect::{Notation, echo};
use crate::domain::{
    BootTime, Cause, Dialect, Durability, Fact, Failure, HandOver, HostFact, HostId, Kind, Moment, Payload,
    Phase, Reason, RunFact, Schedule, ScheduleId, SessionConfig, SessionFact, SessionId, SessionProvenance,
    Trigger,
};
use crate::edn::{Keyword, Map, Value};

/// Why a form is no fact.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FactError {
    /// There is no fact of this name in this version of the form.
    #[error("there is no fact {name}")]
    Unknown {
        /// What stands under `:fact`.
        name: Value,
    },
    /// A part is missing or wrong.
    #[error(":{part} must be {expected}, not {found}")]
    Part {
        /// The key.
        part: &'static str,
        /// What belongs there.
        expected: &'static str,
        /// What is there, in short.
        found: Value,
    },
}

/// Reads a fact.
///
/// # Errors
/// [`FactError`], for the first thing that is wrong with it.
pub fn parse(form: &Map) -> Result<Fact, FactError> {
    let name = form.keyword("fact").unwrap_or(&Value::Nil);
    let word = name.as_keyword().map(Keyword::as_str).unwrap_or_default();
    let fact = session(word, form)?.map(Ok).or_else(|| run(word, form).transpose());
    let fact = fact.or_else(|| rest(word, form).transpose());
    fact.unwrap_or_else(|| Err(FactError::Unknown { name: echo(name) }))
}

fn session(name: &str, form: &Map) -> Result<Option<Fact>, FactError> {
    let fact = match name {
        names::OPENED => SessionFact::Opened {
            host: host(form)?,
            config: Arc::new(config(form)?),
            provenance: provenance(form)?,
        },
        names::CLOSED => SessionFact::Closed,
        names::HOSTED => SessionFact::Hosted { host: host(form)? },
        names::UNHOSTED => SessionFact::Unhosted,
        names::BUSY => SessionFact::Busy,
        names::IDLE => SessionFact::Idle,
        names::USER_SPOKE => SessionFact::UserSpoke,
        names::TURN_UNREPORTED => SessionFact::TurnUnreported,
        _ => return Ok(None),
    };
    Ok(Some(Fact::Session(session_id(form, "session")?, fact)))
}

fn run(name: &str, form: &Map) -> Result<Option<Fact>, FactError> {
    let fact = match name {
        names::CLAIMED => {
            RunFact::Claimed { slot: instant(form, "slot")?, cause: one(form, "cause", Cause::parse)? }
        }
        names::QUEUED => RunFact::Queued { reason: one(form, "reason", Reason::parse)? },
        names::DISPATCHED => RunFact::Dispatched(HandOver {
            host: host(form)?,
            phase: one(form, "phase", Phase::parse)?,
            session: session_id(form, "session")?,
            overdue: boot(form, "overdue-ns")?,
        }),
        names::DELIVERED => RunFact::Delivered,
        names::FAILED => RunFact::Failed(Box::new(failure(form)?)),
        names::CANCELLED => RunFact::Cancelled { reason: one(form, "reason", Reason::parse)? },
        _ => return Ok(None),
    };
    Ok(Some(Fact::Run(schedule_id(form, "schedule")?, fact)))
}

fn rest(name: &str, form: &Map) -> Result<Option<Fact>, FactError> {
    Ok(Some(match name {
        names::CREATED => {
            Fact::Created { schedule: schedule(map(form, "schedule")?)?, due: boot(form, "due-ns")? }
        }
        names::ATTACHED => Fact::Host(host(form)?, HostFact::Attached),
        names::LOST => Fact::Host(host(form)?, HostFact::Lost),
        names::STOPPING => Fact::Stopping { abandon: flag(form, "abandon?")? },
        _ => return Ok(None),
    }))
}

fn schedule(form: &Map) -> Result<Schedule, FactError> {
    Ok(Schedule {
        id: schedule_id(form, "id")?,
        dialect: one(form, "dialect", Dialect::parse)?,
        durability: one(form, "durability", Durability::parse)?,
        label: label(form)?,
        owner: session_id(form, "owner")?,
        trigger: Trigger::At(instant(map(form, "trigger")?, "at")?),
        payload: payload(map(form, "payload")?)?,
        created_at: instant(form, "created-at")?,
    })
}

fn payload(form: &Map) -> Result<Payload, FactError> {
    let text: Box<str> = text(form, "text")?.into();
    Ok(match one(form, "kind", Kind::parse)? {
        Kind::Message => Payload::Turn { text },
        Kind::Session => Payload::NewSession { text, config: Arc::new(config(form)?) },
    })
}

fn failure(form: &Map) -> Result<Failure, FactError> {
    Ok(Failure {
        phase: one(form, "phase", Phase::parse)?,
        reason: one(form, "reason", Reason::parse)?,
        message: text(form, "message")?.into(),
        session_exists: flag(form, "session-exists?")?,
    })
}

fn provenance(form: &Map) -> Result<Option<Box<SessionProvenance>>, FactError> {
    if form.keyword("provenance").is_none_or(Value::is_nil) {
        return Ok(None);
    }
    let form = map(form, "provenance")?;
    Ok(Some(Box::new(SessionProvenance {
        origin: session_id(form, "origin")?,
        schedule: schedule_id(form, "schedule")?,
        label: label(form)?,
    })))
}

fn config(form: &Map) -> Result<SessionConfig, FactError> {
    let value = part(form, "config");
    session_config::parse(value, Notation::Edn)
        .map_err(|_| wrong("config", "a session's configuration", value))
}

fn label(form: &Map) -> Result<Option<Box<str>>, FactError> {
    if part(form, "label").is_nil() { Ok(None) } else { text(form, "label").map(|text| Some(text.into())) }
}

fn host(form: &Map) -> Result<HostId, FactError> {
    let value = part(form, "host");
    let number = value.as_int().and_then(|number| u32::try_from(number).ok());
    number.map(HostId::new).ok_or_else(|| wrong("host", "a host's number", value))
}

fn session_id(form: &Map, key: &'static str) -> Result<SessionId, FactError> {
    let id = SessionId::new(text(form, key)?);
    id.map_err(|_| wrong(key, "a session's id", part(form, key)))
}

fn schedule_id(form: &Map, key: &'static str) -> Result<ScheduleId, FactError> {
    let id = ScheduleId::new(text(form, key)?);
    id.map_err(|_| wrong(key, "a schedule's id", part(form, key)))
}

fn instant(form: &Map, key: &'static str) -> Result<Moment, FactError> {
    Moment::parse(text(form, key)?).map_err(|_| wrong(key, "an ISO instant", part(form, key)))
}

fn boot(form: &Map, key: &'static str) -> Result<BootTime, FactError> {
    let value = part(form, key);
    let nanos = value.as_int().and_then(|nanos| u64::try_from(nanos).ok());
    nanos.map(BootTime::from_nanos).ok_or_else(|| wrong(key, "nanoseconds, 0 or more", value))
}

fn one<T>(form: &Map, key: &'static str, parse: impl Fn(&str) -> Option<T>) -> Result<T, FactError> {
    let value = part(form, key);
    let found = value.as_keyword().and_then(|name| parse(name.as_str()));
    found.ok_or_else(|| wrong(key, "one of a closed list of keywords", value))
}

fn flag(form: &Map, key: &'static str) -> Result<bool, FactError> {
    part(form, key).as_bool().ok_or_else(|| wrong(key, "true or false", part(form, key)))
}

fn text<'f>(form: &'f Map, key: &'static str) -> Result<&'f str, FactError> {
    part(form, key).as_str().ok_or_else(|| wrong(key, "a string", part(form, key)))
}

fn map<'f>(form: &'f Map, key: &'static str) -> Result<&'f Map, FactError> {
    part(form, key).as_map().ok_or_else(|| wrong(key, "a map", part(form, key)))
}

fn part<'f>(form: &'f Map, key: &str) -> &'f Value {
    form.keyword(key).unwrap_or(&Value::Nil)
}

fn wrong(part: &'static str, expected: &'static str, found: &Value) -> FactError {
    FactError::Part { part, expected, found: echo(found) }
}
