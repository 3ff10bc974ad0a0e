//! The entities `slot` and `explanation`: what will happen, and why something happened or did not.
//!
//! Both are made during a query and live in its arena; their numbers mean nothing afterwards.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Read, attributes, instant, integer, maybe, own};
use crate::domain::{Code, Downtime, Moment, Reason, ScheduleId};
use crate::edn::{Keyword, Map, Value};
use crate::engine::{
    Explanation, ForecastQuery, ForecastSlot, Outage, ScheduleRecord, SlotOutcome, Verdict, WhatIf,
};
use crate::graph::mutation::{ChangeParams, ChangeRequest, Conditions, WhenParams};
use crate::graph::params::{CheckedParams, IdText, enums, field, params, refused};
use crate::graph::psi_terms;
use crate::graph::registry::{
    Datum, Entity, ParamFault, ParamFaultKind, ParamGroups, Record, ResolverError, RowKey, Type, ViewOf,
};
use crate::graph::view::{ForecastEntry, Scheduler};
use crate::limits;

type View<'a> = ViewOf<'a, Scheduler>;

params! {
    /// The range of a forecast.
    pub(super) ForecastParams {
        /// The start of the range. Now if omitted.
        optional from: Moment = "from",
        /// The end of the range. 24 hours after its start if omitted.
        optional to: Moment = "to",
        /// The largest number of slots to return.
        optional first: u32 = "first" bounded(0, SLOTS_LISTED),
        /// The largest number of slots of one schedule, so that one which fires every minute does not hide the others. No bound
        /// if omitted.
        optional each: u32 = "each" bounded(1, SLOTS_LISTED),
        /// The id of the only schedule to include. All schedules if omitted; for a session, its own.
        optional schedule: IdText = "schedule-id",
    }
}

params! {
    /// A hypothetical outage.
    pub(super) OutageParams {
        /// The start of a hypothetical outage of the process. Requires down-until.
        optional from: Moment = "down-from",
        /// The end of the hypothetical outage. Requires down-from.
        optional until: Moment = "down-until",
    }
}

params! {
    /// The schedule to explain.
    pub(super) ExplainParams {
        /// The id of the schedule.
        required schedule: IdText = "schedule-id",
    }
}

params! {
    /// The instant to explain.
    pub(super) AtParams {
        /// The instant to explain. If omitted, the explanation is about what matters now.
        optional at: Moment = "at",
    }
}

/// The parameters of a forecast.
pub(super) const OF_FORECAST: ParamGroups = &[ForecastParams::GROUP];
/// The parameters of a what-if query: an outage, or a change of the named schedule.
pub(super) const OF_WHAT_IF: ParamGroups =
    &[ForecastParams::GROUP, OutageParams::GROUP, WhenParams::GROUP, ChangeParams::GROUP, Conditions::GROUP];
/// The parameters of an explanation.
pub(super) const OF_EXPLANATION: ParamGroups = &[ExplainParams::GROUP, AtParams::GROUP];
/// The parameters of an explanation below a schedule.
pub(super) const OF_OWN: ParamGroups = &[AtParams::GROUP];

pub(super) fn slot() -> Entity<Scheduler, u64> {
    let find: fn(View<'_>, &Value) -> Option<u64> = |view, key| {
        let number = u64::try_from(key.as_int()?).ok()?;
        view.forecast_slot(number).map(|_| number)
    };
    let entity = Entity::<Scheduler, u64>::new("slot", "reveille.slot/number", find)
        .doc("An upcoming slot of a forecast, which assumes no further changes and turns that take no time.")
        .whole(SLOT_WHOLE);
    let entity = attributes! { entity, by listed;
        /// A number that distinguishes the slots of one answer.
        own "reveille.slot/number": Type::Integer => |_, number, _| Ok(integer(number));
        /// The nominal instant. Of several slots that are handled together, the last.
        own "reveille.slot/slot": Type::Instant => |it| instant(it.slot.slot);
        /// When the slot is handled: later than the slot itself if that is overdue.
        own "reveille.slot/at": Type::Instant => |it| instant(it.slot.at);
        /// The first of the slots that are handled together; equals slot if there is only one.
        own "reveille.slot/since": Type::Instant => |it| instant(it.slot.since);
        /// How many slots are handled together.
        own "reveille.slot/count": Type::Integer, unit("slots") => |it| integer(it.slot.count);
    };
    fate(entity)
}

fn fate(entity: Entity<Scheduler, u64>) -> Entity<Scheduler, u64> {
    attributes! { entity, by listed;
        /// The outcome of the slot.
        own "reveille.slot/will": Type::Enum(SlotOutcome::NAMES) => |it| Datum::Name(it.slot.outcome.name());
        /// Why it does not simply fire. Nil if it does.
        own "reveille.slot/reason": Type::Enum(Reason::NAMES), nullable =>
            |it| maybe(it.slot.reason, |reason| Datum::Name(reason.name()));
        /// The guard's rule that holds or refuses its run. Nil if none does.
        own "reveille.slot/rule": Type::String, nullable =>
            |it| maybe(it.slot.rule.as_deref().map(str::to_owned), Datum::shown);
        /// The id of the slot's schedule.
        own "reveille.slot/schedule-id": Type::String => |it| Datum::shown(&it.slot.schedule);
        /// The slot's schedule.
        own "reveille.slot/schedule": Type::Reference("schedule"), nullable => |view, number, _| {
            let key = view.forecast_slot(number).and_then(|it| view.state.schedule_key(&it.slot.schedule));
            let key = key.filter(|key| view.schedule(*key).is_some());
            Ok(maybe(key, |key| Datum::Entity(RowKey::number(key))))
        };
        /// The id of its run. Nil if it gets none.
        own "reveille.slot/run-id": Type::String, nullable => |it| maybe(it.slot.run(), Datum::shown);
        /// In a what-if query: the outcome of the slot without the change. Nil where there would be no such slot.
        own "reveille.slot/as-is": Type::Record(&AS_IS), nullable =>
            |it| maybe(it.as_is.as_ref().and_then(Option::as_ref), |it| as_is(it).into());
        /// Whether slots are left out after this one: of the whole list, if it is the last and the list was cut off; or of its
        /// schedule, by the parameter `each`, or because a what-if query has compared so many of its slots.
        own "reveille.slot/more?": Type::Boolean => |it| Datum::Bool(it.more);
    }
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
        .doc("Why something happened at an instant, did not, or when it will.")
        .whole(EXPLANATION_WHOLE);
    let entity = attributes! { entity, by explained;
        /// A number that distinguishes the explanations of one answer.
        own "reveille.explanation/number": Type::Integer => |_, number, _| Ok(integer(number));
        /// The id of the schedule in question.
        own "reveille.explanation/schedule-id": Type::String => |it| Datum::shown(&it.schedule);
        /// The instant in question.
        own "reveille.explanation/asked": Type::Instant => |it| instant(it.asked);
        /// The outcome of the slot at that instant, or why there is none.
        own "reveille.explanation/verdict": Type::Enum(Verdict::NAMES) => |it| Datum::Name(it.verdict.name());
        /// The reason. Nil where everything went as planned.
        own "reveille.explanation/reason": Type::Enum(Reason::NAMES), nullable =>
            |it| maybe(it.reason, |it| Datum::Name(it.name()));
    };
    circumstances(entity)
}

fn circumstances(entity: Entity<Scheduler, u64>) -> Entity<Scheduler, u64> {
    attributes! { entity, by explained;
        /// The slot that is explained: at the instant or near it, else the nearest on record. Nil if there is none.
        own "reveille.explanation/slot": Type::Instant, nullable => |it| maybe(it.slot, instant);
        /// The id of the slot's run. Nil if it has none.
        own "reveille.explanation/run-id": Type::String, nullable =>
            |it| maybe(it.run.as_ref(), Datum::shown);
        /// When the outcome occurred or will. Nil if unknown.
        own "reveille.explanation/at": Type::Instant, nullable => |it| maybe(it.at, instant);
        /// The actor who caused it by cancelling, pausing, holding or requesting a run. Nil if no actor did.
        own "reveille.explanation/by": Type::String, nullable => |it| maybe(it.by.as_ref(), Datum::shown);
        /// Milliseconds from the slot to the hand-over, or until now if there was none or the run waits again.
        own "reveille.explanation/late-ms": Type::Integer, nullable, unit("ms") =>
            |it| maybe(it.late, |late| integer(late.millis()));
        /// The time in which the process was down when the slot came. Nil if it was up, or nothing is known.
        own "reveille.explanation/down": Type::Record(&DOWN), nullable => |it| maybe(it.down, |it| down(it).into());
        /// How many slots its run stands for. Nil if it has none.
        own "reveille.explanation/slots": Type::Integer, nullable, unit("slots") =>
            |it| maybe((it.slots > 0).then_some(it.slots), integer);
        /// What delayed or prevented the run, oldest first: at, reason, detail.
        own "reveille.explanation/obstacles": Type::Record(&OBSTACLE), many => |it| obstacles(it).into();
        /// The schedule's next slot. Nil if there is none.
        own "reveille.explanation/next-fire-at": Type::Instant, nullable => |it| maybe(it.next, instant);
        /// The explanation in one or two sentences.
        own "reveille.explanation/sentence": Type::String => |it| Datum::shown(it.sentence());
    }
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

/// Forecasts the slots of the range that the parameters give.
pub(super) fn forecast<'a>(view: View<'a>, map: &Map) -> Read<'a> {
    let given = CheckedParams::of(map);
    let stretch = ForecastParams::read(&given).map_err(refused(FORECAST))?;
    let only = stretch.schedule.as_ref().map(schedule_of).transpose()?;
    in_order(&stretch, map)?;
    let forecast = view.state.forecast(view.zones, view.now, &ask(view, &stretch, only.as_ref()));
    let last = forecast.slots.len().saturating_sub(1);
    // The place of the last slot of each schedule: a later entry replaces an earlier one.
    let newest: BTreeMap<ScheduleId, usize> =
        forecast.slots.iter().enumerate().map(|(place, slot)| (slot.schedule.clone(), place)).collect();
    let numbers = forecast.slots.into_iter().enumerate().map(|(place, coming)| {
        // Only the last slot says that the list was cut off: a list of slots has no other place for it.
        let is_last_of_its = newest.get(&coming.schedule) == Some(&place);
        let more =
            forecast.cut && place == last || is_last_of_its && forecast.more.contains(&coming.schedule);
        view.keep_slot(ForecastEntry { slot: coming, as_is: None, more })
    });
    Ok(Datum::Entities(numbers.collect()))
}

/// Lists the slots whose outcome would differ under the assumption that the parameters give.
pub(super) fn what_if<'a>(view: View<'a>, map: &Map) -> Read<'a> {
    let given = CheckedParams::of(map);
    let stretch = ForecastParams::read(&given).map_err(refused(WHAT_IF))?;
    in_order(&stretch, map)?;
    let schedule = stretch.schedule.as_ref().map(schedule_of).transpose()?;
    let OutageParams { from, until } = OutageParams::read(&given).map_err(refused(WHAT_IF))?;
    let change = ChangeRequest::read(&given).map_err(refused(WHAT_IF))?;
    // Exactly one assumption: a complete outage, or a schedule to change.
    let supposed = match (from, until, &schedule) {
        (Some(from), Some(until), None) if until < from => {
            return Err(wrong(map, "down-until", "after :down-from"));
        }
        (Some(from), Some(until), None) => WhatIf::Outage(Outage { from, until }),
        (None, None, Some(schedule)) => {
            // What is wrong with a change says nothing of a schedule that is hidden from the caller.
            let shown = view.state.schedule(schedule).filter(|record| view.has(record));
            let present = shown.map(ScheduleRecord::schedule);
            let own = view.state.zone_of(present.map(|schedule| &schedule.owner));
            let of = (present.map(|schedule| &schedule.trigger), own);
            let change = change.parse(of, view.now.wall, view.zones)?.change;
            WhatIf::Change(schedule.clone(), Box::new(change))
        }
        (Some(_), Some(_), Some(_)) => {
            let expected = "given without an outage: either of them is the assumption";
            return Err(wrong(map, "schedule-id", expected));
        }
        // Without an assumption, nothing would differ.
        (None, None, None) if is_only_range(map) => return Ok(Datum::Entities(Vec::new())),
        (Some(_), None, _) | (None, Some(_), _) | (None, None, None) => {
            return Err(wrong(map, "down-from", "given with down-until, or a schedule-id with a change"));
        }
    };
    // A change of one schedule shifts no slot of another, and those of others would use up the list.
    let ask = ask(view, &stretch, schedule.as_ref());
    let differences = view.state.what_if(view.zones, view.now, &ask, &supposed).map_err(|refusal| {
        ResolverError::new(refusal.to_string(), Map::new().with("hint", refusal.hint())).coded(refusal.code())
    })?;
    // Only a slot can say that there are more, and without one the answer would be that nothing differs.
    if differences.cut && differences.slots.is_empty() && ask.first > 0 {
        let message = "whether anything would differ is unknown: there are too many slots before";
        let data = Map::new().with("hint", "ask about an earlier outage, or an earlier range");
        return Err(ResolverError::new(message, data).coded(Code::Limit));
    }
    let last = differences.slots.len().saturating_sub(1);
    let newest: BTreeMap<ScheduleId, usize> =
        differences.slots.iter().enumerate().map(|(place, it)| (it.schedule.clone(), place)).collect();
    let numbers = differences.slots.into_iter().enumerate().filter_map(|(place, difference)| {
        let is_last_of_its = newest.get(&difference.schedule) == Some(&place);
        let more = differences.cut && place == last
            || is_last_of_its && differences.more.contains(&difference.schedule);
        // A slot that the change removes has no outcome of its own; it is listed with its old instant as `gone`.
        let gone =
            |it: &ForecastSlot| ForecastSlot { outcome: SlotOutcome::Gone, reason: None, ..it.clone() };
        let coming = difference.would.map(skipped_with_others);
        let coming = coming.or_else(|| difference.as_is.as_ref().map(gone));
        Some(view.keep_slot(ForecastEntry { slot: coming?, as_is: Some(difference.as_is), more }))
    });
    Ok(Datum::Entities(numbers.collect()))
}

/// A slot whose time passes in an outage is skipped for a reader, also if its schedule would not have come to it by then.
fn skipped_with_others(slot: ForecastSlot) -> ForecastSlot {
    if slot.outcome != SlotOutcome::Gone || slot.reason.is_none() {
        return slot;
    }
    ForecastSlot { outcome: SlotOutcome::Skipped, ..slot }
}

/// Returns whether the parameters give no more than the range of a forecast.
fn is_only_range(given: &Map) -> bool {
    let of_range = |key: &Value| {
        let name = key.as_keyword().map(Keyword::name);
        ForecastParams::GROUP.params.iter().any(|param| Some(param.name) == name)
    };
    given.iter().all(|(key, _)| of_range(key))
}

/// Explains a slot of the schedule that the parameters name.
pub(super) fn explain<'a>(view: View<'a>, map: &Map) -> Read<'a> {
    let given = CheckedParams::of(map);
    let schedule = schedule_of(&ExplainParams::read(&given).map_err(refused(EXPLANATION))?.schedule)?;
    let AtParams { at } = AtParams::read(&given).map_err(refused(EXPLANATION))?;
    Ok(Datum::Entity(view.keep_explanation(view.explain(&schedule, at))))
}

/// Explains a slot of a given schedule.
pub(super) fn explain_own<'a>(view: View<'a>, schedule: &ScheduleId, map: &Map) -> Read<'a> {
    let given = CheckedParams::of(map);
    let AtParams { at } = AtParams::read(&given).map_err(refused(EXPLANATION))?;
    Ok(Datum::Entity(view.keep_explanation(view.explain(schedule, at))))
}

fn ask<'v>(view: View<'v>, stretch: &ForecastParams, only: Option<&'v ScheduleId>) -> ForecastQuery<'v> {
    let default = ForecastQuery::of(view.scope, view.now.wall);
    let from = stretch.from.unwrap_or(default.from);
    // A range without an end is as long as the default one, but counted from its own start.
    let day = |from: Moment| from.checked_add(default.to.since(default.from)).unwrap_or(from);
    let to = stretch.to.unwrap_or_else(|| day(from));
    let first = stretch.first.and_then(|first| usize::try_from(first).ok()).unwrap_or(default.first);
    let each = stretch.each.and_then(|each| usize::try_from(each).ok()).unwrap_or(default.each);
    ForecastQuery { only, from, to, first, each, ..default }
}

/// Refuses a range that is given and ends before it begins: an empty list would say that nothing fires. An end alone may have
/// passed, because time goes on between two questions.
fn in_order(stretch: &ForecastParams, given: &Map) -> Result<(), ResolverError> {
    match (stretch.from, stretch.to) {
        (Some(from), Some(to)) if to < from => Err(wrong(given, "to", "after :from")),
        _ => Ok(()),
    }
}

fn schedule_of(id: &IdText) -> Result<ScheduleId, ResolverError> {
    let given = Map::new().with("schedule-id", &*id.0);
    ScheduleId::new(&id.0).map_err(|_| wrong(&given, "schedule-id", "the id of a schedule"))
}

/// The error about a parameter, with the value that was given for it.
fn wrong(given: &Map, name: &'static str, expected: &str) -> ResolverError {
    let value = given.keyword(name).cloned().unwrap_or(Value::Nil);
    let kind = ParamFaultKind::Wrong { name, value, expected: expected.to_owned(), nearest: None };
    ParamFault { path: Vec::new(), kind }.into_error(&"the question")
}

const FORECAST: &str = ":reveille/forecast";
const WHAT_IF: &str = ":reveille/what-if";
const EXPLANATION: &str = "an explanation";

enums! {
    SlotOutcome = "slot-fate",
}

/// The fields of [`as_is`](fn@as_is).
const AS_IS: Record = Record {
    name: "as-is",
    doc: "The outcome of a slot without the assumed change.",
    params: &[
        field::<SlotOutcome>("will", "The outcome."),
        field::<Reason>("reason", "Why it does not simply fire. Nil if it does.").or_nil(),
        field::<Moment>("at", "When the slot is handled."),
    ],
};

fn as_is(coming: &ForecastSlot) -> Value {
    Map::new()
        .with("will", Value::keyword(coming.outcome.name()))
        .with("reason", coming.reason.map(|reason| Value::keyword(reason.name())))
        .with("at", psi_terms::instant(coming.at))
        .into()
}

/// The fields of a [`down`](fn@down).
const DOWN: Record = Record {
    name: "downtime",
    doc: "A time in which the process was down.",
    params: &[
        field::<Moment>("from", "The last moment at which the process is known to have lived."),
        field::<Moment>("until", "When the next one began to look at the clock."),
    ],
};

fn down(down: Downtime) -> Value {
    let Downtime { from, until } = down;
    Map::new().with("from", psi_terms::instant(from)).with("until", psi_terms::instant(until)).into()
}

/// The fields of each of the [`obstacles`](fn@obstacles).
const OBSTACLE: Record = Record {
    name: "obstacle",
    doc: "Something that delayed or prevented a run.",
    params: &[
        field::<Moment>("at", "When it began."),
        field::<Moment>("until", "When a hold or a pause that is over ended. Nil for anything else.")
            .or_nil(),
        field::<Reason>("reason", "The kind of obstacle."),
        field::<Box<str>>("detail", "Further detail. Nil if there is none.").or_nil(),
    ],
};

fn obstacles(explanation: &Explanation) -> Vec<Value> {
    let shown = explanation.obstacles.iter().map(|obstacle| {
        Map::new()
            .with("at", psi_terms::instant(obstacle.at))
            .with("until", obstacle.until.map(psi_terms::instant))
            .with("reason", Value::keyword(obstacle.reason.name()))
            .with("detail", obstacle.detail.as_deref())
            .into()
    });
    shown.collect()
}

fn listed<'a>(view: View<'a>, number: u64, read: impl FnOnce(&ForecastEntry) -> Datum<'static>) -> Read<'a> {
    // The arena lends no references while it may grow, so entries are shared.
    let found: Option<Rc<ForecastEntry>> = view.forecast_slot(number);
    Ok(found.map_or(Datum::Nil, |it| read(&it)))
}

fn explained<'a>(view: View<'a>, number: u64, read: impl FnOnce(&Explanation) -> Datum<'static>) -> Read<'a> {
    Ok(view.explanation(number).map_or(Datum::Nil, |it| read(&it)))
}

/// The limit on listed slots, in the type that a parameter's bound has.
#[expect(clippy::cast_possible_wrap, reason = "some thousands")]
pub(super) const SLOTS_LISTED: i64 = limits::SLOTS_LISTED.value as i64;
