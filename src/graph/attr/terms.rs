//! What a schedule has beyond psi's thirteen: its terms, and what it has been through.

use super::{Read, instant, integer, maybe, of_schedule, own};
use crate::calendar;
use crate::domain::{Envelope, Payload, Reason, Scope, Target, Trigger, Zone};
use crate::edn::{Map, Value};
use crate::engine::{Key, Pause, ScheduleRecord};
use crate::graph::mutation::{print_lifetime, print_policy};
use crate::graph::params::{Given, params, refused};
use crate::graph::registry::{Datum, Entity, ResolverError, Seen, Type};
use crate::graph::shown;
use crate::graph::view::Scheduler;
use crate::limits;

/// Reads off a schedule.
fn read<'a>(
    view: Seen<'a, Scheduler>,
    key: Key,
    attribute: impl FnOnce(&'a ScheduleRecord) -> Datum<'a>,
) -> Read<'a> {
    of_schedule(view, key, attribute)
}

/// What was asked of it.
pub(super) fn terms(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    let entity = entity
        .reads(
            own("psi.scheduler/when", Type::String)
                .doc("Its trigger in words that can be said again, as the parameter when."),
            |view, key, _| {
                read(view, key, |record| Datum::shown(calendar::print(&record.schedule().trigger)))
            },
        )
        .reads(
            own("psi.scheduler/zone", Type::String)
                .nullable()
                .doc("On whose clock its slots are read; nil where they are on no clock."),
            |view, key, _| read(view, key, |record| maybe(zone(&record.schedule().trigger), Datum::shown)),
        )
        .reads(
            own("psi.scheduler/policy", Type::Map)
                .doc("What it does when it is late, when its session is busy, when runs overlap, and when one fails."),
            |view, key, _| read(view, key, |record| print_policy(record.schedule().policy()).into()),
        )
        .reads(
            own("psi.scheduler/lifetime", Type::Map)
                .doc("What ends it beside its trigger: runs, an instant, a person's message, its session."),
            |view, key, _| {
                read(view, key, |record| print_lifetime(record.schedule().lifetime()).into())
            },
        );
    entity
        .reads(
            own("psi.scheduler/description", Type::String).nullable().doc("What it is for."),
            |view, key, _| {
                read(view, key, |record| maybe(record.schedule().terms().description.as_deref(), Datum::Text))
            },
        )
        .reads(
            own("psi.scheduler/idempotency-key", Type::String)
                .nullable()
                .doc("The name by which the same request is known again."),
            |view, key, _| {
                read(view, key, |record| maybe(record.schedule().terms().key.as_deref(), Datum::Text))
            },
        )
        .reads(
            own("psi.scheduler/shared?", Type::Boolean).doc("Whether every session may see and change it."),
            |view, key, _| read(view, key, |record| Datum::Bool(record.schedule().terms().shared)),
        )
        .reads(
            own("psi.scheduler/target", Type::Map).doc(
                "Where a run goes: the session of its owner, another session, a fresh one, or a channel.",
            ),
            |view, key, _| read(view, key, |record| target(record.schedule().target()).into()),
        )
        .reads(
            own("psi.scheduler/notice", Type::Map)
                .nullable()
                .doc("Of a notice: what it is about, and the file that goes with it."),
            |view, key, _| {
                read(view, key, |record| match &record.schedule().payload {
                    Payload::Turn { .. } | Payload::NewSession(_) => Datum::Nil,
                    Payload::Say(notice) => Value::from(shown::notice(notice)).into(),
                })
            },
        )
        .reads(
            own("psi.scheduler/envelope", Type::Enum(Envelope::NAMES)).doc("How its prompt is put."),
            |view, key, _| read(view, key, |record| Datum::Name(record.schedule().envelope().name())),
        )
}

/// What it has been through.
pub(super) fn course(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    let entity = entity
        .reads(
            own("psi.scheduler/pause", Type::Map)
                .nullable()
                .doc("Who paused it, why and since when; nil while it is not paused."),
            |view, key, _| {
                read(view, key, |record| maybe(record.course().paused.as_ref(), |it| pause(view, it).into()))
            },
        )
        .reads(
            own("psi.scheduler/paused?", Type::Boolean)
                .doc("Whether its slots get no runs until it is resumed."),
            |view, key, _| read(view, key, |record| Datum::Bool(record.course().paused.is_some())),
        )
        .reads(
            own("psi.scheduler/incarnation", Type::Integer)
                .doc("How often its trigger was replaced, from 1: part of its runs' ids."),
            |view, key, _| read(view, key, |record| Datum::Int(record.course().incarnation.into())),
        )
        .reads(
            own("psi.scheduler/updated-at", Type::Instant)
                .nullable()
                .doc("When it was changed, paused or resumed last."),
            |view, key, _| read(view, key, |record| maybe(record.course().updated_at, instant)),
        )
        .reads(
            own("psi.scheduler/last-skip", Type::Map)
                .nullable()
                .doc("The last slot that was skipped, and why."),
            |view, key, _| {
                read(view, key, |record| {
                    maybe(record.course().last_skip, |(at, reason)| {
                        let skip = Map::new()
                            .with("at", shown::instant(at))
                            .with("reason", Value::keyword(reason.name()));
                        Value::from(skip).into()
                    })
                })
            },
        );
    ends(counts(entity))
}

fn counts(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity
        .reads(
            own("psi.scheduler/delivered-count", Type::Integer)
                .unit("runs")
                .doc("How many runs were delivered."),
            |view, key, _| read(view, key, |record| integer(record.course().delivered)),
        )
        .reads(
            own("psi.scheduler/failed-count", Type::Integer).unit("runs").doc("How many runs failed."),
            |view, key, _| read(view, key, |record| integer(record.course().failed)),
        )
        .reads(
            own("psi.scheduler/skipped-count", Type::Integer)
                .unit("slots")
                .doc("How many slots passed without a run of their own."),
            |view, key, _| read(view, key, |record| integer(record.course().skipped)),
        )
        .reads(
            own("psi.scheduler/failures-in-row", Type::Integer)
                .unit("runs")
                .doc("How many runs have failed since the last that did not."),
            |view, key, _| read(view, key, |record| integer(record.course().failures_in_row)),
        )
}

fn ends(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity
        .reads(
            own("psi.scheduler/ended-reason", Type::Enum(Reason::NAMES))
                .nullable()
                .doc("Why it has ended otherwise than by delivery, or why it has no further slot."),
            |view, key, _| {
                read(view, key, |record| {
                    let reason = record.ended_for().or(record.course().never);
                    maybe(reason, |reason| Datum::Name(reason.name()))
                })
            },
        )
        .reads(
            own("psi.scheduler/explain", Type::Reference("explanation")).params(super::foresight::OF_OWN)
                .doc("Why it has fired at an instant, or has not, or when it will. Parameter: at; now if left out."),
            |view, key, params| match view.schedule(key) {
                Some(record) => super::foresight::explain_own(view, &record.schedule().id, params),
                None => Ok(Datum::Nil),
            },
        )
        .attribute(
            own("psi.scheduler/created?", Type::Boolean)
                .doc("Of a creation: whether it made the schedule; false where the same was asked for before."),
        )
        .attribute(
            own("psi.scheduler/understood", Type::Map)
                .nullable()
                .doc("Of a creation or change: when, as understood: words, zone, next instants, warnings."),
        )
}

/// A pause or a hold; which session wanted it is that session's affair.
pub(super) fn pause(view: Seen<'_, Scheduler>, pause: &Pause) -> Value {
    let by = match &pause.by.scope {
        Scope::Operator => "operator",
        Scope::Session(session) if view.scope.covers(session) => session.as_str(),
        Scope::Session(_) => "another session",
    };
    Map::new()
        .with("by", by)
        .with("reason", pause.reason.as_deref())
        .with("since", shown::instant(pause.since))
        .into()
}

params! {
    /// How many slots to come are listed.
    pub(super) Upcoming {
        /// How many.
        optional first: u32 = "first" bounded(0, SLOTS_LISTED),
    }
}

/// In the type of a parameter's bound.
#[expect(clippy::cast_possible_wrap, reason = "some thousands")]
pub(super) const SLOTS_LISTED: i64 = limits::SLOTS_LISTED.value as i64;

/// How many, by the parameter `first`.
pub(super) fn first(params: &Map, default: usize) -> Result<usize, ResolverError> {
    let of = ":psi.scheduler/upcoming";
    let given = Given::new(params, &[Upcoming::GROUP]).map_err(refused(of))?;
    let first = Upcoming::read(&given).map_err(refused(of))?.first;
    Ok(first.and_then(|first| usize::try_from(first).ok()).unwrap_or(default))
}

fn zone(trigger: &Trigger) -> Option<&Zone> {
    match trigger {
        Trigger::At(_) | Trigger::Every(_) | Trigger::Event(_) => None,
        Trigger::Calendar(calendar) => Some(&calendar.zone),
        Trigger::Cron(_, zone) => Some(zone),
    }
}

fn target(target: &Target) -> Value {
    let kind = |kind: &str| Map::new().with("kind", Value::keyword(kind));
    match target {
        Target::Owner => kind("owner"),
        Target::Session(session) => kind("session").with("session-id", session.as_str()),
        Target::Fresh => kind("fresh"),
        Target::Route(route) => kind("route")
            .with("channel", &*route.channel)
            .with("conversation", &*route.conversation)
            .with("thread", route.thread.as_deref()),
    }
    .into()
}
