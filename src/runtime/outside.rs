//! The outside by a handle: what an engine sends out, and whom it asks.
//!
//! What lives elsewhere: sending and asking (`perform`), who does it (`adapter`).

use std::sync::Arc;

use super::shared::Shared;
use super::sync::UNPOISONED;
use crate::domain::{Channel, RunId};
use crate::engine::{Report, RunRecord};
use crate::port::{Courier, Guard, UnderWay};

/// The courier and the guard of an engine.
pub struct Outside<'a>(pub(super) &'a Arc<Shared>);

impl Outside<'_> {
    /// Opens channels and sets the courier that sends through them. Call it once, before a store is attached: stored work that
    /// waits for a channel fails if there is no such channel.
    ///
    /// Returns whether this was the first call; a later call changes nothing.
    pub fn open_channels(&self, courier: Arc<dyn Courier>, channels: Vec<Channel>) -> bool {
        // The courier may outlive the engine, and must not keep it.
        let engine = Arc::downgrade(self.0);
        let is_coming = move |run: &RunId| {
            let is_coming =
                |shared: Arc<Shared>| shared.core().state.run(run).is_some_and(RunRecord::is_coming_again);
            engine.upgrade().is_some_and(is_coming)
        };
        // The courier first: from the fact of its opening on, a channel may get a parcel.
        if self.0.courier.set(courier).is_err() {
            return false;
        }
        if let Some(courier) = self.0.courier.get() {
            courier.ask_of_runs(Box::new(is_coming));
        }
        channels.into_iter().for_each(|channel| self.0.submit_fact(Report::ChannelOpened(channel)));
        true
    }

    /// How many deliveries are on their way outside.
    pub(crate) fn under_way(&self) -> UnderWay {
        self.0.courier.get().map(|courier| courier.under_way()).unwrap_or_default()
    }

    /// Sets the guard, which is asked whether a run may be dispatched. It is asked only where the policy requires it
    /// ([`Command::SetGuard`](crate::engine::Command::SetGuard)).
    pub fn set_guard(&self, guard: Arc<dyn Guard>) {
        *self.0.guard.write().expect(UNPOISONED) = Some(guard);
    }
}
