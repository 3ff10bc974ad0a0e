//! What the engine will do if nobody does anything more: the slots to come, of all schedules, in order.
//!
//! Lives here: the question, the merging, the bound. What becomes of one schedule's slots is in `outlook`, and the same
//! under another definition or with an outage in `what_if`. Cost: one look at each schedule, then the logarithm of their
//! number for each slot listed; of schedules whose first slot comes after the last one listed, nothing else is asked.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::input::ScheduleChange;
use super::outlook::{Otherwise, Outlook};
use super::record::ScheduleRecord;
use super::slab::Key;
use super::state::State;
use crate::calendar::Zones;
use crate::domain::{Moment, Now, Reason, RunId, Schedule, ScheduleId, Scope, Span, names};
use crate::limits;

names! {
    /// What becomes of a slot, as far as can be told.
    Fate {
        /// It gets a run, which is handed over at once.
        Fires = "fires",
        /// It gets a run, which waits for a host that is not connected.
        Waits = "waits",
        /// It gets a run, which fails, because what it goes to is not there.
        Fails = "fails",
        /// It gets a run, which the guard refuses.
        Refused = "refused",
        /// It gets a run, which waits until an operator approves it.
        NeedsApproval = "needs-approval",
        /// It passes without a run of its own.
        Skipped = "skipped",
        /// Its schedule is paused: whether it gets a run is decided when somebody resumes it.
        Paused = "paused",
        /// Everything is held: whether it gets a run is decided when somebody releases it.
        Held = "held",
        /// It goes with the memory of the process.
        Lost = "lost",
        /// It is not to come at all: only of a supposition, beside what there is now.
        Gone = "gone",
    }
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    /// Whose look it is.
    pub scope: &'a Scope,
    /// Only this schedule.
    pub only: Option<&'a ScheduleId>,
    /// From when on; what is overdue comes at the present moment.
    pub from: Moment,
    /// Until when, itself left out.
    pub to: Moment,
    /// How many at most, and never more than `limits::SLOTS_LISTED`.
    pub first: usize,
}

/// What comes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forecast {
    /// Slots, by the moment at which something comes of them.
    pub slots: Vec<Coming>,
    /// Whether there are more that are not listed.
    pub cut: bool,
}

/// A slot to come, or several of one schedule that are dealt with together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coming {
    /// Whose it is.
    pub schedule: ScheduleId,
    /// How often the schedule's trigger had been replaced, from 1.
    pub incarnation: u32,
    /// The first of the slots; the slot itself where it is one.
    pub since: Moment,
    /// The slot; of several the last, which the others are folded into or skipped with.
    pub slot: Moment,
    /// How many slots there are.
    pub count: u64,
    /// When something comes of it: later than the slot where that is overdue.
    pub at: Moment,
    /// What.
    pub will: Fate,
    /// Why, where it does not simply fire.
    pub reason: Option<Reason>,
    /// The guard's rule that says so, if one does.
    pub rule: Option<Box<str>>,
}

/// The process is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Since when.
    pub from: Moment,
    /// Until when.
    pub until: Moment,
}

/// What is supposed to be otherwise.
pub(super) enum Supposed<'a> {
    Nothing,
    Outage(Outage),
    Edit { key: Key, schedule: &'a Schedule, retriggered: Option<crate::domain::Next>, paused: Option<bool> },
}

impl Coming {
    /// The id of its run, if it gets one.
    pub fn run(&self) -> Option<RunId> {
        let gets_one = matches!(
            self.will,
            Fate::Fires | Fate::Waits | Fate::Fails | Fate::Refused | Fate::NeedsApproval
        );
        let id = || RunId { schedule: self.schedule.clone(), incarnation: self.incarnation, slot: self.slot };
        gets_one.then(id)
    }
}

impl<'a> Ask<'a> {
    /// The next 24 hours of everything that a caller may see.
    pub fn of(scope: &'a Scope, now: Moment) -> Ask<'a> {
        let to = now.checked_add(Span::from_millis(DAY_MS)).unwrap_or(now);
        let first = usize::try_from(limits::SLOTS_FORESEEN.value).unwrap_or(usize::MAX);
        Ask { scope, only: None, from: now, to, first }
    }
}

impl State {
    /// What will happen if nobody does anything more. Assumed are a guard outside that allows what the rules allow, hosts that
    /// answer at once and turns that take no time;
    /// sessions that are busy now are idle by then, hosts that are gone stay away.
    ///
    /// So no slot is foretold to find its session at work. Of several that come in one instant for one session (by chance, or
    /// because all that was missed is made up for) the later do find a delivery out, until its host has answered; what a
    /// policy then skips or folds in depends on the host's pace, which nobody knows, and is foretold as if it fired.
    pub fn forecast(&self, zones: &Zones, now: Now, ask: &Ask<'_>) -> Forecast {
        foresee(self, zones, now, ask, &Supposed::Nothing)
    }
}

/// What will happen, under a supposition.
pub(super) fn foresee(
    state: &State,
    zones: &Zones,
    now: Now,
    ask: &Ask<'_>,
    supposed: &Supposed<'_>,
) -> Forecast {
    let most = ask.first.min(usize::try_from(limits::SLOTS_LISTED.value).unwrap_or(usize::MAX));
    let outlook = |key: Key| -> Option<Outlook<'_>> {
        let outlook = Outlook::new(state, zones, state.schedule_at(key)?, now);
        Some(match supposed {
            Supposed::Nothing => outlook,
            Supposed::Outage(outage) => outlook.with_outage(*outage),
            Supposed::Edit { key: edited, schedule, retriggered, paused } if *edited == key => {
                let (schedule, retriggered, paused) = ((*schedule).clone(), *retriggered, *paused);
                outlook.otherwise(Otherwise { schedule, retriggered, paused })
            }
            Supposed::Edit { .. } => outlook,
        })
    };
    let mut cut = false;
    let mut heads: Vec<Head<'_>> = Vec::new();
    for (key, record) in concerned(state, ask) {
        let Some(mut outlook) = outlook(key) else { continue };
        if !outlook.skip_to(ask.from) {
            cut = true;
            continue;
        }
        if let Some((at, slot)) = outlook.peek().filter(|(at, _)| *at >= ask.from && *at < ask.to) {
            heads.push(Head { at, slot, record, key });
        }
    }
    // Nothing of a schedule can be among the first so many whose own first is not.
    if heads.len() > most {
        heads.select_nth_unstable_by(most, Head::compare);
        heads.truncate(most + 1);
    }
    heads.sort_unstable_by(Head::compare);
    let mut outlooks: Vec<Outlook<'_>> = heads.iter().filter_map(|head| outlook(head.key)).collect();
    for outlook in &mut outlooks {
        // It was near enough above.
        let _ = outlook.skip_to(ask.from);
    }
    let order = |(at, slot): (Moment, Moment), place: usize, heads: &[Head<'_>]| {
        Reverse((at, slot, heads[place].record.schedule.created_at, place))
    };
    let firsts = outlooks.iter().enumerate().filter_map(|(place, it)| Some(order(it.peek()?, place, &heads)));
    let mut heap: BinaryHeap<_> = firsts.collect();
    let mut slots = Vec::new();
    while let Some(Reverse((at, _, _, place))) = heap.pop() {
        if at >= ask.to {
            continue;
        }
        if slots.len() == most {
            cut = true;
            break;
        }
        slots.extend(outlooks[place].step());
        heap.extend(outlooks[place].peek().map(|next| order(next, place, &heads)));
    }
    debug_assert!(slots.is_sorted_by_key(|slot: &Coming| slot.at), "slots out of order: {slots:?}");
    Forecast { slots, cut }
}

/// A schedule by its first slot.
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

/// The schedules that are asked for and have not ended.
fn concerned<'s>(state: &'s State, ask: &Ask<'_>) -> impl Iterator<Item = (Key, &'s ScheduleRecord)> {
    let only = ask.only.map(|id| state.schedule_key(id));
    let scope = ask.scope.clone();
    let one = only.flatten().into_iter();
    let all = only.is_none().then(|| state.schedule_keys()).into_iter().flatten();
    one.chain(all)
        .filter_map(|key| Some((key, state.schedule_at(key)?)))
        .filter(move |(_, record)| !record.status.is_terminal() && scope.reaches(&record.schedule))
}

/// What somebody may ask about: what would be otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhatIf {
    /// A schedule were changed so.
    Change(ScheduleId, Box<ScheduleChange>),
    /// The process were down for a while.
    Outage(Outage),
}

const DAY_MS: u64 = 86_400_000;
