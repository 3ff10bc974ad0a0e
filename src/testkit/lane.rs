//! The pages of the books that are about sessions: one lane each, while it is open.

use std::collections::BTreeMap;

use super::books::{Books, Order, RunKey};
use crate::domain::{Grant, Now, ScheduleId, SessionFact, SessionId};

/// One open session.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    pub(super) attached: bool,
    pub(super) in_flight: Option<RunKey>,
    /// Runs that wait for it, by the order in which they do.
    pub(super) waiting: BTreeMap<Order, RunKey>,
    /// A connected host took a prompt and no transition to idle was seen since.
    pub(super) turn_owed: bool,
    /// A transition to idle was seen while the delivery was out.
    pub(super) idled: bool,
}

impl Books {
    pub(super) fn enter_session(&mut self, session: &SessionId, fact: &SessionFact) {
        match fact {
            SessionFact::Opened { host, provenance, .. } => {
                self.lanes.insert(session.clone(), Lane { attached: host.is_attached(), ..Lane::default() });
                if provenance.is_none() {
                    self.homes.insert(session.clone(), *host);
                }
            }
            SessionFact::Closed => {
                self.lanes.remove(session);
                for plan in self.plans.values_mut().filter(|plan| plan.schedule.owner == *session) {
                    plan.orphaned = true;
                }
                self.homes.remove(session);
            }
            SessionFact::Hosted { host } => {
                self.homes.insert(session.clone(), *host);
                if let Some(lane) = self.lanes.get_mut(session) {
                    lane.attached = host.is_attached();
                    lane.turn_owed = false;
                    lane.idled = false;
                }
            }
            SessionFact::Idle | SessionFact::TurnUnreported => {
                if let Some(lane) = self.lanes.get_mut(session) {
                    lane.turn_owed = false;
                    lane.idled = lane.in_flight.is_some();
                }
            }
            SessionFact::Granted { grant, .. } if *grant == Grant::FULL => _ = self.grants.remove(session),
            SessionFact::Granted { grant, .. } => _ = self.grants.insert(session.clone(), grant.clone()),
            SessionFact::Unhosted
            | SessionFact::Busy
            | SessionFact::UserSpoke
            | SessionFact::JobReady { .. } => {}
        }
    }

    /// Notes which schedules of a session a person's word calls off. Those that are paused or tried again are left to tests
    /// of their own: what they wait for is not in these books.
    pub(super) fn note_moot(&mut self, now: Now, session: &SessionId) {
        // While nothing can be kept, a word calls off nothing that is on disk.
        let flagged = self.plans.values().filter(|plan| {
            plan.is_to_be_called_off_by_a_word_in(session) && !(self.frozen && plan.is_durable())
        });
        let moot = flagged.filter(|plan| plan.is_to_come(now) && self.waiting_runs(plan).next().is_none());
        let moot: Vec<ScheduleId> = moot.map(|plan| plan.schedule.id.clone()).collect();
        for id in moot {
            if let Some(plan) = self.plans.get_mut(&id) {
                plan.moot = true;
            }
        }
    }
}
