//! A second cron parser: for every value of a field it tests whether an item of the field names it.
//!
//! It shares nothing with `calendar::cron`. It is more lenient: whatever the scheduler accepted is
//! accepted here too, and its meaning comes from its text alone.

/// A parsed expression, field by field.
#[derive(Clone, Debug)]
pub(super) struct Cron {
    minutes: Vec<bool>,
    hours: Vec<bool>,
    days: Vec<DayItem>,
    months: Vec<bool>,
    weekdays: Vec<DayItem>,
    any_day: bool,
    any_weekday: bool,
    /// Whether its slots in a repeated hour come twice.
    pub(super) runs_twice: bool,
    /// Whether it names every hour, so that slots in a gap are dropped.
    pub(super) is_hourly: bool,
}

/// One way to name a day.
#[derive(Clone, Copy, Debug)]
enum DayItem {
    /// A day of the month or of the week, by number.
    Number(u8),
    /// The last day of the month.
    Last,
    /// A weekday in a week of the month, from 1.
    InWeek(u8, u8),
    /// The last such weekday of the month.
    LastWeekday(u8),
}

/// The parts of a date that cron uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Date {
    pub(super) month: u8,
    pub(super) day: u8,
    pub(super) days_in_month: u8,
    /// Days since Sunday.
    pub(super) weekday: u8,
}

impl Cron {
    /// Parses an expression; `None` if it makes no sense.
    pub(super) fn read(expr: &str) -> Option<Cron> {
        let expr = match expr.trim() {
            "@hourly" => "0 * * * *",
            "@daily" | "@midnight" => "0 0 * * *",
            "@weekly" => "0 0 * * 0",
            "@monthly" => "0 0 1 * *",
            "@yearly" | "@annually" => "0 0 1 1 *",
            other => other,
        };
        let expr = expr.to_ascii_uppercase();
        let fields: Vec<&str> = expr.split_ascii_whitespace().collect();
        let [minute, hour, day, month, weekday] = *fields.as_slice() else { return None };
        let (minutes, hours) = (values(minute, 0, 59, &[])?, values(hour, 0, 23, &[])?);
        let is_wild = |field: &str| field.contains(['*', '/']);
        let is_hourly = hours.len() == 24;
        Some(Cron {
            // As in Vixie cron: wildcard jobs follow the clock through a repeated hour, fixed times
            // run once.
            runs_twice: minutes.len() > 1 || is_hourly || is_wild(minute) || is_wild(hour),
            is_hourly,
            minutes: marks(&minutes, 60),
            hours: marks(&hours, 24),
            days: month_days(day)?,
            months: marks(&values(month, 1, 12, &MONTHS)?, 13),
            weekdays: week_days(weekday)?,
            any_day: ["*", "?"].contains(&day),
            any_weekday: ["*", "?"].contains(&weekday),
        })
    }

    /// Whether the expression names this day.
    pub(super) fn names_day(&self, date: Date) -> bool {
        let by = |items: &[DayItem], number: u8| items.iter().any(|item| item.names(number, date));
        let (by_month, by_week) = (by(&self.days, date.day), by(&self.weekdays, date.weekday));
        let is_day = match (self.any_day, self.any_weekday) {
            (true, true) => true,
            (true, false) => by_week,
            (false, true) => by_month,
            // As in POSIX: if both fields restrict the day, matching either of them is enough.
            (false, false) => by_month || by_week,
        };
        is_day && self.months[usize::from(date.month)]
    }

    /// Whether the expression names this hour.
    pub(super) fn names_hour(&self, hour: usize) -> bool {
        self.hours[hour]
    }

    /// Whether the expression names this minute.
    pub(super) fn names_minute(&self, minute: usize) -> bool {
        self.minutes[minute]
    }
}

impl DayItem {
    fn names(self, number: u8, date: Date) -> bool {
        match self {
            DayItem::Number(named) => named == number,
            DayItem::Last => date.day == date.days_in_month,
            DayItem::InWeek(weekday, week) => weekday == date.weekday && (date.day - 1) / 7 + 1 == week,
            // A week later is in the next month, so this is the last such weekday.
            DayItem::LastWeekday(weekday) => weekday == date.weekday && date.day + 7 > date.days_in_month,
        }
    }
}

fn marks(values: &[u8], size: u8) -> Vec<bool> {
    (0..size).map(|value| values.contains(&value)).collect()
}

fn month_days(field: &str) -> Option<Vec<DayItem>> {
    let mut items = Vec::new();
    for item in field.split(',') {
        match item {
            "L" => items.push(DayItem::Last),
            "?" => items.extend((1..=31).map(DayItem::Number)),
            _ => items.extend(values(item, 1, 31, &[])?.into_iter().map(DayItem::Number)),
        }
    }
    Some(items)
}

fn week_days(field: &str) -> Option<Vec<DayItem>> {
    let mut items = Vec::new();
    let day = |text: &str| number(text, 0, &WEEKDAYS).filter(|day| *day <= 7).map(|day| day % 7);
    for item in field.split(',') {
        if item == "?" {
            items.extend((0..7).map(DayItem::Number));
        } else if let Some((weekday, week)) = item.split_once('#') {
            items.push(match week {
                "L" => DayItem::LastWeekday(day(weekday)?),
                _ => DayItem::InWeek(day(weekday)?, week.parse().ok()?),
            });
        } else if let Some(weekday) = item.strip_prefix('L').or_else(|| item.strip_suffix('L')) {
            items.push(DayItem::LastWeekday(day(weekday)?));
        } else {
            items.extend(weekday_range(item)?.into_iter().map(DayItem::Number));
        }
    }
    Some(items)
}

/// A range of weekdays. Ranges may wrap around Saturday, and 7 means Sunday at either end.
fn weekday_range(item: &str) -> Option<Vec<u8>> {
    let (range, step) = stepped(item)?;
    let Some((first, last)) = range.split_once('-') else {
        if range == "*" || item.contains('/') {
            return values(item, 0, 6, &WEEKDAYS);
        }
        return Some(vec![number(range, 0, &WEEKDAYS)? % 7]);
    };
    let (first, last) = (number(first, 0, &WEEKDAYS)?, number(last, 0, &WEEKDAYS)?);
    let first = if first == 7 && last != 7 { 0 } else { first };
    let last = if last < first { last + 7 } else { last };
    Some((first..=last).step_by(step).map(|day| day % 7).collect())
}

/// The values that a field names, in order and without duplicates.
fn values(field: &str, min: u8, max: u8, names: &[&str]) -> Option<Vec<u8>> {
    let mut named = Vec::new();
    for item in field.split(',') {
        let (range, step) = stepped(item)?;
        let (first, last) = match range.split_once('-') {
            _ if range == "*" => (min, max),
            Some((first, last)) => (number(first, min, names)?, number(last, min, names)?),
            None if item.contains('/') => (number(range, min, names)?, max),
            None => (number(range, min, names)?, number(range, min, names)?),
        };
        if first < min || first > max || last < min || last > max {
            return None;
        }
        // A range whose end is before its start wraps around the end of the field.
        let around = if last < first { max - min + 1 } else { 0 };
        let wrap = |value: u8| if value > max { value - (max - min + 1) } else { value };
        named.extend((first..=last + around).step_by(step).map(wrap));
    }
    named.sort_unstable();
    named.dedup();
    Some(named)
}

fn stepped(item: &str) -> Option<(&str, usize)> {
    match item.split_once('/') {
        None => Some((item, 1)),
        Some((range, step)) => Some((range, step.parse().ok().filter(|step| *step > 0)?)),
    }
}

/// Parses a number, or a name counted from `min`.
fn number(text: &str, min: u8, names: &[&str]) -> Option<u8> {
    let by_name = (min..).zip(names).find(|(_, name)| **name == text).map(|(value, _)| value);
    by_name.or_else(|| text.parse().ok())
}

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
