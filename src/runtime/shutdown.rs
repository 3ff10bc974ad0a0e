//! Stopping in good order.

use std::time::Duration;

use super::handle::Handle;
use crate::domain::Span;
use crate::engine::{Command, Input};
use crate::limits;

impl Handle {
    /// Takes nothing new, calls off what waits, gives receipts that are out `limits::SHUTDOWN_MS` to come in, gives them
    /// up then, and closes the feed. When it returns, every schedule has ended. Idempotent.
    pub fn shut_down(&self) {
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
            // Real time is what callers wait for, also where the clock is a simulated one that stands still.
            if !news {
                break;
            }
        }
        drop(core);
        self.stop(true);
        let mut core = self.core_mut();
        debug_assert!(core.state.is_settled(), "what is in memory only ends with the engine");
        core.feed.close();
        core.driver_stopped = true;
        self.shared.alarm.ring();
        self.shared.news.ring();
    }

    fn stop(&self, abandon: bool) {
        // A shutdown cannot be refused.
        let stopping = self.submit(Input::Command(Command::Shutdown { abandon }));
        debug_assert!(stopping.is_ok(), "{stopping:?}");
        self.turn();
    }
}
