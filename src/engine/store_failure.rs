//! Times in which the store could not be written: the one that goes on, and the latest that are over.
//!
//! What lives elsewhere: what a failure does to durable schedules (`apply/store.rs`). This process alone knows these times,
//! because nothing could be stored about them.

use std::collections::VecDeque;

use crate::domain::Moment;

/// A time in which the store could not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreFailure {
    /// When the first write failed.
    pub since: Moment,
    /// When the store could be written again; `None` while it cannot.
    pub until: Option<Moment>,
    /// The error of the first write that failed.
    pub why: Box<str>,
}

/// The latest times in which the store could not be written, oldest first. Only the last one may go on.
#[derive(Clone, Debug, Default)]
pub(super) struct StoreFailures(VecDeque<StoreFailure>);

impl StoreFailures {
    pub(super) fn begin(&mut self, since: Moment, why: Box<str>) {
        debug_assert!(self.present().is_none(), "the store fails already, and fails again at {since}");
        if self.0.len() == LISTED {
            self.0.pop_front();
        }
        self.0.push_back(StoreFailure { since, until: None, why });
    }

    pub(super) fn end(&mut self, at: Moment) {
        if let Some(last) = self.0.back_mut() {
            last.until.get_or_insert(at);
        }
    }

    pub(super) fn present(&self) -> Option<&StoreFailure> {
        self.0.back().filter(|failure| failure.until.is_none())
    }

    /// Returns those that are over, each with its end.
    pub(super) fn over(&self) -> impl Iterator<Item = (&StoreFailure, Moment)> {
        self.0.iter().filter_map(|failure| Some((failure, failure.until?)))
    }
}

/// As many as there are holds that are over.
const LISTED: usize = 16;
