//! The forecast: what the engine will do if nobody intervenes. The slots to come, of all schedules, in order.
//!
//! Lives here: the question, the merging of schedules, the bound. What lives elsewhere: the future of one
//! schedule (`schedule_sim`), and futures under a changed definition or an outage (`what_if`). Cost: one step
//! per schedule, then the logarithm of their number per listed slot. Schedules whose first slot comes after
//! the last one listed are not read again.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashSet};

use super::forecast_slot::ForecastSlot;
use super::schedule_sim::{Outage, ScheduleSim};
use crate::calendar::Zones;
use crate::domain::{Moment, Now, ScheduleId, Scope, Span};
use crate::engine::input::ScheduleChange;
use crate::engine::record::ScheduleRecord;
use crate::engine::slab::Key;
use crate::engine::state::State;
use crate::limits;

/// What is to be forecast.
#[derive(Clone, Debug)]
pub struct ForecastQuery<'a> {
    /// The scope of the caller: only schedules that it owns are listed.
    pub scope: &'a Scope,
    /// If given, only this schedule. It may be one that another session shares.
    pub only: Option<&'a ScheduleId>,
    /// If given, only these schedules: the slots of others take no place in the list.
    pub among: Option<&'a HashSet<&'a ScheduleId>>,
    /// The start of the interval; overdue slots count as due now.
    pub from: Moment,
    /// The end of the interval, exclusive.
    pub to: Moment,
    /// The maximum number of slots, capped at `limits::SLOTS_LISTED`.
    pub first: usize,
    /// The maximum number of slots of one schedule, so that one which fires every minute does not hide the others.
    pub each: usize,
}

/// The slots to come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forecast {
    /// The slots, by the moment at which they are handled.
    pub slots: Vec<ForecastSlot>,
    /// Whether there are more slots than listed.
    pub cut: bool,
    /// Schedules of which more slots are in range than `each` allows.
    pub more: BTreeSet<ScheduleId>,
}

impl<'a> ForecastQuery<'a> {
    /// Asks for the next 24 hours of everything that a caller may see.
    pub fn of(scope: &'a Scope, now: Moment) -> ForecastQuery<'a> {
        let to = now.checked_add(Span::from_millis(DAY_MS)).unwrap_or(now);
        let first = usize::try_from(limits::SLOTS_FORESEEN.value).unwrap_or(usize::MAX);
        ForecastQuery { scope, only: None, among: None, from: now, to, first, each: usize::MAX }
    }
}

impl State {
    /// Returns what will happen if nobody intervenes. Assumes that an outside guard allows whatever the rules
    /// allow, that hosts answer at once, and that turns take no time. Sessions that are busy now are idle by
    /// then; hosts that are gone stay away.
    ///
    /// So no slot is forecast to find its session busy. If several slots of one session come at the same
    /// instant (by chance, or because all missed slots are made up for), the later ones do find a delivery
    /// outstanding until the host has answered. What a policy then skips or coalesces depends on the pace of
    /// the host, which is unknown; such slots are forecast to fire.
    pub fn forecast(&self, zones: &Zones, now: Now, ask: &ForecastQuery<'_>) -> Forecast {
        foresee(self, zones, now, ask)
    }
}

fn foresee(state: &State, zones: &Zones, now: Now, ask: &ForecastQuery<'_>) -> Forecast {
    let most = ask.first.min(slots_listed());
    let sim = |key: Key| Some(ScheduleSim::new(state, zones, state.schedule_at(key)?, now));
    let mut cut = false;
    // Only the first slot of each schedule is retained here: its sim is much larger, and most are not needed.
    let mut heads: Vec<Head<'_>> = Vec::new();
    for (key, record) in concerned(state, ask) {
        let Some(mut sim) = sim(key) else { continue };
        if !sim.skip_to(ask.from) {
            cut = true;
            continue;
        }
        if let Some((at, slot)) = sim.peek().filter(|(at, _)| *at >= ask.from && *at < ask.to) {
            heads.push(Head { at, slot, record, key });
        }
    }
    keep_first(&mut heads, most);
    let mut outlooks: Vec<ScheduleSim<'_>> = heads.iter().filter_map(|head| sim(head.key)).collect();
    for sim in &mut outlooks {
        // The first pass has reached it already, so this cannot fail.
        let _ = sim.skip_to(ask.from);
    }
    let order = |(at, slot): (Moment, Moment), place: usize, heads: &[Head<'_>]| {
        Reverse((at, slot, heads[place].record.schedule.created_at, place))
    };
    let firsts = outlooks.iter().enumerate().filter_map(|(place, it)| Some(order(it.peek()?, place, &heads)));
    // A merge of the schedules: the heap holds the next slot of each.
    let mut heap: BinaryHeap<_> = firsts.collect();
    let (mut slots, mut more) = (Vec::new(), BTreeSet::new());
    let mut listed = vec![0_usize; outlooks.len()];
    while let Some(Reverse((at, _, _, place))) = heap.pop() {
        // Later slots of this schedule are out of range too, so it is not pushed again.
        if at >= ask.to {
            continue;
        }
        if listed[place] == ask.each {
            more.insert(heads[place].record.schedule.id.clone());
            continue;
        }
        if slots.len() == most {
            cut = true;
            break;
        }
        listed[place] += 1;
        slots.extend(outlooks[place].step());
        heap.extend(outlooks[place].peek().map(|next| order(next, place, &heads)));
    }
    debug_assert!(slots.is_sorted_by_key(|slot: &ForecastSlot| slot.at), "slots out of order: {slots:?}");
    Forecast { slots, cut, more }
}

/// Sorts the schedules by their first slots, and drops those that cannot contribute, because their own first slot is not among
/// the first slots. One head more than asked for tells whether the list is cut.
fn keep_first(heads: &mut Vec<Head<'_>>, most: usize) {
    if heads.len() > most {
        heads.select_nth_unstable_by(most, Head::compare);
        heads.truncate(most + 1);
    }
    heads.sort_unstable_by(Head::compare);
}

/// A schedule and its first slot.
struct Head<'a> {
    at: Moment,
    slot: Moment,
    record: &'a ScheduleRecord,
    key: Key,
}

impl Head<'_> {
    fn order(&self) -> (Moment, Moment, Moment, &ScheduleId) {
        let schedule = &self.record.schedule;
        (self.at, self.slot, schedule.created_at, &schedule.id)
    }

    fn compare(&self, other: &Head<'_>) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

/// The most slots that one answer lists, as a count.
pub(super) fn slots_listed() -> usize {
    usize::try_from(limits::SLOTS_LISTED.value).unwrap_or(usize::MAX)
}

/// Returns the unfinished schedules that were asked for and are in scope. A session that names none gets its own, as in each
/// list: what others share would take the places of these.
pub(super) fn concerned<'s>(
    state: &'s State,
    ask: &ForecastQuery<'_>,
) -> impl Iterator<Item = (Key, &'s ScheduleRecord)> {
    let among = ask.among;
    let only = ask.only.map(|id| state.schedule_key(id));
    let scope = ask.scope.clone();
    let is_named = only.is_some();
    let is_in_scope = move |record: &ScheduleRecord| {
        record.is_for(&scope) && (is_named || scope.covers(&record.schedule.owner))
    };
    let one = only.flatten().into_iter();
    let all = only.is_none().then(|| state.schedule_keys()).into_iter().flatten();
    one.chain(all)
        .filter_map(|key| Some((key, state.schedule_at(key)?)))
        .filter(move |(_, record)| among.is_none_or(|among| among.contains(&record.schedule.id)))
        .filter(move |(_, record)| !record.status.is_terminal() && is_in_scope(record))
}

/// A hypothetical condition that a caller may ask about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhatIf {
    /// The schedule is changed like this.
    Change(ScheduleId, Box<ScheduleChange>),
    /// The process is down for a while.
    Outage(Outage),
}

const DAY_MS: u64 = 86_400_000;
