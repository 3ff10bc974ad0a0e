//! What is to be done when some time has passed: waits of callers that end then, whatever else has happened.
//!
//! The driver rings them, by the clock of the engine. Invariant: an alarm rings once, never early, and not after it was called
//! off.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::shared::Shared;
use super::sync::{Mutex, UNPOISONED};
use crate::domain::{BootTime, Span};

/// The alarms that are set.
#[derive(Default)]
pub(super) struct Alarms {
    set: Mutex<BTreeMap<AlarmId, Ring>>,
    last: AtomicU64,
}

/// An alarm that was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AlarmId(BootTime, u64);

type Ring = Box<dyn FnOnce() + Send>;

impl Alarms {
    pub(super) fn next(&self) -> Option<BootTime> {
        self.set.lock().expect(UNPOISONED).keys().next().map(|AlarmId(at, _)| *at)
    }

    /// Calls an alarm off, if it has not rung.
    pub(super) fn call_off(&self, id: AlarmId) {
        let rung = self.set.lock().expect(UNPOISONED).remove(&id);
        // Outside of the lock: what it holds may do something when it is dropped.
        drop(rung);
    }

    fn take_due(&self, now: BootTime) -> Option<Ring> {
        let mut set = self.set.lock().expect(UNPOISONED);
        let first = set.first_entry().filter(|first| first.key().0 <= now)?;
        Some(first.remove())
    }
}

impl Shared {
    /// Sets an alarm that rings when this much time has passed.
    pub(super) fn set_alarm(&self, after: Span, ring: Ring) -> AlarmId {
        let alarms = &self.alarms;
        // The instant alone is the order. The number only tells apart alarms that are set for the same instant.
        let id = AlarmId(self.now().boot.after(after), alarms.last.fetch_add(1, Ordering::Relaxed));
        alarms.set.lock().expect(UNPOISONED).insert(id, ring);
        // After the insertion: the driver reads the alarms before it is armed, so either it has seen this one,
        // or it is armed by now and is roused here.
        self.rouse_before(id.0);
        id
    }

    /// Rings the alarms that are due; `true` if there were any.
    pub(super) fn ring_alarms(self: &Arc<Self>, now: BootTime) -> bool {
        let mut is_any = false;
        // One at a time, so that the table is not locked while an alarm rings: a ring may set or call off others.
        while let Some(ring) = self.alarms.take_due(now) {
            is_any = true;
            // Whatever it does must not end the driver.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(ring));
        }
        is_any
    }

    /// Wakes the driver if it is set to sleep beyond this instant. Each wake-up costs a system call.
    pub(super) fn rouse_before(&self, at: BootTime) {
        if self.core().armed.is_some_and(|armed| at < armed) {
            self.alarm.notify();
        }
    }
}
