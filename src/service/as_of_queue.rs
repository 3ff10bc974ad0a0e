//! Who may rebuild the past, and for how long: it costs a pass over the log, and memory like the engine's own.
//!
//! The last result is cached for as long as the log does not change: a page asks several questions about one instant.
//! What lives elsewhere: the rebuilding (`as_of`).

use std::sync::{Arc, Mutex, PoisonError};

use super::as_of::{self, Snapshot};
use super::holder::{Holder, PerHolder};
use super::queue::{Queue, Turn};
use super::quota::Quota;
use crate::domain::{Cursor, Moment, Span};
use crate::graph::eql::QueryRefusal;
use crate::limits;
use crate::runtime::Handle;

pub(super) struct AsOfQueue {
    queue: Arc<Queue>,
    cached: Mutex<Option<Cached>>,
}

struct Cached {
    at: Moment,
    /// The end of the log when the snapshot was begun.
    head: Cursor,
    snapshot: Arc<Snapshot>,
}

impl Default for AsOfQueue {
    fn default() -> AsOfQueue {
        let each = PerHolder { family: limits::SESSION_AS_OF_QUERIES, token: limits::TOKEN_AS_OF_QUERIES };
        let turns = Quota::new(each, limits::AS_OF_QUERIES, limits::OPERATOR_AS_OF_QUERIES);
        let waiting = PerHolder { family: limits::SESSION_AS_OF_WAITING, token: limits::TOKEN_AS_OF_WAITING };
        let queue = Queue::new(turns, waiting, limits::AS_OF_WAITING);
        AsOfQueue { queue, cached: Mutex::default() }
    }
}

impl AsOfQueue {
    /// The engine as it was at an instant, once it is this holder's turn, and how long that took to rebuild. The turn lasts as
    /// long as the snapshot is used.
    pub(super) fn snapshot(
        &self,
        handle: &Handle,
        holder: Holder,
        at: Moment,
    ) -> Result<(Arc<Snapshot>, Turn, Span), QueryRefusal> {
        let turn = self.queue.enter(holder).map_err(|limit| QueryRefusal::PastBusy { limit })?;
        // Before the log is read: a change meanwhile makes the snapshot too old for the cache.
        let head = handle.read().store().map_or(Cursor::START, |store| store.health().head);
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        // There is room for one snapshot. One of another instant, or of a log that has grown since, is of no use.
        let found = cached.take_if(|cached| cached.at != at || cached.head != head);
        let current = cached.as_ref().map(|cached| Arc::clone(&cached.snapshot));
        drop(cached);
        // Not under the lock: it may be large.
        drop(found);
        if let Some(snapshot) = current {
            return Ok((snapshot, turn, Span::ZERO));
        }
        let began = handle.now().boot;
        let is_late = || handle.now().boot.since(began).millis() > limits::AS_OF_MS.value;
        let late = QueryRefusal::PastLate { limit: limits::AS_OF_MS };
        let snapshot = as_of::snapshot(handle, at, &is_late)?.ok_or(late)?;
        let (snapshot, took) = (Arc::new(snapshot), handle.now().boot.since(began));
        // A large one is not worth its memory once nobody uses it.
        let max = limits::AS_OF_CACHED.value;
        if snapshot.state.live_count() <= max && snapshot.state.schedules().len() as u64 <= max {
            let fresh = Cached { at, head, snapshot: Arc::clone(&snapshot) };
            let old = self.cached.lock().unwrap_or_else(PoisonError::into_inner).replace(fresh);
            drop(old);
        }
        Ok((snapshot, turn, took))
    }

    /// The quota of snapshots in use.
    pub(super) fn turns(&self) -> &Quota {
        self.queue.turns()
    }
}
