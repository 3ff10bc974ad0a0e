//! Runs by name, and the order in which they wait.

use crate::domain::{Moment, RunId, ScheduleId};

/// The order in which deliveries wait for a session: by slot, then by creation, then by id.
pub(in crate::testkit) type Order = (Moment, Moment, ScheduleId);

/// A run's id as a sortable key: schedule, incarnation, slot.
pub(in crate::testkit) type RunKey = (ScheduleId, u32, Moment);

pub(in crate::testkit) fn key_of(run: &RunId) -> RunKey {
    (run.schedule.clone(), run.incarnation, run.slot)
}
