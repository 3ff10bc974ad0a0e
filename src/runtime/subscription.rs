//! Following the decisions from a cursor on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::handle::Handle;
use crate::domain::{Cursor, Decision};
use crate::engine::State;
use crate::limits;

const SLICE: Duration = Duration::from_millis(limits::SLEEP_SLICE_MS.value);

/// Decisions in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The decisions, each with its cursor.
    pub decisions: Vec<Decision>,
    /// Whether some before the first of them are no longer kept: the reader must look at the state instead.
    pub truncated: bool,
}

/// A reader's place in the feed. It holds nothing open: dropping it, or coming back later with its cursor, is free.
pub struct Subscription {
    handle: Handle,
    after: Cursor,
    lost: bool,
    /// The last decision to be read; `u64::MAX` while there is no end to it.
    last: Arc<AtomicU64>,
}

/// Ends a subscription from another thread.
pub struct Stopper {
    handle: Handle,
    last: Arc<AtomicU64>,
}

impl Stopper {
    /// Ends the subscription with what has been decided by now: the reader is given that, and then `None`.
    pub fn stop(&self) {
        // Under the lock, so that a reader that has just looked does not miss it.
        let core = self.handle.core_mut();
        self.last.store(core.state.cursor().number(), Ordering::Release);
        drop(core);
        self.handle.shared.news.ring();
    }
}

impl Subscription {
    /// A cursor that is not reached yet comes from an earlier life of the engine: the reader has lost that one's end,
    /// is told so, and starts at the beginning of this one.
    pub(super) fn new(handle: Handle, after: Cursor) -> Subscription {
        let lost = after > handle.view(State::cursor);
        let after = if lost { Cursor::START } else { after };
        Subscription { handle, after, lost, last: Arc::new(AtomicU64::new(u64::MAX)) }
    }

    /// What ends this subscription from another thread.
    pub fn stopper(&self) -> Stopper {
        Stopper { handle: self.handle.clone(), last: Arc::clone(&self.last) }
    }

    /// Where the reader is: the cursor of the last decision it was given.
    pub fn cursor(&self) -> Cursor {
        self.after
    }

    /// At most `max` decisions that are there already; none if the reader is up to date.
    pub fn poll(&mut self, max: usize) -> Batch {
        let mut core = self.handle.core_mut();
        core.settle();
        let (decisions, truncated) = core.feed.after(self.after, max);
        drop(core);
        self.advance(decisions, truncated)
    }

    /// Waits for at least one decision, or for the word that some are lost; `None` once the subscription was stopped, or
    /// the engine has shut down and everything was read.
    pub fn next_batch(&mut self, max: usize) -> Option<Batch> {
        let mut core = self.handle.core_mut();
        loop {
            if self.after.number() >= self.last.load(Ordering::Acquire) {
                return None;
            }
            core.settle();
            let (decisions, truncated) = core.feed.after(self.after, max);
            if !decisions.is_empty() || self.lost {
                drop(core);
                return Some(self.advance(decisions, truncated));
            }
            if core.feed.is_closed() {
                return None;
            }
            (core, _) = self.handle.await_news(core, SLICE);
        }
    }

    fn advance(&mut self, decisions: Vec<Decision>, truncated: bool) -> Batch {
        if let Some(last) = decisions.last() {
            self.after = last.cursor;
        }
        Batch { decisions, truncated: truncated | std::mem::take(&mut self.lost) }
    }
}
