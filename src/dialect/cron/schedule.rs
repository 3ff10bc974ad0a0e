//! The four kinds of schedules of the seed, and their conversion to and from triggers.
//!
//! Slots are computed in `calendar`. Invariant: a parsed schedule has slots, but they may all lie in the past.
//! Source: SEED-004, "Scheduling Model".

use super::shape::{instant, integer};
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
        /// Once, at one instant.
        Once = "once",
        /// Every given number of seconds.
        Interval = "interval",
        /// Every day at one time of day.
        Daily = "daily",
        /// On some weekdays at one time of day.
        Weekly = "weekly",
    }
}

/// When a job runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobSchedule {
    /// Once, at one instant.
    Once {
        /// The instant.
        at: Moment,
    },
    /// At a fixed interval.
    Interval {
        /// The length of the interval.
        period: Period,
        /// The first slot; by default, one period after the job's creation.
        anchor: Option<Moment>,
    },
    /// Every day at one time of day.
    Daily {
        /// The time of day.
        time: TimeOfDay,
        /// The zone of the clock.
        zone: Zone,
    },
    /// On some weekdays at one time of day.
    Weekly {
        /// The weekdays.
        weekdays: Weekdays,
        /// The time of day.
        time: TimeOfDay,
        /// The zone of the clock.
        zone: Zone,
    },
}

/// A number of whole seconds from `limits::PERIOD_MS_MIN` to `limits::PERIOD_MS_MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period {
    seconds: u64,
}

impl Period {
    /// Creates a period; `None` if it is out of bounds.
    pub fn new(seconds: u64) -> Option<Period> {
        (SECONDS_MIN..=SECONDS_MAX).contains(&seconds).then_some(Period { seconds })
    }

    /// The length as a span.
    pub(crate) const fn span(self) -> Span {
        Span::from_millis(self.seconds * 1_000)
    }
}

impl JobSchedule {
    /// The trigger of this schedule, for a job created at `created_at`.
    pub fn trigger(&self, created_at: Moment) -> Trigger {
        // A daily schedule is a weekly one on all seven days.
        let calendar = |weekdays: Weekdays, time: &TimeOfDay, zone: &Zone| {
            Trigger::Calendar(Box::new(Calendar { weekdays, time: *time, zone: zone.clone() }))
        };
        match self {
            JobSchedule::Once { at } => Trigger::At(*at),
            JobSchedule::Interval { period, anchor } => {
                // At the very end of the calendar there is no later instant, so creation itself has to do.
                let first = anchor.or_else(|| created_at.checked_add(period.span())).unwrap_or(created_at);
                let every = Every::new(period.span(), first, CountFrom::Slot);
                every.expect("a period has the bounds of a trigger's, and is of whole seconds").into()
            }
            JobSchedule::Daily { time, zone } => calendar(Weekdays::DAILY, time, zone),
            JobSchedule::Weekly { weekdays, time, zone } => calendar(*weekdays, time, zone),
        }
    }

    /// The timing of a new job created at `now`. An interval without an anchor counts from the exact time of
    /// creation, which only the engine knows.
    pub fn when(&self, now: Moment) -> When {
        match self {
            // The engine counts from its own time of creation; an anchor computed here would be too early.
            JobSchedule::Interval { period, anchor: None } => When::Each(period.span()),
            JobSchedule::Once { .. }
            | JobSchedule::Interval { .. }
            | JobSchedule::Daily { .. }
            | JobSchedule::Weekly { .. } => When::By(self.trigger(now)),
        }
    }

    /// Converts the trigger of a job created at `created_at` to a schedule; `None` if the seed has no such kind:
    /// cron, events, periods that count from the end of a run or are not whole seconds. A weekly schedule on all
    /// seven days becomes a daily one.
    pub fn from_trigger(trigger: &Trigger, created_at: Moment) -> Option<JobSchedule> {
        match trigger {
            Trigger::At(at) => Some(JobSchedule::Once { at: *at }),
            Trigger::Every(every) => {
                let millis = every.period().millis();
                let is_sayable = every.from() == CountFrom::Slot && millis.is_multiple_of(1_000);
                let period = Period::new(millis / 1_000).filter(|_| is_sayable)?;
                // An anchor at its default, one period after creation, is omitted.
                let is_said = created_at.checked_add(period.span()) != Some(every.anchor());
                Some(JobSchedule::Interval { period, anchor: is_said.then(|| every.anchor()) })
            }
            Trigger::Calendar(calendar) => {
                let Calendar { weekdays, time, zone } = (**calendar).clone();
                Some(match weekdays {
                    Weekdays::DAILY => JobSchedule::Daily { time, zone },
                    weekdays => JobSchedule::Weekly { weekdays, time, zone },
                })
            }
            Trigger::Cron(..) | Trigger::Event(_) => None,
        }
    }

    /// True if a job created at `created_at` has no slot left. Slots before its creation do not count as missed.
    pub fn is_never_due(&self, created_at: Moment) -> bool {
        match self {
            JobSchedule::Once { at } => *at < created_at,
            // These recur without an end, so a later slot always follows.
            JobSchedule::Interval { .. } | JobSchedule::Daily { .. } | JobSchedule::Weekly { .. } => false,
        }
    }

    /// The zone of the schedule; `None` if it does not depend on a clock.
    pub(crate) fn zone(&self) -> Option<&Zone> {
        match self {
            JobSchedule::Daily { zone, .. } | JobSchedule::Weekly { zone, .. } => Some(zone),
            JobSchedule::Once { .. } | JobSchedule::Interval { .. } => None,
        }
    }

    /// The kind of schedule.
    pub(crate) fn kind(&self) -> ScheduleKind {
        match self {
            JobSchedule::Once { .. } => ScheduleKind::Once,
            JobSchedule::Interval { .. } => ScheduleKind::Interval,
            JobSchedule::Daily { .. } => ScheduleKind::Daily,
            JobSchedule::Weekly { .. } => ScheduleKind::Weekly,
        }
    }

    /// The schedule with its instants to the second.
    pub(super) fn brief(self) -> JobSchedule {
        match self {
            JobSchedule::Once { at } => JobSchedule::Once { at: at.brief() },
            JobSchedule::Interval { period, anchor } => {
                JobSchedule::Interval { period, anchor: anchor.map(Moment::brief) }
            }
            JobSchedule::Daily { .. } | JobSchedule::Weekly { .. } => self,
        }
    }

    /// Prints the schedule in the seed's shape.
    pub(super) fn to_map(&self) -> Map {
        // The order of the keys is the seed's.
        let map = Map::new().with("kind", Value::keyword(self.kind().name()));
        let clock = |map: Map, time: &TimeOfDay, zone: &Zone| {
            map.with("time", time.to_string()).with("timezone", zone.to_string())
        };
        match self {
            JobSchedule::Once { at } => map.with("at", instant(*at)),
            JobSchedule::Interval { period, anchor } => {
                map.with("every_seconds", integer(period.seconds)).with_some("anchor", anchor.map(instant))
            }
            JobSchedule::Daily { time, zone } => clock(map, time, zone),
            JobSchedule::Weekly { weekdays, time, zone } => {
                let days: Vec<Value> = weekdays.days().map(|day| Value::keyword(short(day))).collect();
                clock(map.with("weekdays", days), time, zone)
            }
        }
    }
}

/// Reads a schedule. The kind determines the allowed fields, so it is read first, and the other keys are not checked
/// until then. `usual` is the zone of a schedule that names none.
pub(super) fn parse(arg: Arg<'_>, usual: &Zone) -> Result<JobSchedule, ArgError> {
    let kind = arg
        .open_map(&["kind"])?
        .required("kind", |kind| kind.one_of(ScheduleKind::NAMES, ScheduleKind::ALL))?;
    match kind {
        ScheduleKind::Once => {
            arg.map(&["kind", "at"])?.required("at", Arg::instant).map(|at| JobSchedule::Once { at })
        }
        ScheduleKind::Interval => {
            let args = arg.map(&["kind", "every_seconds", "anchor"])?;
            let seconds = args.required("every_seconds", |arg| arg.int_in(SECONDS_MIN, SECONDS_MAX))?;
            Ok(JobSchedule::Interval {
                period: Period { seconds },
                anchor: args.opt("anchor", Arg::instant)?,
            })
        }
        ScheduleKind::Daily => {
            let args = arg.map(&["kind", "time", "timezone"])?;
            Ok(JobSchedule::Daily { time: args.required("time", time)?, zone: zone(&args, usual)? })
        }
        ScheduleKind::Weekly => {
            let args = arg.map(&["kind", "weekdays", "time", "timezone"])?;
            let weekdays = args.required("weekdays", weekdays)?;
            Ok(JobSchedule::Weekly {
                weekdays,
                time: args.required("time", time)?,
                zone: zone(&args, usual)?,
            })
        }
    }
}

fn time(arg: Arg<'_>) -> Result<TimeOfDay, ArgError> {
    let time = arg.value().as_str().and_then(|text| TimeOfDay::parse(text.trim()));
    time.ok_or_else(|| arg.breaks(NOT_A_TIME, ""))
}

/// Reads the zone.
fn zone(args: &Args<'_>, usual: &Zone) -> Result<Zone, ArgError> {
    let zone = args.opt("timezone", |arg| {
        let text = arg.raw_text(limits::TEXT_BYTES)?;
        Zone::parse(text).map_err(|error| arg.breaks(words::zone(&error), error.to_string()))
    });
    Ok(zone?.unwrap_or_else(|| usual.clone()))
}

fn weekdays(arg: Arg<'_>) -> Result<Weekdays, ArgError> {
    let items: Vec<&Value> = match (arg.value().as_items(), arg.value().as_set()) {
        (Some(items), _) => items.iter().collect(),
        (None, Some(set)) => set.iter().collect(),
        // Anything but a list or a set is reported like an empty list.
        (None, None) => Vec::new(),
    };
    // An error names the field and shows the day, but has no index: the seed's paths have none.
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
/// The names of `DAYS`, in the same order.
const DAY_NAMES: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const SECONDS_MIN: u64 = limits::PERIOD_MS_MIN.value / 1_000;
const SECONDS_MAX: u64 = limits::PERIOD_MS_MAX.value / 1_000;
