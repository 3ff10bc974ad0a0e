//! Prints the tables as Markdown.

use std::fmt::Write as _;

use crate::writer::Latencies;
use crate::wrk::Load;

/// The measured loads by competitor, in the order of the first round.
#[derive(Default)]
pub(crate) struct Results(Vec<(&'static str, Vec<Load>)>);

impl Results {
    pub(crate) fn note(&mut self, name: &'static str, load: Load) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, loads)) => loads.push(load),
            None => self.0.push((name, vec![load])),
        }
    }

    /// One line per competitor, by medians. The ratio is to async-graphql's static types.
    pub(crate) fn table(&self) -> String {
        let mut out =
            "| 100 rows × 4 fields | requests/s | best | p99: ms | ratio |\n|---|---|---|---|---|\n"
                .to_owned();
        let peer = self.0.iter().find(|(name, _)| name.contains("async-graphql"));
        let peer = peer.map_or(1.0, |(_, loads)| median(loads, |load| load.per_second));
        for (name, loads) in &self.0 {
            let per_second = median(loads, |load| load.per_second);
            let best = loads.iter().map(|load| load.per_second).fold(0.0, f64::max);
            let p99 = median(loads, |load| load.p99_ms);
            let ratio = per_second / peer;
            let _ = writeln!(out, "| {name} | {per_second:.0} | {best:.0} | {p99:.2} | {ratio:.2}× |");
        }
        out
    }
}

/// The table of create latencies under concurrent queries.
pub(crate) fn writes(meanwhile: &[(&str, &str, Option<Load>, Latencies)]) -> String {
    let mut out = "| meanwhile | writes | requests/s | creates | p50: ms | p99: ms | max: ms |\n\
                   |---|---|---|---|---|---|---|\n"
        .to_owned();
    for (name, pace, load, Latencies { count, p50, p99, max }) in meanwhile {
        let load = load.map_or_else(|| "–".to_owned(), |load| format!("{:.0}", load.per_second));
        let _ = writeln!(out, "| {name} | {pace} | {load} | {count} | {p50:.3} | {p99:.3} | {max:.2} |");
    }
    out
}

fn median(loads: &[Load], of: impl Fn(&Load) -> f64) -> f64 {
    let mut values: Vec<f64> = loads.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
