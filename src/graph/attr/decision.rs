//! A decision: one entry of the feed, with its place and its reason.

use super::{Read, instant, integer, maybe, own};
use crate::domain::{Actor, Cursor, Decision, DecisionKind, Reason, Scope};
use crate::edn::Value;
use crate::graph::registry::{Datum, Entity, Numbered, Seen, Type};
use crate::graph::view::Scheduler;

impl Numbered for Cursor {
    fn number(self) -> u64 {
        Cursor::number(self)
    }

    fn numbered(number: u64) -> Cursor {
        Cursor::new(number)
    }
}

fn find(view: Seen<'_, Scheduler>, key: &Value) -> Option<Cursor> {
    let cursor = Cursor::new(u64::try_from(key.as_int()?).ok()?);
    view.decision(cursor).map(|_| cursor)
}

/// What a decision's map has when it is asked for as a whole.
const WHOLE: &[&str] = &[
    "reveille.decision/cursor",
    "reveille.decision/at",
    "reveille.decision/kind",
    "reveille.decision/reason",
    "reveille.decision/by",
    "reveille.decision/schedule-id",
    "reveille.decision/session-id",
    "reveille.decision/detail",
];

pub(super) fn decision() -> Entity<Scheduler, Cursor> {
    let entity = Entity::<Scheduler, Cursor>::new("decision", "reveille.decision/cursor", find)
        .doc("One thing that was decided, and why.")
        .whole(WHOLE);
    concerned(decided(entity))
}

/// What was decided, why, and who wanted it.
fn decided(entity: Entity<Scheduler, Cursor>) -> Entity<Scheduler, Cursor> {
    entity
        .reads(
            own("reveille.decision/cursor", Type::Integer).doc("Its place in the log, from 1."),
            |_, cursor, _| Ok(integer(cursor.number())),
        )
        .reads(own("reveille.decision/at", Type::Instant).doc("When it was made."), |view, cursor, _| {
            read(view, cursor, |decision| instant(decision.at))
        })
        .reads(
            own("reveille.decision/kind", Type::Enum(DecisionKind::NAMES)).doc("What was decided."),
            |view, cursor, _| read(view, cursor, |decision| Datum::Name(decision.kind.name())),
        )
        .reads(
            own("reveille.decision/reason", Type::Enum(Reason::NAMES))
                .nullable()
                .doc("Why, if something other than a plain delivery came of it."),
            |view, cursor, _| {
                read(view, cursor, |decision| maybe(decision.reason, |reason| Datum::Name(reason.name())))
            },
        )
        .reads(
            own("reveille.decision/by", Type::String).nullable().doc(
                "Who wanted it, where somebody did: the operator, session or program, the token by its name, and the tool.",
            ),
            |view, cursor, _| {
                let by = view.decision(cursor).and_then(|decision| by(view, decision));
                Ok(maybe(by, Datum::shown))
            },
        )
}

/// What it is about.
fn concerned(entity: Entity<Scheduler, Cursor>) -> Entity<Scheduler, Cursor> {
    entity
        .reads(
            own("reveille.decision/schedule-id", Type::String).nullable().doc("The schedule concerned."),
            |view, cursor, _| {
                read(view, cursor, |decision| maybe(decision.schedule(), |id| Datum::Shown(id)))
            },
        )
        .reads(
            own("reveille.decision/schedule", Type::Reference("schedule"))
                .nullable()
                .doc("The schedule concerned. Nil once its record is dropped."),
            |view, cursor, _| {
                read(view, cursor, |decision| {
                    let key = decision.schedule().and_then(|id| view.state.schedule_key(id));
                    let key = key.filter(|key| view.schedule(*key).is_some());
                    maybe(key, |key| Datum::Entity(key.number().into()))
                })
            },
        )
        .reads(
            own("reveille.decision/run", Type::Reference("run"))
                .nullable()
                .doc("The run concerned. Nil once its record is dropped."),
            |view, cursor, _| {
                read(view, cursor, |decision| {
                    let key = decision.run().and_then(|id| view.state.run_key(id));
                    let key = key.filter(|key| view.run(*key).is_some());
                    maybe(key, |key| Datum::Entity(key.number().into()))
                })
            },
        )
        .reads(
            own("reveille.decision/session-id", Type::String).nullable().doc("The session concerned."),
            |view, cursor, _| {
                read(view, cursor, |decision| maybe(decision.session.as_ref(), |id| Datum::Text(id.as_str())))
            },
        )
        .reads(
            own("reveille.decision/detail", Type::String)
                .nullable()
                .doc("What else is worth saying: a phase, a host's error."),
            |view, cursor, _| read(view, cursor, |decision| maybe(decision.detail.as_deref(), Datum::Text)),
        )
}

/// Who wanted it, as far as that concerns the caller. What a schedule does not say of its making is its owner's.
fn by(view: Seen<'_, Scheduler>, decision: &Decision) -> Option<Actor> {
    let owner = || {
        let session = decision.session.as_ref().filter(|_| decision.kind == DecisionKind::ScheduleCreated)?;
        Some(Actor { scope: Scope::Session(session.clone()), entry: None, tool: None })
    };
    decision.by.as_deref().map_or_else(owner, |by| by.seen_by(view.scope))
}

fn read<'a>(
    view: Seen<'a, Scheduler>,
    cursor: Cursor,
    attribute: impl FnOnce(&'a Decision) -> Datum<'a>,
) -> Read<'a> {
    Ok(view.decision(cursor).map_or(Datum::Nil, attribute))
}
