//! Orderly shutdown.

use std::sync::Arc;
use std::time::Duration;

use super::shared::Shared;
use crate::domain::Span;
use crate::engine::{Command, Input};
use crate::limits;

impl Shared {
    /// Refuses new work, cancels volatile work that waits, gives outstanding receipts `limits::SHUTDOWN_MS` to
    /// arrive, abandons them then, and closes the feed. Nothing volatile is left when it returns. Idempotent.
    pub(super) fn shut_down(self: &Arc<Self>) {
        self.stop(false);
        let deadline = self.now().boot.after(Span::from_millis(limits::SHUTDOWN_MS.value));
        let mut core = self.core_mut();
        while !core.state.is_settled() {
            let left = deadline.since(self.now().boot);
            if left == Span::ZERO {
                break;
            }
            let wait = Duration::from_nanos(left.nanos());
            let news;
            (core, news) = self.await_news(core, wait);
            // The wait is in real time. Without news it ends the loop, because a simulated clock may stand still and
            // never reach the deadline.
            if !news {
                break;
            }
        }
        drop(core);
        // Receipts that have not arrived by now are abandoned.
        self.stop(true);
        self.close_calls();
        let mut core = self.core_mut();
        debug_assert!(core.state.is_settled(), "what is in memory only ends with the engine");
        core.feed.close();
        core.driver_stopped = true;
        // The driver and every subscriber have to see the end.
        self.alarm.notify();
        self.news.notify();
    }

    fn stop(self: &Arc<Self>, abandon: bool) {
        // A shutdown cannot be refused.
        let stopping = self.submit_and_wait(Input::Command(Command::Shutdown { abandon }), |_| (), |_| ());
        debug_assert!(stopping.is_ok(), "{stopping:?}");
        self.run_due();
    }
}
