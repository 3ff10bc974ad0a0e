//! Triggers: when the slots of a schedule are. Once, periodically, by the calendar, by cron, or at
//! an event.
//!
//! What lives elsewhere: computing the slots of a trigger (`calendar::Slots`), and its notations
//! (`calendar`). Invariant: every value has slots: a period is never zero, a set of weekdays never
//! empty, a cron expression never impossible.

use std::fmt;

use crate::domain::{Cron, JobId, Moment, Span, Zone, names};
use crate::limits;

/// When the slots of a schedule are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// One slot, at this instant.
    At(Moment),
    /// Periodic slots, counted in elapsed time. Boxed like the variants below, because most
    /// schedules have one slot.
    Every(Box<Every>),
    /// A slot at a time of day, on some days of the week.
    Calendar(Box<Calendar>),
    /// The slots of a cron expression, read on the clock of a zone.
    Cron(Box<Cron>, Box<Zone>),
    /// One slot, at the instant at which an event happens.
    Event(Box<Event>),
}

/// An event that a schedule waits for: a job of its session reports that it is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The job.
    pub job: JobId,
    /// The slot is at this instant if the job has not reported by then; `None` to wait without a
    /// bound.
    pub latest: Option<Moment>,
}

/// A period and the instant from which it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Every {
    period: Span,
    anchor: Moment,
    from: CountFrom,
}

names! {
    /// What a period counts from.
    CountFrom {
        /// The previous slot: the slots are on a fixed grid, however long runs take.
        Slot = "slot",
        /// The end of the previous run: runs of one schedule never overlap, and the slots drift.
        Finish = "finish",
    }
}

/// A time of day on some days of the week, in a zone. With all seven days it is a daily trigger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calendar {
    /// The days of the week.
    pub weekdays: Weekdays,
    /// The time of day.
    pub time: TimeOfDay,
    /// The zone whose clock is read.
    pub zone: Zone,
}

names! {
    /// A day of the week.
    Weekday {
        /// Sunday.
        Sunday = "sunday",
        /// Monday.
        Monday = "monday",
        /// Tuesday.
        Tuesday = "tuesday",
        /// Wednesday.
        Wednesday = "wednesday",
        /// Thursday.
        Thursday = "thursday",
        /// Friday.
        Friday = "friday",
        /// Saturday.
        Saturday = "saturday",
    }
}

/// A set of days of the week, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Weekdays {
    /// Bit 0 is Sunday, as in cron.
    bits: u8,
}

/// A time on the wall clock, to the second; no leap seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay {
    hour: u8,
    minute: u8,
    second: u8,
}

impl From<Every> for Trigger {
    fn from(every: Every) -> Trigger {
        Trigger::Every(Box::new(every))
    }
}

impl Trigger {
    /// Returns the zone on whose clock the slots are read. An instant, a period and an event have none: their slots do not move
    /// when clocks change.
    pub(crate) fn zone(&self) -> Option<&Zone> {
        match self {
            Trigger::At(_) | Trigger::Every(_) | Trigger::Event(_) => None,
            Trigger::Calendar(calendar) => Some(&calendar.zone),
            Trigger::Cron(_, zone) => Some(zone),
        }
    }

    /// The trigger on the clock of another zone; `None` if its slots are read on none.
    pub(crate) fn in_zone(&self, zone: &Zone) -> Option<Trigger> {
        match self {
            Trigger::At(_) | Trigger::Every(_) | Trigger::Event(_) => None,
            Trigger::Calendar(calendar) => {
                Some(Trigger::Calendar(Box::new(Calendar { zone: zone.clone(), ..**calendar })))
            }
            Trigger::Cron(cron, _) => Some(Trigger::Cron(cron.clone(), zone.clone().into())),
        }
    }

    /// Returns the instant that the definition names, if it names one.
    pub(crate) fn instant(&self) -> Option<Moment> {
        match self {
            Trigger::At(at) => Some(*at),
            Trigger::Every(every) => Some(every.anchor),
            Trigger::Event(event) => event.latest,
            Trigger::Calendar(_) | Trigger::Cron(..) => None,
        }
    }
}

impl Every {
    /// Makes a period of whole milliseconds, from `limits::PERIOD_MS_MIN` to
    /// `limits::PERIOD_MS_MAX`; `None` otherwise.
    pub fn new(period: Span, anchor: Moment, from: CountFrom) -> Option<Every> {
        // Stored and printed in milliseconds: a finer period would come back as another one.
        let is_whole = Span::from_millis(period.millis()) == period;
        let bounds = limits::PERIOD_MS_MIN.value..=limits::PERIOD_MS_MAX.value;
        (is_whole && bounds.contains(&period.millis())).then_some(Every { period, anchor, from })
    }

    /// Returns the time from one slot to the next.
    pub const fn period(self) -> Span {
        self.period
    }

    /// Returns the first point of the grid: slots are at the anchor and whole periods after it.
    pub const fn anchor(self) -> Moment {
        self.anchor
    }

    /// Returns what the period is counted from.
    pub const fn from(self) -> CountFrom {
        self.from
    }

    /// Returns the slot after a run that ended at `finish`, for [`CountFrom::Finish`]: one period
    /// later.
    pub(crate) fn after_finish(self, finish: Moment) -> Option<Moment> {
        finish.checked_add(self.period)
    }
}

impl Weekday {
    /// Returns the number of the day in cron: Sunday is 0.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Returns the day before.
    pub fn before(self) -> Weekday {
        // Six days ahead is one day back, without a number below zero.
        Weekday::ALL[(usize::from(self.number()) + 6) % Weekday::ALL.len()]
    }
}

impl Weekdays {
    /// Every day.
    pub const DAILY: Weekdays = Weekdays { bits: 0b111_1111 };
    /// Monday to Friday.
    pub const WORKDAYS: Weekdays = Weekdays { bits: 0b011_1110 };
    /// Saturday and Sunday.
    pub const WEEKEND: Weekdays = Weekdays { bits: 0b100_0001 };

    /// Makes a set of days; `None` if there is none.
    pub fn new(days: impl IntoIterator<Item = Weekday>) -> Option<Weekdays> {
        let bits = days.into_iter().fold(0, |bits, day| bits | 1 << day.number());
        (bits != 0).then_some(Weekdays { bits })
    }

    /// Returns whether the day is in the set.
    pub const fn contains(self, day: Weekday) -> bool {
        self.bits & (1 << day.number()) != 0
    }

    /// Returns the days, Monday first.
    pub fn days(self) -> impl Iterator<Item = Weekday> {
        // Monday first, because in the order of the bits a printed weekend would be torn apart.
        let monday_first = Weekday::ALL.iter().cycle().skip(1).take(Weekday::ALL.len());
        monday_first.copied().filter(move |day| self.contains(*day))
    }

    /// Returns the set as bits: bit 0 is Sunday.
    pub const fn bits(self) -> u8 {
        self.bits
    }
}

impl TimeOfDay {
    /// 00:00.
    pub const MIDNIGHT: TimeOfDay = TimeOfDay { hour: 0, minute: 0, second: 0 };

    /// 12:00.
    pub const NOON: TimeOfDay = TimeOfDay { hour: 12, minute: 0, second: 0 };

    /// Makes a time from 00:00:00 to 23:59:59; `None` otherwise.
    pub fn new(hour: u8, minute: u8, second: u8) -> Option<TimeOfDay> {
        // No leap second: a clock shows 23:59:60 once in years, and a schedule means every day.
        (hour < 24 && minute < 60 && second < 60).then_some(TimeOfDay { hour, minute, second })
    }

    /// Parses `H:MM`, `HH:MM` or `HH:MM:SS` by the 24-hour clock; `None` for anything else. Source:
    /// SEED-004.
    pub fn parse(text: &str) -> Option<TimeOfDay> {
        let mut parts = text.split(':');
        let hour = digits(parts.next()?, 1)?;
        let minute = digits(parts.next()?, 2)?;
        let second = parts.next().map_or(Some(0), |text| digits(text, 2))?;
        if parts.next().is_some() {
            return None;
        }
        TimeOfDay::new(hour, minute, second)
    }

    /// Returns the hour, 0 to 23.
    pub const fn hour(self) -> u8 {
        self.hour
    }

    /// Returns the minute, 0 to 59.
    pub const fn minute(self) -> u8 {
        self.minute
    }

    /// Returns the second, 0 to 59.
    pub const fn second(self) -> u8 {
        self.second
    }
}

/// Parses one or two digits, at least as many as `least`.
fn digits(text: &str, least: usize) -> Option<u8> {
    let is_number = (least..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.hour, self.minute)?;
        if self.second == 0 { Ok(()) } else { write!(f, ":{:02}", self.second) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: SEED-004's code: `H:MM`, `HH:MM` and `HH:MM:SS`; "24:00", "0800" and "8" are refused. A leap second,
    /// which its library takes, is refused here.
    #[test]
    fn times_of_day_read_as_the_seed_reads_them() {
        let check = |text: &str, expected: &str| {
            let answer = TimeOfDay::parse(text).map_or("refused".into(), |time| time.to_string());
            assert_eq!(answer, expected, "{text:?}");
        };
        check("8:00", "08:00");
        check("08:00", "08:00");
        check("23:59:59", "23:59:59");
        check("0:00", "00:00");
        for text in [
            "24:00",
            "0800",
            "8",
            "",
            "8:",
            "8:0",
            ":00",
            "08:00:60",
            "23:59:60",
            "08:00:00:00",
            "+8:00",
            "٨:٠٠",
        ] {
            check(text, "refused");
        }
    }

    #[test]
    fn periods_are_bounded() {
        let every = |period| Every::new(period, Moment::EPOCH, CountFrom::Slot);
        assert!(every(Span::from_millis(limits::PERIOD_MS_MIN.value)).is_some());
        assert!(every(Span::from_millis(limits::PERIOD_MS_MIN.value - 1)).is_none());
        assert!(every(Span::from_millis(limits::PERIOD_MS_MAX.value)).is_some());
        assert!(every(Span::from_millis(limits::PERIOD_MS_MAX.value + 1)).is_none());
        assert!(every(Span::from_nanos(1_000_000_001)).is_none());
        assert!(every(Span::from_nanos(u64::MAX)).is_none());
    }

    #[test]
    fn weekdays_are_never_empty() {
        assert_eq!(Weekdays::new([]), None);
        let all: Vec<_> = Weekdays::DAILY.days().map(Weekday::name).collect();
        assert_eq!((all[0], all[6]), ("monday", "sunday"));
        assert_eq!(Weekdays::new(Weekdays::WORKDAYS.days()), Some(Weekdays::WORKDAYS));
        assert!(Weekdays::WEEKEND.contains(Weekday::Sunday) && !Weekdays::WEEKEND.contains(Weekday::Monday));
    }
}
