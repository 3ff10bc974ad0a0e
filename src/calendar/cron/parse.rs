//! Parser of cron expressions.

use super::{CronError, Field, field};
use crate::calendar::pattern::is_possible;
use crate::domain::{Cron, CronDays, CronFields};
use crate::limits;

/// Parses a cron expression of five fields, or one of the aliases `@hourly`, `@daily`, `@midnight`,
/// `@weekly`, `@monthly`, `@yearly` and `@annually`.
///
/// # Errors
/// [`CronError`] for every text that is not a cron expression, or that could mean something else
/// than its author intended.
///
/// ```
/// use reveille::calendar::parse_cron;
/// assert_eq!(parse_cron("  0 9 * *  mon-fri ")?.as_str(), "0 9 * * MON-FRI");
/// assert_eq!(parse_cron("0 0 30 2 *").map_err(|error| error.code()), Err("cron-impossible"));
/// # Ok::<(), reveille::calendar::CronError>(())
/// ```
pub fn parse_cron(text: &str) -> Result<Cron, CronError> {
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > limits::CRON_BYTES.value {
        return Err(CronError::TooLong);
    }
    let text = text.trim_ascii();
    // Before the text becomes upper case, because aliases exist in lower case only.
    if text.starts_with('@') {
        return alias(text);
    }
    let text = text.to_ascii_uppercase();
    let mut fields: Vec<&str> = text.split_ascii_whitespace().collect();
    // Quartz writes `?` for "no restriction" in the two fields of days; elsewhere it is an error.
    for day in [2, 4] {
        if fields.get(day) == Some(&"?") {
            fields[day] = "*";
        }
    }
    let [minute, hour, day_of_month, month, day_of_week] = *fields.as_slice() else {
        return Err(CronError::FieldCount { found: fields.len() });
    };
    let minutes = field::read(Field::Minute, minute)?;
    let hours = field::read(Field::Hour, hour)?;
    let of_month = field::read(Field::DayOfMonth, day_of_month)?;
    let months = field::read(Field::Month, month)?;
    let of_week = field::read(Field::DayOfWeek, day_of_week)?;
    let days = CronDays {
        of_month: low(of_month.bits),
        last: of_month.last,
        of_month_restricts: !of_month.is_any,
        of_week: low(of_week.bits).to_le_bytes()[0],
        nth: of_week.nth,
        last_of_week: of_week.last_of_week,
        of_week_restricts: !of_week.is_any,
    };
    let fields = CronFields {
        minutes: minutes.bits,
        hours: low(hours.bits),
        days,
        months: u16::try_from(months.bits).unwrap_or_default(),
        // Vixie's rule for the hour that the clock repeats: an expression like a wildcard runs in
        // both passes, a fixed time runs once. See `CronFields::repeats`.
        repeats: minutes.bits.count_ones() > 1
            || hours.bits.count_ones() == 24
            || minutes.is_stepped
            || hours.is_stepped,
    };
    // Joined from the fields, so that blanks and the spelling of `?` make no difference between equal expressions.
    let canonical = [minute, hour, day_of_month, month, day_of_week].join(" ");
    // Refused here, so that a search for a slot always ends: see the invariants of `calendar`.
    if !is_possible(&fields) {
        return Err(CronError::Impossible { text: canonical.into() });
    }
    Ok(Cron::new(canonical.into(), fields))
}

fn alias(text: &str) -> Result<Cron, CronError> {
    let meant = match text {
        "@hourly" => "0 * * * *",
        "@daily" | "@midnight" => "0 0 * * *",
        "@weekly" => "0 0 * * 0",
        "@monthly" => "0 0 1 * *",
        "@yearly" | "@annually" => "0 0 1 1 *",
        _ if text.eq_ignore_ascii_case("@reboot") => return Err(CronError::Reboot),
        _ => {
            return Err(CronError::UnknownAlias {
                alias: text.chars().take(ECHO_CHARS).collect::<String>().into(),
            });
        }
    };
    parse_cron(meant)
}

/// Narrows the bits of a field: no field but the minutes has more than 32 values.
fn low(bits: u64) -> u32 {
    u32::try_from(bits).unwrap_or_default()
}

const ECHO_CHARS: usize = 64;
