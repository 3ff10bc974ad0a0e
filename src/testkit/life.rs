//! The pages of the books that are about runs: one life each, from its claim to its end.

use std::collections::{BTreeMap, BTreeSet};

use super::books::{Books, Order, Plan, RunKey, key_of};
use super::history::Reception;
use super::lane::Lane;
use crate::domain::{
    BootTime, Cause, Claim, Cursor, HandOver, HostId, Moment, Now, Phase, Reason, RunFact, RunId, RunState,
    SessionId, Target,
};

/// One run.
#[derive(Clone, Debug)]
pub(super) struct Life {
    /// The earliest moment for anything to happen.
    pub(super) earliest: BootTime,
    pub(super) order: Order,
    /// Where it goes, as asked when it was claimed; `None` for a fresh session, and for the world outside.
    pub(super) into: Option<SessionId>,
    /// The channel that it goes out by, if it does.
    pub(super) channel: Option<Box<str>>,
    pub(super) cause: Cause,
    /// Whether its host begins a turn for it.
    pub(super) begins_turn: bool,
    pub(super) attempt: u32,
    pub(super) retrying: bool,
    /// The guard has been asked about it, and has not answered.
    pub(super) asked: bool,
    /// The guard has allowed this attempt.
    pub(super) allowed: bool,
    /// An operator has approved it, and its schedule has not been touched since.
    pub(super) approved: bool,
    /// It was with its host when the process ended: it keeps the lane that it had, whatever waits there.
    pub(super) keeps_lane: bool,
    pub(super) dispatched: Option<(Phase, SessionId)>,
    /// The fact that says so.
    pub(super) dispatched_at: Cursor,
    /// What went outside for it, since its schedule was last touched.
    pub(super) sent: Option<Box<str>>,
    /// The host that was reached last.
    pub(super) with: Option<HostId>,
    pub(super) received: BTreeSet<(u32, Phase)>,
    pub(super) state: RunState,
}

impl Life {
    /// What a guard outside was asked, or said, is not kept.
    pub(super) fn forget_the_guard(&mut self) {
        self.retrying &= !std::mem::take(&mut self.asked);
        self.allowed = false;
    }

    /// Whether it waits to go outside.
    pub(super) fn waits_outside(&self) -> bool {
        self.channel.is_some() && self.state == RunState::Queued && !self.retrying
    }

    pub(super) fn is_live(&self) -> bool {
        !self.state.is_terminal()
    }
}

impl Books {
    /// The runs of a schedule that have not ended.
    pub(super) fn live_runs(&self, plan: &Plan) -> impl Iterator<Item = (&RunKey, &Life)> {
        self.lives
            .range(first_of(plan)..)
            .take_while(|(key, _)| key.0 == plan.schedule.id)
            .filter(|it| it.1.is_live())
    }

    /// The runs of a schedule that wait for their turn or another attempt.
    pub(super) fn waiting_runs(&self, plan: &Plan) -> impl Iterator<Item = (&RunKey, &Life)> {
        self.live_runs(plan).filter(|(_, life)| life.state == RunState::Queued)
    }

    /// Whether a run of a schedule waits for its turn: it has been due.
    pub(super) fn has_due_run(&self, plan: &Plan) -> bool {
        self.waiting_runs(plan).any(|(_, life)| !life.retrying)
    }

    pub(super) fn receive(&mut self, reception: &Reception) {
        if let Some(life) = self.lives.get_mut(&key_of(&reception.run)) {
            life.with = Some(reception.host);
            life.received.insert((life.attempt, reception.phase));
            if reception.phase == Phase::Outside {
                life.sent = Some(reception.text.clone());
            }
        }
        if reception.phase == Phase::CreateSession {
            self.homes.insert(reception.session.clone(), reception.host);
        }
    }

    pub(super) fn enter_run(&mut self, now: Now, run: &RunId, fact: &RunFact) {
        let key = key_of(run);
        match fact {
            RunFact::Claimed(claim) => self.claim(now, key, claim),
            RunFact::Queued { .. } => {
                let Some(life) = self.lives.get_mut(&key) else { return };
                life.retrying = false;
                life.keeps_lane = false;
                if life.channel.is_some() {
                    self.outside.insert(key);
                } else if let Some(lane) = life.into.as_ref().and_then(|session| self.lanes.get_mut(session))
                {
                    lane.waiting.insert(life.order.clone(), key);
                }
            }
            RunFact::Asked { .. } | RunFact::Held(_) => {
                self.outside.remove(&key);
                self.leave_lane(&key, false);
                if let Some(life) = self.lives.get_mut(&key) {
                    leave_queue(&mut self.lanes, life);
                    life.retrying = true;
                    life.keeps_lane = false;
                    life.asked = matches!(fact, RunFact::Asked { .. });
                }
            }
            RunFact::Allowed { .. } | RunFact::Approved { .. } => {
                if let Some(life) = self.lives.get_mut(&key) {
                    life.asked = false;
                    life.allowed |= matches!(fact, RunFact::Allowed { .. });
                    life.approved |= matches!(fact, RunFact::Approved { .. });
                }
            }
            RunFact::Denied { .. } => {}
            RunFact::Dispatched(to) => self.dispatch(&key, to),
            RunFact::Accepted => {
                self.leave_lane(&key, true);
                if let Some(life) = self.lives.get_mut(&key) {
                    life.state = RunState::Running;
                }
            }
            RunFact::Retrying { failure, .. } => {
                self.outside.remove(&key);
                self.leave_lane(&key, false);
                if let Some(life) = self.lives.get_mut(&key) {
                    leave_queue(&mut self.lanes, life);
                    life.state = RunState::Queued;
                    life.retrying = true;
                    life.allowed = false;
                    life.keeps_lane = failure.reason == Reason::Crashed;
                    life.attempt += 1;
                    life.dispatched = None;
                    life.with = None;
                }
            }
            RunFact::Delivered => self.end(&key, RunState::Delivered),
            RunFact::Failed(_) => self.end(&key, RunState::Failed),
            RunFact::Cancelled { .. } => self.end(&key, RunState::Cancelled),
        }
    }

    fn dispatch(&mut self, key: &RunKey, to: &HandOver) {
        self.outside.remove(key);
        let at = self.fold.cursor();
        let Some(life) = self.lives.get_mut(key) else { return };
        life.dispatched = Some((to.phase, to.session.clone()));
        life.dispatched_at = at;
        life.state = RunState::InFlight;
        life.retrying = false;
        life.keeps_lane = false;
        leave_queue(&mut self.lanes, life);
        let lane = self.lanes.get_mut(&to.session).filter(|_| to.phase == Phase::PromptSubmit);
        if let Some(lane) = lane {
            lane.in_flight = Some(key.clone());
            lane.idled = false;
        }
    }

    fn claim(&mut self, now: Now, key: RunKey, claim: &Claim) {
        let Some(plan) = self.plans.get_mut(&key.0) else { return };
        let (into, channel) = match plan.schedule.target() {
            Target::Owner => (Some(plan.schedule.owner.clone()), None),
            Target::Session(session) => (Some(session.clone()), None),
            Target::Route(route) => (None, Some(route.channel.clone())),
            Target::Fresh => (None, None),
        };
        let earliest = plan.next.filter(|_| claim.next.is_some()).map_or(now.boot, |(_, earliest)| earliest);
        let life = Life {
            earliest,
            order: (key.2, plan.schedule.created_at, key.0.clone()),
            into,
            channel,
            cause: claim.cause,
            begins_turn: plan.schedule.payload.begins_turn(),
            attempt: 1,
            asked: false,
            allowed: false,
            approved: false,
            retrying: false,
            keeps_lane: false,
            dispatched: None,
            dispatched_at: Cursor::START,
            sent: None,
            with: None,
            received: BTreeSet::new(),
            state: RunState::Queued,
        };
        plan.runs.insert(key.clone());
        plan.last_run = Some(key.clone());
        if let Some(next) = claim.next {
            plan.arm(now, next);
        }
        self.lives.insert(key, life);
    }

    pub(super) fn end(&mut self, key: &RunKey, end: RunState) {
        self.outside.remove(key);
        let was_in_flight = self.lives.get(key).is_some_and(|life| life.state == RunState::InFlight);
        self.leave_lane(key, end == RunState::Delivered && was_in_flight);
        let Some(life) = self.lives.get_mut(key) else { return };
        life.state = end;
        life.retrying = false;
        leave_queue(&mut self.lanes, life);
    }

    fn leave_lane(&mut self, key: &RunKey, taken: bool) {
        let Some(life) = self.lives.get(key) else { return };
        if let Some((Phase::PromptSubmit, session)) = &life.dispatched
            && let Some(lane) = self.lanes.get_mut(session)
            && lane.in_flight.as_ref() == Some(key)
        {
            lane.in_flight = None;
            lane.turn_owed |= taken && life.begins_turn && lane.attached && !lane.idled;
        }
    }
}

fn first_of(plan: &Plan) -> RunKey {
    (plan.schedule.id.clone(), 0, Moment::EPOCH)
}

fn leave_queue(lanes: &mut BTreeMap<SessionId, Lane>, life: &Life) {
    if let Some(lane) = life.into.as_ref().and_then(|session| lanes.get_mut(session)) {
        lane.waiting.remove(&life.order);
    }
}
