//! Checks that the deliveries to one session came in order: by slot, then by creation.
//!
//! Two deliveries are compared only if both could go: one that was paused, or whose schedule was
//! created later, has no claim to the place of its slot.

use super::finding::Finding;
use super::moment::Moment;

/// The place of a delivery in the order of its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The time from which only its session could hold it back.
    pub(super) since: Moment,
    /// The first slot that it stands for: it may take the place of any of them.
    pub(super) first: Moment,
    pub(super) slot: Moment,
    /// The line of its schedule's creation.
    pub(super) created: usize,
    pub(super) schedule: String,
}

/// Finds every delivery that came after one that it should precede. `places` are in order of
/// receipt.
pub(super) fn check(session: &str, places: &[Place]) -> Vec<Finding> {
    let mut findings = Vec::new();
    // The running maximum. Once it is not greater than a delivery, nothing earlier is, and the
    // search can stop.
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
