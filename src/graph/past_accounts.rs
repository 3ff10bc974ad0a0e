//! What became of slots in the past, as far as the log has it: counted by quarters of an hour, shown by days of a zone.
//!
//! What lives elsewhere: counting (`service/as_of.rs`), the request for it (`log_lookback`). Invariant: a day whose facts are
//! not all in the log says so.

use std::collections::BTreeMap;

use super::params::field;
use super::registry::{Param, ParamType, Record};
use crate::calendar::Zones;
use crate::domain::{Moment, Zone};
use crate::edn::{Map, Value};
use crate::engine::Outcomes;
use crate::limits;

/// Outcomes by quarters of an hour.
#[derive(Clone, Debug, Default)]
pub struct PastAccounts {
    /// By the number of the quarter since 1970. The clocks of all zones differ by whole quarters.
    quarters: BTreeMap<i64, Outcomes>,
    /// Facts before this instant may be missing; `None` if none are.
    complete_since: Option<Moment>,
}

impl PastAccounts {
    /// Adds what happened at an instant.
    pub fn add(&mut self, at: Moment, outcomes: &Outcomes) {
        if *outcomes != Outcomes::default() {
            self.quarters.entry(at.seconds().div_euclid(QUARTER)).or_default().add(outcomes);
        }
    }

    /// Records that facts before an instant may be missing.
    pub fn lacks_before(&mut self, at: Moment) {
        // The latest gap counts, because every day before it may lack something. `None` is less than any instant.
        self.complete_since = self.complete_since.max(Some(at));
    }

    /// Returns the days on which something ended, oldest first, at most as many as the log retains.
    pub(super) fn days(&self, zones: &Zones, zone: &Zone) -> Value {
        let mut days: BTreeMap<Box<str>, (Outcomes, bool)> = BTreeMap::new();
        let begin = |quarter: i64| Moment::new(quarter.saturating_mul(QUARTER), 0);
        let since = self.complete_since.map(|since| zones.day(zone, since));
        for (quarter, outcomes) in &self.quarters {
            let Some(at) = begin(*quarter) else { continue };
            let day = zones.day(zone, at);
            // The day on which the complete part begins lacks its own beginning, so only later days are complete.
            let is_complete = since.as_ref().is_none_or(|since| day > *since);
            // All quarters of one day have one flag, so that of the first quarter stays.
            let (sum, _) = days.entry(day).or_insert((Outcomes::default(), is_complete));
            sum.add(outcomes);
        }
        // A period of so many days touches one calendar day more.
        let most = usize::try_from(limits::HISTORY_DAYS.value).unwrap_or(usize::MAX).saturating_add(1);
        let surplus = days.len().saturating_sub(most);
        let row = |(day, (sum, is_complete)): (Box<str>, (Outcomes, bool))| {
            let count = |count: u64| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
            let map = Map::new()
                .with("day", &*day)
                .with("zone", zone.to_string())
                .with("delivered", count(sum.delivered))
                .with("left", count(sum.left))
                .with("skipped", count(sum.skipped))
                .with("cancelled", count(sum.cancelled))
                .with("failed", count(sum.failed))
                .with("lost", count(sum.lost))
                .with("complete?", is_complete);
            Value::from(map)
        };
        Value::vector(days.into_iter().skip(surplus).map(row).collect::<Vec<Value>>())
    }
}

/// The fields of each of the days.
pub(super) const DAY: Record = Record {
    name: "day-accounting",
    doc: "What became of the slots of durable schedules on one day, and of the volatile ones that were lost.",
    params: &[
        field::<Box<str>>("day", "The date, such as 2026-04-22."),
        field::<Box<str>>(
            "zone",
            "The zone whose midnights divide the days: the configured one, else the machine's.",
        ),
        Param::shown("delivered", ParamType::NATURAL, "Slots that were delivered, or taken out of an inbox."),
        Param::shown(
            "left",
            ParamType::NATURAL,
            "Slots whose messages were left in an inbox. One that is taken later is delivered, too, on the day of that.",
        ),
        Param::shown("skipped", ParamType::NATURAL, "Slots that passed without a run of their own."),
        Param::shown("cancelled", ParamType::NATURAL, "Slots that were cancelled."),
        Param::shown("failed", ParamType::NATURAL, "Slots whose runs failed."),
        Param::shown("lost", ParamType::NATURAL, "Volatile slots that a start on this day found lost."),
        field::<bool>(
            "complete?",
            "Whether all facts of the day are in the log. If not, the numbers are too small.",
        ),
    ],
};

const QUARTER: i64 = 15 * 60;
