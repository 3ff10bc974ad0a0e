//! What will happen, and why something has happened or not: slots of a forecast, and explanations.
//!
//! Both live as long as the look in which they were made; their numbers mean nothing afterwards.

use std::rc::Rc;

use super::terms::SLOTS_LISTED;
use super::{Read, instant, integer, maybe, own};
use crate::domain::{Moment, Reason, ScheduleId};
use crate::edn::{Map, Value};
use crate::engine::{Ask, Coming, Explanation, Fate, Outage, Verdict, WhatIf};
use crate::graph::mutation::{Change, ChangeParams, Conditions, WhenParams};
use crate::graph::params::{Given, IdText, params, refused};
use crate::graph::registry::{
    Datum, Entity, Groups, Numbered, ParamFault, ParamFaultKind, ResolverError, Seen, Type,
};
use crate::graph::shown;
use crate::graph::view::{Listed, Scheduler};

type View<'a> = Seen<'a, Scheduler>;

params! {
    /// What a forecast covers.
    pub(super) Stretch {
        /// From when on. Now if left out.
        optional from: Moment = "from",
        /// Until when. A day after the beginning if left out.
        optional to: Moment = "to",
        /// At most so many slots.
        optional first: u32 = "first" bounded(0, SLOTS_LISTED),
        /// Of this schedule only.
        optional schedule: IdText = "schedule-id",
    }
}

params! {
    /// An outage that is supposed.
    pub(super) Down {
        /// Suppose that the process is down from here on.
        optional from: Moment = "down-from",
        /// And is back then.
        optional until: Moment = "down-until",
    }
}

params! {
    /// What is explained.
    pub(super) Explained {
        /// The schedule.
        required schedule: IdText = "schedule-id",
    }
}

params! {
    /// When.
    pub(super) At {
        /// The instant. What matters now if left out.
        optional at: Moment = "at",
    }
}

/// What a forecast takes.
pub(super) const OF_FORECAST: Groups = &[Stretch::GROUP];
/// What a supposition takes: an outage, or a change of the schedule named.
pub(super) const OF_WHAT_IF: Groups =
    &[Stretch::GROUP, Down::GROUP, WhenParams::GROUP, ChangeParams::GROUP, Conditions::GROUP];
/// What an explanation takes.
pub(super) const OF_EXPLANATION: Groups = &[Explained::GROUP, At::GROUP];
/// What an explanation of a schedule that is at hand takes.
pub(super) const OF_OWN: Groups = &[At::GROUP];

pub(super) fn slot() -> Entity<Scheduler, u64> {
    let find: fn(View<'_>, &Value) -> Option<u64> = |view, key| {
        let number = u64::try_from(key.as_int()?).ok()?;
        view.coming(number).map(|_| number)
    };
    let entity = Entity::<Scheduler, u64>::new("slot", "reveille.slot/number", find)
        .doc("A slot to come, as a forecast sees it: as if nobody did anything more and turns took no time.")
        .whole(SLOT_WHOLE)
        .reads(
            own("reveille.slot/number", Type::Integer).doc("Tells the slots of one answer apart."),
            |_, number, _| Ok(integer(number)),
        )
        .reads(
            own("reveille.slot/slot", Type::Instant)
                .doc("The nominal instant; of several that are dealt with together the last."),
            |view, number, _| listed(view, number, |it| instant(it.coming.slot)),
        )
        .reads(
            own("reveille.slot/at", Type::Instant).doc("When something comes of it."),
            |view, number, _| listed(view, number, |it| instant(it.coming.at)),
        )
        .reads(
            own("reveille.slot/since", Type::Instant).doc("The first of the slots dealt with together."),
            |view, number, _| listed(view, number, |it| instant(it.coming.since)),
        )
        .reads(
            own("reveille.slot/count", Type::Integer).unit("slots").doc("How many slots it stands for."),
            |view, number, _| listed(view, number, |it| integer(it.coming.count)),
        );
    fate(entity)
}

fn fate(entity: Entity<Scheduler, u64>) -> Entity<Scheduler, u64> {
    entity
        .reads(
            own("reveille.slot/will", Type::Enum(Fate::NAMES)).doc("What becomes of it."),
            |view, number, _| listed(view, number, |it| Datum::Name(it.coming.will.name())),
        )
        .reads(
            own("reveille.slot/reason", Type::Enum(Reason::NAMES))
                .nullable()
                .doc("Why, where it does not simply fire."),
            |view, number, _| {
                listed(view, number, |it| maybe(it.coming.reason, |reason| Datum::Name(reason.name())))
            },
        )
        .reads(
            own("reveille.slot/rule", Type::String)
                .nullable()
                .doc("The guard's rule that holds its run, or refuses it; nil where none does."),
            |view, number, _| {
                listed(view, number, |it| maybe(it.coming.rule.as_deref().map(str::to_owned), Datum::shown))
            },
        )
        .reads(
            own("reveille.slot/schedule-id", Type::String).doc("Whose slot it is."),
            |view, number, _| listed(view, number, |it| Datum::shown(&it.coming.schedule)),
        )
        .reads(
            own("reveille.slot/schedule", Type::Reference("schedule")).nullable().doc("Whose slot it is."),
            |view, number, _| {
                let key = view.coming(number).and_then(|it| view.state.schedule_key(&it.coming.schedule));
                let key = key.filter(|key| view.schedule(*key).is_some());
                Ok(maybe(key, |key| Datum::Entity(Numbered::number(key))))
            },
        )
        .reads(
            own("reveille.slot/run-id", Type::String).nullable().doc("The id of its run, if it gets one."),
            |view, number, _| listed(view, number, |it| maybe(it.coming.run(), Datum::shown)),
        )
        .reads(
            own("reveille.slot/as-is", Type::Map)
                .nullable()
                .doc("Of a supposition: what becomes of the slot as things stand; nil where there is no such slot."),
            |view, number, _| {
                listed(view, number, |it| maybe(it.as_is.as_ref().and_then(Option::as_ref), |it| as_is(it).into()))
            },
        )
        .reads(
            own("reveille.slot/more?", Type::Boolean)
                .doc("Whether it is the last that is listed, and there are more behind it."),
            |view, number, _| listed(view, number, |it| Datum::Bool(it.more)),
        )
}

const SLOT_WHOLE: &[&str] = &[
    "reveille.slot/slot",
    "reveille.slot/at",
    "reveille.slot/schedule-id",
    "reveille.slot/will",
    "reveille.slot/reason",
    "reveille.slot/count",
    "reveille.slot/more?",
];

pub(super) fn explanation() -> Entity<Scheduler, u64> {
    let find: fn(View<'_>, &Value) -> Option<u64> = |view, key| {
        let number = u64::try_from(key.as_int()?).ok()?;
        view.explanation(number).map(|_| number)
    };
    let entity = Entity::<Scheduler, u64>::new("explanation", "reveille.explanation/number", find)
        .doc("Why something happened at an instant, or did not, or when it will.")
        .whole(EXPLANATION_WHOLE)
        .reads(
            own("reveille.explanation/number", Type::Integer)
                .doc("Tells the explanations of one answer apart."),
            |_, number, _| Ok(integer(number)),
        )
        .reads(
            own("reveille.explanation/schedule-id", Type::String).doc("The schedule asked about."),
            |view, number, _| explained(view, number, |it| Datum::shown(&it.schedule)),
        )
        .reads(
            own("reveille.explanation/asked", Type::Instant).doc("The instant asked about."),
            |view, number, _| explained(view, number, |it| instant(it.asked)),
        )
        .reads(
            own("reveille.explanation/verdict", Type::Enum(Verdict::NAMES))
                .doc("What became of the slot there, or why there is none."),
            |view, number, _| explained(view, number, |it| Datum::Name(it.verdict.name())),
        )
        .reads(
            own("reveille.explanation/reason", Type::Enum(Reason::NAMES))
                .nullable()
                .doc("Why, if something other than a plain delivery came of it."),
            |view, number, _| explained(view, number, |it| maybe(it.reason, |it| Datum::Name(it.name()))),
        );
    circumstances(entity)
}

fn circumstances(entity: Entity<Scheduler, u64>) -> Entity<Scheduler, u64> {
    entity
        .reads(
            own("reveille.explanation/slot", Type::Instant)
                .nullable()
                .doc("The slot explained: at the instant or near it, else the nearest that is known."),
            |view, number, _| explained(view, number, |it| maybe(it.slot, instant)),
        )
        .reads(
            own("reveille.explanation/run-id", Type::String)
                .nullable()
                .doc("Its run, if it got or gets one."),
            |view, number, _| explained(view, number, |it| maybe(it.run.as_ref(), Datum::shown)),
        )
        .reads(
            own("reveille.explanation/at", Type::Instant).nullable().doc("When it came to that, or will."),
            |view, number, _| explained(view, number, |it| maybe(it.at, instant)),
        )
        .reads(
            own("reveille.explanation/by", Type::String).nullable().doc(
                "Who wanted it so, where somebody did: called it off, paused or holds it, wanted it at once.",
            ),
            |view, number, _| explained(view, number, |it| maybe(it.by.as_ref(), Datum::shown)),
        )
        .reads(
            own("reveille.explanation/late-ms", Type::Integer)
                .nullable()
                .unit("ms")
                .doc("From the slot to the hand-over, or until now where there was none."),
            |view, number, _| explained(view, number, |it| maybe(it.late, |late| integer(late.millis()))),
        )
        .reads(
            own("reveille.explanation/obstacles", Type::Map)
                .many()
                .doc("What stood in the way, oldest first: at, reason, detail."),
            |view, number, _| explained(view, number, |it| obstacles(it).into()),
        )
        .reads(
            own("reveille.explanation/next-fire-at", Type::Instant)
                .nullable()
                .doc("The slot that comes next."),
            |view, number, _| explained(view, number, |it| maybe(it.next, instant)),
        )
        .reads(
            own("reveille.explanation/sentence", Type::String).doc("All of it in plain words."),
            |view, number, _| explained(view, number, |it| Datum::shown(it.sentence())),
        )
}

const EXPLANATION_WHOLE: &[&str] = &[
    "reveille.explanation/schedule-id",
    "reveille.explanation/asked",
    "reveille.explanation/verdict",
    "reveille.explanation/reason",
    "reveille.explanation/slot",
    "reveille.explanation/run-id",
    "reveille.explanation/at",
    "reveille.explanation/late-ms",
    "reveille.explanation/obstacles",
    "reveille.explanation/next-fire-at",
    "reveille.explanation/sentence",
];

/// Slots to come, for what the parameters ask.
pub(super) fn forecast<'a>(view: View<'a>, map: &Map) -> Read<'a> {
    let given = Given::new(map, OF_FORECAST).map_err(refused(FORECAST))?;
    let stretch = Stretch::read(&given).map_err(refused(FORECAST))?;
    let only = stretch.schedule.as_ref().map(schedule_of).transpose()?;
    let forecast = view.state.forecast(view.zones, view.now, &ask(view, &stretch, only.as_ref()));
    let last = forecast.slots.len().saturating_sub(1);
    let numbers = forecast.slots.into_iter().enumerate().map(|(place, coming)| {
        let more = forecast.cut && place == last;
        view.keep_coming(Listed { coming, as_is: None, more })
    });
    Ok(Datum::Entities(numbers.collect()))
}

/// Slots of which something else would become, for what the parameters suppose.
pub(super) fn what_if<'a>(view: View<'a>, map: &Map) -> Read<'a> {
    let given = Given::new(map, OF_WHAT_IF).map_err(refused(WHAT_IF))?;
    let stretch = Stretch::read(&given).map_err(refused(WHAT_IF))?;
    let schedule = stretch.schedule.as_ref().map(schedule_of).transpose()?;
    let Down { from, until } = Down::read(&given).map_err(refused(WHAT_IF))?;
    let change = Change::read(&given).map_err(refused(WHAT_IF))?;
    let supposed = match (from, until, &schedule) {
        (Some(from), Some(until), _) => WhatIf::Outage(Outage { from, until }),
        (None, None, Some(schedule)) => {
            let change = change.meaning(view.now.wall, view.zones)?.change;
            WhatIf::Change(schedule.clone(), Box::new(change))
        }
        (Some(_), None, _) | (None, Some(_), _) | (None, None, None) => {
            return Err(wrong("down-from", "given with down-until, or a schedule-id with a change"));
        }
    };
    let ask = ask(view, &stretch, None);
    let differences = view.state.what_if(view.zones, view.now, &ask, &supposed).map_err(|refusal| {
        ResolverError::new(refusal.to_string(), Map::new().with("hint", refusal.hint())).coded(refusal.code())
    })?;
    let last = differences.slots.len().saturating_sub(1);
    let numbers = differences.slots.into_iter().enumerate().filter_map(|(place, difference)| {
        let gone = |it: &Coming| Coming { will: Fate::Gone, reason: None, ..it.clone() };
        let coming = difference.would.or_else(|| difference.as_is.as_ref().map(gone));
        let more = differences.cut && place == last;
        Some(view.keep_coming(Listed { coming: coming?, as_is: Some(difference.as_is), more }))
    });
    Ok(Datum::Entities(numbers.collect()))
}

/// Explains a slot of the schedule that the parameters name.
pub(super) fn explain<'a>(view: View<'a>, map: &Map) -> Read<'a> {
    let given = Given::new(map, OF_EXPLANATION).map_err(refused(EXPLANATION))?;
    let schedule = schedule_of(&Explained::read(&given).map_err(refused(EXPLANATION))?.schedule)?;
    let At { at } = At::read(&given).map_err(refused(EXPLANATION))?;
    Ok(Datum::Entity(view.keep_explanation(view.explain(&schedule, at))))
}

/// Explains a slot of a schedule.
pub(super) fn explain_own<'a>(view: View<'a>, schedule: &ScheduleId, map: &Map) -> Read<'a> {
    let given = Given::new(map, OF_OWN).map_err(refused(EXPLANATION))?;
    let At { at } = At::read(&given).map_err(refused(EXPLANATION))?;
    Ok(Datum::Entity(view.keep_explanation(view.explain(schedule, at))))
}

fn ask<'v>(view: View<'v>, stretch: &Stretch, only: Option<&'v ScheduleId>) -> Ask<'v> {
    let default = Ask::of(view.scope, view.now.wall);
    let from = stretch.from.unwrap_or(default.from);
    let day = |from: Moment| from.checked_add(default.to.since(default.from)).unwrap_or(from);
    let to = stretch.to.unwrap_or_else(|| day(from));
    let first = stretch.first.and_then(|first| usize::try_from(first).ok()).unwrap_or(default.first);
    Ask { only, from, to, first, ..default }
}

fn schedule_of(id: &IdText) -> Result<ScheduleId, ResolverError> {
    ScheduleId::new(&id.0).map_err(|_| wrong("schedule-id", "the id of a schedule"))
}

fn wrong(name: &'static str, expected: &str) -> ResolverError {
    let kind = ParamFaultKind::Wrong { name, value: Value::Nil, expected: expected.to_owned() };
    ParamFault { path: Vec::new(), kind }.into_error(&"the question")
}

const FORECAST: &str = ":reveille/forecast";
const WHAT_IF: &str = ":reveille/what-if";
const EXPLANATION: &str = "an explanation";

fn as_is(coming: &Coming) -> Value {
    Map::new()
        .with("will", Value::keyword(coming.will.name()))
        .with("reason", coming.reason.map(|reason| Value::keyword(reason.name())))
        .with("at", shown::instant(coming.at))
        .into()
}

fn obstacles(explanation: &Explanation) -> Vec<Value> {
    let shown = explanation.obstacles.iter().map(|obstacle| {
        Map::new()
            .with("at", shown::instant(obstacle.at))
            .with("reason", Value::keyword(obstacle.reason.name()))
            .with("detail", obstacle.detail.as_deref())
            .into()
    });
    shown.collect()
}

fn listed<'a>(view: View<'a>, number: u64, read: impl FnOnce(&Listed) -> Datum<'static>) -> Read<'a> {
    let found: Option<Rc<Listed>> = view.coming(number);
    Ok(found.map_or(Datum::Nil, |it| read(&it)))
}

fn explained<'a>(view: View<'a>, number: u64, read: impl FnOnce(&Explanation) -> Datum<'static>) -> Read<'a> {
    Ok(view.explanation(number).map_or(Datum::Nil, |it| read(&it)))
}
