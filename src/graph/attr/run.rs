//! The entity `run`: one occurrence of a schedule, from the claim of its slot to its one terminal state.

use super::failure::{ERROR, error};
use super::{Read, attributes, instant, integer, maybe, own, text};
use crate::domain::{Cause, Outcome, Phase, Reason, Run, RunId, RunState};
use crate::edn::{Map, Value};
use crate::engine::{Key, ScheduleRecord};
use crate::graph::params::field;
use crate::graph::registry::{Datum, Entity, Param, ParamType, Record, Type, ViewOf};
use crate::graph::view::Scheduler;

pub(super) fn run() -> Entity<Scheduler, Key> {
    let find: fn(ViewOf<'_, Scheduler>, &Value) -> Option<Key> = |view, key| {
        let key = view.state.run_key(&RunId::parse(text(key)?)?)?;
        view.run(key).map(|_| key)
    };
    let entity = Entity::<Scheduler, Key>::new("run", "reveille.run/id", find)
        .doc("One occurrence of a schedule, with its times and its outcome.")
        .whole(WHOLE);
    super::attempt::of_run(super::guard::of_run(more(times(end(course(entity))))))
}

/// The attributes of a run that is asked for as a whole.
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

/// Declares the identity, target and state of a run.
fn course(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity, by read;
        /// The id of the run, stable across restarts: the idempotency key of its delivery.
        own "reveille.run/id": Type::String => |view, key, _| {
            let id = view.run(key).and_then(|(_, run)| view.state.run_id(run));
            Ok(maybe(id, Datum::shown))
        };
        /// The schedule of the run.
        own "reveille.run/schedule": Type::Reference("schedule") => |view, key, _| {
            Ok(maybe(view.run(key), |(_, run)| Datum::Entity(run.schedule_key().number().into())))
        };
        /// The id of the session that the run delivers into or opens. Nil if there is none.
        own "reveille.run/session-id": Type::String, nullable =>
            |_, run| maybe(run.session.as_ref(), |id| Datum::Text(id.as_str()));
        /// The session that the run delivers into. Nil if it is closed or hidden from the caller.
        own "reveille.run/session": Type::Reference("session"), nullable => |view, key, _| {
            read(view, key, |_, run| {
                // Hidden like any other session: the run of a shared schedule may go into a session of another owner.
                let session = run.session.as_ref().and_then(|id| view.session_key(id));
                maybe(session, |key| Datum::Entity(key.number().into()))
            })
        };
        /// The message in its session's transcript, if the built-in host stores it. Nil before the delivery.
        own "reveille.run/message": Type::Reference("message"), nullable => |view, key, _| {
            let found = view.run(key).and_then(|(_, run)| {
                let session = view.session_key(run.run().session.as_ref()?)?;
                super::message::of_run(view, session, &view.state.run_id(run)?)
            });
            Ok(maybe(found, Datum::Entity))
        };
        /// The state of the run.
        own "reveille.run/state": Type::Enum(RunState::NAMES) => |_, run| Datum::Name(run.state.name());
        /// What caused the run.
        own "reveille.run/cause": Type::Enum(Cause::NAMES) => |_, run| Datum::Name(run.cause.name());
        /// The number of the current attempt, from 1.
        own "reveille.run/attempt": Type::Integer, unit("attempts") =>
            |_, run| Datum::Int(run.attempt.into());
    }
}

/// Declares the trigger's number, folded slots and the next attempt.
fn more(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity, by read;
        /// The number of the trigger that the slot belongs to: 1 for the first, one more for each replacement.
        own "reveille.run/incarnation": Type::Integer => |_, run| Datum::Int(run.incarnation.into());
        /// How many earlier slots are folded into this run. The run stands for one slot more than that.
        own "reveille.run/folded": Type::Integer, unit("slots") => |_, run| integer(run.folded);
        /// When the next attempt is due. Nil unless the run waits for one.
        own "reveille.run/retry-at": Type::Instant, nullable => |_, run| maybe(run.retry_at, instant);
    }
}

/// Declares how far a run came, and why it ended.
fn end(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity, by read;
        /// How far the delivery came. Nil before it began.
        own "reveille.run/phase": Type::Enum(Phase::NAMES), nullable =>
            |_, run| maybe(run.phase, |phase| Datum::Name(phase.name()));
        /// Why the run waits, or why it ended other than by delivery. Nil otherwise.
        own "reveille.run/reason": Type::Enum(Reason::NAMES), nullable => |view, key, _| {
            // Why a run waits is not recorded but computed, because it changes without any change of the run.
            let waits = view.run(key).and_then(|(_, run)| view.state.run_waits_for(run));
            read(view, key, |_, run| maybe(run.reason.or(waits), |it| Datum::Name(it.name())))
        };
        /// The host that the run was handed to. Nil before that.
        own "reveille.run/host": Type::String, nullable => |_, run| maybe(run.host, Datum::shown);
        /// The turn of an agent that the run began. Nil if it began none, or it is known no more.
        own "reveille.run/turn": Type::Reference("turn"), nullable =>
            |view, key, _| Ok(maybe(super::turn::of_run(view, key), Datum::Entity));
        /// The error of a failed run: message, phase, reason, and whether the fresh session exists. Nil without one.
        own "reveille.run/error": Type::Record(&ERROR), nullable =>
            |_, run| maybe(run.failure.as_deref(), |it| error(it).into());
        /// What the call of the run came to. Nil if it called no tool, or the call has not ended.
        own "reveille.run/outcome": Type::Record(&OUTCOME), nullable =>
            |_, run| maybe(run.outcome.as_deref(), |it| outcome(it).into());
        /// What the tool answered, if that was kept. Nil otherwise.
        own "reveille.run/value": Type::Any, nullable => |_, run| {
            maybe(run.outcome.as_ref().and_then(|it| it.value.as_deref()), |it| it.clone().into())
        };
    }
}

/// Declares the instants of a run.
fn times(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity, by read;
        /// The nominal instant of the run.
        own "reveille.run/slot": Type::Instant => |_, run| instant(run.slot);
        /// When the slot was claimed.
        own "reveille.run/claimed-at": Type::Instant => |_, run| instant(run.claimed_at);
        /// When the run was handed to its host. Nil while it waits.
        own "reveille.run/started-at": Type::Instant, nullable => |_, run| maybe(run.started_at, instant);
        /// When its host confirmed the delivery. Nil until then.
        own "reveille.run/delivered-at": Type::Instant, nullable => |_, run| maybe(run.delivered_at, instant);
        /// When the run ended, in any state. Nil until then.
        own "reveille.run/finished-at": Type::Instant, nullable => |_, run| maybe(run.ended_at, instant);
        /// Milliseconds from the slot to the hand-over, on the wall clock. Nil while the run waits.
        own "reveille.run/lateness-ms": Type::Integer, nullable, unit("ms") => |_, run| {
            maybe(run.handed_at(), |handed| integer(handed.millis_since(run.slot)))
        };
    }
}

/// The fields of [`outcome`](fn@outcome).
const OUTCOME: Record = Record {
    name: "call-outcome",
    doc: "What a call came to.",
    params: &[
        field::<bool>("ok?", "Whether the tool did what was asked."),
        field::<Box<str>>("error", "Why the call failed. Nil if it did not.").or_nil(),
        field::<Reason>("reason", "The code of the error. Nil if the call did not fail.").or_nil(),
        Param::shown("bytes", ParamType::NATURAL, "The size of the answer, in bytes."),
        field::<bool>("cut?", "Whether the value that is kept is cut."),
        Param::shown("took-ms", ParamType::NATURAL, "How long the call took, in milliseconds."),
        Param::shown("code", CODE, "The code of a program or an endpoint. Nil if there is none.").or_nil(),
    ],
};

const CODE: ParamType = ParamType::Integer { min: i32::MIN as i64, max: i32::MAX as i64 };

fn outcome(outcome: &Outcome) -> Value {
    let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    Map::new()
        .with("ok?", outcome.ok)
        .with("error", outcome.error.as_deref())
        .with("reason", outcome.reason.map(|reason| Value::keyword(reason.name())))
        .with("bytes", whole(outcome.bytes))
        .with("cut?", outcome.cut)
        .with("took-ms", whole(outcome.took.millis()))
        .with("code", outcome.code.map(i64::from))
        .into()
}

fn read<'a>(
    view: ViewOf<'a, Scheduler>,
    key: Key,
    attribute: impl FnOnce(&'a ScheduleRecord, &'a Run) -> Datum<'a>,
) -> Read<'a> {
    Ok(view.run(key).map_or(Datum::Nil, |(record, run)| attribute(record, run.run())))
}
