//! Tasks: calls that were begun and that nobody waits for, each a schedule of its own.

use crate::domain::{Call, CallPurpose, Cause, Run, RunState, TaskState};
use crate::engine::record::ScheduleRecord;
use crate::engine::state::State;

/// A task, read from the record of its schedule.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The record.
    pub(crate) record: &'a ScheduleRecord,
    /// What is called.
    pub(crate) call: &'a Call,
    /// The run of the call, once it has begun.
    pub(crate) run: Option<&'a Run>,
}

impl<'a> Task<'a> {
    /// Returns the task of a record; `None` if it is none.
    pub(crate) fn of(state: &'a State, record: &'a ScheduleRecord) -> Option<Task<'a>> {
        let call = record.schedule().payload.call().filter(|call| call.purpose == CallPurpose::Task)?;
        // A bulletin tells of the call, and is no attempt at it.
        let own = |run: &&Run| run.cause != Cause::Bulletin;
        let run = state.runs_of(record).map(|(_, run)| run.run()).find(own);
        Some(Task { record, call, run })
    }

    /// Returns how it stands.
    pub(crate) fn state(&self) -> TaskState {
        let Some(run) = self.run else {
            // A schedule that ended before its slot came has no run.
            let is_over = self.record.status().is_terminal();
            return if is_over { TaskState::Cancelled } else { TaskState::Running };
        };
        match run.state {
            RunState::Queued | RunState::InFlight | RunState::Running => TaskState::Running,
            RunState::Delivered | RunState::Left => TaskState::Completed,
            RunState::Cancelled => TaskState::Cancelled,
            RunState::Failed => TaskState::Failed,
        }
    }

    /// Returns whether its call waits for an operator's approval.
    #[cfg(feature = "embed")]
    pub(crate) fn is_held(&self) -> bool {
        let checks = self.run.and_then(|run| run.checks.as_ref());
        let hold = checks.and_then(|checks| checks.waits.as_ref());
        hold.is_some_and(|hold| hold.awaits == crate::domain::Awaits::Operator)
            && self.state() == TaskState::Running
    }

    /// Returns why it failed, if it did.
    pub(crate) fn error(&self) -> Option<&'a str> {
        let run = self.run?;
        let of_tool = run.outcome.as_ref().and_then(|outcome| outcome.error.as_deref());
        of_tool.or(run.failure.as_ref().map(|failure| &*failure.message))
    }
}
