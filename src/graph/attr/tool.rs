//! The entity `tool`: what a session can have called by `run_parallel`, a watch and the like.

use super::{Read, attributes, halves, joined, maybe, own, text};
use crate::domain::{ExecutorKind, Risk};
use crate::edn::Value;
use crate::graph::listing::Whose;
use crate::graph::registry::{Datum, Entity, RowKey, Type, ViewOf};
use crate::graph::tool_offers::OfferedTool;
use crate::graph::view::Scheduler;

/// The place of a tool: that of its session among those whose tools were fetched, and its index there.
#[derive(Clone, Copy)]
pub(super) struct ToolPlace {
    session: u32,
    at: u32,
}

impl RowKey for ToolPlace {
    fn number(self) -> u64 {
        joined(self.session, self.at)
    }

    fn numbered(number: u64) -> ToolPlace {
        let (session, at) = halves(number);
        ToolPlace { session, at }
    }
}

/// Lists the tools of a session: their numbers, in order of precedence.
pub(super) fn list(view: ViewOf<'_, Scheduler>, whose: Whose) -> Vec<u64> {
    let session = match whose {
        // A host that acts for no session is shown the tools that every session has.
        Whose::All => view.scope.session().filter(|_| !view.scope.is_nothing()),
        Whose::Session(key) => match view.session(key) {
            Some(record) => Some(record.id()),
            None => return Vec::new(),
        },
        Whose::Nobody => return Vec::new(),
    };
    let Some((session, tools)) = view.offers.of(session) else { return Vec::new() };
    (0..tools.len()).map(|at| place(session, at).number()).collect()
}

fn place(session: usize, at: usize) -> ToolPlace {
    let number = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
    ToolPlace { session: number(session), at: number(at) }
}

pub(super) fn tool() -> Entity<Scheduler, ToolPlace> {
    // By its name alone it is one of the caller's own.
    let find: fn(ViewOf<'_, Scheduler>, &Value) -> Option<ToolPlace> = |view, key| {
        let name = text(key)?;
        let (session, tools) = view.offers.of(view.scope.session())?;
        let at = tools.iter().position(|tool| tool.spec.name.as_str() == name)?;
        Some(place(session, at))
    };
    let entity = Entity::<Scheduler, ToolPlace>::new("tool", "reveille.tool/name", find)
        .doc("A tool that a session can have called, for example in parallel or by a watch.")
        .whole(WHOLE);
    attributes! { entity, by read;
        /// Its name.
        own "reveille.tool/name": Type::String => |tool| Datum::Text(tool.spec.name.as_str());
        /// Who carries it out.
        own "reveille.tool/executor": Type::Enum(ExecutorKind::NAMES) => |tool| Datum::Name(tool.executor.name());
        /// What it does, for a model that chooses.
        own "reveille.tool/description": Type::String => |tool| Datum::Text(&tool.spec.description);
        /// The JSON Schema of its arguments.
        own "reveille.tool/input-schema": Type::Map => |tool| Value::clone(&tool.spec.input_schema).into();
        /// What a call can do to the world.
        own "reveille.tool/risk": Type::Enum(Risk::NAMES) => |tool| Datum::Name(tool.spec.risk.name());
        /// Whether an operator approves each call.
        own "reveille.tool/approval?": Type::Boolean => |tool| Datum::Bool(tool.spec.approval);
        /// Whether a second call with the same arguments does no harm.
        own "reveille.tool/idempotent?": Type::Boolean => |tool| Datum::Bool(tool.spec.idempotent);
        /// Whether the caller may have it called now.
        own "reveille.tool/callable?": Type::Boolean => |tool| Datum::Bool(tool.is_callable);
        /// How long a call may take. Nil for the usual time.
        own "reveille.tool/time-max-ms": Type::Integer, nullable, unit("ms") =>
            |tool| maybe(tool.spec.time_max, |time| super::integer(time.millis()));
        /// How many calls of it have ended since the process began, by any caller; cancelled ones do not count. Nil for a
        /// caller who does not see all sessions.
        own "reveille.tool/calls": Type::Integer, nullable =>
            |tool| maybe(tool.counts.as_ref(), |counts| super::integer(counts.calls));
        /// How many of those calls have failed. Nil for a caller who does not see all sessions.
        own "reveille.tool/failures": Type::Integer, nullable =>
            |tool| maybe(tool.counts.as_ref(), |counts| super::integer(counts.failures));
        /// Why the last of those that failed did. Nil if none has, and for a caller who does not see all sessions.
        own "reveille.tool/last-error": Type::String, nullable => |tool| {
            let error = tool.counts.as_ref().and_then(|counts| counts.last_error.as_deref());
            maybe(error, Datum::Text)
        };
    }
}

/// The attributes of a tool that is asked for as a whole.
const WHOLE: &[&str] = &[
    "reveille.tool/name",
    "reveille.tool/executor",
    "reveille.tool/description",
    "reveille.tool/risk",
    "reveille.tool/callable?",
];

fn read<'a>(
    view: ViewOf<'a, Scheduler>,
    place: ToolPlace,
    attribute: impl FnOnce(&'a OfferedTool) -> Datum<'a>,
) -> Read<'a> {
    let index = |place: u32| usize::try_from(place).unwrap_or(usize::MAX);
    Ok(view.offers.at(index(place.session), index(place.at)).map_or(Datum::Nil, attribute))
}
