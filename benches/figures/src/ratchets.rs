//! What a figure may be at most, or has to be at least.
//!
//! Lives here: the table of ratchets. A limit is the target where the figure meets that, and the figure itself where it does
//! not, so that it can only get better. A commit that improves a figure tightens its limit; one that loosens a limit says why.

use crate::clones;
use crate::measure::{Report, percentile};

/// Which way a figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    AtMost,
    AtLeast,
}

use Bound::{AtLeast, AtMost};

/// A figure with its limit.
pub(crate) struct Ratchet {
    pub(crate) figure: &'static str,
    pub(crate) bound: Bound,
    /// Beyond this the gate fails.
    pub(crate) limit: f64,
    pub(crate) target: f64,
    measure: fn(&Report) -> f64,
}

impl Ratchet {
    /// The figure's value, to one decimal: limits are written so, and compared so.
    pub(crate) fn value(&self, report: &Report) -> f64 {
        ((self.measure)(report) * 10.0).round() / 10.0
    }

    /// Whether a value is within the limit.
    pub(crate) fn holds(&self, value: f64) -> bool {
        !self.is_beyond(self.limit, value)
    }

    /// Whether a value misses a bound.
    fn is_beyond(&self, limit: f64, value: f64) -> bool {
        match self.bound {
            AtMost => value > limit,
            AtLeast => value < limit,
        }
    }

    /// What is to be said of a value besides the figures.
    pub(crate) fn verdict(&self, value: f64) -> String {
        let meets_target = !self.is_beyond(self.target, value);
        let tightest = if meets_target { self.target } else { value };
        if !self.holds(value) {
            "BROKEN".to_owned()
        } else if tightest != self.limit {
            format!("better: tighten the limit to {tightest}")
        } else {
            String::new()
        }
    }
}

/// The ratchets of the gate: figure, bound, limit, target.
pub(crate) const RATCHETS: [Ratchet; 12] = [
    at_most("code lines without testkit", 93_640.0, 42_000.0, |report| {
        count(report.without_testkit.lines.code)
    }),
    at_most("files in cycles, %", 3.4, 1.7, Report::cycle_share),
    at_most("top-level modules in cycles", 0.0, 0.0, |report| count(report.layers_in_cycles())),
    at_most("public items", 3_046.0, 700.0, |report| count(report.all.items.declared)),
    at_most("public items that can be named outside", 999.0, 700.0, |report| {
        count(report.all.items.reachable)
    }),
    at_most("function length, p99", 50.0, 50.0, |report| count(percentile(&report.all.function_lengths, 99))),
    at_most("functions with more than 5 parameters", 0.0, 0.0, |report| count(report.all.wide_functions)),
    at_most("file length, longest", 500.0, 500.0, |report| count(percentile(&report.all.file_lengths, 100))),
    at_most("identical clones, pairs of files", 15.0, 15.0, |report| {
        count(clones::file_pairs(&report.clones))
    }),
    at_most("calls of unwrap()", 0.0, 0.0, |report| count(report.all.words.unwraps)),
    at_least("line comments without testkit, % of code", 4.0, 4.0, |report| {
        report.without_testkit.comment_share()
    }),
    at_least("assertions without testkit, per 1,000 lines", 1.6, 2.7, |report| {
        report.without_testkit.assertion_share()
    }),
];

const fn at_most(figure: &'static str, limit: f64, target: f64, measure: fn(&Report) -> f64) -> Ratchet {
    Ratchet { figure, bound: AtMost, limit, target, measure }
}

const fn at_least(figure: &'static str, limit: f64, target: f64, measure: fn(&Report) -> f64) -> Ratchet {
    Ratchet { figure, bound: AtLeast, limit, target, measure }
}

fn count(value: usize) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ratchet: &Ratchet, value: f64, holds: bool, verdict: &str) {
        assert_eq!((ratchet.holds(value), ratchet.verdict(value).as_str()), (holds, verdict), "{value}");
    }

    #[test]
    fn a_figure_only_gets_better() {
        let most = at_most("a", 20.0, 8.0, |_| 0.0);
        check(&most, 20.1, false, "BROKEN");
        check(&most, 20.0, true, "");
        check(&most, 15.5, true, "better: tighten the limit to 15.5");
        check(&most, 7.0, true, "better: tighten the limit to 8");
        let least = at_least("a", 0.9, 4.0, |_| 0.0);
        check(&least, 0.8, false, "BROKEN");
        check(&least, 0.9, true, "");
        check(&least, 5.0, true, "better: tighten the limit to 4");
    }

    #[test]
    fn a_target_that_is_met_is_the_limit() {
        let most = at_most("a", 50.0, 50.0, |_| 0.0);
        check(&most, 46.0, true, "");
        check(&most, 51.0, false, "BROKEN");
    }

    #[test]
    fn no_limit_is_stricter_than_its_target() {
        for ratchet in &RATCHETS {
            assert!(ratchet.limit == ratchet.target || ratchet.is_beyond(ratchet.target, ratchet.limit));
        }
    }
}
