//! Slots that count from the end of the run before: they are where the runs put them.
//!
//! The chain is followed from one received slot to the next. After a run that ended at `t`, the next slot is one period after
//! `t`, or a little later, because the scheduler hears of the end after the target. Slots that something stood in the way of
//! follow each other by the period alone.

use std::collections::{BTreeMap, BTreeSet};

use super::course::Road;
use super::event::{CountFrom, Trigger};
use super::story::{Era, Life};
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
pub(super) fn slots(era: &Era, life: &Life, road: &Road, (prompt, horizon): (Span, Moment)) -> Vec<Moment> {
    let Some((period, first)) = period(era) else { return Vec::new() };
    let skipped = life.skips.iter().map(|skip| skip.from);
    let named: BTreeSet<Moment> =
        life.receipts.iter().filter_map(|receipt| receipt.slot).chain(skipped).collect();
    let ways = Ways { road, period, named };
    let mut received: BTreeMap<Moment, (Moment, Moment)> = BTreeMap::new();
    for receipt in &life.receipts {
        let Some(slot) = receipt.slot else { continue };
        // Of one that was delivered again, the last end counts.
        let (at, finish) = received.entry(slot).or_insert((receipt.at, receipt.finish));
        (*at, *finish) = (receipt.at.max(*at), receipt.finish.max(*finish));
    }
    let (mut found, mut chains) = (Vec::new(), vec![Chain { passed: Vec::new(), next: first }]);
    for (slot, (at, finish)) in received {
        let is_it = |chain: &Chain| chain.next <= slot && slot <= later(chain.next, prompt);
        let Some(chain) = ways.passed_over(chains.clone(), slot).into_iter().find(is_it) else {
            continue;
        };
        found.extend(chain.passed);
        found.push(slot);
        let ends = [Some(finish.max(slot)), road.heard_late((at, finish))];
        chains = ways.counted_from(ends.into_iter().flatten(), &[]);
    }
    // Of several ways that it may have gone on, the one that promises least.
    let chains = ways.passed_over(chains, horizon).into_iter();
    if let Some(chain) = chains.max_by_key(|chain| chain.next) {
        found.extend(chain.passed);
        found.push(chain.next);
    }
    found.retain(|slot| *slot > era.from && *slot <= horizon);
    found
}

/// A way on which the slots may have gone on from the last one received.
#[derive(Clone, Debug)]
struct Chain {
    /// Those that something stood in the way of.
    passed: Vec<Moment>,
    next: Moment,
}

/// How one slot follows from another.
struct Ways<'a> {
    road: &'a Road,
    period: Span,
    /// What the scheduler itself speaks of.
    named: BTreeSet<Moment>,
}

impl Ways<'_> {
    /// All ways on which a slot at `until` may have been reached: what was passed over on the way there is only in order where
    /// something stood in its way. The next one counts from it, or from the moment at which it was seen to be missed.
    fn passed_over(&self, mut chains: Vec<Chain>, until: Moment) -> Vec<Chain> {
        let mut place = 0;
        while let Some(chain) = chains.get(place).filter(|_| place < CHAINS_MAX) {
            place += 1;
            let next = chain.next;
            if next >= until {
                continue;
            }
            let block = self.road.met(next);
            let seen = block.and_then(|block| block.until);
            // One that waited for its session may have been called off when that was free.
            let waited = self.road.work(seen.unwrap_or(next)).and_then(|work| work.until);
            let itself = (block.is_some() || self.road.work(next).is_some()).then_some(next);
            let passed: Vec<Moment> = chain.passed.iter().copied().chain([next]).collect();
            for chain in self.counted_from([itself, seen, waited].into_iter().flatten(), &passed) {
                if !chains.iter().any(|other| other.next == chain.next) {
                    chains.push(chain);
                }
            }
        }
        chains
    }

    /// One period after each of these. Which of them it is, is told by the slot that the scheduler speaks of.
    fn counted_from(&self, ends: impl Iterator<Item = Moment>, passed: &[Moment]) -> Vec<Chain> {
        let nexts: Vec<Moment> = ends.map(|end| later(end, self.period)).collect();
        let is_known = nexts.iter().any(|next| self.named.contains(next));
        let nexts = nexts.into_iter().filter(|next| !is_known || self.named.contains(next));
        nexts.map(|next| Chain { passed: passed.to_vec(), next }).collect()
    }
}

/// More ways than any outage has periods that are worth the telling.
const CHAINS_MAX: usize = 10_000;
