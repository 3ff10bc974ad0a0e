//! When a job runs, in the seed's four kinds, and the trigger that each stands for.
//!
//! What lives elsewhere: slots (`calendar`). Invariant: a schedule that was read has slots; it may be that they all lie in
//! the past. Source: SEED-004, "Scheduling Model".

use super::fault::{Fault, Problem};
use super::fields::{Fields, instant, integer, with_some, word_of};
use crate::domain::{
    Calendar, CountFrom, Every, Moment, Span, TimeOfDay, Trigger, Weekday, Weekdays, When, Zone, names,
};
use crate::edn::{Map, Value};
use crate::limits;

names! {
    /// A kind of schedule.
    ScheduleKind {
        /// At one instant.
        Once = "once",
        /// Every so many seconds.
        Interval = "interval",
        /// Every day at one time.
        Daily = "daily",
        /// On some days of the week at one time.
        Weekly = "weekly",
    }
}

/// When a job runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// At one instant.
    Once {
        /// The instant.
        at: Moment,
    },
    /// Every so often.
    Interval {
        /// How often.
        period: Period,
        /// Where the first slot is; one period after the job's creation, if it is absent.
        anchor: Option<Moment>,
    },
    /// Every day.
    Daily {
        /// At what time of day.
        time: TimeOfDay,
        /// On whose clock.
        zone: Zone,
    },
    /// On some days of the week.
    Weekly {
        /// On which days.
        weekdays: Weekdays,
        /// At what time of day.
        time: TimeOfDay,
        /// On whose clock.
        zone: Zone,
    },
}

/// A number of whole seconds from `limits::PERIOD_MS_MIN` to `limits::PERIOD_MS_MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period {
    seconds: u64,
}

impl Period {
    /// A period of so many seconds; `None` if it is out of bounds.
    pub fn new(seconds: u64) -> Option<Period> {
        (SECONDS_MIN..=SECONDS_MAX).contains(&seconds).then_some(Period { seconds })
    }

    /// Its length in seconds.
    pub const fn seconds(self) -> u64 {
        self.seconds
    }

    /// Its length.
    pub const fn span(self) -> Span {
        Span::from_millis(self.seconds * 1_000)
    }
}

impl Schedule {
    /// The trigger it stands for, in a job that was created at that moment.
    pub fn trigger(&self, created_at: Moment) -> Trigger {
        let calendar = |weekdays: Weekdays, time: &TimeOfDay, zone: &Zone| {
            Trigger::Calendar(Box::new(Calendar { weekdays, time: *time, zone: zone.clone() }))
        };
        match self {
            Schedule::Once { at } => Trigger::At(*at),
            Schedule::Interval { period, anchor } => {
                let first = anchor.or_else(|| created_at.checked_add(period.span())).unwrap_or(created_at);
                let every = Every::new(period.span(), first, CountFrom::Slot);
                every.expect("a period has the bounds of a trigger's, and is of whole seconds").into()
            }
            Schedule::Daily { time, zone } => calendar(Weekdays::DAILY, time, zone),
            Schedule::Weekly { weekdays, time, zone } => calendar(*weekdays, time, zone),
        }
    }

    /// What the engine is asked for, by a job that is created now. An interval without an anchor counts from the very moment
    /// of creation, which only the engine knows.
    pub fn when(&self, now: Moment) -> When {
        match self {
            Schedule::Interval { period, anchor: None } => When::Each(period.span()),
            Schedule::Once { .. }
            | Schedule::Interval { .. }
            | Schedule::Daily { .. }
            | Schedule::Weekly { .. } => When::By(self.trigger(now)),
        }
    }

    /// The schedule that a trigger is in the seed's words, in a job that was created at that moment; `None` for what those
    /// cannot say: cron, events, periods that count from the end of a run or are not of whole seconds. A weekly schedule on
    /// all seven days is a daily one.
    pub fn from_trigger(trigger: &Trigger, created_at: Moment) -> Option<Schedule> {
        match trigger {
            Trigger::At(at) => Some(Schedule::Once { at: *at }),
            Trigger::Every(every) => {
                let millis = every.period().millis();
                let is_sayable = every.from() == CountFrom::Slot && millis.is_multiple_of(1_000);
                let period = Period::new(millis / 1_000).filter(|_| is_sayable)?;
                let is_said = created_at.checked_add(period.span()) != Some(every.anchor());
                Some(Schedule::Interval { period, anchor: is_said.then(|| every.anchor()) })
            }
            Trigger::Calendar(calendar) => {
                let Calendar { weekdays, time, zone } = (**calendar).clone();
                Some(match weekdays {
                    Weekdays::DAILY => Schedule::Daily { time, zone },
                    weekdays => Schedule::Weekly { weekdays, time, zone },
                })
            }
            Trigger::Cron(..) | Trigger::Event(_) => None,
        }
    }

    /// Whether no slot is left for a job created at that moment: what lies before its creation was never missed.
    pub fn is_never_due(&self, created_at: Moment) -> bool {
        match self {
            Schedule::Once { at } => *at < created_at,
            Schedule::Interval { .. } | Schedule::Daily { .. } | Schedule::Weekly { .. } => false,
        }
    }

    /// On whose clock it is read, if that matters.
    pub fn zone(&self) -> Option<&Zone> {
        match self {
            Schedule::Daily { zone, .. } | Schedule::Weekly { zone, .. } => Some(zone),
            Schedule::Once { .. } | Schedule::Interval { .. } => None,
        }
    }

    /// Its kind.
    pub fn kind(&self) -> ScheduleKind {
        match self {
            Schedule::Once { .. } => ScheduleKind::Once,
            Schedule::Interval { .. } => ScheduleKind::Interval,
            Schedule::Daily { .. } => ScheduleKind::Daily,
            Schedule::Weekly { .. } => ScheduleKind::Weekly,
        }
    }

    /// In the seed's shape.
    pub(super) fn to_map(&self) -> Map {
        let map = Map::new().with("kind", Value::keyword(self.kind().name()));
        let clock = |map: Map, time: &TimeOfDay, zone: &Zone| {
            map.with("time", time.to_string()).with("timezone", zone.to_string())
        };
        match self {
            Schedule::Once { at } => map.with("at", instant(*at)),
            Schedule::Interval { period, anchor } => {
                with_some(map.with("every_seconds", integer(period.seconds)), "anchor", anchor.map(instant))
            }
            Schedule::Daily { time, zone } => clock(map, time, zone),
            Schedule::Weekly { weekdays, time, zone } => {
                let days: Vec<Value> = weekdays.days().map(|day| Value::keyword(short(day))).collect();
                clock(map.with("weekdays", days), time, zone)
            }
        }
    }
}

/// Reads the schedule that a field of `outer` holds, if it holds one.
pub(super) fn parse(outer: &Fields<'_>, name: &str) -> Result<Option<Schedule>, Problem> {
    let Some(value) = outer.get(name) else { return Ok(None) };
    let path = outer.path(name);
    // The kind says which fields there may be, so it is read first, whatever else is there.
    let kind = Fields::kind_of(value, &path, outer.notation())?;
    let kind = kind
        .word("kind", ScheduleKind::NAMES, ScheduleKind::parse)?
        .ok_or_else(|| Problem::new(&format!("{path}.kind"), Fault::Missing))?;
    let fields = |names| Fields::new(value, &path, outer.notation(), names);
    match kind {
        ScheduleKind::Once => fields(&["kind", "at"])?.required_moment("at").map(|at| Schedule::Once { at }),
        ScheduleKind::Interval => interval(&fields(&["kind", "every_seconds", "anchor"])?),
        ScheduleKind::Daily => {
            let fields = fields(&["kind", "time", "timezone"])?;
            Ok(Schedule::Daily { time: time(&fields)?, zone: zone(&fields)? })
        }
        ScheduleKind::Weekly => {
            let fields = fields(&["kind", "weekdays", "time", "timezone"])?;
            Ok(Schedule::Weekly { weekdays: weekdays(&fields)?, time: time(&fields)?, zone: zone(&fields)? })
        }
    }
    .map(Some)
}

fn interval(fields: &Fields<'_>) -> Result<Schedule, Problem> {
    let seconds = fields.whole("every_seconds", SECONDS_MIN, SECONDS_MAX)?;
    let period = seconds.and_then(Period::new);
    let period = period.ok_or_else(|| fields.problem("every_seconds", Fault::Missing))?;
    Ok(Schedule::Interval { period, anchor: fields.moment("anchor")? })
}

fn time(fields: &Fields<'_>) -> Result<TimeOfDay, Problem> {
    let value = fields.required("time")?;
    let time = value.as_str().and_then(|text| TimeOfDay::parse(text.trim()));
    time.ok_or_else(|| fields.problem("time", Fault::NotATime).with(value))
}

/// Local, where nothing is said.
fn zone(fields: &Fields<'_>) -> Result<Zone, Problem> {
    let Some(value) = fields.get("timezone") else { return Ok(Zone::Local) };
    let not_text = || fields.problem("timezone", Fault::NotText { found: value.type_name() }).with(value);
    let text = value.as_str().ok_or_else(not_text)?;
    Zone::parse(text).map_err(|error| fields.problem("timezone", Fault::Zone(error)).with(value))
}

fn weekdays(fields: &Fields<'_>) -> Result<Weekdays, Problem> {
    let value = fields.required("weekdays")?;
    let day = |item: &Value| {
        let day = word_of(item, fields.notation()).and_then(|word| long(&word));
        day.ok_or_else(|| fields.problem("weekdays", Fault::UnknownWord { known: &DAY_NAMES }).with(item))
    };
    let days: Option<Vec<Weekday>> = match (value.as_items(), value.as_set()) {
        (Some(items), _) => Some(items.iter().map(day).collect::<Result<_, _>>()?),
        (None, Some(set)) => Some(set.iter().map(day).collect::<Result<_, _>>()?),
        (None, None) => None,
    };
    days.and_then(Weekdays::new).ok_or_else(|| fields.problem("weekdays", Fault::NoWeekdays).with(value))
}

fn short(day: Weekday) -> &'static str {
    &day.name()[..3]
}

fn long(short_name: &str) -> Option<Weekday> {
    Weekday::ALL.iter().copied().find(|day| short(*day) == short_name)
}

const DAY_NAMES: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const SECONDS_MIN: u64 = limits::PERIOD_MS_MIN.value / 1_000;
const SECONDS_MAX: u64 = limits::PERIOD_MS_MAX.value / 1_000;
