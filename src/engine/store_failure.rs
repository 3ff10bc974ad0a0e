//! Times in which the store could not be written: the one that goes on, and the latest that are over.
//! With the one that goes on: which creations were taken back, and may be on disk all the same.
//!
//! What lives elsewhere: what a failure does to durable schedules (`apply/store.rs`). This process alone knows these times,
//! because nothing could be stored about them.

use std::collections::{BTreeSet, VecDeque};

use crate::domain::{Moment, ScheduleId};

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
pub(super) struct StoreFailures {
    times: VecDeque<StoreFailure>,
    /// Schedules whose creation was taken back. A write that failed may have reached the disk.
    uncertain: BTreeSet<ScheduleId>,
}

impl StoreFailures {
    pub(super) fn begin(&mut self, since: Moment, why: Box<str>) {
        debug_assert!(self.present().is_none(), "the store fails already, and fails again at {since}");
        // The oldest one makes room. It is over, because only the last one may go on.
        if self.times.len() == LISTED {
            self.times.pop_front();
        }
        self.times.push_back(StoreFailure { since, until: None, why });
    }

    /// Notes that the creation of a schedule was taken back.
    pub(super) fn note_uncertain(&mut self, id: ScheduleId) {
        self.uncertain.insert(id);
    }

    /// Returns whether the store may have a schedule that was taken back. Its id must not be given to a volatile one, which
    /// would be in its place when the store's rows are loaded.
    pub(super) fn may_have(&self, id: &ScheduleId) -> bool {
        self.uncertain.contains(id)
    }

    pub(super) fn end(&mut self, at: Moment) {
        debug_assert!(self.present().is_some(), "the store works again at {at}, and has not failed");
        // The rows are loaded next, and show which creations reached the disk.
        self.uncertain.clear();
        if let Some(last) = self.times.back_mut() {
            last.until.get_or_insert(at);
        }
    }

    pub(super) fn present(&self) -> Option<&StoreFailure> {
        self.times.back().filter(|failure| failure.until.is_none())
    }

    /// Returns those that are over, each with its end.
    pub(super) fn over(&self) -> impl Iterator<Item = (&StoreFailure, Moment)> {
        self.times.iter().filter_map(|failure| Some((failure, failure.until?)))
    }
}

/// As many as there are holds that are over.
const LISTED: usize = 16;
