//! The requests of one connection whose answers come later.
//!
//! Invariant: when the connection ends, what they have begun is ended.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::dialect::Answer;
use crate::limits::{self, Limit};
use crate::service::{Pending, Waiter};

/// The requests that wait for their answers.
#[derive(Default)]
pub(super) struct Laters {
    waiting: Arc<Mutex<Waiting>>,
    last: u64,
}

/// By number; `None` until the receiver is set.
type Waiting = BTreeMap<u64, Option<Waiter>>;

impl Laters {
    /// Sends an answer once it is there.
    ///
    /// # Errors
    /// The limit of requests that may wait.
    pub(super) fn add(
        &mut self,
        pending: Pending,
        send: impl FnOnce(Answer) + Send + 'static,
    ) -> Result<(), Limit> {
        if lock(&self.waiting).len() as u64 >= limits::CLIENT_CALLS.value {
            return Err(limits::CLIENT_CALLS);
        }
        self.last += 1;
        let (number, waiting) = (self.last, Arc::clone(&self.waiting));
        // Before `then`, because the answer may come on another thread before `then` returns.
        lock(&self.waiting).insert(number, None);
        let waiter = pending.then(move |answer| {
            send(answer);
            lock(&waiting).remove(&number);
        });
        // Unless the answer has come meanwhile.
        if let Some(place) = lock(&self.waiting).get_mut(&number) {
            *place = Some(waiter);
        }
        Ok(())
    }

    /// Ends what the requests have begun.
    pub(super) fn end(&mut self) {
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        // After the unlock: the drop of a waiter runs foreign code, which must not find the table locked.
        drop(waiting);
    }
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    // A panic elsewhere cannot leave it inconsistent: each change is one insert or removal.
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}
