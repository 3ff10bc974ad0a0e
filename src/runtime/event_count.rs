//! An event count: lets a thread sleep until the next change without missing a wake-up.
//!
//! A `Condvar` needs a `Mutex`, and the engine's lock is an `RwLock`. So a waiter reads the epoch while it still
//! holds the engine's lock, releases the lock, and waits for the epoch to change. A notification in between has
//! changed it already, so the wait returns at once.

use std::time::Duration;

use super::sync::{Condvar, Mutex, UNPOISONED};

#[derive(Default)]
pub(super) struct EventCount {
    epoch: Mutex<u64>,
    changed: Condvar,
}

impl EventCount {
    /// The number of notifications so far.
    pub(super) fn epoch(&self) -> u64 {
        *self.epoch.lock().expect(UNPOISONED)
    }

    /// Wakes all waiting threads.
    pub(super) fn notify(&self) {
        *self.epoch.lock().expect(UNPOISONED) += 1;
        self.changed.notify_all();
    }

    /// Waits for an epoch other than `before`, at most this long; `false` if there was none.
    pub(super) fn wait(&self, before: u64, at_most: Duration) -> bool {
        let epoch = self.epoch.lock().expect(UNPOISONED);
        // The condition is checked after each wake-up, because a condition variable may wake a thread for no reason.
        let (epoch, _) =
            self.changed.wait_timeout_while(epoch, at_most, |epoch| *epoch == before).expect(UNPOISONED);
        *epoch != before
    }
}
