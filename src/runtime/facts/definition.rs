//! The definition of a schedule as a form, and back. What a schedule has plainly is left out.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::FactError;
use super::form::Form;
use super::parts::{
    flag, instant, map, maybe, number, one, part, schedule_id, session_id, span, text, wrong,
};
use super::printed::{Instant, Printed, Word};
use crate::calendar;
use crate::dialect::Notation;
use crate::dialect::psi::session_config;
use crate::domain::{
    About, Attachment, Dialect, Durability, EndsWith, Envelope, Kind, Lifetime, Missed, Notice, Overlap,
    Payload, Policy, Recovery, Route, Schedule, SessionConfig, Span, Target, Terms, WhenBusy,
};

pub(super) fn print(schedule: &Schedule) -> Printed {
    let map = Printed::new()
        .with("id", schedule.id.to_string())
        .with("dialect", Word(schedule.dialect.name()))
        .with("durability", Word(schedule.durability.name()))
        .with("label", schedule.label.as_deref())
        .with("owner", schedule.owner.as_str())
        .with("trigger", calendar::to_edn(&schedule.trigger))
        .with("payload", of_payload(&schedule.payload))
        .with("created-at", Instant(schedule.created_at));
    match &schedule.terms {
        Some(terms) => map.with("terms", of_terms(terms)),
        None => map,
    }
}

pub(super) fn parse(form: &Form<'_>) -> Result<Schedule, FactError> {
    let trigger = part(form, "trigger");
    Ok(Schedule {
        id: schedule_id(form, "id")?,
        dialect: one(form, "dialect", Dialect::parse)?,
        durability: one(form, "durability", Durability::parse)?,
        label: own_text(form, "label")?,
        owner: session_id(form, "owner")?,
        trigger: calendar::from_edn(&trigger.to_value())
            .map_err(|_| wrong("trigger", "a trigger", trigger))?,
        payload: payload(map(form, "payload")?)?,
        created_at: instant(form, "created-at")?,
        terms: maybe(form, "terms", |form, key| terms(map(form, key)?))?.map(Box::new),
    })
}

fn of_payload(payload: &Payload) -> Printed {
    let map = Printed::new().with("kind", Word(payload.kind().name())).with("text", payload.text());
    match payload {
        Payload::Turn { .. } => map,
        Payload::NewSession { config, .. } => map.with("config", session_config::print(config)),
        Payload::Say(notice) => {
            map.with("about", Word(notice.about.name())).with("file", notice.file.as_ref().map(of_file))
        }
    }
}

pub(super) fn of_file(file: &Attachment) -> Printed {
    Printed::new().with("path", &*file.path).with("name", file.name.as_deref())
}

pub(super) fn file(form: &Form<'_>) -> Result<Attachment, FactError> {
    Ok(Attachment { path: text(form, "path")?.into(), name: own_text(form, "name")? })
}

fn payload(form: &Form<'_>) -> Result<Payload, FactError> {
    let text: Box<str> = text(form, "text")?.into();
    Ok(match one(form, "kind", Kind::parse)? {
        Kind::Message => Payload::Turn { text },
        Kind::Session => Payload::NewSession { text, config: Arc::new(config(form)?) },
        Kind::Notice => Payload::Say(Box::new(Notice {
            about: one(form, "about", About::parse)?,
            text,
            file: maybe(form, "file", |form, key| file(map(form, key)?))?,
        })),
    })
}

pub(super) fn config(form: &Form<'_>) -> Result<SessionConfig, FactError> {
    let value = part(form, "config");
    session_config::parse(&value.to_value(), Notation::Edn)
        .map_err(|_| wrong("config", "a session's configuration", value))
}

pub(super) fn own_text(form: &Form<'_>, key: &'static str) -> Result<Option<Box<str>>, FactError> {
    maybe(form, key, |form, key| text(form, key).map(Into::into))
}

fn of_terms(terms: &Terms) -> Printed {
    Printed::new()
        .with("description", terms.description.as_deref())
        .with("key", terms.key.as_deref())
        .with("shared?", terms.shared)
        .with("target", of_target(&terms.target))
        .with("envelope", Word(terms.envelope.name()))
        .with("policy", of_policy(&terms.policy))
        .with("lifetime", of_lifetime(&terms.lifetime))
}

fn terms(form: &Form<'_>) -> Result<Terms, FactError> {
    Ok(Terms {
        description: own_text(form, "description")?,
        key: own_text(form, "key")?,
        shared: flag(form, "shared?")?,
        target: target(map(form, "target")?)?,
        envelope: one(form, "envelope", Envelope::parse)?,
        policy: policy(map(form, "policy")?)?,
        lifetime: lifetime(map(form, "lifetime")?)?,
    })
}

fn of_target(target: &Target) -> Printed {
    let map = Printed::new().with("to", Word(target.name()));
    match target {
        Target::Owner | Target::Fresh => map,
        Target::Session(session) => map.with("session", session.as_str()),
        Target::Route(route) => map
            .with("channel", &*route.channel)
            .with("conversation", &*route.conversation)
            .with("thread", route.thread.as_deref()),
    }
}

fn target(form: &Form<'_>) -> Result<Target, FactError> {
    let to = part(form, "to");
    Ok(match to.as_keyword() {
        Some("owner") => Target::Owner,
        Some("fresh") => Target::Fresh,
        Some("session") => Target::Session(session_id(form, "session")?),
        Some("route") => Target::Route(Box::new(Route {
            channel: text(form, "channel")?.into(),
            conversation: text(form, "conversation")?.into(),
            thread: own_text(form, "thread")?,
        })),
        Some(_) | None => return Err(wrong("to", "owner, fresh, session or route", to)),
    })
}

fn of_policy(policy: &Policy) -> Printed {
    let backoff: Vec<u64> = policy.backoff.iter().map(|wait| wait.nanos()).collect();
    Printed::new()
        .with("overlap", Word(policy.overlap.name()))
        .with("missed", Word(policy.missed.name()))
        .with("max-late-ns", policy.max_late.map(Span::nanos))
        .with("when-busy", Word(policy.when_busy.name()))
        .with("recovery", Word(policy.recovery.name()))
        .with("ends-with", Word(policy.ends_with.name()))
        .with("timeout-ns", policy.timeout.map(Span::nanos))
        .with("backoff-ns", backoff)
}

fn policy(form: &Form<'_>) -> Result<Policy, FactError> {
    let backoff = part(form, "backoff-ns");
    let waits = backoff.as_items().ok_or_else(|| wrong("backoff-ns", "a vector of nanoseconds", backoff))?;
    let wait = |wait: &Form<'_>| {
        let form = Form::Map(vec![(Form::Keyword("backoff-ns"), wait.clone())]);
        span(&form, "backoff-ns")
    };
    Ok(Policy {
        overlap: one(form, "overlap", Overlap::parse)?,
        missed: one(form, "missed", Missed::parse)?,
        max_late: maybe(form, "max-late-ns", span)?,
        when_busy: one(form, "when-busy", WhenBusy::parse)?,
        recovery: one(form, "recovery", Recovery::parse)?,
        ends_with: one(form, "ends-with", EndsWith::parse)?,
        timeout: maybe(form, "timeout-ns", span)?,
        backoff: waits.iter().map(wait).collect::<Result<_, _>>()?,
    })
}

fn of_lifetime(lifetime: &Lifetime) -> Printed {
    Printed::new()
        .with("max-runs", lifetime.max_runs.map(NonZeroU32::get))
        .with("expires-at", lifetime.expires_at.map(Instant))
        .with("cancel-on-user-activity?", lifetime.cancel_on_user_activity)
        .with("dies-with-session?", lifetime.dies_with_session)
}

fn lifetime(form: &Form<'_>) -> Result<Lifetime, FactError> {
    let max = |form: &Form<'_>, key: &'static str| {
        NonZeroU32::new(number(form, key)?).ok_or_else(|| wrong(key, "1 or more", part(form, key)))
    };
    Ok(Lifetime {
        max_runs: maybe(form, "max-runs", max)?,
        expires_at: maybe(form, "expires-at", instant)?,
        cancel_on_user_activity: flag(form, "cancel-on-user-activity?")?,
        dies_with_session: flag(form, "dies-with-session?")?,
    })
}
