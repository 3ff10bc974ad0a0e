//! Buffers of the thread that runs effects.

use std::collections::VecDeque;

use crate::engine::{Effect, Report};

/// Buffers of the thread that runs effects; the lists keep their capacity from batch to batch.
#[derive(Default)]
pub(super) struct Performer {
    pub(super) effects: VecDeque<Effect>,
    pub(super) reports: Vec<Report>,
    /// `Core::revocations` when the last batch was taken.
    pub(super) revocations: u64,
}
