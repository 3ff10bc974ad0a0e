//! The thread that sends one subscription's events to its client.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::outgoing::Outgoing;
use super::print;
use super::visibility::SeenSessions;
use crate::domain::Cursor;
use crate::runtime::{Handle, Stopper, Subscription};
use crate::service::Reach;

/// The number of decisions read under one lock of the engine: writers wait no longer than that.
const BATCH: usize = 256;

/// A running subscription; dropping it ends the thread.
pub(super) struct Pump {
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Pump {
    /// Starts the thread. If the system provides none, the subscription stays silent and the
    /// connection goes on.
    pub(super) fn new(
        handle: Handle,
        subscription: Subscription,
        own: Arc<Mutex<Reach>>,
        outgoing: Arc<Outgoing>,
    ) -> Pump {
        let stopper = subscription.stopper();
        let carry = move || carry(&handle, subscription, &own, &outgoing);
        Pump { stopper, thread: std::thread::Builder::new().name("reveille-feed".into()).spawn(carry).ok() }
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            // A panic has been reported on stderr; the subscription is over either way.
            let _ = thread.join();
        }
    }
}

fn carry(handle: &Handle, mut subscription: Subscription, own: &Mutex<Reach>, outgoing: &Outgoing) {
    let mut sight = SeenSessions::default();
    let start_at = |sight: &mut SeenSessions, from: Cursor| {
        sight.start_at(&own.lock().unwrap_or_else(PoisonError::into_inner), handle, from);
    };
    start_at(&mut sight, subscription.cursor().next());
    loop {
        // Read before the batch, because a gap begins right after this cursor.
        let after = subscription.cursor();
        let Some(batch) = subscription.next_batch(BATCH) else {
            return;
        };
        if batch.truncated {
            let first = batch.decisions.first().map(|first| first.cursor);
            start_at(&mut sight, first.unwrap_or_else(|| subscription.cursor().next()));
        }
        // The gap is reported before the events that follow it.
        if batch.truncated && !outgoing.send(&print::truncated(after)) {
            return;
        }
        for decision in &batch.decisions {
            let own = own.lock().unwrap_or_else(PoisonError::into_inner);
            let visible = sight.admits(&own, handle, decision);
            let is_operator = own.is_operators();
            // Unlocked before sending: requests of this client must not wait for the queue.
            drop(own);
            if visible && !outgoing.send(&print::event(decision, is_operator)) {
                return;
            }
        }
    }
}
