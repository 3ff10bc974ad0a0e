//! Cron rules and the moments from which their next slot is asked for: the same for every competitor.

/// A rule, and the zone in which it is meant.
pub(crate) struct Rule {
    /// The name under which a child reports what a step of it costs.
    pub(crate) figure: &'static str,
    pub(crate) text: &'static str,
    pub(crate) zone: &'static str,
    /// Its first slot after the first of the moments, in seconds since 1970: everybody has to find it.
    pub(crate) first: i64,
}

/// One that is never far, and one that may be four years away.
pub(crate) const RULES: [Rule; 2] = [
    Rule { figure: "cron-workdays", text: "30 9 * * MON-FRI", zone: "Europe/Berlin", first: 1_767_256_200 },
    Rule { figure: "cron-leap-day", text: "0 0 29 2 *", zone: "America/New_York", first: 1_835_413_200 },
];

/// So many moments a round.
pub(crate) const MOMENTS: usize = 10_000;

/// One of the moments, all over the year 2026, in seconds since 1970.
pub(crate) fn moment(number: usize) -> i64 {
    const BEGIN: i64 = 1_767_225_600;
    const YEAR: i64 = 31_536_000;
    BEGIN + i64::try_from(number).unwrap_or(0) * 7_919_777 % YEAR
}
