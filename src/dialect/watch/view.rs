//! The engine's records as watches, in the seed's words.
//!
//! The other direction is in `command.rs`. Invariant: nothing is cached here; a watch that was stopped is not shown.

use super::tool;
use crate::dialect::brief;
use crate::domain::{Dialect, Filter, Glimpse, Past, ScheduleId, SessionId, Trigger, WatchStatus};
use crate::edn::{Map, Value};
use crate::engine::{ScheduleRecord, State};

/// A watch, and its record.
#[derive(Clone, Copy, Debug)]
pub struct Watcher<'a> {
    record: &'a ScheduleRecord,
    /// What it is doing.
    pub(crate) status: WatchStatus,
}

impl<'a> Watcher<'a> {
    /// The watch of a record; `None` if it was stopped, or is no watch of these tools.
    pub(crate) fn of(record: &'a ScheduleRecord) -> Option<Watcher<'a>> {
        if record.schedule().dialect != Dialect::Watch || record.watch().is_none() {
            return None;
        }
        let status = WatchStatus::of(record.status());
        (status != WatchStatus::Stopped).then_some(Watcher { record, status })
    }

    /// Its id.
    pub(crate) fn id(&self) -> &'a ScheduleId {
        &self.record.schedule().id
    }

    fn filter(&self) -> Option<&'a Filter> {
        self.record.schedule().payload.call()?.filter.as_deref()
    }

    /// How many checks it has made, and of how many it has told.
    pub(super) fn counts(&self) -> (u64, u64) {
        self.record.watch().map_or((0, 0), |watch| (watch.tally.checks, watch.tally.told))
    }

    /// Its newest checks, the oldest of them first.
    pub(super) fn history(&self, last: usize) -> Vec<Past> {
        self.record.watch().map_or_else(Vec::new, |watch| watch.ring.latest(last))
    }

    /// The watch as an entry of a list.
    pub(super) fn summary(&self) -> Map {
        let schedule = self.record.schedule();
        let watch = self.record.watch();
        let when = self.filter().map_or("", |filter| tool::name_of(filter.when));
        let (checks, told) = self.counts();
        let interval =
            if let Trigger::Every(every) = &schedule.trigger { every.period().millis() } else { 0 };
        let max_checks = schedule.lifetime().max_runs.map_or(0, std::num::NonZeroU32::get);
        Map::new()
            .with("watcher_id", schedule.id.to_string())
            .with("tool_name", schedule.payload.text())
            .with("label", schedule.label.as_deref().unwrap_or_default())
            .with("status", Value::keyword(self.status.name()))
            .with("interval", seconds(interval))
            .with("notify_when", when)
            .with("max_checks", max_checks)
            .with("check_count", number(checks))
            .with("notify_count", number(told))
            .with("last_check_at", watch.and_then(|watch| watch.tally.checked_at).map(brief::instant))
            .with("last_error", watch.and_then(|watch| watch.last_error()).map(Value::from))
            .with("created_at", brief::instant(schedule.created_at))
    }

    /// The watch with all that is known of it.
    pub(super) fn details(&self) -> Map {
        let args = self.record.schedule().payload.call().map(|call| (*call.args).clone());
        let last = self.record.watch().and_then(|watch| watch.last.clone());
        let recent: Vec<Value> = self.history(RECENT).iter().map(past).collect();
        let details = self
            .summary()
            .with("params", args)
            .with("notify_config", self.filter().map(|filter| Value::Map(filter.config())))
            .with("last_result", last.and_then(|last| last.value.as_deref().cloned()))
            .with("recent_history", recent);
        self.noted(details)
    }

    /// Says which checks are counted and have no entry, if a restart has left some.
    pub(super) fn noted(&self, answer: Map) -> Map {
        match self.record.watch() {
            Some(watch) if !watch.ring.is_complete() => {
                answer.with("note", "checks before a restart are counted; what they came to is not kept")
            }
            Some(_) | None => answer,
        }
    }
}

/// The watches of a session: running ones, paused ones, others; each by creation.
pub fn watchers<'a>(state: &'a State, session: &SessionId) -> Vec<Watcher<'a>> {
    let mut all: Vec<Watcher<'_>> = state.schedules_of(session).into_iter().filter_map(Watcher::of).collect();
    all.sort_by_key(|watcher| (watcher.status, watcher.record.schedule().created_at));
    all
}

/// The watch of a session with this id.
pub fn watcher<'a>(state: &'a State, session: &SessionId, id: &ScheduleId) -> Option<Watcher<'a>> {
    let record = state.schedule(id).filter(|record| record.schedule().owner == *session)?;
    Watcher::of(record)
}

/// A number of seconds: whole if it is.
fn seconds(millis: u64) -> Value {
    if millis.is_multiple_of(1_000) {
        return number(millis / 1_000);
    }
    let text = format!("{}.{:03}", millis / 1_000, millis % 1_000);
    // Through its digits, because a cast to a float could lose some, and the lints forbid it.
    text.parse().map_or(Value::Nil, Value::Float)
}

pub(super) fn number(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Checks that are shown with a watch. Source: SEED-001.
const RECENT: usize = 5;

/// One check as an entry of a history.
pub(super) fn past(past: &Past) -> Value {
    let map = Map::new()
        .with("check_number", number(past.check))
        .with("timestamp", brief::instant(past.at))
        .with("notified", past.was_told);
    let map = match &*past.glimpse {
        Glimpse::Result(value) => map.with("result", (**value).clone()),
        Glimpse::Preview(preview) => map.with("result_preview", &**preview),
        Glimpse::Error(error) => map.with("error", &**error),
    };
    map.into()
}
