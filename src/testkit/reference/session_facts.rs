//! How the model follows sessions: which are open, where, and what a user's message calls off.

use std::sync::Arc;

use crate::domain::{Grant, Now, ScheduleId, SessionFact, SessionId};
use crate::engine::SessionRecord;
use crate::testkit::reference::model::ReferenceModel;
use crate::testkit::reference::session_model::SessionModel;

impl ReferenceModel {
    pub(in crate::testkit) fn enter_session(&mut self, session: &SessionId, fact: &SessionFact) {
        match fact {
            SessionFact::Opened { host, provenance, config } => {
                let lane = SessionModel {
                    attached: host.is_attached(),
                    opened_at: self.fold.session(session).map(SessionRecord::opened_at),
                    config: Arc::clone(config),
                    provenance: provenance.clone(),
                    ..SessionModel::default()
                };
                self.sessions.insert(session.clone(), lane);
                match provenance {
                    Some(provenance) => _ = self.fresh.insert(session.clone(), provenance.clone()),
                    None => _ = self.fresh.remove(session),
                }
                // A session that a run created is at home where it was created; its reception says
                // where.
                if provenance.is_none() {
                    self.homes.insert(session.clone(), *host);
                }
            }
            SessionFact::Closed => {
                self.sessions.remove(session);
                for plan in self.schedules.values_mut().filter(|plan| plan.schedule.owner == *session) {
                    // Stays set if the id is opened again: that session is another one.
                    plan.orphaned = true;
                }
                self.homes.remove(session);
            }
            SessionFact::HostAttached { host } => {
                self.homes.insert(session.clone(), *host);
                if let Some(lane) = self.sessions.get_mut(session) {
                    lane.attached = host.is_attached();
                    // The new host owes nothing for prompts that another host accepted.
                    lane.turn_owed = false;
                    lane.idled = false;
                }
            }
            SessionFact::Idle | SessionFact::TurnUnreported => {
                if let Some(lane) = self.sessions.get_mut(session) {
                    lane.turn_owed = false;
                    // A turn may end before its receipt arrives. Then the receipt must not start
                    // waiting for its end.
                    lane.idled = lane.in_flight.is_some();
                }
            }
            SessionFact::Granted { grant } if *grant == Grant::FULL => _ = self.grants.remove(session),
            SessionFact::Granted { grant } => _ = self.grants.insert(session.clone(), grant.clone()),
            SessionFact::UserMessage => {
                if let Some(lane) = self.sessions.get_mut(session) {
                    lane.has_person = true;
                }
            }
            SessionFact::Pinged { name, at } => {
                if let Some(lane) = self.sessions.get_mut(session) {
                    lane.pings.insert(name.clone(), *at);
                }
            }
            SessionFact::HostDetached { .. }
            | SessionFact::Addressed { .. }
            | SessionFact::Busy
            | SessionFact::JobReady { .. }
            | SessionFact::ToolsCalled { .. }
            | SessionFact::Memory(_) => {}
        }
    }

    /// Marks the schedules that a user message must cancel. Paused and retrying schedules are left
    /// out: the model does not know what they wait for, and other tests cover them.
    pub(in crate::testkit) fn note_moot(&mut self, now: Now, session: &SessionId) {
        // While the store fails, a user message cancels no durable schedule.
        let flagged = self.schedules.values().filter(|plan| {
            plan.is_to_be_called_off_by_a_word_in(session) && !(self.is_frozen() && plan.is_durable())
        });
        let moot = flagged.filter(|plan| plan.is_to_come(now) && self.waiting_runs(plan).next().is_none());
        let moot: Vec<ScheduleId> = moot.map(|plan| plan.schedule.id.clone()).collect();
        for id in moot {
            if let Some(plan) = self.schedules.get_mut(&id) {
                plan.moot = true;
            }
        }
    }
}
