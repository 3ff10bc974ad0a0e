//! The entity `timeline-cell`: how many slots of one group have one state in one stretch of time.
//!
//! Cells are made during a query and live in its arena; their numbers mean nothing afterwards.

use super::{Read, attributes, instant, integer, maybe, own};
use crate::edn::{Map, Value};
use crate::graph::registry::{Datum, Entity, Type, ViewOf};
use crate::graph::timeline::cells;
use crate::graph::timeline_cell::{TimelineCell, TimelineState};
use crate::graph::view::Scheduler;

pub(super) fn timeline_cell() -> Entity<Scheduler, u64> {
    let find: fn(ViewOf<'_, Scheduler>, &Value) -> Option<u64> = |view, key| {
        let number = u64::try_from(key.as_int()?).ok()?;
        view.timeline_cell(number).map(|_| number)
    };
    let entity = Entity::<Scheduler, u64>::new("timeline-cell", "reveille.timeline-cell/number", find)
        .doc("How many slots of one schedule, session or reason have one state in one stretch of time.")
        .whole(WHOLE);
    attributes! { entity, by read;
        /// A number that distinguishes the cells of one answer.
        own "reveille.timeline-cell/number": Type::Integer => |_, number, _| Ok(integer(number));
        /// The start of the bucket.
        own "reveille.timeline-cell/start": Type::Instant => |cell| instant(cell.start);
        /// The id of the schedule or session, or the reason. Nil if the cells are not separated, if there is none, and where
        /// others are counted together.
        own "reveille.timeline-cell/of": Type::String, nullable =>
            |cell| maybe(cell.of.as_deref().map(str::to_owned), Datum::shown);
        /// What became of the slots, or will.
        own "reveille.timeline-cell/state": Type::Enum(TimelineState::NAMES) => |cell| Datum::Name(cell.state.name());
        /// How many slots.
        own "reveille.timeline-cell/count": Type::Integer, unit("slots") => |cell| integer(cell.count);
        /// The instant of the slot, or now if it is overdue. Nil if there are several.
        own "reveille.timeline-cell/at": Type::Instant, nullable => |cell| maybe(cell.at, instant);
        /// How many schedules, sessions or reasons are counted together in this cell. Nil if it is one alone.
        own "reveille.timeline-cell/others": Type::Integer, nullable, unit("rows") =>
            |cell| maybe(cell.others, integer);
        /// Whether this is the last cell of a timeline that was cut off.
        own "reveille.timeline-cell/more?": Type::Boolean => |cell| Datum::Bool(cell.more);
    }
}

const WHOLE: &[&str] = &[
    "reveille.timeline-cell/start",
    "reveille.timeline-cell/of",
    "reveille.timeline-cell/state",
    "reveille.timeline-cell/count",
    "reveille.timeline-cell/at",
    "reveille.timeline-cell/others",
    "reveille.timeline-cell/more?",
];

/// The cells of the timeline that the parameters ask for.
pub(super) fn timeline<'a>(view: ViewOf<'a, Scheduler>, params: &Map) -> Read<'a> {
    let cells = cells(view, params)?;
    Ok(Datum::Entities(cells.into_iter().map(|cell| view.keep_cell(cell)).collect()))
}

fn read<'a>(
    view: ViewOf<'a, Scheduler>,
    number: u64,
    attribute: impl FnOnce(&TimelineCell) -> Datum<'static>,
) -> Read<'a> {
    Ok(view.timeline_cell(number).map_or(Datum::Nil, |cell| attribute(&cell)))
}
