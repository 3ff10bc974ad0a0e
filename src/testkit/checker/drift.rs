//! Slots that count from the end of the run before: they are where the runs put them.
//!
//! The chain is followed from one received slot to the next. After a run that ended at `t`, the next slot is one period after
//! `t`, or a little later, because the scheduler hears of the end after the target. Slots that something stood in the way of
//! follow each other by the period alone.

use super::course::Road;
use super::event::{CountFrom, Trigger};
use super::story::{Era, Receipt};
use super::stretch::later;
use crate::domain::{Moment, Span};

/// The period and the first slot, if this is such a trigger.
pub(super) fn period(era: &Era) -> Option<(Span, Moment)> {
    let Trigger::Every { period_ms, anchor, from: CountFrom::Finish } = &era.trigger else { return None };
    let period = Span::from_millis((*period_ms).max(1));
    let anchor = anchor.unwrap_or(era.from);
    let first = if anchor > era.from {
        anchor
    } else {
        let passed = era.from.since(anchor).nanos() / period.nanos() + 1;
        later(anchor, Span::from_nanos(passed.saturating_mul(period.nanos())))
    };
    Some((period, first))
}

/// The slots of an era, as the runs make them, until `horizon`.
pub(super) fn slots(
    era: &Era,
    receipts: &[Receipt],
    road: &Road,
    (prompt, horizon): (Span, Moment),
) -> Vec<Moment> {
    let Some((period, first)) = period(era) else { return Vec::new() };
    let mut received: Vec<(Moment, Moment)> =
        receipts.iter().filter_map(|receipt| Some((receipt.slot?, receipt.finish))).collect();
    received.sort_unstable();
    received.dedup_by_key(|(slot, _)| *slot);
    let (mut found, mut next) = (Vec::new(), first);
    for (slot, finish) in received {
        // What was passed over on the way there is only in order where something stood in its way.
        while later(next, prompt) < slot && road.is_blocked(next) {
            found.push(next);
            next = later(next, period);
        }
        if slot < next || later(next, prompt) < slot {
            continue;
        }
        found.push(slot);
        next = later(finish.max(slot), period);
    }
    while next <= horizon && road.is_blocked(next) {
        found.push(next);
        next = later(next, period);
    }
    found.push(next);
    found.retain(|slot| *slot > era.from && *slot <= horizon);
    found
}
