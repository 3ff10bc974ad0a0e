//! A run: one occurrence of a schedule, from the claim of its slot to its one end.

use super::{Read, instant, integer, maybe, own, text};
use crate::domain::{Cause, Phase, Reason, Run, RunId, RunState};
use crate::edn::{Map, Value};
use crate::engine::{Key, ScheduleRecord};
use crate::graph::registry::{Datum, Entity, Seen, Type};
use crate::graph::view::Scheduler;

pub(super) fn run() -> Entity<Scheduler, Key> {
    let find: fn(Seen<'_, Scheduler>, &Value) -> Option<Key> = |view, key| {
        let key = view.state.run_key(&RunId::parse(text(key)?)?)?;
        view.run(key).map(|_| key)
    };
    let entity = Entity::<Scheduler, Key>::new("run", "reveille.run/id", find)
        .doc("One occurrence of a schedule, and what became of it.")
        .whole(WHOLE);
    super::guard::of_run(more(times(end(course(entity)))))
}

/// What a run's map has when it is asked for as a whole.
const WHOLE: &[&str] = &[
    "reveille.run/id",
    "reveille.run/slot",
    "reveille.run/state",
    "reveille.run/cause",
    "reveille.run/attempt",
    "reveille.run/reason",
    "reveille.run/lateness-ms",
    "reveille.run/session-id",
    "reveille.run/started-at",
    "reveille.run/delivered-at",
    "reveille.run/finished-at",
    "reveille.run/error",
];

/// What happened.
fn course(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity
        .reads(
            own("reveille.run/id", Type::String)
                .doc("The run's id: the idempotency key of its delivery, the same after every restart."),
            |view, key, _| {
                let id = view.run(key).and_then(|(_, run)| view.state.run_id(run));
                Ok(maybe(id, Datum::shown))
            },
        )
        .reads(
            own("reveille.run/schedule", Type::Reference("schedule")).doc("Whose run it is."),
            |view, key, _| {
                Ok(maybe(view.run(key), |(_, run)| Datum::Entity(run.schedule_key().number().into())))
            },
        )
        .reads(
            own("reveille.run/session-id", Type::String)
                .nullable()
                .doc("The session delivered into, or the fresh one that it opens."),
            |view, key, _| {
                read(view, key, |_, run| maybe(run.session.as_ref(), |id| Datum::Text(id.as_str())))
            },
        )
        .reads(
            own("reveille.run/session", Type::Reference("session"))
                .nullable()
                .doc("The session that it went to. Nil if that is closed, or hidden from the caller."),
            |view, key, _| {
                read(view, key, |_, run| {
                    let session = run.session.as_ref().and_then(|id| view.session_key(id));
                    maybe(session, |key| Datum::Entity(key.number().into()))
                })
            },
        )
        .reads(
            own("reveille.run/message", Type::Reference("message")).nullable().doc(
                "What it put into its session's transcript, where the built-in host keeps that; nil before it did.",
            ),
            |view, key, _| {
                let found = view.run(key).and_then(|(_, run)| {
                    let session = view.session_key(run.run().session.as_ref()?)?;
                    super::message::of_run(view, session, &view.state.run_id(run)?)
                });
                Ok(maybe(found, Datum::Entity))
            },
        )
        .reads(
            own("reveille.run/state", Type::Enum(RunState::NAMES)).doc("Where it stands."),
            |view, key, _| read(view, key, |_, run| Datum::Name(run.state.name())),
        )
        .reads(
            own("reveille.run/cause", Type::Enum(Cause::NAMES)).doc("What made it happen."),
            |view, key, _| read(view, key, |_, run| Datum::Name(run.cause.name())),
        )
        .reads(
            own("reveille.run/attempt", Type::Integer).unit("attempts").doc("Which try it is, from 1."),
            |view, key, _| read(view, key, |_, run| Datum::Int(run.attempt.into())),
        )
}

/// What else is known of it.
fn more(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity
        .reads(
            own("reveille.run/incarnation", Type::Integer)
                .doc("How often the schedule's trigger had been replaced, from 1."),
            |view, key, _| read(view, key, |_, run| Datum::Int(run.incarnation.into())),
        )
        .reads(
            own("reveille.run/folded", Type::Integer)
                .unit("slots")
                .doc("How many earlier slots are folded into it: it stands for one more than that."),
            |view, key, _| read(view, key, |_, run| integer(run.folded)),
        )
        .reads(
            own("reveille.run/retry-at", Type::Instant)
                .nullable()
                .doc("When it is tried again; nil unless it waits for that."),
            |view, key, _| read(view, key, |_, run| maybe(run.retry_at, instant)),
        )
}

/// How far it came, and why not farther.
fn end(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity
        .reads(
            own("reveille.run/phase", Type::Enum(Phase::NAMES))
                .nullable()
                .doc("How far its delivery came; nil before it began."),
            |view, key, _| read(view, key, |_, run| maybe(run.phase, |phase| Datum::Name(phase.name()))),
        )
        .reads(
            own("reveille.run/reason", Type::Enum(Reason::NAMES))
                .nullable()
                .doc("Why it waits at this moment, or why it ended otherwise than by delivery."),
            |view, key, _| {
                let waits = view.run(key).and_then(|(_, run)| view.state.run_waits_for(run));
                read(view, key, |_, run| maybe(run.reason.or(waits), |it| Datum::Name(it.name())))
            },
        )
        .reads(
            own("reveille.run/host", Type::String).nullable().doc("The host that it was handed to."),
            |view, key, _| read(view, key, |_, run| maybe(run.host, Datum::shown)),
        )
        .reads(
            own("reveille.run/error", Type::Map)
                .nullable()
                .doc("The error it ended in: message, phase, reason, and whether the fresh session exists."),
            |view, key, _| read(view, key, |_, run| maybe(run.failure.as_deref(), |it| error(it).into())),
        )
}

/// When it happened.
fn times(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity
        .reads(own("reveille.run/slot", Type::Instant).doc("The nominal instant."), |view, key, _| {
            read(view, key, |_, run| instant(run.slot))
        })
        .reads(
            own("reveille.run/claimed-at", Type::Instant).doc("When its slot was claimed."),
            |view, key, _| read(view, key, |_, run| instant(run.claimed_at)),
        )
        .reads(
            own("reveille.run/started-at", Type::Instant)
                .nullable()
                .doc("When it was handed to its host; nil while it waits."),
            |view, key, _| read(view, key, |_, run| maybe(run.started_at, instant)),
        )
        .reads(
            own("reveille.run/delivered-at", Type::Instant)
                .nullable()
                .doc("When its host confirmed it; nil otherwise."),
            |view, key, _| read(view, key, |_, run| maybe(run.delivered_at, instant)),
        )
        .reads(
            own("reveille.run/finished-at", Type::Instant)
                .nullable()
                .doc("When it ended, in whichever way; nil until then."),
            |view, key, _| read(view, key, |_, run| maybe(run.ended_at, instant)),
        )
        .reads(
            own("reveille.run/lateness-ms", Type::Integer)
                .nullable()
                .unit("ms")
                .doc("From the slot to the hand-over, on the wall clock; nil while it waits."),
            |view, key, _| {
                read(view, key, |_, run| {
                    maybe(run.started_at, |started| integer(started.millis_since(run.slot)))
                })
            },
        )
}

fn error(failure: &crate::domain::Failure) -> Value {
    Map::new()
        .with("message", &*failure.message)
        .with("phase", Value::keyword(failure.phase.name()))
        .with("reason", Value::keyword(failure.reason.name()))
        .with("session-exists?", failure.session_exists)
        .into()
}

fn read<'a>(
    view: Seen<'a, Scheduler>,
    key: Key,
    attribute: impl FnOnce(&'a ScheduleRecord, &'a Run) -> Datum<'a>,
) -> Read<'a> {
    Ok(view.run(key).map_or(Datum::Nil, |(record, run)| attribute(record, run.run())))
}
