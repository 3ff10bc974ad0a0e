//! Applies what the guard and operators decide about a run before it is handed over.

use std::sync::Arc;

use crate::domain::{Actor, Awaits, Checks, GuardFact, Hold, Moment, Now, RunState, Span};
use crate::engine::last_approval::{Approved, LastApproval};
use crate::engine::slab::Key;
use crate::engine::state::State;
use crate::engine::step::approved;
use crate::engine::timers::Timer;
use crate::limits;

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
            GuardFact::Approved { digest, by } => {
                self.note_verdict(run, |checks| approved(checks, digest));
                self.begin_time_of_call(run, now);
                self.keep_approval(run, now.wall, *by);
            }
            // A `Failed` fact follows a denial and ends the run. An answer is about the turn, whose questions its host has.
            GuardFact::Denied { .. } | GuardFact::Answered(_) => {}
        }
    }

    /// Lets a run wait for the guard or an operator. Meanwhile it occupies no lane and no queue.
    fn wait_for_verdict(&mut self, run: Key, now: Now, hold: Hold) {
        self.leave_lane(run, now, false);
        // The next attempt depends on the verdict, whatever wait was set before.
        self.timers.clear(Timer::Retry(run));
        self.timers.set(Timer::Approval(run), hold.due);
        // An operator may take a day, and a tool may not: the time of a call begins when it is approved.
        if hold.awaits == Awaits::Operator && self.timeout_of_call(run).is_some() {
            self.timers.clear(Timer::TimeUp(run));
        }
        let Some(record) = self.runs.get_mut(run) else { return };
        record.run.state = RunState::Queued;
        record.run.retry_at = None;
        record.run.checks.get_or_insert_default().waits = Some(hold);
    }

    /// Lets the time of a call begin that an operator has approved.
    fn begin_time_of_call(&mut self, run: Key, now: Now) {
        if let Some(timeout) = self.timeout_of_call(run) {
            self.timers.set(Timer::TimeUp(run), now.boot.after(timeout));
        }
    }

    /// Returns the timeout of a run that calls a tool, if it has one.
    fn timeout_of_call(&self, run: Key) -> Option<Span> {
        let asked = self.definition_of(self.runs.get(run)?)?;
        asked.payload.call()?;
        asked.policy().timeout
    }

    fn note_verdict(&mut self, run: Key, note: impl FnOnce(&mut Checks)) {
        self.timers.clear(Timer::Approval(run));
        if let Some(record) = self.runs.get_mut(run) {
            note(record.run.checks.get_or_insert_default());
        }
    }

    /// Retains what is approved of a run.
    fn keep_approval(&mut self, run: Key, at: Moment, by: Actor) {
        let Some(record) = self.runs.get(run) else { return };
        let Some(definition) = self.definition_of(record) else { return };
        let (key, incarnation, slot) = (record.schedule, record.run.incarnation, record.run.slot);
        let config = self.effective_config(definition);
        let bytes = definition.bytes() + config.as_ref().map_or(0, |config| config.bytes() as u64);
        // The present definition is not copied. `LastApproval::outlive` copies it when it is about to be replaced.
        let (what, config) = match &record.run.definition {
            _ if bytes > limits::APPROVED_BYTES.value => (Approved::TooLarge, None),
            Some(former) => (Approved::Former(Arc::clone(former)), config),
            None => (Approved::Present, config),
        };
        let approval = LastApproval { incarnation, slot, at, by, what, config: config.map(Arc::new) };
        // Approvals count for the bytes of the session, so the schedule is weighed without the old one and with the new one.
        self.weigh(key, false);
        if let Some(record) = self.schedules.get_mut(key) {
            record.progress_mut().approved = Some(Box::new(approval));
        }
        self.weigh(key, true);
    }
}
