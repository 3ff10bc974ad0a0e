//! The cron rules, and the moments from which their next slot is computed, shared by all
//! competitors.

/// A cron rule and its zone.
pub(crate) struct Rule {
    /// The name of its figure.
    pub(crate) figure: &'static str,
    pub(crate) text: &'static str,
    pub(crate) zone: &'static str,
    /// Its first slot after the first moment, in seconds since 1970. Every competitor must find it.
    pub(crate) first: i64,
}

/// A rule whose next slot is always near, and one whose next slot may be four years away.
pub(crate) const RULES: [Rule; 2] = [
    Rule { figure: "cron-workdays", text: "30 9 * * MON-FRI", zone: "Europe/Berlin", first: 1_767_256_200 },
    Rule { figure: "cron-leap-day", text: "0 0 29 2 *", zone: "America/New_York", first: 1_835_413_200 },
];

/// The number of moments per round.
pub(crate) const MOMENTS: usize = 10_000;

/// One of the moments, spread over the year 2026, in seconds since 1970.
pub(crate) fn moment(number: usize) -> i64 {
    const BEGIN: i64 = 1_767_225_600;
    const YEAR: i64 = 31_536_000;
    BEGIN + i64::try_from(number).unwrap_or(0) * 7_919_777 % YEAR
}
