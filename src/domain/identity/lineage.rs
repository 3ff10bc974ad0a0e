//! Lineage: the chain of schedules that led to a turn. A run of a schedule began the turn, and that
//! schedule may itself have been created in such a turn. Lineage is written by the engine, never by
//! a caller.
//!
//! Source: `reliability.md`, F71 and S12.

use crate::domain::{RunId, ScheduleId};

/// The chain that a turn belongs to; schedules created in the turn join it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lineage {
    /// The run that began the turn.
    pub run: RunId,
    /// Number of such turns since a person or an operator created the first schedule: 1 or more.
    pub depth: u32,
    /// The schedule that a person or an operator created.
    pub root: ScheduleId,
}
