//! Which line of schedules a turn belongs to: a schedule's run began it, and that schedule may have been made in such a turn.
//! Written by the engine only. Source: `reliability.md`, F71 and S12.

use super::{RunId, Schedule, ScheduleId};

/// The line of a turn, and of what is scheduled in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lineage {
    /// The run that began the turn.
    pub run: RunId,
    /// How many such turns there were since a person or an operator scheduled something: 1 or more.
    pub depth: u32,
    /// What was scheduled then.
    pub root: ScheduleId,
}

impl Lineage {
    /// The line of a turn that a run of this schedule begins.
    pub fn of_turn(run: RunId, schedule: &Schedule) -> Lineage {
        match schedule.lineage() {
            None => Lineage { run, depth: 1, root: schedule.id.clone() },
            Some(line) => Lineage { run, depth: line.depth.saturating_add(1), root: line.root.clone() },
        }
    }
}
