//! The context in which a phrase is parsed: the current moment, the zone, and the time zone
//! database.

use super::error::PhraseError;
use super::words::cut;
use crate::calendar::clock::Shown;
use crate::calendar::pattern::SECONDS_PER_DAY;
use crate::calendar::{Warning, Zones};
use crate::domain::{Moment, TimeOfDay, Weekday, Zone};
use crate::edn::{civil_from_days, days_from_civil};

/// The moment and the zone that a phrase is relative to.
#[derive(Clone, Debug)]
pub struct PhraseContext<'a> {
    /// The moment at which the phrase was given.
    pub now: Moment,
    /// The zone whose clock is read, unless the phrase ends with another zone.
    pub zone: Zone,
    /// The time zone database that names of zones are looked up in.
    pub zones: &'a Zones,
}

impl PhraseContext<'_> {
    /// Returns the day that the zone's calendar shows, counted from 1970-01-01.
    pub(super) fn today(&self) -> i64 {
        let now = self.now.seconds();
        (now + self.zones.clock(&self.zone).offset_at(now)).div_euclid(SECONDS_PER_DAY)
    }

    /// Returns the instant of a time on a day, with a warning if the clock skips or repeats that
    /// time.
    pub(super) fn instant(
        &self,
        day: i64,
        time: TimeOfDay,
    ) -> Result<(Moment, Option<Warning>), PhraseError> {
        let second =
            i64::from(time.hour()) * 3_600 + i64::from(time.minute()) * 60 + i64::from(time.second());
        let asked = || -> Box<str> {
            let (year, month, day) = civil_from_days(day);
            format!("{year:04}-{month:02}-{day:02} {time} ({})", self.zone).into()
        };
        let shown = self.zones.clock(&self.zone).shows(day * SECONDS_PER_DAY + second);
        let (instant, warning) = match shown.ok_or(PhraseError::TooFar)? {
            Shown::Once(instant) => (instant, None),
            Shown::Never(instant) => (instant, Some(Warning::Gap { asked: asked() })),
            Shown::Twice(instant) => (instant, Some(Warning::Overlap { asked: asked() })),
        };
        Ok((Moment::new(instant, 0).ok_or(PhraseError::TooFar)?, warning))
    }

    /// Returns the number of days until a weekday, at least `least`.
    pub(super) fn days_until(&self, weekday: Weekday, least: i64) -> i64 {
        // 1970-01-01 was a Thursday, which is day 4.
        least + (i64::from(weekday.number()) - self.today() - 4 - least).rem_euclid(7)
    }

    /// Returns the first instant of a time of day that is ahead, on any day or on a weekday.
    pub(super) fn coming(
        &self,
        weekday: Option<Weekday>,
        time: TimeOfDay,
    ) -> Result<(Moment, Option<Warning>), PhraseError> {
        let days = |least| weekday.map_or(least, |weekday| self.days_until(weekday, least));
        let first = self.instant(self.today() + days(0), time)?;
        if first.0 > self.now { Ok(first) } else { self.instant(self.today() + days(1), time) }
    }

    /// Refuses an instant that is too far ahead, or has passed; the error then suggests the next
    /// instant at that time of day, or if it lies more than a day back, on that date of a later year: another day is
    /// another wish.
    pub(super) fn ahead(&self, asked: Moment) -> Result<Moment, PhraseError> {
        if asked.millis_since(self.now) > crate::limits::PERIOD_MS_MAX.value {
            return Err(PhraseError::TooFar);
        }
        if asked > self.now {
            return Ok(asked);
        }
        // The suggestion keeps the time of day as the zone's clock shows it.
        let clock = self.zones.clock(&self.zone);
        let reading = asked.seconds() + clock.offset_at(asked.seconds());
        let time = reading.rem_euclid(SECONDS_PER_DAY);
        let part = |number: i64| u8::try_from(number).unwrap_or_default();
        let time = TimeOfDay::new(part(time / 3_600), part(time / 60 % 60), part(time % 60));
        let time = time.unwrap_or(TimeOfDay::MIDNIGHT);
        let (today, that_day) = (self.today(), reading.div_euclid(SECONDS_PER_DAY));
        let days: Vec<i64> = if today - that_day <= 1 {
            (0..=2).map(|day| today + day).collect()
        } else {
            anniversaries(that_day, today).collect()
        };
        for day in days {
            let (next, _) = self.instant(day, time)?;
            if next > self.now {
                return Err(PhraseError::Past { asked, next, fix: cut(&self.print(next)) });
            }
        }
        Err(PhraseError::TooFar)
    }

    /// Prints an instant as the zone's clock shows it, with the offset, so that the text can be
    /// used as a phrase.
    pub(super) fn print(&self, moment: Moment) -> String {
        let offset = self.zones.clock(&self.zone).offset_at(moment.seconds());
        // ISO 8601 has no notation for an offset with seconds, which local mean times have: those
        // are printed in UTC.
        let local = Moment::new(moment.seconds() + offset, moment.nanos())
            .filter(|_| offset != 0 && offset % 60 == 0);
        let Some(local) = local else {
            return moment.to_string();
        };
        let minutes = offset.unsigned_abs() / 60;
        let sign = if offset < 0 { '-' } else { '+' };
        let text = local.to_string();
        format!("{}{sign}{:02}:{:02}", text.trim_end_matches('Z'), minutes / 60, minutes % 60)
    }
}

/// The days from `today` on that have the date of `day`: of this year and of the eight that follow, in which there is a 29
/// February.
fn anniversaries(day: i64, today: i64) -> impl Iterator<Item = i64> {
    let ((_, month, date), (this_year, ..)) = (civil_from_days(day), civil_from_days(today));
    let of_year = move |year| days_from_civil(year, month, date);
    // Most years have no 29 February: there the sum is the day after.
    let years = (this_year..=this_year + 8).filter(move |year| civil_from_days(of_year(*year)).2 == date);
    years.map(of_year).filter(move |day| *day >= today)
}
