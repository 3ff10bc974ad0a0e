//! Applies facts about the engine as a whole: holds, the guard's policy, restarts, and its end.

use crate::domain::{EngineFact, Now, RunState};
use crate::engine::pause::Pause;
use crate::engine::state::{Mode, State};
use crate::engine::still_out::StillOut;
use crate::engine::timers::Timer;

impl State {
    pub(super) fn apply_to_engine(&mut self, now: Now, fact: EngineFact) {
        match fact {
            EngineFact::AllHeld { by, reason } => self.holds.begin(Pause { by, reason, since: now.wall }),
            EngineFact::GuardPolicySet { policy, by: _ } => self.guard = policy,
            EngineFact::AllReleased { .. } => {
                // Slots that came during the hold count as missed.
                self.holds.end(now.wall);
                self.see_slots_from(now);
            }
            // The feed shows it, and nothing changes.
            EngineFact::Refused { .. } => {}
            EngineFact::Restarted { lost, downs, named } => {
                self.see_slots_from(now);
                // After a failure of the store the process goes on, and knows what it knew.
                if !downs.is_empty() {
                    self.downs = downs;
                }
                // Also after a failure of the store: watches that were loaded again may not have counted every downtime.
                self.was_down();
                if !named.is_empty() {
                    self.losses = named;
                    // Schedules that an earlier start found lost keep the moment of that start.
                    self.losses.iter_mut().for_each(|it| _ = it.lost_at.get_or_insert(now.wall));
                }
                self.ledger.lose(lost);
                // From here on, the loaded state alone says what is out.
                self.still_out = StillOut::default();
            }
            EngineFact::Stopping { abandon } => self.stop(abandon),
        }
    }

    /// Notes that slots before this moment could not be claimed.
    fn see_slots_from(&mut self, now: Now) {
        self.armed_since = Some(now.wall);
        self.unseen_until = Some(now.boot);
    }

    fn stop(&mut self, abandon: bool) {
        // Abandoning is final: a later, gentler request to stop does not restore the receipts.
        let given_up = abandon || self.mode == Mode::Abandoning;
        self.mode = if given_up { Mode::Abandoning } else { Mode::Stopping };
        if !given_up {
            return;
        }
        // Receipts of durable runs are not given up. The next process finds the runs in flight, and
        // recovers them as their policies say.
        let durable = |key| self.schedules.get(key).is_some_and(|record| record.schedule.is_durable());
        let runs = self.runs.iter().filter(|(_, run)| run.run.state == RunState::InFlight);
        let kept: Vec<_> = runs.filter(|(_, run)| durable(run.schedule)).map(|(key, _)| key).collect();
        for run in kept {
            self.timers.clear(Timer::Receipt(run));
        }
    }
}
