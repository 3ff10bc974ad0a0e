//! Applies facts about messages that are left in an inbox, taken out of it, or given to a host after all.

use super::run::Ending;
use crate::domain::{Now, RunState};
use crate::engine::slab::Key;
use crate::engine::state::State;

impl State {
    /// Ends a run whose message is in the inbox of its session.
    pub(super) fn leave_in_inbox(&mut self, run: Key, now: Now) {
        // Ending the run clears its link to the session.
        let session = self.runs.get(run).and_then(|record| record.lane);
        self.end_run(run, now, Ending::Left);
        if let Some(session) = session {
            self.enter_inbox(run, session);
        }
    }

    /// Somebody took the message: the run counts as delivered.
    pub(super) fn take(&mut self, run: Key, now: Now) {
        if self.leave_inbox(run).is_none() {
            debug_assert!(false, "run {run:?} is taken, and is in no inbox");
            return;
        }
        self.ledger.take();
        self.note_bulletin_read(run);
        let Some(record) = self.runs.get_mut(run) else { return };
        record.run.state = RunState::Delivered;
        record.run.delivered_at = Some(now.wall);
        record.run.reason = None;
        // No host can get a message that was taken, so the definition is not needed.
        record.run.definition = None;
        // As at the end of a run that a host gets: a bulletin is no run of the schedule's own.
        let counted = self.schedules.get_mut(record.schedule).filter(|schedule| schedule.is_own(&record.run));
        if let Some(progress) = counted.and_then(|schedule| schedule.progress.as_mut()) {
            progress.delivered += 1;
            progress.failures_in_row = 0;
        }
    }

    /// Takes a run out of the inbox, if it is in one, because a host is to get its message. It waits for the lane of that session
    /// then. Returns whether it was in one.
    pub(super) fn recall(&mut self, run: Key) -> bool {
        let Some(session) = self.leave_inbox(run) else { return false };
        self.ledger.recall();
        if let Some(record) = self.runs.get_mut(run) {
            record.run.ended_at = None;
            // The inbox was no hand-over.
            record.run.take_hand_over_back();
            record.run.started_at = None;
            record.run.reason = None;
            record.run.state = RunState::Queued;
            record.lane = Some(session);
        }
        self.enter_waiting(run, Some(session));
        true
    }

    /// Drops the record of a run that has ended. A message that was left stays counted as left: nobody can take it any more.
    pub(super) fn forget_run(&mut self, run: Key) {
        self.leave_inbox(run);
        self.task_outcomes.remove(run);
        self.runs.remove(run);
    }
}
