//! The thread that carries one subscription to its client.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::outgoing::Outgoing;
use super::own::{Own, Sight};
use super::print;
use crate::runtime::{Handle, Stopper, Subscription};

/// How many decisions are read under one hold of the engine's lock.
const BATCH: usize = 256;

/// A running subscription; dropping it ends the thread.
pub(super) struct Pump {
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Pump {
    /// Starts the thread. Should the system have none to give, the subscription stays silent and the connection lives.
    pub(super) fn new(
        handle: Handle,
        subscription: Subscription,
        own: Arc<Mutex<Own>>,
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
            // A pump that panicked has said so on stderr; its subscription is over either way.
            let _ = thread.join();
        }
    }
}

fn carry(handle: &Handle, mut subscription: Subscription, own: &Mutex<Own>, outgoing: &Outgoing) {
    let mut sight = Sight::default();
    loop {
        let after = subscription.cursor();
        let Some(batch) = subscription.next_batch(BATCH) else {
            return;
        };
        if batch.truncated && !outgoing.send(&print::truncated(after)) {
            return;
        }
        for decision in &batch.decisions {
            let own = own.lock().unwrap_or_else(PoisonError::into_inner);
            let visible = sight.admits(&own, handle, decision);
            let is_operator = own.operator;
            drop(own);
            if visible && !outgoing.send(&print::event(decision, is_operator)) {
                return;
            }
        }
    }
}
