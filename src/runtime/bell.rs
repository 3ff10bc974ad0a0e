//! What threads wait for that have looked at the engine and found nothing for them.
//!
//! A condition variable belongs to a mutex, and the engine's lock is none. So a bell counts: whoever is about to wait reads the
//! count while it still holds the engine, lets that go, and waits for another count. What happens in between is not missed.

use std::time::Duration;

use super::sync::{Condvar, Mutex, UNPOISONED};

#[derive(Default)]
pub(super) struct Bell {
    rung: Mutex<u64>,
    ringing: Condvar,
}

impl Bell {
    /// How often it has rung.
    pub(super) fn rung(&self) -> u64 {
        *self.rung.lock().expect(UNPOISONED)
    }

    /// Rouses everybody who waits.
    pub(super) fn ring(&self) {
        *self.rung.lock().expect(UNPOISONED) += 1;
        self.ringing.notify_all();
    }

    /// Waits until it has rung more often than `before`, at most so long; `false` if it has not.
    pub(super) fn wait(&self, before: u64, at_most: Duration) -> bool {
        let rung = self.rung.lock().expect(UNPOISONED);
        let (rung, _) =
            self.ringing.wait_timeout_while(rung, at_most, |rung| *rung == before).expect(UNPOISONED);
        *rung != before
    }
}
