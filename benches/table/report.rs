//! Prints the table as Markdown: one row per figure, with the median and the best of the
//! repetitions.
//!
//! A ratio says how many times better Reveille is, by the medians: above 1 Reveille wins, below 1
//! the peer does.

use std::fmt::Write as _;

use crate::child::{Peer, Results};

/// One line of the table.
struct Row {
    /// The name under which the children report it.
    figure: &'static str,
    /// The title, with its unit.
    title: &'static str,
    better: Better,
    /// The target, if there is one.
    target: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Better {
    More,
    Less,
}

const fn row(figure: &'static str, title: &'static str, better: Better, target: Option<f64>) -> Row {
    Row { figure, title, better, target }
}

const ROWS: &[Row] = &[
    row("create", "create, one thread: M/s", Better::More, Some(1.0)),
    row("create-worst", "create, the slowest: µs", Better::Less, None),
    row("cancel", "cancel, random order: M/s", Better::More, Some(0.7)),
    row("memory", "memory per pending schedule: B", Better::Less, Some(300.0)),
    row("burst", "burst in one instant, all handed over: ms", Better::Less, Some(150.0)),
    row("late-p50", "lateness at a steady load, p50: ms", Better::Less, Some(0.1)),
    row("late-p99", "lateness, p99: ms", Better::Less, Some(2.0)),
    row("late-max", "lateness, max: ms", Better::Less, None),
    row("early", "early", Better::Less, Some(0.0)),
    row("idle", "idle processor time: %", Better::Less, Some(0.1)),
    row("edn-read", "EDN, reading: MB/s", Better::More, Some(100.0)),
    row("edn-write", "EDN, writing: MB/s", Better::More, None),
    row("list-graphql", "100 rows x 4 fields by GraphQL, in process: µs", Better::Less, None),
    row("list-eql", "the same by EQL: µs", Better::Less, Some(50.0)),
    row("cron-workdays", "next slot of `30 9 * * MON-FRI` in Berlin: µs", Better::Less, Some(2.0)),
    row("cron-leap-day", "next slot of `0 0 29 2 *` in New York: µs", Better::Less, Some(2.0)),
];

/// Prints the whole table.
pub(crate) fn table(results: &Results) -> String {
    let mut out = String::from(
        "| workload | Reveille | DelayQueue | one sleep each | ratio | target | met? |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for row in ROWS {
        let cells = Peer::ALL.map(|peer| Cell::new(&results.of(peer, row.figure), row.better));
        let [ours, queue, sleeps] = &cells;
        let ratios: Vec<String> =
            [queue, sleeps].into_iter().filter_map(|peer| ratio(ours, peer, row.better)).collect();
        let _ = writeln!(
            out,
            "| {} | {ours} | {queue} | {sleeps} | {} | {} | {} |",
            row.title,
            ratios.join(", "),
            row.target.map_or_else(String::new, |target| bound(target, row.better)),
            row.target.map_or("", |target| met(ours, target, row.better)),
        );
    }
    out
}

/// The median and the best of the repetitions.
struct Cell(Option<(f64, f64)>);

impl Cell {
    /// A cell of values in ascending order.
    fn new(values: &[f64], better: Better) -> Cell {
        let best = match better {
            Better::More => values.last(),
            Better::Less => values.first(),
        };
        Cell(best.map(|best| (values[values.len() / 2], *best)))
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            None => f.write_str("–"),
            Some((median, best)) if figure(median) == figure(best) => f.write_str(&figure(median)),
            Some((median, best)) => write!(f, "{} (best {})", figure(median), figure(best)),
        }
    }
}

fn ratio(ours: &Cell, peer: &Cell, better: Better) -> Option<String> {
    let ((ours, _), (peer, _)) = (ours.0?, peer.0?);
    let (more, less) = match better {
        Better::More => (ours, peer),
        Better::Less => (peer, ours),
    };
    (less > 0.0).then(|| format!("{}×", figure(more / less)))
}

fn bound(target: f64, better: Better) -> String {
    match better {
        Better::More => format!("≥ {target}"),
        Better::Less => format!("≤ {target}"),
    }
}

fn met(ours: &Cell, target: f64, better: Better) -> &'static str {
    let Some((median, best)) = ours.0 else { return "" };
    let reaches = |value: f64| match better {
        Better::More => value >= target,
        Better::Less => value <= target,
    };
    // The median decides. A target met once by luck is reported as such.
    match (reaches(median), reaches(best)) {
        (true, _) => "yes",
        (false, true) => "the best run only",
        (false, false) => "no",
    }
}

/// A number with three significant digits, or all digits before the point.
fn figure(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value if value >= 0.1 => format!("{value:.2}"),
        value => format!("{value:.4}"),
    }
}
