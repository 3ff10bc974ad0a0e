//! What was measured so far, and what could not be.

use std::collections::BTreeMap;

use crate::child::Line;
use crate::contenders::Contender;

#[derive(Default)]
pub(crate) struct Results {
    /// By figure and peer; a value for each round.
    figures: BTreeMap<(String, String), Vec<f64>>,
    /// By peer and measure, in words.
    missing: BTreeMap<(String, String), String>,
}

impl Results {
    pub(crate) fn note(&mut self, contender: &Contender, lines: Vec<Line>) {
        for line in lines {
            let peer = line.peer.unwrap_or_else(|| contender.peer.to_owned());
            self.figures.entry((line.figure, peer)).or_default().push(line.value);
        }
    }

    pub(crate) fn miss(&mut self, contender: &Contender, why: &str) {
        let place = (contender.peer.to_owned(), contender.measure.to_owned());
        self.missing.entry(place).or_insert_with(|| why.to_owned());
    }

    /// Those who have a figure, in the order of the alphabet.
    pub(crate) fn peers(&self, figure: &str) -> Vec<&str> {
        let of_it = self.figures.keys().filter(|(name, _)| name == figure);
        of_it.map(|(_, peer)| peer.as_str()).collect()
    }

    /// The values of one figure, smallest first.
    pub(crate) fn of(&self, figure: &str, peer: &str) -> Vec<f64> {
        let place = (figure.to_owned(), peer.to_owned());
        let mut values = self.figures.get(&place).cloned().unwrap_or_default();
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    pub(crate) fn median(&self, figure: &str, peer: &str) -> Option<f64> {
        let values = self.of(figure, peer);
        values.get(values.len() / 2).copied()
    }

    /// Who, at what, and why not.
    pub(crate) fn missing(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let entries = self.missing.iter();
        entries.map(|((peer, measure), why)| (peer.as_str(), measure.as_str(), why.as_str()))
    }
}
