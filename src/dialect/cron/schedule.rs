//! When a job runs, in the seed's four kinds, and the trigger that each stands for.
//!
//! What lives elsewhere: slots (`calendar`). Invariant: a schedule that was read has slots; it may be that they all lie in
//! the past. Source: SEED-004, "Scheduling Model".

use super::shape::{instant, integer, with_some};
use super::words::{self, NO_WEEKDAYS, NOT_A_TIME};
use crate::dialect::args::{Arg, ArgError, Args};
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

/// Reads a schedule. Its kind says which fields there may be, so that is read first, whatever else is there.
pub(super) fn parse(arg: Arg<'_>) -> Result<Schedule, ArgError> {
    let kind = arg
        .open_map(&["kind"])?
        .required("kind", |kind| kind.one_of(ScheduleKind::NAMES, ScheduleKind::ALL))?;
    match kind {
        ScheduleKind::Once => {
            arg.map(&["kind", "at"])?.required("at", Arg::instant).map(|at| Schedule::Once { at })
        }
        ScheduleKind::Interval => {
            let args = arg.map(&["kind", "every_seconds", "anchor"])?;
            let seconds = args.required("every_seconds", |arg| arg.int_in(SECONDS_MIN, SECONDS_MAX))?;
            Ok(Schedule::Interval { period: Period { seconds }, anchor: args.opt("anchor", Arg::instant)? })
        }
        ScheduleKind::Daily => {
            let args = arg.map(&["kind", "time", "timezone"])?;
            Ok(Schedule::Daily { time: args.required("time", time)?, zone: zone(&args)? })
        }
        ScheduleKind::Weekly => {
            let args = arg.map(&["kind", "weekdays", "time", "timezone"])?;
            let weekdays = args.required("weekdays", weekdays)?;
            Ok(Schedule::Weekly { weekdays, time: args.required("time", time)?, zone: zone(&args)? })
        }
    }
}

fn time(arg: Arg<'_>) -> Result<TimeOfDay, ArgError> {
    let time = arg.value().as_str().and_then(|text| TimeOfDay::parse(text.trim()));
    time.ok_or_else(|| arg.breaks(NOT_A_TIME, ""))
}

/// Local, where nothing is said.
fn zone(args: &Args<'_>) -> Result<Zone, ArgError> {
    let zone = args.opt("timezone", |arg| {
        let text = arg.raw_text(limits::TEXT_BYTES)?;
        Zone::parse(text).map_err(|error| arg.breaks(words::zone(&error), error.to_string()))
    });
    Ok(zone?.unwrap_or(Zone::Local))
}

fn weekdays(arg: Arg<'_>) -> Result<Weekdays, ArgError> {
    let items: Vec<&Value> = match (arg.value().as_items(), arg.value().as_set()) {
        (Some(items), _) => items.iter().collect(),
        (None, Some(set)) => set.iter().collect(),
        (None, None) => Vec::new(),
    };
    // An error names the field and shows the day: the seed's lists have no places.
    let day = |item| arg.like(item).one_of(&DAY_NAMES, &DAYS);
    let days: Vec<Weekday> = items.into_iter().map(day).collect::<Result<_, _>>()?;
    Weekdays::new(days).ok_or_else(|| arg.breaks(NO_WEEKDAYS, ""))
}

fn short(day: Weekday) -> &'static str {
    &day.name()[..3]
}

const DAYS: [Weekday; 7] = [
    Weekday::Monday,
    Weekday::Tuesday,
    Weekday::Wednesday,
    Weekday::Thursday,
    Weekday::Friday,
    Weekday::Saturday,
    Weekday::Sunday,
];
/// Those of `DAYS`, in its order.
const DAY_NAMES: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const SECONDS_MIN: u64 = limits::PERIOD_MS_MIN.value / 1_000;
const SECONDS_MAX: u64 = limits::PERIOD_MS_MAX.value / 1_000;
