//! Everything the engine waits for, in one order.
//!
//! Shape: three tables of deadlines. Slots may be millions; receipts and presumed turns are as many as there are lanes
//! at work, and would cost their log of a million in the same table. Invariant: timers come out in the total order
//! (deadline, sequence), and the sequence is that of setting, over all three.

use super::deadlines::{Deadlines, Entry};
use super::slab::Key;
use crate::domain::BootTime;

/// Whose deadline it is. Each has at most one of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// A pending schedule's slot.
    Slot(Key),
    /// The receipt of a schedule's run in flight.
    Receipt(Key),
    /// The turn that a session's host is presumed to be starting.
    Turn(Key),
}

/// What the engine waits for.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    slots: Deadlines,
    receipts: Deadlines,
    turns: Deadlines,
    sequence: u64,
}

impl Timers {
    /// Sets the timer, replacing its earlier deadline.
    pub(super) fn set(&mut self, timer: Timer, deadline: BootTime) {
        let (sequence, key) = (self.sequence, timer.key());
        self.sequence += 1;
        self.table_mut(timer).insert(Entry { deadline, sequence, key });
    }

    /// Clears the timer; nothing happens if it is not set.
    pub(super) fn clear(&mut self, timer: Timer) {
        self.table_mut(timer).remove(timer.key());
    }

    /// The earliest deadline and whose it is.
    pub(super) fn first(&self) -> Option<(BootTime, Timer)> {
        let slot = self.slots.first().map(|entry| (entry, Timer::Slot(entry.key)));
        let receipt = self.receipts.first().map(|entry| (entry, Timer::Receipt(entry.key)));
        let turn = self.turns.first().map(|entry| (entry, Timer::Turn(entry.key)));
        let first = [slot, receipt, turn].into_iter().flatten().min_by_key(|(entry, _)| *entry);
        first.map(|(entry, timer)| (entry.deadline, timer))
    }

    /// The timer's deadline, if it is set.
    pub(super) fn deadline(&self, timer: Timer) -> Option<BootTime> {
        match timer {
            Timer::Slot(key) => self.slots.get(key),
            Timer::Receipt(key) => self.receipts.get(key),
            Timer::Turn(key) => self.turns.get(key),
        }
    }

    /// The schedules that are likely to be asked for next: the first receipt's and the first slot's.
    pub(super) fn next_schedules(&self) -> [Option<Key>; 2] {
        [self.receipts.first(), self.slots.first()].map(|entry| entry.map(|entry| entry.key))
    }

    /// How many are set.
    pub(super) fn len(&self) -> usize {
        self.slots.len() + self.receipts.len() + self.turns.len()
    }

    /// How many slots are still to be claimed.
    pub(super) fn slots_len(&self) -> u64 {
        self.slots.len() as u64
    }

    /// How many slots are due and still to be claimed.
    pub(super) fn slots_due(&self, now: BootTime) -> u64 {
        self.slots.due(now)
    }

    /// How many receipts are out.
    pub(super) fn receipts_len(&self) -> u64 {
        self.receipts.len() as u64
    }

    fn table_mut(&mut self, timer: Timer) -> &mut Deadlines {
        match timer {
            Timer::Slot(_) => &mut self.slots,
            Timer::Receipt(_) => &mut self.receipts,
            Timer::Turn(_) => &mut self.turns,
        }
    }
}

impl Timer {
    fn key(self) -> Key {
        match self {
            Timer::Slot(key) | Timer::Receipt(key) | Timer::Turn(key) => key,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn timer(number: u32) -> Timer {
        match number % 3 {
            0 => Timer::Slot(Key(number)),
            1 => Timer::Receipt(Key(number)),
            _ => Timer::Turn(Key(number)),
        }
    }

    proptest! {
        /// The tables against the plain ordered map that they stand for.
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
                    timers.set(timer(number), BootTime::from_nanos(deadline));
                    model.insert((deadline, sequence as u64), number);
                }
                prop_assert_eq!(timers.len(), model.len());
                let (now, is_slot) = (BootTime::from_nanos(deadline), |number: u32| number.is_multiple_of(3));
                let slots = model.iter().filter(|(_, number)| is_slot(**number));
                prop_assert_eq!(timers.slots_len(), slots.clone().count() as u64);
                let due = slots.filter(|((other, _), _)| *other <= deadline).count() as u64;
                prop_assert_eq!(timers.slots_due(now), due);
                let first = timers.first().map(|(deadline, timer)| (deadline.nanos(), timer.key().0));
                let expected = model.first_key_value().map(|((deadline, _), number)| (*deadline, *number));
                prop_assert_eq!(first, expected);
                prop_assert_eq!(timers.deadline(timer(number)).is_some(), action != 0);
            }
            let mut drained = Vec::new();
            while let Some((_, timer)) = timers.first() {
                drained.push(timer.key().0);
                timers.clear(timer);
            }
            prop_assert_eq!(drained, model.into_values().collect::<Vec<_>>());
        }
    }
}
