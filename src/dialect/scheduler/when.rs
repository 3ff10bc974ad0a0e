//! The `when` of SEED-001: `in 5m`, an ISO instant, or a cron expression. The first form that a text looks like is the one that
//! it is read as, so its error is of that form.

use crate::calendar::{CronError, PhraseContext, Understood, Warning, Zones, parse_cron, understand};
use crate::domain::{Cron, Moment, Span, When, Zone};
use crate::limits;

/// When a call is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobWhen {
    /// Once, after so long.
    After(Span),
    /// Once, at this instant.
    At(Moment),
    /// Again and again, on the clock of a zone.
    Cron(Cron),
}

/// Why a text is no `when`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhenError {
    /// `in` with something that is no delay behind it.
    #[error("it is no delay: write in, a whole number, and one of s m h d")]
    Delay,
    /// A delay below the least.
    #[error("the delay is too short: at least {} s", limits::JOB_SECONDS_MIN.value)]
    TooShort,
    /// A delay above the longest.
    #[error("the delay is too large: at most {} s, which are 10 years", limits::JOB_SECONDS_MAX.value)]
    TooLarge,
    /// It looks like an instant and is none.
    #[error("it is no ISO 8601 timestamp")]
    Iso,
    /// An instant that is over.
    #[error("{0} is in the past")]
    Past(Moment),
    /// An instant that is too far ahead.
    #[error("{0} is too far in the future: at most 10 years")]
    TooFar(Moment),
    /// Neither a delay nor an instant, and no cron expression.
    #[error("{}", no_cron(.0))]
    Cron(CronError),
}

impl WhenError {
    /// Whether the text was understood, and names a time that is outside the bounds.
    pub(crate) const fn is_understood(&self) -> bool {
        match self {
            WhenError::TooShort | WhenError::TooLarge | WhenError::Past(_) | WhenError::TooFar(_) => true,
            WhenError::Delay | WhenError::Iso | WhenError::Cron(_) => false,
        }
    }

    /// Returns what the caller can do about it.
    pub(crate) fn hint(&self) -> String {
        match self {
            WhenError::Delay | WhenError::TooShort | WhenError::TooLarge => {
                "write a delay such as in 5m".to_owned()
            }
            WhenError::Iso => "write date, T, time, and offset, such as 2026-04-15T09:00:00Z".to_owned(),
            WhenError::Past(_) => "write a later instant, or a delay such as in 5m".to_owned(),
            WhenError::TooFar(_) => "write an earlier instant, at most 10 years ahead".to_owned(),
            WhenError::Cron(CronError::FieldCount { .. }) => FORMS.to_owned(),
            WhenError::Cron(error) => error.hint().to_owned(),
        }
    }
}

fn no_cron(error: &CronError) -> String {
    // Words, as a rule: nothing says that cron was meant.
    if matches!(error, CronError::FieldCount { .. }) {
        return "it is no delay, no instant, and no cron expression".to_owned();
    }
    format!("it is no cron expression: {error}")
}

/// Parses a `when`, as of this moment.
///
/// # Errors
/// [`WhenError`], of the form that the text looks like.
pub(crate) fn parse_when(text: &str, now: Moment) -> Result<JobWhen, WhenError> {
    let text = text.trim();
    if let Some(delay) = text.strip_prefix("in").filter(|rest| rest.starts_with(char::is_whitespace)) {
        return after(delay.trim());
    }
    if has_year(text) && text.contains(['T', 't']) {
        return at(text, now);
    }
    parse_cron(text).map(JobWhen::Cron).map_err(WhenError::Cron)
}

/// Whether a text begins as a date does. Letters and hyphens alone do not tell: `0 9 * * tue-sat` has both.
fn has_year(text: &str) -> bool {
    let year = text.split_once('-').map(|(year, _)| year.as_bytes());
    year.is_some_and(|year| year.len() == YEAR_DIGITS && year.iter().all(u8::is_ascii_digit))
}

/// Parses a `when` of which a timestamp without an offset is read on the clock of a zone, as of this moment. The warnings are of
/// a time that this clock leaves out, or shows twice.
///
/// # Errors
/// [`WhenError`], of the form that the text looks like.
pub(super) fn parse_when_in(
    text: &str,
    now: Moment,
    (zone, zones): (&Zone, &Zones),
) -> Result<(JobWhen, Vec<Warning>), WhenError> {
    let when = parse_when(text, now);
    // The offset is looked for in the time alone, because the date has hyphens too.
    let time = text.trim().split_once(['T', 't']).map(|(_, time)| time);
    let has_offset = time.is_none_or(|time| time.contains(['Z', 'z', '+', '-']));
    let Some(reading) = instant(&text.trim().to_ascii_uppercase()).filter(|_| !has_offset) else {
        return when.map(|when| (when, Vec::new()));
    };
    // Read as if it lay ahead, because whether it does is asked of the instant that the zone's clock means.
    let before = Moment::new(reading.seconds().saturating_sub(TWO_DAYS), 0).unwrap_or(Moment::EPOCH);
    let phrase = text.trim().replace(['T', 't'], " ");
    match understand(&phrase, &PhraseContext { now: before, zone: zone.clone(), zones }) {
        Ok(Understood { meant: When::At(moment), warnings, .. }) => Ok((in_time(moment, now)?, warnings)),
        Ok(_) | Err(_) => Err(WhenError::Iso),
    }
}

fn after(delay: &str) -> Result<JobWhen, WhenError> {
    let end = delay.find(|next: char| !next.is_ascii_digit()).ok_or(WhenError::Delay)?;
    let (digits, unit) = delay.split_at(end);
    let unit = match unit.trim_start() {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(WhenError::Delay),
    };
    if digits.is_empty() {
        return Err(WhenError::Delay);
    }
    // A number of more digits than fit is too large, whatever it is.
    let seconds = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    match seconds {
        Some(seconds) if seconds < limits::JOB_SECONDS_MIN.value => Err(WhenError::TooShort),
        Some(seconds) if seconds <= limits::JOB_SECONDS_MAX.value => {
            Ok(JobWhen::After(Span::from_millis(seconds * 1_000)))
        }
        Some(_) | None => Err(WhenError::TooLarge),
    }
}

fn at(text: &str, now: Moment) -> Result<JobWhen, WhenError> {
    in_time(instant(&text.to_ascii_uppercase()).ok_or(WhenError::Iso)?, now)
}

/// An instant, unless it is over or too far ahead.
fn in_time(moment: Moment, now: Moment) -> Result<JobWhen, WhenError> {
    let seconds = |seconds: u64| Span::from_millis(seconds * 1_000);
    if now.since(moment) > seconds(limits::JOB_LATE_SECONDS.value) {
        return Err(WhenError::Past(moment));
    }
    if moment.since(now) > seconds(limits::JOB_SECONDS_MAX.value) {
        return Err(WhenError::TooFar(moment));
    }
    // One that is only just over is due at once.
    Ok(JobWhen::At(moment.max(now)))
}

/// An instant whose seconds and offset can be left out; without an offset it is in UTC.
fn instant(text: &str) -> Option<Moment> {
    let (date, time) = text.split_once('T')?;
    let (time, offset) = match time.find(['Z', '+', '-']) {
        Some(place) => time.split_at(place),
        None => (time, "Z"),
    };
    // `+0200` as well as `+02:00`.
    let offset = match offset.split_at_checked(3) {
        Some((hours, minutes)) if minutes.len() == 2 => format!("{hours}:{minutes}"),
        Some(_) | None => offset.to_owned(),
    };
    let seconds = if time.matches(':').count() == 1 { ":00" } else { "" };
    Moment::parse(&format!("{date}T{time}{seconds}{offset}")).ok()
}

/// The digits of the year in a timestamp. No field of a cron expression has so many before a hyphen.
const YEAR_DIGITS: usize = 4;
/// More seconds than any zone is from UTC.
const TWO_DAYS: i64 = 172_800;
/// The three forms, for who wrote none of them.
const FORMS: &str = "write a delay such as in 5m, an ISO timestamp such as 2026-04-15T09:00:00Z, or a cron expression of \
                     exactly 5 fields such as 0 9 * * 1-5";
