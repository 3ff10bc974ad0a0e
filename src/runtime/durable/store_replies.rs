//! A store's replies, published as they arrive: commits release what waits for them, and a failure starts a recovery.
//!
//! What lives elsewhere: what is loaded and recovered (`recovery.rs`).

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::persister::StoreEvent;
use super::recovery::reattach;
use super::recovery_error::RecoveryError;
use crate::engine::Input;
use crate::runtime::shared::Shared;

/// Makes the replies of a store, and the end to which the store sends them.
pub(in crate::runtime) fn replies(shared: &Arc<Shared>) -> (Sender<StoreEvent>, StoreReplies) {
    let (events, arrived) = channel();
    // A weak reference, so that the thread does not keep the engine alive.
    (events, StoreReplies { shared: Arc::downgrade(shared), arrived, failed: false })
}

/// The store's replies, on their way to what waits for them: effects, and subscribers.
pub struct StoreReplies {
    shared: Weak<Shared>,
    arrived: Receiver<StoreEvent>,
    failed: bool,
}

impl StoreReplies {
    /// Publishes the replies that have arrived: effects run, the feed goes on. Returns whether there were any.
    pub fn publish(&mut self) -> bool {
        let Ok(first) = self.arrived.try_recv() else { return false };
        self.publish_from(first)
    }

    /// Reopens a store that has failed and reloads durable state from it. Does nothing while the store works.
    ///
    /// # Errors
    /// [`RecoveryError`]: the store still does not work.
    pub fn retry(&mut self) -> Result<(), RecoveryError> {
        let Some(shared) = self.shared.upgrade().filter(|_| self.failed) else { return Ok(()) };
        let reattached = reattach(&shared);
        self.failed = reattached.is_err();
        // The recovery has queued effects under the engine's lock, and hosts are called outside it.
        shared.perform();
        reattached
    }

    /// The loop of the store's thread; it ends with the engine.
    pub(in crate::runtime) fn publish_forever(mut self) {
        loop {
            let next = if self.failed {
                self.arrived.recv_timeout(RETRY_INTERVAL)
            } else {
                self.arrived.recv().map_err(RecvTimeoutError::from)
            };
            match next {
                Ok(first) => {
                    if !self.publish_from(first) {
                        return;
                    }
                }
                // The store's health shows the fault; the next interval tries again.
                Err(RecvTimeoutError::Timeout) => _ = self.retry(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Publishes a reply and all behind it; `false` once the engine is gone.
    fn publish_from(&mut self, first: StoreEvent) -> bool {
        let Some(shared) = self.shared.upgrade() else { return false };
        let mut core = shared.core_mut();
        // All events that have arrived are handled under one hold of the lock, so a burst wakes subscribers once.
        for event in std::iter::once(first).chain(self.arrived.try_iter()) {
            // Before each event: a failure drops every pending batch, and committed ones must not be among them.
            core.settle();
            let now = shared.now();
            match event {
                StoreEvent::Committed => continue,
                // A reply from an earlier term: its facts were retracted when that term ended.
                StoreEvent::Failed(term, _) if core.is_past(term) => continue,
                StoreEvent::Failed(_, fault) => core.store_failed(fault, now, || shared.random_bits()),
                StoreEvent::Rejected(fault) => core.batch_rejected(fault, now, || shared.random_bits()),
            }
            // Volatile runs may have queued behind durable ones that were never dispatched: they can go now.
            let filled = core.step(Input::FillLanes, now, || shared.random_bits());
            debug_assert!(filled.is_ok(), "filling lanes is never refused: {:?}", filled.err());
            self.failed = true;
        }
        shared.publish(&mut core, shared.now());
        drop(core);
        shared.perform();
        true
    }
}

/// How long to wait before reopening a store that failed.
const RETRY_INTERVAL: Duration = Duration::from_millis(1_000);
