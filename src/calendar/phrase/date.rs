//! Parser of dates without digits-only notation: `3 March`, `March 3rd, 2027`, `the 15th`.

use super::error::{Part, PhraseError};
use super::numbers;
use super::words::Words;
use crate::edn::{civil_from_days, days_from_civil};

/// A date as a phrase names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamedDate {
    /// The year, if it is named.
    pub(super) year: Option<i64>,
    /// The month, 1 to 12; `None` for a day of whatever month comes next.
    pub(super) month: Option<i64>,
    /// The day of the month.
    pub(super) day: i64,
}

impl NamedDate {
    /// Parses a date, if one comes next.
    pub(super) fn take(words: &mut Words<'_>) -> Result<Option<NamedDate>, PhraseError> {
        let mut ahead = words.clone();
        let has_article = ahead.take(&["the"]);
        // `march 3` and `3 march` are both dates.
        let date = if let Some(month) = ahead.peek().and_then(month) {
            ahead.next();
            ahead.take(&["the"]);
            let day = ahead.peek().and_then(day).ok_or_else(|| ahead.refuse(Part::Date))?;
            ahead.next();
            Some((Some(month), day))
        } else {
            let number = ahead.peek().and_then(|word| Some((day(word)?, numbers::ordinal(word).is_some())));
            let Some((day, is_ordinal)) = number else { return Ok(None) };
            ahead.next();
            let has_of = ahead.take(&["of"]);
            let named = ahead.peek().and_then(month);
            if named.is_some() {
                ahead.next();
            }
            // `3` alone is an hour; `the 3rd` is a day, unless `of the month` follows.
            let is_date = named.is_some() || (has_article || is_ordinal) && !has_of;
            is_date.then_some((named, day))
        };
        let Some((month, day)) = date else { return Ok(None) };
        let year = if month.is_some() { ahead.peek().and_then(year) } else { None };
        if year.is_some() {
            ahead.next();
        }
        *words = ahead;
        Ok(Some(NamedDate { year, month, day }))
    }

    /// Prints the date for an error.
    pub(super) fn print(self) -> String {
        let month = self.month.and_then(|month| MONTHS.get(usize::try_from(month - 1).ok()?));
        let parts = [Some(self.day.to_string()), month.map(|month| (*month).to_owned())];
        let parts = parts.into_iter().chain([self.year.map(|year| year.to_string())]);
        parts.flatten().collect::<Vec<_>>().join(" ")
    }

    /// Returns the days, counted from 1970-01-01, that the date may mean from a day on, the earliest first.
    pub(super) fn days_from(self, today: i64) -> Vec<i64> {
        let (this_year, this_month, _) = civil_from_days(today);
        let months: Vec<(i64, i64)> = match (self.year, self.month) {
            (Some(year), month) => vec![(year, month.unwrap_or(this_month))],
            // A leap day comes after eight years at the latest.
            (None, Some(month)) => (0..=8).map(|years| (this_year + years, month)).collect(),
            // Of any two months in a row one has 31 days.
            (None, None) => (0..=12)
                .map(|months| this_month - 1 + months)
                .map(|month| (this_year + month.div_euclid(12), month.rem_euclid(12) + 1))
                .collect(),
        };
        let days =
            months.into_iter().map(|(year, month)| (year, month, days_from_civil(year, month, self.day)));
        // The conversion back finds days that the month does not have.
        let real = days.filter(|(year, month, days)| civil_from_days(*days) == (*year, *month, self.day));
        real.map(|(_, _, days)| days).collect()
    }
}

/// Returns the number of a month that is named in full or in three letters.
pub(super) fn month(word: &str) -> Option<i64> {
    let word = word.strip_suffix('.').unwrap_or(word);
    let is_named = |name: &&str| *name == word || word.len() == 3 && name.starts_with(word);
    // September has a usual abbreviation of four letters.
    let place = MONTHS.iter().position(is_named).or_else(|| (word == "sept").then_some(8))?;
    i64::try_from(place + 1).ok()
}

/// Returns the day of a month in digits or as an ordinal.
pub(super) fn day(word: &str) -> Option<i64> {
    let is_number = (1..=2).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit());
    let day = if is_number { word.parse().ok() } else { numbers::ordinal(word) };
    day.map(i64::from).filter(|day| (1..=31).contains(day))
}

fn year(word: &str) -> Option<i64> {
    let is_year = word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    is_year.then(|| word.parse().ok())?
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
