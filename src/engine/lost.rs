//! The volatile schedules that a start found lost: what they were, and what would be lost if the process ended now.
//!
//! What lives elsewhere: the accounts, which count all of them (`ledger`); the note on disk (`app`). Invariant: at most
//! `limits::LOST_NAMED` are named.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::record::ScheduleRecord;
use super::state::State;
use crate::domain::{LostSchedule, Moment, ScheduleId};
use crate::limits;

impl State {
    /// Returns when the last start was that found schedules lost, and these, at most `limits::LOST_NAMED`.
    pub fn losses(&self) -> Option<(Moment, &[LostSchedule])> {
        self.losses.as_ref().map(|losses| (losses.at, &*losses.schedules))
    }

    /// Returns a schedule that the last start found lost, and when that was.
    pub fn lost(&self, id: &ScheduleId) -> Option<(Moment, &LostSchedule)> {
        let (at, lost) = self.losses()?;
        Some((at, lost.iter().find(|lost| lost.id == *id)?))
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
            let schedule = self.schedule(id)?.schedule();
            let (label, session) = (schedule.label.clone(), schedule.owner.clone());
            Some(LostSchedule { id: id.clone(), label, session, due })
        });
        named.collect()
    }

    /// The next slot, or that of the run that waits.
    fn due_of(&self, record: &ScheduleRecord) -> Option<Moment> {
        let waiting = self.runs_of(record).map(|(_, run)| run.run()).filter(|run| !run.state.is_terminal());
        waiting.map(|run| run.slot).min().or(record.next)
    }
}
