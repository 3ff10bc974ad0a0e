//! What sessions cause, by who asked for it: a run by hand, a slot that was brought forward, the report of a job, the end of a
//! pause, and what is told of a call that one of these made.
//!
//! Invariant: it follows who the facts say asked, and never whose the engine says a run is.

use crate::domain::{Actor, Claim, Next, Now, RunFact, RunState, ScheduleId, Scope};
use crate::testkit::reference::model::ReferenceModel;
use crate::testkit::reference::run_key::RunKey;
use crate::testkit::reference::run_model::BySession;
use crate::testkit::reference::schedule_model::ScheduleModel;

/// Whether a session did something itself.
pub(in crate::testkit) fn is_session(by: &Actor) -> bool {
    matches!(by.scope, Scope::Session(_))
}

impl ScheduleModel {
    /// Whether a session causes a run that is claimed now. Of a bulletin this is known at the end of the call that it tells of.
    pub(in crate::testkit) fn cause_of(&self, claim: &Claim) -> BySession {
        let is_armed = claim.next.is_some() && claim.telling.is_none() && self.is_armed_by_session;
        Some(claim.by.as_deref().map_or(is_armed, is_session))
    }

    /// Arms the slot after one that is over. If it has passed too, whatever armed that one causes its run.
    pub(in crate::testkit) fn arm_after(&mut self, now: Now, next: Next) {
        let was_armed = self.is_armed_by_session;
        let earliest = self.earliest_after(now, next);
        self.arm(now, next);
        if let Some((armed, earliest)) = self.next.as_mut().zip(earliest) {
            armed.1 = earliest;
        }
        self.is_armed_by_session = was_armed && next.slot().is_some_and(|slot| slot <= now.wall);
    }

    /// Arms a slot because somebody asked for it, or nobody.
    pub(in crate::testkit) fn arm_for(&mut self, now: Now, next: Next, by: Option<&Actor>) {
        // The slot after a run counts from its end, which is not before its slot. Others are due now, or soon.
        let (is_after_run, finish) = (self.awaits_finish, self.finish(now));
        self.arm(now, next);
        if is_after_run && let Some((slot, earliest)) = &mut self.next {
            *earliest = now.boot.after(slot.since(finish));
        }
        self.is_armed_by_session = by.is_some_and(is_session);
    }
}

impl ReferenceModel {
    /// Notes who ended a pause: that is who lets the runs go that waited for it, and who causes the run of the next slot.
    pub(in crate::testkit) fn note_resumer(&mut self, schedule: &ScheduleId, next: Next, by: &Actor) {
        let Some(plan) = self.schedules.get_mut(schedule).filter(|plan| plan.paused) else { return };
        plan.is_armed_by_session = is_session(by) && (plan.next.is_none() || next.slot().is_some());
        let waiting = self.runs.iter_mut().filter(|(key, _)| key.0 == *schedule);
        for (_, life) in waiting.filter(|(_, life)| life.state == RunState::Queued) {
            if is_session(by) && !life.cause.is_beside_slots() {
                life.by_session = Some(true);
            }
        }
    }

    /// Notes, when a call ends, whether a session caused what its bulletin tells of.
    pub(in crate::testkit) fn note_told_of(&mut self, call: &RunKey, fact: &RunFact) {
        let ends = matches!(fact, RunFact::Returned { .. } | RunFact::Failed(_) | RunFact::Cancelled { .. });
        let Some(plan) = self.schedules.get_mut(&call.0).filter(|_| ends) else { return };
        let Some(life) = self.runs.get(call).filter(|life| life.definition.payload.call().is_some()) else {
            return;
        };
        // It may have failed as somebody asked for its next attempt, of whom no fact says anything.
        let is_tried_again = life.state == RunState::Queued && life.attempt > 1;
        let by_session = life.by_session.filter(|by_session| *by_session || !is_tried_again);
        let bulletin = plan.telling.take().and_then(|bulletin| self.runs.get_mut(&bulletin));
        if let Some(bulletin) = bulletin {
            bulletin.by_session = either(bulletin.by_session, by_session);
        }
    }
}

/// Whether a session caused one of two things.
fn either(one: BySession, other: BySession) -> BySession {
    if one == Some(true) || other == Some(true) { Some(true) } else { one.and(other) }
}
