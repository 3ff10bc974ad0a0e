//! What the laws remember of a history: one page per schedule and per session, and the fold of the facts.
//!
//! Invariant: filled from what was seen alone; nothing here asks the engine. Rules are in `laws`.

use std::collections::{BTreeMap, BTreeSet};

use super::history::{Observation, Reception, Seen};
use crate::domain::{
    BootTime, Fact, HandOver, HostId, Moment, Now, Phase, RunFact, Schedule, ScheduleId, SessionFact,
    SessionId, Status, Target,
};
use crate::engine::State;

/// The order in which deliveries wait: due first, then created first, then by id.
pub(super) type Order = (Moment, Moment, ScheduleId);

/// What was seen so far.
#[derive(Debug, Default)]
pub(super) struct Books {
    pub(super) lives: BTreeMap<ScheduleId, Life>,
    pub(super) lanes: BTreeMap<SessionId, Lane>,
    /// Where each session really is: opened there, created there, or taken over from there.
    pub(super) homes: BTreeMap<SessionId, HostId>,
    pub(super) counts: Counts,
    /// The engine was told to stop.
    pub(super) stopping: bool,
    /// A caller was told that it has.
    pub(super) stopped: bool,
    /// The fold of the facts.
    pub(super) fold: State,
}

/// One schedule.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) slot: Moment,
    /// The earliest moment for anything to happen, reckoned from the schedule and the clocks at its creation.
    pub(super) earliest: BootTime,
    pub(super) order: Order,
    pub(super) owner: SessionId,
    pub(super) target: Target,
    pub(super) claimed: bool,
    pub(super) dispatched: Option<(Phase, SessionId)>,
    /// The host that was reached last.
    pub(super) with: Option<HostId>,
    pub(super) received: BTreeSet<Phase>,
    pub(super) cancel_acknowledged: bool,
    pub(super) end: Option<Status>,
    /// Its session was closed, whoever opens the id again.
    pub(super) orphaned: bool,
}

/// One open session.
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub(super) attached: bool,
    pub(super) in_flight: Option<ScheduleId>,
    pub(super) waiting: BTreeSet<Order>,
    /// A connected host took a prompt and no transition to idle was seen since.
    pub(super) turn_owed: bool,
    /// A transition to idle was seen while the delivery was out.
    pub(super) idled: bool,
}

/// How many schedules came to what.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) created: u64,
    pub(super) delivered: u64,
    pub(super) cancelled: u64,
    pub(super) failed: u64,
}

impl Books {
    /// Enters one observation.
    pub(super) fn enter(&mut self, observation: &Observation) {
        match &observation.seen {
            Seen::Fact(fact) => {
                self.fold.apply(observation.now, fact.clone());
                self.enter_fact(observation.now, fact);
            }
            Seen::Received(reception) => self.receive(reception),
            Seen::CancelAcknowledged { schedule, .. } => {
                if let Some(life) = self.lives.get_mut(schedule) {
                    life.cancel_acknowledged = true;
                }
            }
            Seen::HostLost(_) => {}
            Seen::ShutDown => self.stopped = true,
        }
    }

    fn receive(&mut self, reception: &Reception) {
        if let Some(life) = self.lives.get_mut(&reception.run.schedule) {
            life.with = Some(reception.host);
            life.received.insert(reception.phase);
        }
        if reception.phase == Phase::CreateSession {
            self.homes.insert(reception.session.clone(), reception.host);
        }
    }

    fn enter_fact(&mut self, now: Now, fact: &Fact) {
        match fact {
            Fact::Session(session, fact) => self.enter_session(session, fact),
            Fact::Created { schedule, .. } => self.create(now, schedule),
            Fact::Run(schedule, fact) => self.enter_run(schedule, fact),
            Fact::Host(..) => {}
            Fact::Stopping { .. } => self.stopping = true,
        }
    }

    fn enter_session(&mut self, session: &SessionId, fact: &SessionFact) {
        match fact {
            SessionFact::Opened { host, provenance, .. } => {
                self.lanes.insert(session.clone(), Lane { attached: host.is_attached(), ..Lane::default() });
                if provenance.is_none() {
                    self.homes.insert(session.clone(), *host);
                }
            }
            SessionFact::Closed => {
                self.lanes.remove(session);
                for life in self.lives.values_mut().filter(|life| life.owner == *session) {
                    life.orphaned = true;
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
            SessionFact::Unhosted | SessionFact::Busy | SessionFact::UserSpoke => {}
        }
    }

    fn create(&mut self, now: Now, schedule: &Schedule) {
        self.counts.created += 1;
        let slot = schedule.trigger.first_slot();
        let life = Life {
            slot,
            earliest: now.boot.after(slot.since(now.wall)),
            order: (slot, schedule.created_at, schedule.id.clone()),
            owner: schedule.owner.clone(),
            target: schedule.target(),
            claimed: false,
            dispatched: None,
            with: None,
            received: BTreeSet::new(),
            cancel_acknowledged: false,
            end: None,
            orphaned: false,
        };
        self.lives.insert(schedule.id.clone(), life);
    }

    fn enter_run(&mut self, schedule: &ScheduleId, fact: &RunFact) {
        let Some(life) = self.lives.get_mut(schedule) else { return };
        let end = match fact {
            RunFact::Claimed { .. } => {
                life.claimed = true;
                return;
            }
            RunFact::Queued { .. } => {
                if let Some(lane) = self.lanes.get_mut(&life.owner).filter(|_| life.target == Target::Owner) {
                    lane.waiting.insert(life.order.clone());
                }
                return;
            }
            RunFact::Dispatched(HandOver { phase, session, .. }) => {
                life.dispatched = Some((*phase, session.clone()));
                leave_queue(&mut self.lanes, life);
                if let Some(lane) = self.lanes.get_mut(session).filter(|_| *phase == Phase::PromptSubmit) {
                    lane.in_flight = Some(schedule.clone());
                    lane.idled = false;
                }
                return;
            }
            RunFact::Delivered => Status::Delivered,
            RunFact::Failed(_) => Status::Failed,
            RunFact::Cancelled { .. } => Status::Cancelled,
        };
        life.end = Some(end);
        leave_queue(&mut self.lanes, life);
        if let Some((Phase::PromptSubmit, session)) = &life.dispatched
            && let Some(lane) = self.lanes.get_mut(session)
            && lane.in_flight.as_ref() == Some(schedule)
        {
            lane.in_flight = None;
            lane.turn_owed |= end == Status::Delivered && lane.attached && !lane.idled;
        }
        self.counts.settle(end);
    }
}

impl Counts {
    fn settle(&mut self, end: Status) {
        match end {
            Status::Delivered => self.delivered += 1,
            Status::Cancelled => self.cancelled += 1,
            Status::Failed => self.failed += 1,
            Status::Pending | Status::Queued | Status::InFlight => {}
        }
    }

    /// Those that have not ended.
    pub(super) fn live(&self) -> u64 {
        self.created.saturating_sub(self.delivered + self.cancelled + self.failed)
    }
}

fn leave_queue(lanes: &mut BTreeMap<SessionId, Lane>, life: &Life) {
    if let Some(lane) = lanes.get_mut(&life.owner) {
        lane.waiting.remove(&life.order);
    }
}
