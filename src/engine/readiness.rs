//! How far the engine is, and whether it accepts work, in one word for those who watch it.
//!
//! What lives elsewhere: the mode, which alone decides what is refused (`state.rs`).

use super::state::{Mode, State};
use super::store_failure::StoreFailure;
use crate::domain::{Cursor, names};

names! {
    /// Whether the engine accepts work.
    Readiness {
        /// It accepts commands and hands runs over.
        Running = "running",
        /// The store cannot be written: what is durable is refused or waits, and what is volatile goes on.
        StoreFailing = "store-failing",
        /// It cancels what waits and accepts nothing new.
        Stopping = "stopping",
        /// Like `Stopping`, and outstanding receipts are given up.
        Abandoning = "abandoning",
    }
}

impl State {
    /// Returns the cursor of the last fact.
    pub fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Returns whether the engine accepts work.
    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns since when the store cannot be written, and why; `None` while it can be.
    pub fn store_failure(&self) -> Option<&StoreFailure> {
        self.store_failures.present()
    }

    /// Returns whether durable schedules stand still because the store cannot be written.
    pub(super) fn is_frozen(&self) -> bool {
        self.store_failure().is_some()
    }

    /// Returns whether the engine accepts work.
    pub(crate) fn readiness(&self) -> Readiness {
        match self.mode {
            Mode::Running if self.is_frozen() => Readiness::StoreFailing,
            Mode::Running => Readiness::Running,
            Mode::Stopping => Readiness::Stopping,
            Mode::Abandoning => Readiness::Abandoning,
        }
    }
}
