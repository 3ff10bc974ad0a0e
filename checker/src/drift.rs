//! Finds the slots of intervals that count from the end of the previous run.
//!
//! Each received slot leads to the next. After a run that ended at `t`, the next slot is one period
//! after `t`, or a little later, because the scheduler learns of the end after the target. Blocked
//! slots follow each other by the period alone.

use std::collections::{BTreeMap, BTreeSet};

use super::course::Road;
use super::event::{CountFrom, Trigger};
use super::moment::{Moment, Span};
use super::story::{Era, Life};
use super::stretch::later;

/// The period and the first slot of such a trigger; `None` for any other trigger.
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

/// The slots of an era until `horizon`, as the observed runs determine them.
pub(super) fn slots(era: &Era, life: &Life, road: &Road, (prompt, horizon): (Span, Moment)) -> Vec<Moment> {
    let Some((period, first)) = period(era) else { return Vec::new() };
    let skipped = life.skips.iter().map(|skip| skip.from);
    let named: BTreeSet<Moment> =
        life.receipts.iter().filter_map(|receipt| receipt.slot).chain(skipped).collect();
    let ways = Ways { road, period, named };
    let mut received: BTreeMap<Moment, (Moment, Moment)> = BTreeMap::new();
    for receipt in &life.receipts {
        let Some(slot) = receipt.slot else { continue };
        // If a slot was delivered twice, the last end counts.
        let (at, finish) = received.entry(slot).or_insert((receipt.at, receipt.finish));
        (*at, *finish) = (receipt.at.max(*at), receipt.finish.max(*finish));
    }
    let (mut found, mut chains) = (Vec::new(), vec![Chain { passed: Vec::new(), next: first }]);
    for (slot, (at, finish)) in received {
        // Late by up to `prompt`: the scheduler counts from when it learnt of the end.
        let is_it = |chain: &Chain| chain.next <= slot && slot <= later(chain.next, prompt);
        let Some(chain) = ways.passed_over(chains.clone(), slot).into_iter().find(is_it) else {
            continue;
        };
        found.extend(chain.passed);
        found.push(slot);
        let ends = [Some(finish.max(slot)), road.heard_late((at, finish))];
        chains = ways.counted_from(ends.into_iter().flatten(), &[]);
    }
    // Of several possible continuations, take the one that expects the fewest slots: no false
    // findings.
    let chains = ways.passed_over(chains, horizon).into_iter();
    if let Some(chain) = chains.max_by_key(|chain| chain.next) {
        found.extend(chain.passed);
        found.push(chain.next);
    }
    found.retain(|slot| *slot > era.from && *slot <= horizon);
    found
}

/// One possible sequence of slots after the last received one.
#[derive(Clone, Debug)]
struct Chain {
    /// The blocked slots.
    passed: Vec<Moment>,
    next: Moment,
}

/// The rules by which one slot follows another.
struct Ways<'a> {
    road: &'a Road,
    period: Span,
    /// Slots that the scheduler named itself, in deliveries or skips.
    named: BTreeSet<Moment>,
}

impl Ways<'_> {
    /// All sequences that may have led to a slot at `until`. Only blocked slots may be passed over.
    /// The next slot counts from a passed one, or from when the scheduler noticed that it was
    /// missed.
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
            // A slot that waited for its session may have been skipped when the session was free.
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

    /// The slots one period after each of these. If the scheduler named one of them, that is the
    /// one.
    fn counted_from(&self, ends: impl Iterator<Item = Moment>, passed: &[Moment]) -> Vec<Chain> {
        let nexts: Vec<Moment> = ends.map(|end| later(end, self.period)).collect();
        let is_known = nexts.iter().any(|next| self.named.contains(next));
        let nexts = nexts.into_iter().filter(|next| !is_known || self.named.contains(next));
        nexts.map(|next| Chain { passed: passed.to_vec(), next }).collect()
    }
}

/// A bound on the search, above what any outage worth checking needs.
const CHAINS_MAX: usize = 10_000;
