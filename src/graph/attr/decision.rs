//! The entity `decision`: one entry of the feed, with its cursor and its reason.

use super::{Read, attributes, instant, integer, maybe, own};
use crate::domain::{Actor, Cursor, Decision, DecisionKind, Moment, Reason, Scope, SlotRange};
use crate::edn::{Map, Value};
use crate::graph::params::field;
use crate::graph::psi_terms;
use crate::graph::registry::{Datum, Entity, Param, ParamType, Record, RowKey, Type, ViewOf};
use crate::graph::view::Scheduler;

impl RowKey for Cursor {
    fn number(self) -> u64 {
        Cursor::number(self)
    }

    fn numbered(number: u64) -> Cursor {
        Cursor::new(number)
    }
}

fn find(view: ViewOf<'_, Scheduler>, key: &Value) -> Option<Cursor> {
    // Looked up here, so that a decision that is hidden or dropped counts as not found.
    let cursor = Cursor::new(u64::try_from(key.as_int()?).ok()?);
    view.decision(cursor).map(|_| cursor)
}

/// The attributes of a decision that is asked for as a whole.
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
        .doc("A decision of the engine: what was decided, when, why and on whose behalf.")
        .whole(WHOLE);
    concerned(decided(entity))
}

/// Declares what was decided, when, why, and by whom.
fn decided(entity: Entity<Scheduler, Cursor>) -> Entity<Scheduler, Cursor> {
    attributes! { entity, by read;
        /// The position of the decision in the log, from 1.
        own "reveille.decision/cursor": Type::Integer => |_, cursor, _| Ok(integer(cursor.number()));
        /// When the decision was made.
        own "reveille.decision/at": Type::Instant => |decision| instant(decision.at);
        /// The kind of the decision.
        own "reveille.decision/kind": Type::Enum(DecisionKind::NAMES) =>
            |decision| Datum::Name(decision.kind.name());
        /// The reason; nil where everything went as planned.
        own "reveille.decision/reason": Type::Enum(Reason::NAMES), nullable =>
            |decision| maybe(decision.reason, |reason| Datum::Name(reason.name()));
        /// The actor: operator, session or program, with the name of the token and the tool. Of what a host reported, who has
        /// connected the host. Nil if there is none, as of what the engine decides by itself.
        own "reveille.decision/by": Type::String, nullable => |view, cursor, _| {
            let by = view.decision(cursor).and_then(|decision| by(view, decision));
            Ok(maybe(by, Datum::shown))
        };
    }
}

/// Declares the schedule, run and session that a decision is about.
fn concerned(entity: Entity<Scheduler, Cursor>) -> Entity<Scheduler, Cursor> {
    attributes! { entity, by read;
        /// The id of the schedule concerned. Nil if there is none.
        own "reveille.decision/schedule-id": Type::String, nullable =>
            |decision| maybe(decision.schedule(), |id| Datum::Shown(id));
        /// The schedule concerned. Nil once its record is dropped.
        own "reveille.decision/schedule": Type::Reference("schedule"), nullable => |view, cursor, _| {
            read(view, cursor, |decision| {
                // The decision keeps the id of its schedule, but a reference needs a record that exists and is visible.
                let key = decision.schedule().and_then(|id| view.state.schedule_key(id));
                let key = key.filter(|key| view.schedule(*key).is_some());
                maybe(key, |key| Datum::Entity(key.number().into()))
            })
        };
        /// The run concerned. Nil once its record is dropped.
        own "reveille.decision/run": Type::Reference("run"), nullable => |view, cursor, _| {
            read(view, cursor, |decision| {
                // Likewise, the record of the run may be dropped or hidden.
                let key = decision.run().and_then(|id| view.state.run_key(id));
                let key = key.filter(|key| view.run(*key).is_some());
                maybe(key, |key| Datum::Entity(key.number().into()))
            })
        };
        /// The id of the session concerned. Nil if there is none.
        own "reveille.decision/session-id": Type::String, nullable =>
            |decision| maybe(decision.session.as_ref(), |id| Datum::Text(id.as_str()));
        /// The slots that a skip passed over or that a claim took: the first, the last and how many. Nil for other decisions. The
        /// first is nil where only an earlier decision has it.
        own "reveille.decision/slots": Type::Record(&SLOTS), nullable =>
            |decision| maybe(decision.slots, |slots| slots_of(slots).into());
        /// Further detail, such as a phase or a host's error message. Nil if there is none.
        own "reveille.decision/detail": Type::String, nullable =>
            |decision| maybe(decision.detail.as_deref(), Datum::Text);
    }
}

/// The fields of the [`slots_of`](fn@slots_of) a decision.
const SLOTS: Record = Record {
    name: "decision-slots",
    doc: "The slots that a decision is about.",
    params: &[
        field::<Moment>("from", "The first slot. Nil where only an earlier decision has it.").or_nil(),
        field::<Moment>("until", "The last slot; for a claim, that of the run."),
        Param::shown("count", ParamType::NATURAL, "How many slots."),
    ],
};

fn slots_of(slots: SlotRange) -> Value {
    Map::new()
        .with("from", slots.from.map(psi_terms::instant))
        .with("until", psi_terms::instant(slots.until))
        .with("count", i64::try_from(slots.count).unwrap_or(i64::MAX))
        .into()
}

/// Returns the actor, as far as the caller may know it. A creation that records no actor was its owner's.
fn by(view: ViewOf<'_, Scheduler>, decision: &Decision) -> Option<Actor> {
    let owner = || {
        // The log stores an actor only if it differs from the default, the owner.
        let session = decision.session.as_ref().filter(|_| decision.kind == DecisionKind::ScheduleCreated)?;
        Some(Actor { scope: Scope::Session(session.clone()), via: None, tool: None, as_model: false })
    };
    decision.by.as_deref().map_or_else(owner, |by| by.seen_by(view.scope))
}

fn read<'a>(
    view: ViewOf<'a, Scheduler>,
    cursor: Cursor,
    attribute: impl FnOnce(&'a Decision) -> Datum<'a>,
) -> Read<'a> {
    Ok(view.decision(cursor).map_or(Datum::Nil, attribute))
}
