//! Computes the status of a schedule from its slots and runs, after each fact about it.

use crate::domain::{Reason, RunState, Status};
use crate::engine::record::{RunRecord, ScheduleRecord};
use crate::engine::slab::Key;
use crate::engine::state::State;

impl State {
    /// Updates a schedule's status from its slots and runs. A final status stays, but for that of a message that was left and
    /// has now been taken, delivered, or given up.
    pub(super) fn refresh(&mut self, key: Key) {
        let Some(record) = self.schedules.get(key) else { return };
        let before = record.status;
        let (status, reason) = self.status_of(record);
        // A message that left the inbox for a host: its schedule has ended, although the run is live again.
        let stays = if before == Status::Left { !status.is_terminal() } else { before.is_terminal() };
        if stays {
            return;
        }
        if let Some(record) = self.schedules.get_mut(key).filter(|_| status.is_terminal()) {
            record.ended_for = reason;
        }
        self.set_status(key, status);
    }

    fn status_of(&self, record: &ScheduleRecord) -> (Status, Option<Reason>) {
        let progress = record.progress();
        let live = self.runs_of(record).find(|(_, run)| run.is_live());
        let has_slots = record.next.is_some() || progress.awaits();
        // With nothing to come and nothing live, a paused schedule has ended like any other.
        if progress.paused.is_some() && (has_slots || live.is_some()) {
            return (Status::Paused, None);
        }
        // A schedule with slots to come is pending, also while one of its runs is in flight.
        if has_slots {
            return (Status::Pending, None);
        }
        if let Some((_, live)) = live {
            let waits = live.run.state == RunState::Queued;
            return (if waits { Status::Queued } else { Status::InFlight }, None);
        }
        if record.schedule.recurs() {
            return (Status::Finished, progress.never);
        }
        // A one-shot ends in the state of its last run, or without a run as skipped. A bulletin of it is none of its own, unless
        // there is nothing else: then it was made for that bulletin. Nor is a run of a definition that this one replaced.
        let own = self.runs_of(record).map(|(_, run)| run).find(|run| record.is_own(&run.run));
        let is_meant = |run: &&RunRecord| progress.last_skip.is_none() && progress.is_since_anew(&run.run);
        let told = || self.newest_run(record).filter(is_meant);
        let Some(last) = own.or_else(told) else {
            return (Status::Skipped, progress.last_skip.map(|(_, reason)| reason));
        };
        match last.run.state {
            RunState::Left => (Status::Left, last.run.reason),
            RunState::Delivered => (Status::Delivered, None),
            RunState::Cancelled => (Status::Cancelled, last.run.reason),
            RunState::Failed => (Status::Failed, last.run.reason),
            // These do not occur: a live run was found above.
            RunState::Queued | RunState::InFlight | RunState::Running => (Status::InFlight, None),
        }
    }

    pub(super) fn set_status(&mut self, key: Key, status: Status) {
        let Some(record) = self.schedules.get_mut(key) else { return };
        let ends = status.is_terminal() && !record.status.is_terminal();
        // Compared before and after, because `is_unstarted` depends on the status.
        let before = !record.schedule.is_durable() && record.is_unstarted();
        record.status = status;
        let after = !record.schedule.is_durable() && record.is_unstarted();
        let owner = record.owner;
        if let Some(owner) = owner.filter(|_| before != after) {
            self.count_unstarted(owner, if after { 1 } else { -1 });
        }
        if ends {
            self.finish(key);
        }
    }

    pub(super) fn count_unstarted(&mut self, owner: Key, change: i32) {
        let Some(session) = self.sessions.get_mut(owner) else { return };
        // A shutdown visits the sessions in `unstarted`, so the set follows the counts.
        let had_some = session.unstarted > 0;
        debug_assert!(had_some || change > 0, "{} has nothing to come, and one less now", session.id);
        session.unstarted = session.unstarted.saturating_add_signed(change);
        match (had_some, session.unstarted > 0) {
            (false, true) => _ = self.unstarted.insert(owner),
            (true, false) => _ = self.unstarted.remove(&owner),
            (true, true) | (false, false) => {}
        }
    }
}
