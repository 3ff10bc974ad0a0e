//! All deadlines of the engine, in one total order.
//!
//! Shape: one table per kind of deadline. There may be millions of slots; the other kinds are as
//! many as there are runs and lanes at work, and in a shared table each would cost the logarithm of
//! millions. Volatile deadlines use the boot clock, so that suspended time counts and a step of the
//! wall clock does not; durable slots are instants of the wall clock. Invariant: timers come out in
//! the total order (deadline, sequence). The sequence is the order of setting, across all tables,
//! except for durable slots: theirs is the time of creation, so that the order is the same after a
//! restart. What was due before the machine's start is all at zero on the boot clock; its sequence is
//! its instant.

use super::deadlines::{Deadlines, Entry};
use super::slab::Key;
use crate::domain::{BootTime, Moment, Now};

/// A deadline and what it belongs to. Each thing has at most one deadline of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// The next slot of a schedule.
    Slot(Key),
    /// The receipt of a run in flight is overdue.
    Receipt(Key),
    /// The next attempt of a failed run.
    Retry(Key),
    /// The guard's or an operator's answer on a run is overdue.
    Approval(Key),
    /// A run's timeout.
    TimeUp(Key),
    /// A session's host has not reported the turn that it was presumed to start.
    Turn(Key),
}

/// All deadlines of the engine.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    slots: Deadlines<BootTime>,
    wall_slots: Deadlines<Moment>,
    receipts: Deadlines<BootTime>,
    retries: Deadlines<BootTime>,
    approvals: Deadlines<BootTime>,
    times_up: Deadlines<BootTime>,
    turns: Deadlines<BootTime>,
    sequence: u64,
}

impl Timers {
    /// Sets a timer on the boot clock, replacing its earlier deadline.
    pub(super) fn set(&mut self, timer: Timer, deadline: BootTime) {
        let (sequence, key) = (self.next_sequence(), timer.key());
        // A schedule's slot is on one clock only.
        if matches!(timer, Timer::Slot(_)) {
            self.wall_slots.remove(key);
        }
        self.table_mut(timer).insert(Entry { deadline, sequence, key });
    }

    /// Sets a timer to an instant for which an earlier process had set it. One that is overdue keeps its distance from now, so
    /// that it comes out among the slots where that process would have had it.
    pub(super) fn set_again(&mut self, timer: Timer, at: Moment, now: Now) {
        let (sequence, key) = (self.next_sequence(), timer.key());
        self.table_mut(timer).insert(on_boot(Entry { deadline: at, sequence, key }, now));
    }

    /// Sets a slot on the wall clock, replacing its earlier deadline. Of two slots with the same
    /// deadline, the schedule created first comes first, also after a restart. Other timers due at
    /// the same instant come before both.
    pub(super) fn set_slot_on_wall(&mut self, key: Key, deadline: Moment, created_at: Moment) {
        // Nanoseconds since 1970 are larger than any counted sequence, so these slots sort last.
        let sequence = created_at.since(Moment::EPOCH).nanos();
        // As in `set`: the slot of a schedule is on one clock only.
        self.slots.remove(key);
        self.wall_slots.insert(Entry { deadline, sequence, key });
    }

    /// Clears a timer; does nothing if it is not set.
    pub(super) fn clear(&mut self, timer: Timer) {
        if matches!(timer, Timer::Slot(_)) {
            self.wall_slots.remove(timer.key());
        }
        self.table_mut(timer).remove(timer.key());
    }

    /// Returns the earliest deadline at `now` and its timer. If `held`, timers that would start
    /// work are left out.
    pub(super) fn first(&self, now: Now, held: bool) -> Option<(BootTime, Timer)> {
        let mut first: Option<(BootTime, u64, Timer)> = None;
        // Compares the heads of all tables: seven comparisons, whatever the number of deadlines.
        let mut offer = |entry: Option<Entry<BootTime>>, timer: fn(Key) -> Timer| {
            let Some(Entry { deadline, sequence, key }) = entry else { return };
            if first.is_none_or(|(other, before, _)| (deadline, sequence) < (other, before)) {
                first = Some((deadline, sequence, timer(key)));
            }
        };
        // These go on during a hold, because they end work. `StepBuilder::held` keeps a step from starting any.
        offer(self.receipts.first(), Timer::Receipt);
        offer(self.approvals.first(), Timer::Approval);
        offer(self.times_up.first(), Timer::TimeUp);
        offer(self.turns.first(), Timer::Turn);
        if !held {
            offer(self.retries.first(), Timer::Retry);
            offer(self.slots.first(), Timer::Slot);
            // The two clocks drift apart when the wall clock is set, so wall deadlines are
            // converted at each call and not when they are set. They are offered last, and so lose
            // against what was due at the same instant before the machine's start.
            offer(self.wall_slots.first().map(|slot| on_boot(slot, now)), Timer::Slot);
        }
        first.map(|(deadline, _, timer)| (deadline, timer))
    }

    /// Returns a timer's deadline on the boot clock; `None` if it is not set there.
    pub(super) fn deadline(&self, timer: Timer) -> Option<BootTime> {
        match timer {
            Timer::Slot(key) => self.slots.get(key),
            Timer::Receipt(key) => self.receipts.get(key),
            Timer::Retry(key) => self.retries.get(key),
            Timer::Approval(key) => self.approvals.get(key),
            Timer::TimeUp(key) => self.times_up.get(key),
            Timer::Turn(key) => self.turns.get(key),
        }
    }

    /// Returns when a timer of the boot clock is due by the wall clock, by the difference of the clocks at `now`.
    pub(super) fn deadline_on_wall(&self, timer: Timer, now: Now) -> Option<Moment> {
        let due = self.deadline(timer)?;
        if due > now.boot {
            return now.wall.checked_add(due.since(now.boot));
        }
        now.wall.checked_sub(now.boot.since(due))
    }

    /// Returns whether a slot is set, on either clock.
    pub(super) fn has_slot(&self, key: Key) -> bool {
        self.slots.get(key).is_some() || self.wall_slots.get(key).is_some()
    }

    /// Returns whether a slot is due.
    pub(super) fn is_due(&self, key: Key, now: Now) -> bool {
        let on_boot = self.slots.get(key).is_some_and(|deadline| deadline <= now.boot);
        on_boot || self.wall_slots.get(key).is_some_and(|deadline| deadline <= now.wall)
    }

    /// Returns whether any deadline is on the wall clock, which can be set.
    pub(super) fn needs_wall(&self) -> bool {
        self.wall_slots.len() > 0
    }

    /// Returns the schedules whose slots come first, which are likely to be read next.
    pub(super) fn first_slots(&self) -> [Option<Key>; 2] {
        [self.slots.first().map(|it| it.key), self.wall_slots.first().map(|it| it.key)]
    }

    /// Returns the run whose receipt has the earliest deadline, overdue or not.
    pub(super) fn first_receipt(&self) -> Option<Key> {
        self.receipts.first().map(|entry| entry.key)
    }

    /// Returns the number of timers that are set.
    pub(super) fn len(&self) -> usize {
        let others = self.retries.len() + self.approvals.len() + self.times_up.len() + self.turns.len();
        self.slots.len() + self.wall_slots.len() + self.receipts.len() + others
    }

    /// Returns the number of slots that are set.
    pub(super) fn slots_len(&self) -> u64 {
        (self.slots.len() + self.wall_slots.len()) as u64
    }

    /// Returns the number of slots that are due and not claimed yet.
    pub(super) fn slots_due(&self, now: Now) -> u64 {
        self.slots.due(now.boot) + self.wall_slots.due(now.wall)
    }

    /// Returns the runs whose receipts are outstanding, in no particular order.
    pub(super) fn receipts(&self) -> impl Iterator<Item = Key> {
        self.receipts.keys()
    }

    /// Returns the runs that are tried again, in no particular order.
    pub(super) fn retries(&self) -> impl Iterator<Item = Key> {
        self.retries.keys()
    }

    /// Returns the number of outstanding receipts.
    pub(super) fn receipts_len(&self) -> u64 {
        self.receipts.len() as u64
    }

    /// Returns the number of runs that wait for an answer of the guard or of an operator.
    pub(super) fn approvals_len(&self) -> u64 {
        self.approvals.len() as u64
    }

    fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    fn table_mut(&mut self, timer: Timer) -> &mut Deadlines<BootTime> {
        match timer {
            Timer::Slot(_) => &mut self.slots,
            Timer::Receipt(_) => &mut self.receipts,
            Timer::Retry(_) => &mut self.retries,
            Timer::Approval(_) => &mut self.approvals,
            Timer::TimeUp(_) => &mut self.times_up,
            Timer::Turn(_) => &mut self.turns,
        }
    }
}

impl Timer {
    fn key(self) -> Key {
        match self {
            Timer::Slot(key)
            | Timer::Receipt(key)
            | Timer::Retry(key)
            | Timer::Approval(key)
            | Timer::TimeUp(key)
            | Timer::Turn(key) => key,
        }
    }
}

/// Moves an entry from the wall clock to the boot clock, by the difference of the clocks at `now`.
fn on_boot(Entry { deadline, sequence, key }: Entry<Moment>, now: Now) -> Entry<BootTime> {
    // The boot clock cannot say when before the machine's start something was due, so the sequence does.
    let is_older = now.wall.since(deadline) > now.boot.since(BootTime::ZERO);
    let sequence = if is_older { deadline.since(Moment::EPOCH).nanos() } else { sequence };
    Entry { deadline: boot_time_of(deadline, now), sequence, key }
}

/// Converts a wall time to the boot clock, by the difference of the clocks at `now`.
fn boot_time_of(wall: Moment, now: Now) -> BootTime {
    if wall > now.wall {
        return now.boot.after(wall.since(now.wall));
    }
    // What is overdue keeps its distance from now, so that overdue timers come out in the order of their deadlines.
    now.boot.before(now.wall.since(wall))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn timer(number: u32) -> Timer {
        match number % 6 {
            0 => Timer::Slot(Key::numbered(number)),
            1 => Timer::Receipt(Key::numbered(number)),
            2 => Timer::Retry(Key::numbered(number)),
            3 => Timer::TimeUp(Key::numbered(number)),
            4 => Timer::Approval(Key::numbered(number)),
            _ => Timer::Turn(Key::numbered(number)),
        }
    }

    fn at(nanos: u64) -> Now {
        Now { wall: wall(nanos), boot: BootTime::from_nanos(nanos) }
    }

    fn wall(nanos: u64) -> Moment {
        Moment::EPOCH.checked_add(crate::domain::Span::from_nanos(nanos)).unwrap()
    }

    /// What an earlier process had set comes out among the overdue slots by its instant, also if the machine was started since.
    #[test]
    fn what_is_set_again_keeps_its_place_among_overdue_slots() {
        for boot in [1_000, 40, 0] {
            let now = Now { wall: wall(100), boot: BootTime::from_nanos(boot) };
            let mut timers = Timers::default();
            for (number, at) in [(3, 90), (9, 30), (2, 50), (4, 20), (8, 110)] {
                timers.set_again(timer(number), wall(at), now);
            }
            for (number, at) in [(0, 25), (6, 50), (12, 80), (18, 115)] {
                timers.set_slot_on_wall(Key::numbered(number), wall(at), wall(1_000));
            }
            let mut drained = Vec::new();
            while let Some((_, timer)) = timers.first(now, false) {
                drained.push(timer.key().number());
                timers.clear(timer);
            }
            assert_eq!(drained, [4, 0, 9, 2, 6, 12, 3, 8, 18], "{boot} ns after the machine's start");
        }
    }

    proptest! {
        /// The tables behave like one plain ordered map.
        #[test]
        fn timers_come_out_in_total_order(
            steps in prop::collection::vec((0_u32..40, 0_u64..20, 0_u8..4), 1..300),
        ) {
            let mut timers = Timers::default();
            let mut model: BTreeMap<(u64, u64), u32> = BTreeMap::new();
            for (sequence, (number, deadline, action)) in steps.into_iter().enumerate() {
                model.retain(|_, other| *other != number);
                if action == 0 {
                    timers.clear(timer(number));
                } else {
                    // Both clocks start at zero here, so a slot is due at the same time on either.
                    match timer(number) {
                        Timer::Slot(key) if action == 1 => {
                            let now = wall(timers.next_sequence());
                            timers.set_slot_on_wall(key, wall(deadline), now);
                        }
                        timer @ (Timer::Slot(_)
                        | Timer::Receipt(_)
                        | Timer::Retry(_)
                        | Timer::Approval(_)
                        | Timer::TimeUp(_)
                        | Timer::Turn(_)) => timers.set(timer, BootTime::from_nanos(deadline)),
                    }
                    model.insert((deadline, sequence as u64), number);
                }
                prop_assert_eq!(timers.len(), model.len());
                let is_slot = |number: u32| number.is_multiple_of(6);
                let now = at(deadline);
                let slots = model.iter().filter(|(_, number)| is_slot(**number));
                prop_assert_eq!(timers.slots_len(), slots.clone().count() as u64);
                let due = slots.filter(|((other, _), _)| *other <= deadline).count() as u64;
                prop_assert_eq!(timers.slots_due(now), due);
                let first = timers.first(at(0), false).map(|(deadline, timer)| (deadline.nanos(), timer.key().number()));
                let expected = model.first_key_value().map(|((deadline, _), number)| (*deadline, *number));
                prop_assert_eq!(first, expected);
                let is_set = timers.deadline(timer(number)).is_some() || timers.has_slot(Key::numbered(number));
                prop_assert_eq!(is_set, action != 0);
                let work = model.iter().filter(|(_, number)| !matches!(*number % 6, 0 | 2));
                let held = work.min().map(|(_, number)| *number);
                prop_assert_eq!(timers.first(at(0), true).map(|(_, timer)| timer.key().number()), held);
            }
            let mut drained = Vec::new();
            while let Some((_, timer)) = timers.first(at(0), false) {
                drained.push(timer.key().number());
                timers.clear(timer);
            }
            prop_assert_eq!(drained, model.into_values().collect::<Vec<_>>());
        }
    }
}
