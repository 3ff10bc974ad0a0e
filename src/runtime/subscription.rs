//! Following the feed from a cursor on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::shared::Shared;
use crate::domain::{Cursor, Decision};
use crate::engine::State;
use crate::limits;

// News wakes a reader at once. One that hears nothing looks again after this time.
const SLICE: Duration = Duration::from_millis(limits::SLEEP_SLICE_MS.value);

/// Decisions in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The decisions, each with its cursor.
    pub decisions: Vec<Decision>,
    /// Whether decisions before the first of these have been dropped: the reader has to query the state instead.
    pub truncated: bool,
}

/// A reader's position in the feed. It reserves nothing: dropping it, or coming back later with its cursor, is free.
pub struct Subscription {
    shared: Arc<Shared>,
    after: Cursor,
    /// The cursor came from a previous process, so the reader has missed that one's last decisions. Reported with the
    /// next batch.
    lost: bool,
    /// Number of the last decision to read; `u64::MAX` while the subscription has no end.
    last: Arc<AtomicU64>,
    /// The news that the reader has been told of.
    epoch: u64,
}

/// Ends a subscription from another thread.
pub struct Stopper {
    shared: Arc<Shared>,
    last: Arc<AtomicU64>,
}

impl Stopper {
    /// Ends the subscription: the reader still gets everything decided so far, and then `None`.
    pub fn stop(&self) {
        // Under the lock: a reader that has found nothing new and is about to wait would miss the change otherwise.
        let core = self.shared.core_mut();
        self.last.store(core.state.cursor().number(), Ordering::Release);
        drop(core);
        self.shared.news.notify();
    }
}

impl Subscription {
    /// A cursor that is ahead of the feed comes from a previous process. The reader has missed that one's last
    /// decisions, learns that, and starts at the beginning of this process's feed.
    pub(super) fn new(shared: Arc<Shared>, after: Cursor) -> Subscription {
        let lost = after > shared.core().state.cursor();
        let after = if lost { Cursor::START } else { after };
        let epoch = shared.news.epoch();
        Subscription { shared, after, lost, last: Arc::new(AtomicU64::new(u64::MAX)), epoch }
    }

    /// A handle that ends this subscription from another thread.
    pub fn stopper(&self) -> Stopper {
        Stopper { shared: Arc::clone(&self.shared), last: Arc::clone(&self.last) }
    }

    /// The cursor of the last decision that the reader was given.
    pub fn cursor(&self) -> Cursor {
        self.after
    }

    /// At most `max` decisions that exist already; none if the reader is up to date.
    pub fn poll(&mut self, max: usize) -> Batch {
        // Locked for writing, because settling changes the core.
        let mut core = self.shared.core_mut();
        // Commits that were acknowledged meanwhile make more decisions visible.
        core.settle();
        let (decisions, truncated) = core.feed.after(self.after, max);
        drop(core);
        self.advance(decisions, truncated)
    }

    /// Waits for at least one decision, or for the notice that some were missed. Returns `None` once the subscription
    /// has been stopped, or once the engine has shut down and everything was read.
    pub fn next_batch(&mut self, max: usize) -> Option<Batch> {
        self.next(max, false, |_| true)
    }

    /// As [`Subscription::next_batch`], but returns an empty batch if something else has changed.
    #[cfg(feature = "graphql")]
    pub(crate) fn next_news(&mut self, max: usize) -> Option<Batch> {
        self.next(max, true, |_| true)
    }

    /// As [`Subscription::next_batch`], but also returns `None` once `goes_on` is false and everything until then was read.
    #[cfg(feature = "cli")]
    pub(crate) fn next_while(&mut self, max: usize, goes_on: impl Fn(&State) -> bool) -> Option<Batch> {
        self.next(max, false, goes_on)
    }

    fn next(&mut self, max: usize, is_news_enough: bool, goes_on: impl Fn(&State) -> bool) -> Option<Batch> {
        let shared = Arc::clone(&self.shared);
        let mut core = shared.core_mut();
        loop {
            let stopped_at = Cursor::new(self.last.load(Ordering::Acquire));
            if self.after >= stopped_at {
                return None;
            }
            core.settle();
            let last = if goes_on(&core.state) { stopped_at } else { stopped_at.min(core.state.cursor()) };
            let (decisions, truncated) = core.feed.after(self.after, max);
            // Noted before the reader looks, so that a change after this line is news again.
            let epoch = self.shared.news.epoch();
            let is_news = std::mem::replace(&mut self.epoch, epoch) != epoch;
            // Not only compared with the reader's cursor: facts that the feed does not show have cursors too, and no reader
            // ever gets there.
            let is_over = last < Cursor::new(u64::MAX) && !core.feed.has_between(self.after, last);
            if is_over && decisions.is_empty() && !self.lost {
                return None;
            }
            if !decisions.is_empty() || self.lost || is_news && is_news_enough {
                drop(core);
                return Some(self.advance(decisions, truncated));
            }
            if core.feed.is_closed() {
                return None;
            }
            (core, _) = shared.await_news(core, SLICE);
        }
    }

    fn advance(&mut self, decisions: Vec<Decision>, truncated: bool) -> Batch {
        if let Some(last) = decisions.last() {
            self.after = last.cursor;
        }
        // Not `||`, which would leave `lost` set after a batch that is truncated as well.
        Batch { decisions, truncated: truncated | std::mem::take(&mut self.lost) }
    }
}
