//! The volatile schedules that starts found lost, and what would be lost if the process ended now.
//!
//! What lives elsewhere: the accounts, which count all of them (`ledger`); the note on disk (`app`). Invariant: at most
//! `limits::LOST_NAMED` are named.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::record::ScheduleRecord;
use super::state::State;
use super::task::Task;
use crate::domain::{
    LostEnd, LostSchedule, Moment, Phase, Reason, RunState, ScheduleId, Status, TaskEnd, TaskState,
};
use crate::limits;

impl State {
    /// Returns the schedules that starts found lost, those of the last one first, at most `limits::LOST_NAMED`. Each says when.
    pub fn losses(&self) -> &[LostSchedule] {
        &self.losses
    }

    /// Returns a schedule that a start found lost, and when that was.
    pub(crate) fn lost(&self, id: &ScheduleId) -> Option<(Moment, &LostSchedule)> {
        let lost = self.losses.iter().find(|lost| lost.id == *id)?;
        Some((lost.lost_at?, lost))
    }

    /// Returns the volatile schedules whose calls are out. Their outcomes are lost with the process.
    pub(super) fn volatile_calls_out(&self) -> impl Iterator<Item = &ScheduleRecord> {
        let out = self.timers.receipts().filter_map(|key| self.runs.get(key));
        let calls = out.filter(|run| run.run.phase == Some(Phase::Call));
        let schedules = calls.filter_map(|run| self.schedules.get(run.schedule));
        // One with further slots counts as not handed over.
        schedules.filter(|record| record.status == Status::InFlight && !record.schedule.is_durable())
    }

    /// Returns the volatile schedules whose messages are in inboxes: nobody has taken them, and no disk has them.
    fn volatile_left(&self) -> impl Iterator<Item = &ScheduleRecord> {
        let runs = self.volatile_left.iter().filter_map(|key| self.runs.get(*key));
        let schedules = runs.filter_map(|run| self.schedules.get(run.schedule));
        // One with further slots counts as not handed over.
        schedules.filter(|record| record.status == Status::Left)
    }

    /// Returns the number of volatile schedules whose messages are in inboxes.
    #[cfg(feature = "cli")]
    pub(crate) fn volatile_left_count(&self) -> u64 {
        self.volatile_left().count() as u64
    }

    /// Returns the volatile schedules that would be lost if the process ended now, the earliest first, at most
    /// `limits::LOST_NAMED`. Those that were handed over have arrived, or are with a host. Asked for every second, so no more
    /// than `limits::LOST_LOOKED` schedules are looked at: of more, some that come earlier may be missing.
    pub fn losable(&self) -> Box<[LostSchedule]> {
        let count = |limit: limits::Limit| usize::try_from(limit.value).unwrap_or(usize::MAX);
        let most = count(limits::LOST_NAMED);
        let sessions = self.unstarted.iter().filter_map(|key| self.sessions.get(*key));
        let live = sessions.flat_map(|session| &session.live).take(count(limits::LOST_LOOKED));
        let records = live.filter_map(|key| self.schedules.get(*key));
        let volatile = records.filter(|record| !record.schedule.is_durable() && record.is_unstarted());
        let volatile = volatile.chain(self.volatile_calls_out().chain(self.volatile_left()).take(most));
        // The latest on top, so that it makes room for an earlier one. Unknown slots come last.
        let mut first: BinaryHeap<(Reverse<bool>, Option<Moment>, &ScheduleId)> = BinaryHeap::new();
        for record in volatile {
            let due = self.due_of(record);
            first.push((Reverse(due.is_some()), due, &record.schedule.id));
            if first.len() > most {
                first.pop();
            }
        }
        let named = first.into_sorted_vec().into_iter().filter_map(|(_, due, id)| {
            let record = self.schedule(id)?;
            let (label, session) = (record.schedule.label.clone(), record.schedule.owner.clone());
            let left = self.newest_run(record).filter(|run| run.run.state == RunState::Left);
            let left_at = left.and_then(|run| run.run.ended_at);
            let task = record.schedule.payload.call().filter(|call| call.is_told_task());
            let task = task.map(|call| call.tool.clone());
            let ended = task.as_ref().and_then(|_| self.ended_task(record));
            // Of a task that ended, the bulletin waits. Its time is that of the call, as the bulletin has it.
            let due = ended.map_or(due, |(due, _)| Some(due));
            let end = ended.map(|(_, end)| end);
            Some(LostSchedule { id: id.clone(), label, session, due, left_at, task, end, lost_at: None })
        });
        named.collect()
    }

    /// Of schedules that were losable before an orderly stop, returns those that have not come to an end of their own since.
    pub fn cut_off(&self, losable: Box<[LostSchedule]>) -> Box<[LostSchedule]> {
        let is_cut_off = |it: &LostSchedule| {
            let record = self.schedule(&it.id);
            let ended =
                |it: &ScheduleRecord| it.status == Status::Left || it.ended_for == Some(Reason::Shutdown);
            record.is_none_or(ended)
        };
        losable.into_iter().filter(is_cut_off).collect()
    }

    /// When the call of a task began that has ended, and how it ended; `None` if it goes on.
    fn ended_task(&self, record: &ScheduleRecord) -> Option<(Moment, LostEnd)> {
        let task = Task::of(self, record)?;
        let how = match task.state() {
            TaskState::Running => return None,
            TaskState::Completed => TaskEnd::Completed,
            TaskState::Failed => TaskEnd::Failed,
            TaskState::Cancelled => TaskEnd::Cancelled,
        };
        let run = task.run?;
        Some((run.started_at.unwrap_or(run.claimed_at), LostEnd { how, at: run.ended_at? }))
    }

    /// The next slot, or that of the run that waits or was left.
    fn due_of(&self, record: &ScheduleRecord) -> Option<Moment> {
        let is_over = |state: RunState| state.is_terminal() && state != RunState::Left;
        let waiting = self.runs_of(record).map(|(_, run)| run.run()).filter(|run| !is_over(run.state));
        waiting.map(|run| run.slot).min().or(record.next)
    }
}
