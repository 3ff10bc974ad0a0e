//! Prints the table as Markdown: a row per workload, and below it what was not measured.
//!
//! A ratio says how many times better Reveille is, by the medians: above 1 Reveille wins, below 1 the peer does.

use std::fmt::Write as _;

use crate::contenders::{LIMIT, OURS};
use crate::results::Results;
use crate::rows::{Better, ROWS, Row, Target};

pub(crate) fn table(results: &Results) -> String {
    let mut out = String::from(
        "| workload | unit | Reveille | peers | ratio to the best peer | the machine's limit | ratio to it | target | met? |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for row in ROWS {
        let ours = results.median(row.figure, OURS);
        let peers = peers(results, row);
        // Rows that this run does not measure are left out.
        if ours.is_none() && peers.is_empty() {
            continue;
        }
        let best = peers.iter().map(|(_, value)| *value).reduce(|one, two| row.better.of(one, two));
        let limit = results.median(row.peers, LIMIT);
        let listed: Vec<String> =
            peers.iter().map(|(peer, value)| format!("{peer} {}", shown(*value))).collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            row.workload,
            row.unit,
            with_best(results, row),
            if listed.is_empty() { "–".to_owned() } else { listed.join("; ") },
            ratio(row, ours, best),
            limit.map_or_else(|| "–".to_owned(), |limit| format!("{} ({})", shown(limit), row.limit)),
            ratio(row, ours, limit),
            bound(row),
            met(results, row),
        );
    }
    for (peer, measures, why) in results.missing() {
        let _ = write!(out, "\nNot measured: {peer} at {measures}, because {why}.\n");
    }
    out
}

/// The peers of a row with their medians, the best first.
fn peers<'a>(results: &'a Results, row: &Row) -> Vec<(&'a str, f64)> {
    let others = results.peers(row.peers).into_iter().filter(|peer| *peer != OURS && *peer != LIMIT);
    let mut peers: Vec<(&str, f64)> =
        others.filter_map(|peer| Some((peer, results.median(row.peers, peer)?))).collect();
    peers.sort_by(|(_, one), (_, two)| match row.better {
        Better::More => two.total_cmp(one),
        Better::Less => one.total_cmp(two),
    });
    peers
}

/// Our median, and our best value if it differs.
fn with_best(results: &Results, row: &Row) -> String {
    let values = results.of(row.figure, OURS);
    let Some(median) = results.median(row.figure, OURS) else { return "–".to_owned() };
    let best = values.iter().copied().reduce(|one, two| row.better.of(one, two)).unwrap_or(median);
    if shown(best) == shown(median) {
        return shown(median);
    }
    format!("{} (best {})", shown(median), shown(best))
}

fn ratio(row: &Row, ours: Option<f64>, other: Option<f64>) -> String {
    let (Some(ours), Some(other)) = (ours, other) else { return "–".to_owned() };
    let (more, less) = match row.better {
        Better::More => (ours, other),
        Better::Less => (other, ours),
    };
    if less == 0.0 { "–".to_owned() } else { format!("{}×", shown(more / less)) }
}

fn bound(row: &Row) -> String {
    let sign = match row.better {
        Better::More => "≥",
        Better::Less => "≤",
    };
    match row.target {
        Target::None => String::new(),
        Target::Value(value) => format!("{sign} {value}"),
        Target::Times(factor, peer) => format!("{sign} {factor} × {peer}"),
    }
}

/// Whether the median meets the target; if only the best run does, it says so.
fn met(results: &Results, row: &Row) -> &'static str {
    let bound = match row.target {
        Target::None => return "",
        Target::Value(value) => Some(value),
        Target::Times(factor, peer) => results.median(row.peers, peer).map(|theirs| theirs * factor),
    };
    let (Some(bound), Some(median)) = (bound, results.median(row.figure, OURS)) else {
        return "not measured";
    };
    // A value equal to the bound reaches it.
    let reaches = |value: f64| row.better.of(value, bound) == value;
    match (reaches(median), results.of(row.figure, OURS).into_iter().any(reaches)) {
        (true, _) => "yes",
        (false, true) => "the best run only",
        (false, false) => "no",
    }
}

/// A number with three significant digits, or all digits before the point.
fn shown(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value if value >= 0.1 => format!("{value:.2}"),
        value => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::Line;
    use crate::contenders::{ALL, Contender};
    use crate::program::Program;

    fn noted(results: &mut Results, peer: &'static str, figure: &str, values: &[f64]) {
        let contender = Contender { peer, measure: "fill", program: Program::Rust("peer"), words: &[] };
        for value in values {
            results.note(&contender, vec![Line { peer: None, figure: figure.to_owned(), value: *value }]);
        }
    }

    fn row_of(results: &Results, workload: &str) -> String {
        let table = table(results);
        table.lines().find(|line| line.contains(workload)).unwrap_or_default().to_owned()
    }

    #[test]
    fn a_row_is_by_the_medians_and_names_the_best_peer_first() {
        let mut results = Results::default();
        noted(&mut results, OURS, "create", &[0.5, 2.0, 1.0]);
        noted(&mut results, "slow", "create", &[0.25]);
        noted(&mut results, "fast", "create", &[2.0, 1.0, 4.0]);
        noted(&mut results, LIMIT, "create", &[4.0]);
        assert_eq!(
            row_of(&results, "create, one thread"),
            "| create, one thread | M/s | 1.00 (best 2.00) | fast 2.00; slow 0.25 | 0.50× | 4.00 (messages, ids and a heap) | \
             0.25× | ≥ 1 | yes |"
        );
    }

    #[test]
    fn less_is_better_where_it_is_and_a_missed_target_is_said() {
        let mut results = Results::default();
        noted(&mut results, OURS, "late-p99", &[4.0, 1.0, 3.0]);
        noted(&mut results, "peer", "late-p99", &[6.0]);
        let row = row_of(&results, "p99");
        assert!(row.contains("| 2.00× | – | – | ≤ 2 | the best run only |"), "{row}");
    }

    #[test]
    fn a_target_may_be_a_peer_and_eql_is_compared_with_graphql() {
        let mut results = Results::default();
        noted(&mut results, OURS, "http-eql", &[200.0]);
        noted(&mut results, "async-graphql", "http-graphql", &[100.0]);
        let row = row_of(&results, "the same by EQL, over HTTP");
        assert!(row.contains("| 2.00× | – | – | ≥ 3 × async-graphql | no |"), "{row}");
        noted(&mut results, OURS, "http-eql", &[400.0, 400.0]);
        assert!(row_of(&results, "the same by EQL, over HTTP").ends_with("| yes |"));
    }

    #[test]
    fn whoever_is_missing_is_named_with_the_reason() {
        let mut results = Results::default();
        for contender in ALL.iter().filter(|contender| contender.peer == "BullMQ").take(2).chain(&ALL[..1]) {
            results.miss(contender, "`node` is not installed");
            results.miss(contender, "`node` is not installed");
        }
        let said = table(&results);
        assert!(
            said.contains("\nNot measured: BullMQ at fill, burst, because `node` is not installed.\n"),
            "{said}"
        );
        assert!(
            said.ends_with("\nNot measured: Reveille at fill, because `node` is not installed.\n"),
            "{said}"
        );
    }

    #[test]
    fn a_target_that_names_a_peer_names_one_that_takes_part() {
        for row in ROWS {
            let Target::Times(_, peer) = row.target else { continue };
            assert!(ALL.iter().any(|contender| contender.peer == peer), "{}: {peer}", row.workload);
        }
    }
}
