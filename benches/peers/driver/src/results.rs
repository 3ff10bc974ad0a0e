//! The figures measured so far, and the reasons for missing ones.

use std::collections::BTreeMap;

use crate::child::Line;
use crate::contenders::Contender;

#[derive(Default)]
pub(crate) struct Results {
    /// By figure and peer: one value per round.
    figures: BTreeMap<(String, String), Vec<f64>>,
    /// By peer and reason: the workloads that are missing.
    missing: BTreeMap<(String, String), Vec<&'static str>>,
}

impl Results {
    pub(crate) fn note(&mut self, contender: &Contender, lines: Vec<Line>) {
        for line in lines {
            let peer = line.peer.unwrap_or_else(|| contender.peer.to_owned());
            self.figures.entry((line.figure, peer)).or_default().push(line.value);
        }
    }

    pub(crate) fn miss(&mut self, contender: &Contender, why: &str) {
        let measures = self.missing.entry((contender.peer.to_owned(), why.to_owned())).or_default();
        // Later rounds fail for the reason already listed.
        if !measures.contains(&contender.measure) {
            measures.push(contender.measure);
        }
    }

    /// The peers with this figure, in alphabetical order.
    pub(crate) fn peers(&self, figure: &str) -> Vec<&str> {
        let of_it = self.figures.keys().filter(|(name, _)| name == figure);
        of_it.map(|(_, peer)| peer.as_str()).collect()
    }

    /// The values of one figure, in ascending order.
    pub(crate) fn of(&self, figure: &str, peer: &str) -> Vec<f64> {
        let place = (figure.to_owned(), peer.to_owned());
        let mut values = self.figures.get(&place).cloned().unwrap_or_default();
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    pub(crate) fn median(&self, figure: &str, peer: &str) -> Option<f64> {
        let values = self.of(figure, peer);
        // The upper one of the two middle values if their number is even.
        values.get(values.len() / 2).copied()
    }

    /// The missing measurements: peer, workloads and reason.
    pub(crate) fn missing(&self) -> impl Iterator<Item = (&str, String, &str)> {
        let entries = self.missing.iter();
        entries.map(|((peer, why), measures)| (peer.as_str(), measures.join(", "), why.as_str()))
    }
}
