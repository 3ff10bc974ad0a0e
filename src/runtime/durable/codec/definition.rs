//! The codec of schedules' definitions. Parts that have their default value are omitted.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::actor::actor;
use super::attachment::{file, of_file};
use super::form::Form;
use super::parts::{
    each_map, flag_or, instant, map, maybe, number, one, one_or, own_text, part, schedule_id, session_id,
    span, text, wrong,
};
use super::printed::{Instant, Printed, Word, unless};
use super::provenance::{descent, lineage, of_descent, of_lineage};
use super::session_config;
use super::{FactError, call};
use crate::calendar;
use crate::domain::{
    About, Actor, Creation, Dialect, Durability, EndsWith, Envelope, Lifetime, Missed, Notice, Overlap,
    Payload, PayloadKind, Policy, Recovery, Route, Schedule, Settings, Span, Target, Trigger, WhenBusy,
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
    let map = match schedule.created_by() {
        Some(maker) => map.with("made-by", maker),
        None => map,
    };
    let map = match schedule.lineage() {
        Some(line) => map.with("lineage", of_lineage(line)),
        None => map,
    };
    let map = match schedule.edited_by() {
        Some(editor) => map.with("edited-by", editor),
        None => map,
    };
    let map = match schedule.creation.as_deref() {
        Some(creation) if !creation.editors.is_empty() => map.with("editors", of_editors(&creation.editors)),
        Some(_) | None => map,
    };
    let map = match schedule.creation.as_deref() {
        Some(creation) if !creation.descents.is_empty() => {
            map.with("descents", creation.descents.iter().map(of_descent).collect::<Vec<Printed>>())
        }
        Some(_) | None => map,
    };
    match &schedule.settings {
        Some(settings) => map.with("terms", of_settings(settings)),
        None => map,
    }
}

pub(super) fn parse(form: &Form<'_>) -> Result<Schedule, FactError> {
    Ok(Schedule {
        id: schedule_id(form, "id")?,
        dialect: one(form, "dialect", Dialect::parse)?,
        durability: one(form, "durability", Durability::parse)?,
        label: own_text(form, "label")?,
        owner: session_id(form, "owner")?,
        trigger: trigger(map(form, "trigger")?)?,
        payload: payload(map(form, "payload")?)?,
        created_at: instant(form, "created-at")?,
        creation: creation(form)?.recorded(),
        settings: maybe(form, "terms", |form, key| settings(map(form, key)?))?.map(Box::new),
    })
}

fn creation(form: &Form<'_>) -> Result<Creation, FactError> {
    Ok(Creation {
        by: maybe(form, "made-by", actor)?,
        chain: maybe(form, "lineage", lineage)?,
        edited_by: maybe(form, "edited-by", actor)?,
        editors: each_map(form, "editors", |editor| actor(editor, "by"))?,
        descents: each_map(form, "descents", descent)?,
    })
}

fn of_editors(editors: &[Actor]) -> Vec<Printed> {
    editors.iter().map(|editor| Printed::new().with("by", editor)).collect()
}

fn trigger(form: &Form<'_>) -> Result<Trigger, FactError> {
    // A shortcut for one-shots: most schedules are, and a start may read a million of them.
    // Four forms are two entries, `:kind` and `:at`. A map with any other key takes the long way, which refuses it.
    if let Form::Map(entries) = form
        && entries.len() == 4
        && part(form, "kind").as_keyword() == Some("at")
    {
        return instant(form, "at").map(Trigger::At);
    }
    calendar::from_edn(&form.to_value()).map_err(|_| wrong("trigger", "a trigger", form))
}

fn of_payload(payload: &Payload) -> Printed {
    let map = Printed::new().with("kind", Word(payload.kind().name())).with("text", payload.text());
    match payload {
        Payload::Turn { .. } => map,
        Payload::NewSession(session) => map.with("config", session_config::print(&session.config)),
        Payload::Notice(notice) => {
            map.with("about", Word(notice.about.name())).with("file", notice.file.as_ref().map(of_file))
        }
        Payload::Call(call) => call::print(map, call),
    }
}

fn payload(form: &Form<'_>) -> Result<Payload, FactError> {
    let text: Box<str> = text(form, "text")?.into();
    Ok(match one(form, "kind", PayloadKind::parse)? {
        PayloadKind::Message => Payload::Turn { text },
        PayloadKind::Session => Payload::new_session(text, Arc::new(session_config::parse(form)?)),
        PayloadKind::Notice => Payload::Notice(Box::new(Notice {
            about: one(form, "about", About::parse)?,
            text,
            file: maybe(form, "file", |form, key| file(map(form, key)?))?,
        })),
        PayloadKind::Call => Payload::Call(Box::new(call::parse(form)?)),
    })
}

fn of_settings(settings: &Settings) -> Printed {
    // Parts that equal the default are omitted, so a default cannot change without a new `VERSION`.
    let plain = Settings::PLAIN;
    Printed::new()
        .with("description", settings.description.as_deref())
        .with("key", settings.key.as_deref())
        .with("shared?", unless(plain.shared, settings.shared))
        .with("target", unless(&plain.target, &settings.target).map(of_target))
        .with("envelope", unless(plain.envelope, settings.envelope).map(|it| Word(it.name())))
        .with("policy", unless(&plain.policy, &settings.policy).map(of_policy))
        .with("lifetime", unless(&plain.lifetime, &settings.lifetime).map(of_lifetime))
}

fn settings(form: &Form<'_>) -> Result<Settings, FactError> {
    let plain = Settings::PLAIN;
    Ok(Settings {
        description: own_text(form, "description")?,
        key: own_text(form, "key")?,
        shared: flag_or(plain.shared, form, "shared?")?,
        target: maybe(form, "target", |form, key| target(map(form, key)?))?.unwrap_or(plain.target),
        envelope: one_or(plain.envelope, form, "envelope", Envelope::parse)?,
        policy: maybe(form, "policy", |form, key| policy(map(form, key)?))?.unwrap_or(plain.policy),
        lifetime: maybe(form, "lifetime", |form, key| lifetime(map(form, key)?))?.unwrap_or(plain.lifetime),
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
    let plain = Policy::PLAIN;
    let backoff = || policy.backoff.iter().map(|wait| wait.nanos()).collect::<Vec<u64>>();
    Printed::new()
        .with("overlap", unless(plain.overlap, policy.overlap).map(|it| Word(it.name())))
        .with("missed", unless(plain.missed, policy.missed).map(|it| Word(it.name())))
        .with("max-late-ns", policy.max_late.map(Span::nanos))
        .with("when-busy", unless(plain.when_busy, policy.when_busy).map(|it| Word(it.name())))
        .with("recovery", unless(plain.recovery, policy.recovery).map(|it| Word(it.name())))
        .with("ends-with", unless(plain.ends_with, policy.ends_with).map(|it| Word(it.name())))
        .with("timeout-ns", policy.timeout.map(Span::nanos))
        .with("backoff-ns", (!policy.backoff.is_empty()).then(backoff))
}

fn policy(form: &Form<'_>) -> Result<Policy, FactError> {
    let plain = Policy::PLAIN;
    let wait = |wait: &Form<'_>| {
        // `span` reads a part of a map, so the item is put into one.
        let form = Form::Map(vec![Form::Keyword("backoff-ns"), wait.clone()]);
        span(&form, "backoff-ns")
    };
    let waits = |form: &Form<'_>, key| {
        let waits = part(form, key);
        let waits = waits.as_items().ok_or_else(|| wrong(key, "a vector of nanoseconds", waits))?;
        waits.iter().map(wait).collect::<Result<Vec<Span>, _>>()
    };
    Ok(Policy {
        overlap: one_or(plain.overlap, form, "overlap", Overlap::parse)?,
        missed: one_or(plain.missed, form, "missed", Missed::parse)?,
        max_late: maybe(form, "max-late-ns", span)?,
        when_busy: one_or(plain.when_busy, form, "when-busy", WhenBusy::parse)?,
        recovery: one_or(plain.recovery, form, "recovery", Recovery::parse)?,
        ends_with: one_or(plain.ends_with, form, "ends-with", EndsWith::parse)?,
        timeout: maybe(form, "timeout-ns", span)?,
        backoff: maybe(form, "backoff-ns", waits)?.unwrap_or_default(),
    })
}

fn of_lifetime(lifetime: &Lifetime) -> Printed {
    let plain = Lifetime::PLAIN;
    Printed::new()
        .with("max-runs", lifetime.max_runs.map(NonZeroU32::get))
        .with("expires-at", lifetime.expires_at.map(Instant))
        .with(
            "cancel-on-user-activity?",
            unless(plain.cancel_on_user_activity, lifetime.cancel_on_user_activity),
        )
        .with("dies-with-session?", unless(plain.dies_with_session, lifetime.dies_with_session))
}

fn lifetime(form: &Form<'_>) -> Result<Lifetime, FactError> {
    let plain = Lifetime::PLAIN;
    let max = |form: &Form<'_>, key: &'static str| {
        NonZeroU32::new(number(form, key)?).ok_or_else(|| wrong(key, "1 or more", part(form, key)))
    };
    Ok(Lifetime {
        max_runs: maybe(form, "max-runs", max)?,
        expires_at: maybe(form, "expires-at", instant)?,
        cancel_on_user_activity: flag_or(plain.cancel_on_user_activity, form, "cancel-on-user-activity?")?,
        dies_with_session: flag_or(plain.dies_with_session, form, "dies-with-session?")?,
    })
}
