//! What would change if a schedule were redefined, or the process were down for a while: two futures of each schedule, side by
//! side, and their differences. Asking changes nothing.
//!
//! Schedules are compared one by one, so that a frequent one does not hide the others. Cost: a few steps for each schedule, and
//! `limits::SLOTS_LISTED` of them, shared by those whose futures go on to differ.

use std::collections::{BTreeMap, BTreeSet};

use super::forecast::{ForecastQuery, WhatIf, concerned, slots_listed};
use super::forecast_slot::{ForecastSlot, SlotOutcome};
use super::schedule_sim::{ChangedDefinition, Outage, ScheduleSim};
use crate::calendar::Zones;
use crate::domain::{Entropy, Moment, Now, Reason, Refusal, ScheduleId, Scope};
use crate::engine::input::ScheduleChange;
use crate::engine::record::ScheduleRecord;
use crate::engine::state::State;
use crate::engine::step::schedule::change_schedule::edited;
use crate::engine::step_builder::{Env, Step, StepBuilder};

/// The differences of two forecasts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The slots that differ, in order.
    pub slots: Vec<Difference>,
    /// Whether there may be more of them in the requested time.
    pub cut: bool,
    /// Schedules that were not compared to the end of the requested time, or of which more slots differ than are listed.
    pub more: BTreeSet<ScheduleId>,
}

/// A slot with another outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The schedule.
    pub schedule: ScheduleId,
    /// The slot.
    pub slot: Moment,
    /// The outcome as things stand; `None` if there is no such slot.
    pub as_is: Option<ForecastSlot>,
    /// The hypothetical outcome; `None` if there would be no such slot. It is [`SlotOutcome::Gone`] with a reason if its
    /// time would pass in an outage, while the slot before it waits.
    pub would: Option<ForecastSlot>,
}

impl State {
    /// Returns the slots that would have another outcome.
    ///
    /// # Errors
    /// Returns the [`Refusal`] that the change itself would get.
    pub fn what_if(
        &self,
        zones: &Zones,
        now: Now,
        ask: &ForecastQuery<'_>,
        supposed: &WhatIf,
    ) -> Result<Differences, Refusal> {
        let sim = |record| ScheduleSim::new(self, zones, record, now);
        let all = concerned(self, ask).map(|(_, record)| record).filter(|_| ask.to > now.wall);
        match supposed {
            WhatIf::Outage(outage) => {
                // Before the outage nothing differs.
                let from = ask.from.max(outage.from);
                let would = |record| sim(record).with_outage(*outage);
                let pair = |record| Pair { as_is: sim(record), would: would(record), outage: Some(*outage) };
                Ok(compare_all(&all.collect::<Vec<_>>(), ask, from, pair))
            }
            WhatIf::Change(schedule, change) => {
                let definition = self.supposed(zones, now, ask.scope, (schedule, change.as_ref()))?;
                let would = |record| sim(record).with_change(definition.clone());
                let pair = |record| Pair { as_is: sim(record), would: would(record), outage: None };
                // A change of one schedule shifts no slot of another.
                let edited: Vec<&ScheduleRecord> = all.filter(|it| it.schedule.id == *schedule).collect();
                Ok(compare_all(&edited, ask, ask.from, pair))
            }
        }
    }

    /// Returns the definition of a schedule after a change, or the refusal of that.
    fn supposed(
        &self,
        zones: &Zones,
        now: Now,
        scope: &Scope,
        (schedule, change): (&ScheduleId, &ScheduleChange),
    ) -> Result<ChangedDefinition, Refusal> {
        let unknown = || Refusal::UnknownSchedule { schedule: schedule.clone() };
        let record = self.schedule(schedule).ok_or_else(unknown)?;
        // A schedule that the caller may not see answers like one that does not exist.
        if !record.is_for(scope) {
            return Err(unknown());
        }
        if record.status.is_terminal() {
            return Err(Refusal::WrongStatus { schedule: schedule.clone(), status: record.status });
        }
        let given = Env { now, entropy: Entropy([0; 16]), zones, awaited: None };
        let draft = StepBuilder::new(Step::default(), self, given);
        // As if an operator made the change: such a change joins no line, so no limit on
        // lines can refuse the question.
        let operator = Scope::Operator.into();
        let paused = change.paused;
        let edited = edited(&draft, record, change.clone(), Some(&operator))?;
        Ok(ChangedDefinition { schedule: edited.schedule, retriggered: edited.retriggered, paused })
    }
}

/// Compares the futures of schedules from an instant on, and lists the differences.
fn compare_all<'s>(
    records: &[&'s ScheduleRecord],
    ask: &ForecastQuery<'_>,
    from: Moment,
    pair: impl Fn(&'s ScheduleRecord) -> Pair<'s>,
) -> Differences {
    let range = (from, ask.to);
    let (mut compared, mut far) = (Vec::new(), Vec::new());
    for &record in records {
        let near = compare(pair(record), range, FEW);
        if near.is_whole {
            compared.push((&record.schedule.id, near));
        } else {
            far.push(record);
        }
    }
    let share = (slots_listed() / far.len().max(1)).max(FEW);
    compared.extend(far.into_iter().map(|it| (&it.schedule.id, compare(pair(it), range, share))));
    let most = ask.first.min(slots_listed());
    let found: usize = compared.iter().map(|(_, it)| it.slots.len()).sum();
    let differing = compared.iter().filter(|(_, it)| !it.slots.is_empty()).count();
    // Of too many, each schedule shows its first ones.
    let each = if found > most { (most / differing.max(1)).max(1) } else { most };
    let each = each.min(ask.each);
    let mut all = Differences::default();
    for (id, mut it) in compared {
        if !it.is_whole || it.slots.len() > each {
            all.more.insert(id.clone());
        }
        it.slots.truncate(each);
        all.slots.append(&mut it.slots);
    }
    all.slots.sort_by(|one, other| (one.slot, &one.schedule).cmp(&(other.slot, &other.schedule)));
    all.cut = !all.more.is_empty() || all.slots.len() > most;
    all.slots.truncate(most);
    all
}

/// Two futures of one schedule.
struct Pair<'s> {
    as_is: ScheduleSim<'s>,
    would: ScheduleSim<'s>,
    outage: Option<Outage>,
}

/// What differs in the futures of one schedule.
struct Compared {
    slots: Vec<Difference>,
    /// All of the time was compared.
    is_whole: bool,
}

/// Compares two futures by slot, as long as both are known: until the end of the range, until both go on alike, or until one of
/// them has so many slots.
fn compare(mut pair: Pair<'_>, (from, to): (Moment, Moment), most: usize) -> Compared {
    if !pair.as_is.skip_to(from) || !pair.would.skip_to(from) {
        return Compared { slots: Vec::new(), is_whole: false };
    }
    let next = |sim: &ScheduleSim<'_>| sim.peek().map(|(_, slot)| slot).filter(|slot| *slot < to);
    let (mut as_is, mut would) = (Vec::new(), Vec::new());
    // The first slot of which one future is unknown.
    let end = loop {
        let (one, other) = (next(&pair.as_is), next(&pair.would));
        if one.or(other).is_none() || pair.as_is.goes_on_like(&pair.would) {
            break None;
        }
        let is_first = one.is_some_and(|one| other.is_none_or(|other| one <= other));
        let (sim, slots) =
            if is_first { (&mut pair.as_is, &mut as_is) } else { (&mut pair.would, &mut would) };
        if slots.len() == most {
            break next(sim);
        }
        slots.extend(sim.step());
    };
    let is_known = |slot: Moment| slot < to && end.is_none_or(|end| slot < end);
    let slots = differences(&as_is, &would, pair.outage, is_known);
    Compared { slots, is_whole: end.is_none() }
}

/// Returns the known slots of one schedule whose outcomes differ, in order.
fn differences(
    as_is: &[ForecastSlot],
    would: &[ForecastSlot],
    outage: Option<Outage>,
    is_known: impl Fn(Moment) -> bool,
) -> Vec<Difference> {
    let mut slots: BTreeMap<Moment, (Option<&ForecastSlot>, Option<&ForecastSlot>)> = BTreeMap::new();
    for coming in as_is.iter().filter(|coming| is_known(coming.slot)) {
        slots.entry(coming.slot).or_default().0 = Some(coming);
    }
    for coming in would.iter().filter(|coming| is_known(coming.slot)) {
        slots.entry(coming.slot).or_default().1 = Some(coming);
    }
    let (as_is, would) = (wide(as_is), wide(would));
    let difference = |(slot, (one, other)): (Moment, (Option<&ForecastSlot>, Option<&ForecastSlot>))| {
        // One forecast may list a slot by itself that the other handles together with later ones.
        let one = one.cloned().or_else(|| within(&as_is, slot));
        let is_down = outage.is_some_and(|outage| outage.from <= slot && slot < outage.until);
        let over = || passed_over(&would, slot).filter(|_| is_down);
        let other = other.cloned().or_else(|| within(&would, slot)).or_else(over);
        let schedule = one.as_ref().or(other.as_ref()).map(|it| it.schedule.clone())?;
        let fate = |it: &ForecastSlot| (it.outcome, it.reason, it.at);
        let is_same = one.as_ref().map(fate) == other.as_ref().map(fate);
        (!is_same).then_some(Difference { schedule, slot, as_is: one, would: other })
    };
    slots.into_iter().filter_map(difference).collect()
}

/// Returns the entries that stand for several slots, or that are handled later than at their slot.
fn wide(slots: &[ForecastSlot]) -> Vec<&ForecastSlot> {
    slots.iter().filter(|coming| coming.count > 1 || coming.at > coming.slot).collect()
}

/// Returns the outcome of a slot that is handled together with a later one.
fn within(wide: &[&ForecastSlot], slot: Moment) -> Option<ForecastSlot> {
    let range = wide.iter().find(|range| range.since <= slot && slot < range.slot)?;
    let mut coming = ForecastSlot { since: slot, slot, count: 1, ..(*range).clone() };
    if coming.run().is_some() {
        coming.outcome = SlotOutcome::Skipped;
        coming.reason = Some(Reason::Coalesced);
    }
    Some(coming)
}

/// Returns the outcome of a slot that would not come to be, because the one before it, from whose end it counts, waits until
/// later.
fn passed_over(wide: &[&ForecastSlot], slot: Moment) -> Option<ForecastSlot> {
    let waits = wide.iter().find(|waits| waits.slot < slot && slot < waits.at)?;
    let reason = if waits.run().is_some() { Some(Reason::Coalesced) } else { waits.reason };
    let outcome = SlotOutcome::Gone;
    Some(ForecastSlot { since: slot, slot, count: 1, outcome, reason, ..(*waits).clone() })
}

/// The slots of each schedule that are compared at first. Most futures go on alike by then.
const FEW: usize = 8;
