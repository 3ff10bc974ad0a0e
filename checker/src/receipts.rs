//! Judges each delivery by itself, and assigns it to its slot.
//!
//! A receipt gets at most one finding about its place, so that one fault is reported once. The
//! wrong session is a separate fault.

use std::collections::{BTreeMap, BTreeSet};

use super::event::{Recovery, Trigger};
use super::expected::slots;
use super::finding::Finding;
use super::moment::{Moment, Span};
use super::story::{Bar, Era, Life, Receipt, Story};
use super::stretch::later;

/// One slot of a schedule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) at: Moment,
    /// The index of its trigger.
    pub(super) era: usize,
    /// Whether it may be received but need not: on the edge of a change, or after the end.
    pub(super) is_optional: bool,
    /// The first receipt for it.
    pub(super) receipt: Option<usize>,
}

/// Assigns every receipt that names a slot, and judges it.
pub(super) fn place(name: &str, life: &mut Life, grid: &mut Vec<Slot>, story: &Story) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut runs: BTreeMap<String, Moment> = BTreeMap::new();
    for number in 0..life.receipts.len() {
        let receipt = &life.receipts[number];
        let Some(slot) = receipt.slot else { continue };
        let place = find(life, grid, slot);
        let earlier = place.and_then(|place| grid[place].receipt).map(|first| &life.receipts[first]);
        let finding = match place {
            None => Some(stray(name, life, receipt, slot)),
            // In this order: a cause (the process was down) comes before its consequences (a second
            // receipt).
            Some(_) => barred(name, slot, receipt)
                .or_else(|| again(name, life, earlier, (receipt, slot), story))
                .or_else(|| two_slots(name, &runs, (receipt, slot)))
                .or_else(|| early(name, life, (receipt, slot), story)),
        };
        let wrong = wrong_session(name, life, (receipt, slot));
        runs.entry(receipt.run.clone()).or_insert(slot);
        if let Some(place) = place {
            grid[place].receipt.get_or_insert(number);
        }
        life.receipts[number].is_clean = finding.is_none() && wrong.is_none();
        findings.extend(finding.into_iter().chain(wrong));
    }
    findings
}

/// The place of a slot in the grid. A valid slot on the edge of a trigger's time, or after the end,
/// is added as optional.
fn find(life: &Life, grid: &mut Vec<Slot>, slot: Moment) -> Option<usize> {
    match grid.binary_search_by_key(&slot, |slot| slot.at) {
        Ok(place) => Some(place),
        Err(place) => {
            // Both ends inclusive: at the very instant of a change, either trigger may have been in
            // force.
            let is_of = |era: &Era| {
                era.from <= slot && era.until.is_none_or(|until| slot <= until) && has(&era.trigger, slot)
            };
            let after_all = grid.last().is_none_or(|last| last.at < slot);
            let on_edge = life.eras.iter().any(|era| era.from == slot);
            let era = life.eras.iter().rposition(|era| (after_all || on_edge) && is_of(era))?;
            grid.insert(place, Slot { at: slot, era, is_optional: true, receipt: None });
            Some(place)
        }
    }
}

/// Whether a trigger has this slot, regardless of when it was in force.
fn has(trigger: &Trigger, slot: Moment) -> bool {
    let before = slot.checked_sub(Span::from_nanos(1)).unwrap_or(slot);
    slots(trigger, before, slot).is_ok_and(|found| found.contains(&slot))
}

fn stray(name: &str, life: &Life, receipt: &Receipt, slot: Moment) -> Finding {
    let schedule = name.to_owned();
    let was_replaced = |era: &Era| era.until.is_some_and(|until| until < slot);
    if receipt.barred == Some(Bar::Cancel) {
        Finding::AfterCancel { schedule, slot }
    } else if life.eras.iter().any(|era| was_replaced(era) && has(&era.trigger, slot)) {
        Finding::OldTrigger { schedule, slot }
    } else {
        Finding::Misplaced { schedule, slot }
    }
}

fn barred(name: &str, slot: Moment, receipt: &Receipt) -> Option<Finding> {
    let schedule = name.to_owned();
    let session = receipt.session.clone().filter(|_| receipt.is_second);
    match receipt.barred {
        Some(Bar::Cancel) => Some(Finding::AfterCancel { schedule, slot }),
        Some(Bar::Down) => Some(Finding::WhileDown { schedule, slot }),
        Some(Bar::Pause) => Some(Finding::AfterPause { schedule, slot }),
        Some(Bar::Hold) => Some(Finding::DuringHold { schedule, slot }),
        None => session.map(|session| Finding::TwoAtOnce { schedule, slot, session }),
    }
}

fn again(
    name: &str,
    life: &Life,
    earlier: Option<&Receipt>,
    (receipt, slot): (&Receipt, Moment),
    story: &Story,
) -> Option<Finding> {
    let (first, schedule) = (earlier?, name.to_owned());
    if first.run != receipt.run {
        let (first, second) = (first.run.clone(), receipt.run.clone());
        return Some(Finding::TwoRuns { schedule, slot, first, second });
    }
    let died = story.deaths.iter().any(|line| (first.line..receipt.line).contains(line));
    match life.policy(receipt.at).recovery {
        // The scheduler could not know whether it had arrived.
        Recovery::Redeliver if died => None,
        Recovery::Redeliver | Recovery::Fail => {
            Some(Finding::Twice { schedule, slot, run: receipt.run.clone() })
        }
    }
}

fn two_slots(
    name: &str,
    runs: &BTreeMap<String, Moment>,
    (receipt, slot): (&Receipt, Moment),
) -> Option<Finding> {
    let first = *runs.get(&receipt.run).filter(|first| **first != slot)?;
    Some(Finding::TwoSlots { schedule: name.into(), run: receipt.run.clone(), first, second: slot })
}

fn early(name: &str, life: &Life, (receipt, slot): (&Receipt, Moment), story: &Story) -> Option<Finding> {
    // A slot that was due before the clock was set back stays due.
    let was_due =
        story.set_back().any(|jump| (life.line..receipt.line).contains(&jump.line) && jump.at >= slot);
    let is_early = receipt.at < slot && !was_due;
    is_early.then(|| Finding::Early { schedule: name.into(), slot, by: slot.since(receipt.at) })
}

fn wrong_session(name: &str, life: &Life, (receipt, slot): (&Receipt, Moment)) -> Option<Finding> {
    let (expected, found) = (life.session.clone()?, receipt.session.clone()?);
    (expected != found).then(|| Finding::WrongSession { schedule: name.into(), slot, expected, found })
}

/// Assigns every receipt that names no slot to the first due slot without one. Earliest deadline
/// first finds a match for all receipts whenever one exists. `deadline` is `None` for slots that
/// are not expected.
pub(super) fn assign(
    name: &str,
    life: &mut Life,
    grid: &[Slot],
    prompt: Span,
    deadline: impl Fn(usize) -> Option<Moment>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let nameless: Vec<usize> =
        (0..life.receipts.len()).filter(|number| life.receipts[*number].slot.is_none()).collect();
    let named: BTreeSet<Moment> = life.receipts.iter().filter_map(|receipt| receipt.slot).collect();
    let mut taken: Vec<bool> = grid.iter().map(|slot| named.contains(&slot.at)).collect();
    let mut first = 0;
    for number in nameless {
        let receipt = &life.receipts[number];
        while first < grid.len() && (taken[first] || deadline(first).is_none()) {
            first += 1;
        }
        let due = (first..grid.len()).take_while(|place| grid[*place].at <= receipt.at);
        let open: Vec<usize> = due.filter(|place| !taken[*place] && deadline(*place).is_some()).collect();
        let in_time = open.iter().find(|place| deadline(**place) >= Some(receipt.at));
        let soon = || {
            let next = (first..grid.len()).find(|place| grid[*place].at > receipt.at)?;
            (!taken[next] && grid[next].at <= later(receipt.at, prompt)).then_some(next)
        };
        // Best first: in time; a little early, which is a finding; late, which is a finding too.
        match in_time.copied().or_else(soon).or(open.last().copied()) {
            Some(place) => {
                taken[place] = true;
                life.receipts[number].slot = Some(grid[place].at);
            }
            None => {
                let (run, at) = (receipt.run.clone(), receipt.at);
                life.receipts[number].is_clean = false;
                findings.push(Finding::Extra { schedule: name.into(), run, at });
            }
        }
    }
    findings
}
