//! Applies what the guard and operators decide about a run before it is handed over.

use crate::domain::{Awaits, Checks, GuardFact, Hold, Now, RunState};
use crate::engine::slab::Key;
use crate::engine::state::State;
use crate::engine::step::approved;
use crate::engine::timers::Timer;

impl State {
    pub(super) fn apply_guard(&mut self, run: Key, now: Now, fact: GuardFact) {
        match fact {
            GuardFact::Asked { digest, due, until } => {
                let rule = "guard".into();
                let hold = Hold { awaits: Awaits::Guard, rule, why: None, digest, until, due };
                self.wait_for_verdict(run, now, hold);
            }
            GuardFact::Held(hold) => self.wait_for_verdict(run, now, *hold),
            GuardFact::Allowed { digest, until } => {
                self.note_verdict(run, |checks| {
                    checks.waits = None;
                    checks.allowed = Some((digest, until));
                });
            }
            GuardFact::Approved { digest, by: _ } => {
                self.note_verdict(run, |checks| approved(checks, digest));
            }
            // Denial has a second fact, which says how the run ends; an answer is about the turn, which its host knows.
            GuardFact::Denied { .. } | GuardFact::Answered(_) => {}
        }
    }

    /// Lets a run wait for the guard or an operator. Meanwhile it occupies no lane and no queue.
    fn wait_for_verdict(&mut self, run: Key, now: Now, hold: Hold) {
        self.leave_lane(run, now, false);
        self.timers.clear(Timer::Retry(run));
        self.timers.set(Timer::Approval(run), hold.due);
        let Some(record) = self.runs.get_mut(run) else { return };
        record.run.state = RunState::Queued;
        record.run.retry_at = None;
        record.run.checks.get_or_insert_default().waits = Some(hold);
    }

    fn note_verdict(&mut self, run: Key, note: impl FnOnce(&mut Checks)) {
        self.timers.clear(Timer::Approval(run));
        if let Some(record) = self.runs.get_mut(run) {
            note(record.run.checks.get_or_insert_default());
        }
    }
}
