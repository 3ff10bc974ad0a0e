//! Parser of one field of a cron expression: from items to bits.

use super::{CronError, Field};

/// What a field matches.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Named {
    /// One bit for each value; Sunday is bit 0.
    pub(super) bits: u64,
    /// `L` in the day-of-month field.
    pub(super) last: bool,
    /// `5#2` in the day-of-week field: for each week of the month, bits of weekdays.
    pub(super) nth: [u8; 5],
    /// `5L` in the day-of-week field: bits of weekdays.
    pub(super) last_of_week: u8,
    /// Whether the field is exactly `*`.
    pub(super) is_any: bool,
    /// Whether `*` or a step occurs in it.
    pub(super) is_stepped: bool,
}

/// Parses a field that is in capitals, with `?` already replaced.
pub(super) fn read(field: Field, text: &str) -> Result<Named, CronError> {
    let mut named = Named { is_any: text == "*", is_stepped: text.contains(['*', '/']), ..Named::default() };
    for item in text.split(',') {
        if item.is_empty() {
            return Err(CronError::EmptyItem { field, text: text.into() });
        }
        read_item(field, item, &mut named)?;
    }
    Ok(named)
}

fn read_item(field: Field, item: &str, named: &mut Named) -> Result<(), CronError> {
    // Checked first, so that the error says that the item belongs to another dialect.
    if is_foreign(field, item) {
        return Err(CronError::Unsupported { field, item: item.into() });
    }
    match field {
        Field::DayOfMonth if item == "L" => {
            named.last = true;
            return Ok(());
        }
        Field::DayOfWeek => {
            if let Some((weekday, week)) = of_the_month(item)? {
                match week {
                    Some(week) => named.nth[week] |= 1 << weekday,
                    None => named.last_of_week |= 1 << weekday,
                }
                return Ok(());
            }
        }
        Field::DayOfMonth | Field::Minute | Field::Hour | Field::Month => {}
    }
    let (base, step) = match item.split_once('/') {
        Some((base, step)) => (base, Some(step)),
        None => (item, None),
    };
    let (min, max) = bounds(field);
    let (first, last) = match base.split_once('-') {
        _ if base == "*" => (min, max),
        Some((first, last)) => (value(field, first, item)?, value(field, last, item)?),
        None => match value(field, base, item)? {
            // 5/15 is 5-59/15.
            first if step.is_some() => (first, max),
            only => (only, only),
        },
    };
    // 7 is Sunday too. At the end of a range it stays 7, so that 5-7 does not wrap around; at the
    // beginning of a range it is 0.
    let first = if field == Field::DayOfWeek && first == 7 && last != 7 { 0 } else { first };
    let size = max - min + 1;
    // FRI-MON wraps around the end of the field: count the distance, and reduce each value below.
    let span = if first <= last { last - first } else { last + size - first };
    let step = step.map_or(Ok(1), |step| read_step(field, step, span))?;
    // Up to 7 a day of the week is kept as written, so that a range may end with Sunday.
    let highest = if field == Field::DayOfWeek { 7 } else { max };
    for distance in (0..=span).step_by(usize::from(step)) {
        let value = first + distance;
        named.bits |= 1 << if value > highest { value - size } else { value };
    }
    // Both numbers of Sunday become bit 0.
    if field == Field::DayOfWeek && named.bits >> 7 & 1 == 1 {
        named.bits = named.bits & 0x7F | 1;
    }
    Ok(())
}

/// Returns whether an item uses a sign of another dialect, which gets an error of its own.
fn is_foreign(field: Field, item: &str) -> bool {
    let is_day = field == Field::DayOfMonth;
    let random = item == "R"
        || item == "H"
        || item.starts_with("R(")
        || item.starts_with("H(")
        || item.starts_with("H/");
    let nearest =
        is_day && (item == "LW" || item.ends_with('W') && item.starts_with(|c: char| c.is_ascii_digit()));
    let before_last = is_day && item.starts_with("L-");
    let bare_last = item == "L" && !is_day;
    random || nearest || before_last || bare_last || item.contains('?') || item.starts_with('+')
}

/// Parses `5#2`, `FRI#L`, `5L` and `L5`: the weekday, and the week counted from 0, `None` for the
/// last; nothing if the item is of another form.
fn of_the_month(item: &str) -> Result<Option<(u8, Option<usize>)>, CronError> {
    let field = Field::DayOfWeek;
    let (weekday, week) =
        if let Some((weekday, week)) = item.split_once('#') {
            let week =
                match week {
                    "L" => None,
                    _ => Some(number(week).filter(|week| (1..=5).contains(week)).ok_or_else(|| {
                        CronError::OutOfRange { field, value: item.into(), min: 1, max: 5 }
                    })?),
                };
            (weekday, week)
        } else if let Some(weekday) = item.strip_prefix('L').or_else(|| item.strip_suffix('L')) {
            (weekday, None)
        } else {
            return Ok(None);
        };
    // 7 is Sunday here as well.
    let weekday = value(field, weekday, item)? % 7;
    Ok(Some((weekday, week.map(|week| usize::from(week) - 1))))
}

/// Parses a number or a name of the field.
fn value(field: Field, text: &str, item: &str) -> Result<u8, CronError> {
    if text.is_empty() || text.contains(|c: char| !c.is_ascii_alphanumeric()) {
        return Err(CronError::Malformed { field, item: item.into() });
    }
    let (min, max) = bounds(field);
    if is_number(text) {
        let max = if field == Field::DayOfWeek { 7 } else { max };
        return number(text)
            .filter(|value| (min..=max).contains(value))
            .ok_or_else(|| CronError::OutOfRange { field, value: text.into(), min, max });
    }
    let names: &[&str] = match field {
        Field::Month => &MONTHS,
        Field::DayOfWeek => &WEEKDAYS,
        Field::Minute | Field::Hour | Field::DayOfMonth => &[],
    };
    let found = (min..).zip(names).find(|(_, name)| **name == text);
    found.map(|(value, _)| value).ok_or_else(|| CronError::UnknownName { field, name: text.into() })
}

fn read_step(field: Field, text: &str, span: u8) -> Result<u8, CronError> {
    // A step longer than the range would select its first value only, which is never what was
    // meant.
    let max = span.max(1);
    let step = number(text).filter(|step| (1..=max).contains(step));
    step.ok_or_else(|| CronError::Step { field, step: text.into(), max })
}

fn bounds(field: Field) -> (u8, u8) {
    match field {
        Field::Minute => (0, 59),
        Field::Hour => (0, 23),
        Field::DayOfMonth => (1, 31),
        Field::Month => (1, 12),
        Field::DayOfWeek => (0, 6),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn number(text: &str) -> Option<u8> {
    if is_number(text) { text.parse().ok() } else { None }
}

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
