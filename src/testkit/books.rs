//! What the laws remember of a history: one page per schedule, run and session, and the fold of the facts.
//!
//! Invariant: filled from what was seen alone; nothing here asks the engine. Rules are in `laws`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::counts::Counts;
use super::history::{Observation, Reception, Seen};
use crate::domain::{
    BootTime, Cause, Claim, Fact, Grant, GuardPolicy, HandOver, HostId, Moment, Next, Now, Phase, Reason,
    RunFact, RunId, RunState, Schedule, ScheduleFact, ScheduleId, SessionFact, SessionId, Status, Target,
};
use crate::engine::State;

/// The order in which deliveries wait: due first, then created first, then by id.
pub(super) type Order = (Moment, Moment, ScheduleId);

/// A run's id in an order.
pub(super) type RunKey = (ScheduleId, u32, Moment);

pub(super) fn key_of(run: &RunId) -> RunKey {
    (run.schedule.clone(), run.incarnation, run.slot)
}

/// What was seen so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Books {
    pub(super) plans: BTreeMap<ScheduleId, Plan>,
    pub(super) lives: BTreeMap<RunKey, Life>,
    pub(super) lanes: BTreeMap<SessionId, Lane>,
    /// Where each session really is: opened there, created there, or taken over from there.
    pub(super) homes: BTreeMap<SessionId, HostId>,
    pub(super) counts: Counts,
    pub(super) held: bool,
    /// What runs are measured by.
    pub(super) policy: Option<Arc<GuardPolicy>>,
    /// Sessions that may do less than everything.
    pub(super) grants: BTreeMap<SessionId, Grant>,
    /// The engine was told to stop.
    pub(super) stopping: bool,
    /// A caller was told that it has.
    pub(super) stopped: bool,
    /// The fold of the facts.
    pub(super) fold: State,
}

/// One schedule.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) schedule: Schedule,
    pub(super) incarnation: u32,
    /// The slot that comes next, and the earliest moment for it, reckoned when it was set.
    pub(super) next: Option<(Moment, BootTime)>,
    pub(super) awaits_finish: bool,
    /// Its slot comes when something has happened.
    pub(super) awaits_event: bool,
    pub(super) paused: bool,
    pub(super) runs: BTreeSet<RunKey>,
    /// The run that was claimed last.
    pub(super) last_run: Option<RunKey>,
    pub(super) cancel_acknowledged: bool,
    /// It had ended, and was given other slots.
    pub(super) revived: bool,
    /// The schedule itself was called off, and not only a run of it.
    pub(super) called_off: bool,
    pub(super) end: Option<Status>,
    /// Its session was closed, whoever opens the id again.
    pub(super) orphaned: bool,
    /// A person spoke before its slot came, and it was to be called off then.
    pub(super) moot: bool,
}

/// One run.
#[derive(Clone, Debug)]
pub(super) struct Life {
    /// The earliest moment for anything to happen.
    pub(super) earliest: BootTime,
    pub(super) order: Order,
    /// Where it goes, as asked when it was claimed; `None` for a fresh session.
    pub(super) into: Option<SessionId>,
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
    /// The host that was reached last.
    pub(super) with: Option<HostId>,
    pub(super) received: BTreeSet<(u32, Phase)>,
    pub(super) state: RunState,
}

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

impl Life {
    pub(super) fn is_live(&self) -> bool {
        !self.state.is_terminal()
    }
}

impl Plan {
    /// Whether a slot of it may come while it waits: an unfinished schedule in memory only.
    pub(super) fn is_durable(&self) -> bool {
        self.schedule.is_durable()
    }

    fn is_to_be_called_off_by_a_word_in(&self, session: &SessionId) -> bool {
        let flagged = self.schedule.lifetime().cancel_on_user_activity;
        flagged && self.end.is_none() && !self.paused && self.schedule.owner == *session
    }

    /// Whether its slot lies strictly ahead.
    pub(super) fn is_to_come(&self, now: Now) -> bool {
        match self.next {
            Some((slot, _)) if self.is_durable() => slot > now.wall,
            Some((_, earliest)) => earliest > now.boot,
            None => self.awaits(),
        }
    }

    /// Whether a slot is to come of which it is not known when.
    fn awaits(&self) -> bool {
        self.awaits_finish || self.awaits_event
    }
}

impl Books {
    /// Enters one observation.
    pub(super) fn enter(&mut self, observation: &Observation) {
        match &observation.seen {
            Seen::Fact(fact) => {
                self.counts.enter(fact, &self.plans, &self.lives);
                self.fold.apply(observation.now, fact.clone());
                self.enter_fact(observation.now, fact);
            }
            Seen::Received(reception) => self.receive(reception),
            Seen::CancelAcknowledged { schedule, .. } => {
                if let Some(plan) = self.plans.get_mut(schedule) {
                    plan.cancel_acknowledged = true;
                }
            }
            Seen::HostLost(_) => {}
            Seen::ShutDown => self.stopped = true,
        }
    }

    /// How many schedules of a session live again after they had ended: no bound of a dialect was asked about them.
    pub(super) fn revived_of(&self, session: &SessionId) -> usize {
        let revived = self.plans.values().filter(|plan| plan.revived && plan.end.is_none());
        revived.filter(|plan| plan.schedule.owner == *session).count()
    }

    /// The runs of a schedule that have not ended.
    pub(super) fn live_runs(&self, plan: &Plan) -> impl Iterator<Item = (&RunKey, &Life)> {
        self.lives
            .range(first_of(plan)..)
            .take_while(|(key, _)| key.0 == plan.schedule.id)
            .filter(|it| it.1.is_live())
    }

    fn receive(&mut self, reception: &Reception) {
        if let Some(life) = self.lives.get_mut(&key_of(&reception.run)) {
            life.with = Some(reception.host);
            life.received.insert((life.attempt, reception.phase));
        }
        if reception.phase == Phase::CreateSession {
            self.homes.insert(reception.session.clone(), reception.host);
        }
    }

    fn enter_fact(&mut self, now: Now, fact: &Fact) {
        match fact {
            Fact::Session(session, fact) => {
                if *fact == SessionFact::UserSpoke {
                    self.note_moot(now, session);
                }
                self.enter_session(session, fact);
            }
            Fact::Created { schedule, next } => self.create(now, schedule, *next),
            Fact::Schedule(schedule, fact) => self.enter_schedule(now, schedule, fact),
            Fact::Run(run, fact) => self.enter_run(now, run, fact),
            Fact::Held { .. } => self.held = true,
            Fact::Released { .. } => self.held = false,
            Fact::Host(..) | Fact::Channel(..) | Fact::Awoke { .. } => {}
            Fact::Guarded { policy, .. } => self.policy.clone_from(policy),
            Fact::Stopping { .. } => self.stopping = true,
        }
        if let Some(schedule) = fact.schedule() {
            self.conclude(schedule);
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
    fn note_moot(&mut self, now: Now, session: &SessionId) {
        let flagged = self.plans.values().filter(|plan| plan.is_to_be_called_off_by_a_word_in(session));
        let moot = flagged.filter(|plan| plan.is_to_come(now) && self.waiting_runs(plan).next().is_none());
        let moot: Vec<ScheduleId> = moot.map(|plan| plan.schedule.id.clone()).collect();
        for id in moot {
            if let Some(plan) = self.plans.get_mut(&id) {
                plan.moot = true;
            }
        }
    }

    /// The runs of a schedule that wait for their turn or another attempt.
    fn waiting_runs(&self, plan: &Plan) -> impl Iterator<Item = (&RunKey, &Life)> {
        self.live_runs(plan).filter(|(_, life)| life.state == RunState::Queued)
    }

    /// Whether a run of a schedule waits for its turn: it has been due.
    pub(super) fn has_due_run(&self, plan: &Plan) -> bool {
        self.waiting_runs(plan).any(|(_, life)| !life.retrying)
    }

    fn create(&mut self, now: Now, schedule: &Schedule, next: Next) {
        let plan = Plan {
            schedule: schedule.clone(),
            incarnation: 1,
            next: reckon(now, next),
            awaits_finish: false,
            awaits_event: next == Next::AtEvent,
            paused: false,
            runs: BTreeSet::new(),
            last_run: None,
            cancel_acknowledged: false,
            revived: false,
            called_off: false,
            end: None,
            orphaned: false,
            moot: false,
        };
        self.plans.insert(schedule.id.clone(), plan);
    }

    fn enter_schedule(&mut self, now: Now, schedule: &ScheduleId, fact: &ScheduleFact) {
        let touches = matches!(
            fact,
            ScheduleFact::Changed(_) | ScheduleFact::Paused { .. } | ScheduleFact::Resumed { .. }
        );
        for (_, life) in self.lives.iter_mut().filter(|(key, _)| touches && key.0 == *schedule) {
            life.approved = false;
            life.allowed = false;
        }
        let Some(plan) = self.plans.get_mut(schedule) else { return };
        match fact {
            ScheduleFact::Changed(change) => {
                plan.schedule = change.schedule.clone();
                if let Some(next) = change.retriggered {
                    plan.incarnation += 1;
                    plan.revived |= plan.end.take().is_some();
                    plan.arm(now, next);
                }
            }
            ScheduleFact::Paused { .. } => plan.paused = true,
            // The slot is the one that was to come; when it is due is reckoned anew by the clocks as they stand.
            ScheduleFact::Resumed { next, .. } => {
                plan.paused = false;
                plan.next = reckon(now, *next).filter(|_| plan.next.is_some());
            }
            ScheduleFact::Skipped(skip) => plan.arm(now, skip.next),
            ScheduleFact::Armed { next, .. } => plan.arm(now, *next),
            ScheduleFact::Cancelled { .. } => {
                plan.next = None;
                plan.awaits_finish = false;
                plan.awaits_event = false;
                plan.end = Some(Status::Cancelled);
                plan.called_off = true;
                let runs: Vec<RunKey> = plan.runs.iter().cloned().collect();
                for run in runs {
                    if self.lives.get(&run).is_some_and(|life| life.state == RunState::Queued) {
                        self.end(&run, RunState::Cancelled);
                    }
                }
            }
        }
    }

    /// A schedule that has no slot to come and no run under way has ended.
    fn conclude(&mut self, schedule: &ScheduleId) {
        let Some(plan) = self.plans.get(schedule) else { return };
        let is_open = plan.next.is_some() || plan.awaits();
        if plan.end.is_some() || is_open || self.live_runs(plan).next().is_some() {
            return;
        }
        let last = plan.last_run.as_ref().and_then(|run| self.lives.get(run)).map(|life| life.state);
        let end = match last {
            _ if plan.schedule.recurs() => Status::Finished,
            None => Status::Skipped,
            Some(RunState::Delivered) => Status::Delivered,
            Some(RunState::Cancelled) => Status::Cancelled,
            Some(RunState::Failed | RunState::Queued | RunState::InFlight | RunState::Running) => {
                Status::Failed
            }
        };
        if let Some(plan) = self.plans.get_mut(schedule) {
            plan.end = Some(end);
        }
    }

    fn enter_run(&mut self, now: Now, run: &RunId, fact: &RunFact) {
        let key = key_of(run);
        match fact {
            RunFact::Claimed(claim) => self.claim(now, key, claim),
            RunFact::Queued { .. } => {
                let Some(life) = self.lives.get_mut(&key) else { return };
                life.retrying = false;
                life.keeps_lane = false;
                if let Some(lane) = life.into.as_ref().and_then(|session| self.lanes.get_mut(session)) {
                    lane.waiting.insert(life.order.clone(), key);
                }
            }
            RunFact::Asked { .. } | RunFact::Held(_) => {
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
            RunFact::Dispatched(HandOver { phase, session, .. }) => {
                let Some(life) = self.lives.get_mut(&key) else { return };
                life.dispatched = Some((*phase, session.clone()));
                life.state = RunState::InFlight;
                life.retrying = false;
                life.keeps_lane = false;
                leave_queue(&mut self.lanes, life);
                if let Some(lane) = self.lanes.get_mut(session).filter(|_| *phase == Phase::PromptSubmit) {
                    lane.in_flight = Some(key);
                    lane.idled = false;
                }
            }
            RunFact::Accepted => {
                self.leave_lane(&key, true);
                if let Some(life) = self.lives.get_mut(&key) {
                    life.state = RunState::Running;
                }
            }
            RunFact::Retrying { failure, .. } => {
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

    fn claim(&mut self, now: Now, key: RunKey, claim: &Claim) {
        let Some(plan) = self.plans.get_mut(&key.0) else { return };
        let into = match plan.schedule.target() {
            Target::Owner => Some(plan.schedule.owner.clone()),
            Target::Session(session) => Some(session.clone()),
            Target::Route(_) | Target::Fresh => None,
        };
        let earliest = plan.next.filter(|_| claim.next.is_some()).map_or(now.boot, |(_, earliest)| earliest);
        let life = Life {
            earliest,
            order: (key.2, plan.schedule.created_at, key.0.clone()),
            into,
            cause: claim.cause,
            begins_turn: plan.schedule.payload.begins_turn(),
            attempt: 1,
            asked: false,
            allowed: false,
            approved: false,
            retrying: false,
            keeps_lane: false,
            dispatched: None,
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

    fn end(&mut self, key: &RunKey, end: RunState) {
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

impl Plan {
    fn arm(&mut self, now: Now, next: Next) {
        self.next = reckon(now, next);
        self.awaits_finish = next == Next::AfterFinish;
        self.awaits_event = next == Next::AtEvent;
    }
}

/// The earliest moment for a slot, by the clocks as they stand when it is set.
fn reckon(now: Now, next: Next) -> Option<(Moment, BootTime)> {
    next.slot().map(|slot| (slot, now.boot.after(slot.since(now.wall))))
}

fn first_of(plan: &Plan) -> RunKey {
    (plan.schedule.id.clone(), 0, Moment::EPOCH)
}

fn leave_queue(lanes: &mut BTreeMap<SessionId, Lane>, life: &Life) {
    if let Some(lane) = life.into.as_ref().and_then(|session| lanes.get_mut(session)) {
        lane.waiting.remove(&life.order);
    }
}
