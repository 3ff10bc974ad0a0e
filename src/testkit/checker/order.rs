//! Whether the deliveries to one session came in order: by slot, then by creation.
//!
//! Two are compared only where both could go: one that was paused, or whose schedule came later, has no claim to the
//! place that its slot would give it.

use super::finding::Finding;
use crate::domain::Moment;

/// A delivery to a session, as far as its place in the order goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Since when it could go, but for its session.
    pub(super) since: Moment,
    /// The first of the slots that it stands for: it may have the place of any of them.
    pub(super) first: Moment,
    pub(super) slot: Moment,
    /// The line of its schedule's creation.
    pub(super) created: usize,
    pub(super) schedule: String,
}

/// Finds every delivery that came after one that it should have come before. They are given in the order of receipt.
pub(super) fn check(session: &str, places: &[Place]) -> Vec<Finding> {
    let mut findings = Vec::new();
    // The greatest so far, at every point: where it is not greater than a delivery, nothing before it is.
    let mut greatest: Vec<(Moment, Moment, usize)> = Vec::with_capacity(places.len());
    for (number, place) in places.iter().enumerate() {
        let own = (place.since, place.slot, place.created);
        let before = greatest.iter().zip(places).rev().take_while(|(greatest, _)| **greatest > own);
        let overtook = |other: &&Place| {
            other.since >= place.since && (other.first, other.created) > (place.slot, place.created)
        };
        if let Some(other) = before.map(|(_, other)| other).find(overtook) {
            findings.push(Finding::OutOfOrder {
                session: session.into(),
                schedule: place.schedule.clone(),
                slot: place.slot,
                other: other.schedule.clone(),
                other_slot: other.slot,
            });
        }
        let greatest_before = number.checked_sub(1).map(|last| greatest[last]);
        let own = (place.since, place.first, place.created);
        greatest.push(greatest_before.map_or(own, |other| other.max(own)));
    }
    findings
}
