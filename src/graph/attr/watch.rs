//! The entity `watch`: a schedule that calls a tool again and again, and what it remembers. Its number is that of the schedule.

use super::{Read, attributes, instant, integer, maybe, own, text};
use crate::domain::{
    Call, Edge, Filter, Glimpse, Moment, NotifyWhen, Outcome, Past, ScheduleId, Tally, Trigger, Watch,
    WatchStatus,
};
use crate::edn::{Map, Value};
use crate::engine::{Key, ScheduleRecord, json_line};
use crate::graph::listing::{self, Whose};
use crate::graph::params::field;
use crate::graph::psi_terms;
use crate::graph::registry::{Datum, Entity, Param, ParamType, Record, ResolverError, RowKey, Type, ViewOf};
use crate::graph::view::Scheduler;
use crate::limits;

/// Lists watches: their numbers.
///
/// # Errors
/// Returns a parameter that is invalid.
pub(super) fn list(
    view: ViewOf<'_, Scheduler>,
    whose: Whose,
    params: &Map,
) -> Result<Vec<u64>, ResolverError> {
    let is_watch = |record: &ScheduleRecord| record.watch().is_some();
    Ok(listing::schedules_that(view, whose, params, is_watch)?.numbers)
}

pub(super) fn watch() -> Entity<Scheduler, Key> {
    let find: fn(ViewOf<'_, Scheduler>, &Value) -> Option<Key> = |view, key| {
        let key = view.state.schedule_key(&ScheduleId::new(text(key)?).ok()?)?;
        view.schedule(key)?.watch().map(|_| key)
    };
    let entity = Entity::<Scheduler, Key>::new("watch", "reveille.watch/id", find)
        .doc("A watch: calls a tool repeatedly and notifies its session of the results that matter.")
        .whole(WHOLE);
    remembered(asked(entity))
}

/// Declares what a watch is asked to do.
fn asked(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity, by read;
        /// The id of the watch, which is that of its schedule.
        own "reveille.watch/id": Type::String => |it| Datum::Shown(&it.record.schedule().id);
        /// Its schedule, with its runs.
        own "reveille.watch/schedule": Type::Reference("schedule") =>
            |_, key, _| Ok(Datum::Entity(RowKey::number(key)));
        /// The id of the session that is notified.
        own "reveille.watch/session-id": Type::String =>
            |it| Datum::Text(it.record.schedule().owner.as_str());
        /// The tool that is called.
        own "reveille.watch/tool": Type::String => |it| Datum::Text(it.call.tool.as_str());
        /// A name for people. Nil if not given.
        own "reveille.watch/label": Type::String, nullable =>
            |it| maybe(it.record.schedule().label.as_deref(), Datum::Text);
        /// What it is doing.
        own "reveille.watch/status": Type::Enum(WatchStatus::NAMES) =>
            |it| Datum::Name(WatchStatus::of(it.record.status()).name());
        /// The strategy that decides which checks are notified.
        own "reveille.watch/notify-when": Type::Enum(NotifyWhen::NAMES) => |it| Datum::Name(it.filter.when.name());
        /// The settings of that strategy.
        own "reveille.watch/notify-config": Type::Map => |it| Value::Map(it.filter.config()).into();
        /// The time between two checks. Nil if another trigger than a period makes them.
        own "reveille.watch/interval-ms": Type::Integer, nullable, unit("ms") => |it| {
            match &it.record.schedule().trigger {
                Trigger::Every(every) => integer(every.period().millis()),
                Trigger::At(_) | Trigger::Cron(..) | Trigger::Calendar(_) | Trigger::Event(_) => Datum::Nil,
            }
        };
        /// How many checks it makes at most. Nil for no bound.
        own "reveille.watch/max-checks": Type::Integer, nullable, unit("checks") =>
            |it| maybe(it.record.schedule().lifetime().max_runs, |most| integer(most.get().into()));
    }
}

/// Declares what a watch remembers.
fn remembered(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity, by read;
        /// How many checks it has made.
        own "reveille.watch/check-count": Type::Integer, unit("checks") => |it| integer(it.watch.tally.checks);
        /// How many checks were notified.
        own "reveille.watch/told-count": Type::Integer, unit("checks") => |it| integer(it.watch.tally.told);
        /// How many checks in a row have failed, the newest included. 0 if that worked.
        own "reveille.watch/failed-in-row": Type::Integer, unit("checks") =>
            |it| Datum::Int(it.watch.tally.errors.checks.into());
        /// Whether its condition held at the newest check; with another edge than level, when that was last settled. Nil
        /// without a condition, and before that.
        own "reveille.watch/condition-holds?": Type::Boolean, nullable =>
            |it| maybe(condition_holds(it.filter.edge, &it.watch.tally), Datum::Bool);
        /// When it last made a check. Nil before the first.
        own "reveille.watch/checked-at": Type::Instant, nullable =>
            |it| maybe(it.watch.tally.checked_at, instant);
        /// When a check last worked. Nil before that.
        own "reveille.watch/worked-at": Type::Instant, nullable => |it| maybe(it.watch.tally.ok_at, instant);
        /// When the result last differed from that of the check before; the first check counts. Nil before it.
        own "reveille.watch/changed-at": Type::Instant, nullable => |it| maybe(it.watch.tally.changed_at, instant);
        /// When the session was last notified. Nil before that.
        own "reveille.watch/told-at": Type::Instant, nullable => |it| maybe(it.watch.tally.told_at, instant);
        /// The error of the newest check. Nil if it worked, and before the first.
        own "reveille.watch/last-error": Type::String, nullable =>
            |it| maybe(it.watch.last_error(), Datum::Text);
        /// What the tool answered at the newest check, if that was kept. Nil otherwise.
        own "reveille.watch/last-value": Type::Any, nullable =>
            |it| maybe(it.last().and_then(|last| last.value.as_deref()), |value| value.clone().into());
        /// The newest checks, the oldest of them first.
        own "reveille.watch/checks": Type::Record(&CHECK), many => |it| {
            let most = usize::try_from(limits::WATCH_HISTORY.value).unwrap_or(usize::MAX);
            it.watch.ring.latest(most).iter().map(check).collect::<Vec<Value>>().into()
        };
    }
}

/// The attributes of a watch that is asked for as a whole.
const WHOLE: &[&str] = &[
    "reveille.watch/id",
    "reveille.watch/session-id",
    "reveille.watch/tool",
    "reveille.watch/label",
    "reveille.watch/status",
    "reveille.watch/notify-when",
    "reveille.watch/interval-ms",
    "reveille.watch/check-count",
    "reveille.watch/told-count",
    "reveille.watch/checked-at",
    "reveille.watch/last-error",
];

/// The fields of [`check`].
const CHECK: Record = Record {
    name: "check",
    doc: "One check of a watch.",
    params: &[
        Param::shown("check", ParamType::NATURAL, "The number of the check, from 1."),
        field::<Moment>("at", "When it ended."),
        field::<bool>("told?", "Whether the session was notified of it."),
        field::<Box<str>>(
            "result",
            "What the tool answered, as JSON, or the beginning of a long answer. Nil if the check failed.",
        )
        .or_nil(),
        field::<Box<str>>("error", "Why the check failed. Nil if it worked.").or_nil(),
    ],
};

fn check(past: &Past) -> Value {
    let map = Map::new()
        .with("check", i64::try_from(past.check).unwrap_or(i64::MAX))
        .with("at", psi_terms::instant(past.at))
        .with("told?", past.was_told);
    let (result, error) = match &*past.glimpse {
        Glimpse::Result(value) => (Some(json_line(value)), None),
        Glimpse::Preview(preview) => (Some(preview.to_string()), None),
        Glimpse::Error(error) => (None, Some(&**error)),
    };
    map.with("result", result).with("error", error).into()
}

/// A watch, in the parts that its attributes are read from.
struct WatchParts<'a> {
    record: &'a ScheduleRecord,
    call: &'a Call,
    filter: &'a Filter,
    watch: &'a Watch,
}

impl<'a> WatchParts<'a> {
    fn of(record: &'a ScheduleRecord) -> Option<WatchParts<'a>> {
        let call = record.schedule().payload.call()?;
        Some(WatchParts { record, call, filter: call.filter.as_deref()?, watch: record.watch()? })
    }

    fn last(&self) -> Option<&'a Outcome> {
        self.watch.last.as_deref()
    }
}

/// Reads an attribute of a watch; nil if it does not exist for the caller.
fn read<'a>(
    view: ViewOf<'a, Scheduler>,
    key: Key,
    attribute: impl FnOnce(WatchParts<'a>) -> Datum<'a>,
) -> Read<'a> {
    Ok(view.schedule(key).and_then(WatchParts::of).map_or(Datum::Nil, attribute))
}

fn condition_holds(edge: Edge, tally: &Tally) -> Option<bool> {
    // By level nothing is settled between two notifications, but one of the two streaks goes on.
    match edge {
        Edge::Level if tally.yes.checks > 0 => Some(true),
        Edge::Level if tally.no.checks > 0 => Some(false),
        Edge::Level => None,
        Edge::Rising | Edge::Falling | Edge::Both => tally.signal,
    }
}
