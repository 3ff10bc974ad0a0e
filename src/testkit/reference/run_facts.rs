//! How the model follows runs, each from its claim to its end.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{
    CallVia, Claim, Cursor, Dispatch, Failure, GuardFact, Moment, Now, Phase, Reason, RunFact, RunId,
    RunState, Schedule, SessionId, Target,
};
use crate::testkit::history::Reception;
use crate::testkit::reference::model::ReferenceModel;
use crate::testkit::reference::run_key::{RunKey, key_of};
use crate::testkit::reference::run_model::RunModel;
use crate::testkit::reference::schedule_model::ScheduleModel;
use crate::testkit::reference::session_model::SessionModel;

impl ReferenceModel {
    /// The runs of a schedule that have not ended.
    pub(in crate::testkit) fn live_runs(
        &self,
        plan: &ScheduleModel,
    ) -> impl Iterator<Item = (&RunKey, &RunModel)> {
        self.runs
            .range(first_of(plan)..)
            .take_while(|(key, _)| key.0 == plan.schedule.id)
            .filter(|it| it.1.is_live())
    }

    /// The runs of a schedule that wait for their turn or for another attempt.
    pub(in crate::testkit) fn waiting_runs(
        &self,
        plan: &ScheduleModel,
    ) -> impl Iterator<Item = (&RunKey, &RunModel)> {
        self.live_runs(plan).filter(|(_, life)| life.state == RunState::Queued)
    }

    /// Whether a due run of a schedule waits for its turn.
    pub(in crate::testkit) fn has_due_run(&self, plan: &ScheduleModel) -> bool {
        self.waiting_runs(plan).any(|(_, life)| !life.retrying)
    }

    pub(in crate::testkit) fn receive(&mut self, reception: &Reception) {
        if let Some(life) = self.runs.get_mut(&key_of(&reception.run)) {
            life.with = Some(reception.host);
            life.received.insert((life.attempt, reception.phase));
            // Remember what was sent: the next attempt must send the same.
            if reception.phase == Phase::Outside {
                life.sent = Some(reception.text.clone());
            }
        }
        if reception.phase == Phase::CreateSession {
            // The session lives where it was created, even if its creation fails half-way.
            self.homes.insert(reception.session.clone(), reception.host);
        }
    }

    pub(in crate::testkit) fn enter_run(&mut self, now: Now, run: &RunId, fact: &RunFact) {
        let key = key_of(run);
        self.note_told_of(&key, fact);
        match fact {
            RunFact::Claimed(claim) => self.claim(now, key, claim),
            RunFact::Queued { .. } => self.queue(key),
            RunFact::Guard(GuardFact::Asked { .. } | GuardFact::Held(_)) => {
                self.outside.remove(&key);
                self.leave_lane(&key, false);
                if let Some(life) = self.runs.get_mut(&key) {
                    leave_queue(&mut self.sessions, life);
                    life.retrying = true;
                    life.keeps_lane = false;
                    life.asked = matches!(fact, RunFact::Guard(GuardFact::Asked { .. }));
                }
            }
            RunFact::Guard(GuardFact::Allowed { .. } | GuardFact::Approved { .. }) => {
                if let Some(life) = self.runs.get_mut(&key) {
                    life.asked = false;
                    life.allowed |= matches!(fact, RunFact::Guard(GuardFact::Allowed { .. }));
                    life.approved |= matches!(fact, RunFact::Guard(GuardFact::Approved { .. }));
                }
            }
            RunFact::Guard(GuardFact::Denied { .. } | GuardFact::Answered(_)) => {}
            RunFact::Dispatched(to) => {
                self.charge_family(now.boot, &key, to);
                self.dispatch(now, &key, to);
            }
            RunFact::Folded(_) | RunFact::Joined { .. } | RunFact::Postponed { .. } => {
                self.enter_bulletin(&key, fact);
            }
            RunFact::Accepted => {
                self.leave_lane(&key, true);
                if let Some(life) = self.runs.get_mut(&key) {
                    life.state = RunState::Running;
                }
            }
            RunFact::Retrying { failure, .. } => self.retry(&key, failure),
            RunFact::Delivered | RunFact::Taken { .. } => self.end(&key, RunState::Delivered),
            RunFact::Returned { outcome, check } => {
                if let Some(check) = check {
                    self.enter_check(now, &key.0, check);
                }
                self.end(&key, end_of(outcome.ok));
            }
            RunFact::Left => self.end(&key, RunState::Left),
            RunFact::Failed(_) => self.end(&key, RunState::Failed),
            RunFact::Cancelled { .. } => self.end(&key, RunState::Cancelled),
        }
    }

    /// Takes a run back from where it is, and lets it wait at its place.
    fn queue(&mut self, key: RunKey) {
        self.leave_lane(&key, false);
        let Some(life) = self.runs.get_mut(&key) else { return };
        if matches!(life.state, RunState::Left | RunState::InFlight) {
            // The host that gets it is another one, and asks the guard anew.
            life.received.clear();
            life.unanswered = None;
            life.allowed = false;
            life.approved &= life.state == RunState::InFlight;
        }
        life.state = RunState::Queued;
        life.retrying = false;
        life.keeps_lane = false;
        life.lead = None;
        if life.is_outside() {
            self.outside.insert(key);
        } else if let Some(lane) = life.into.as_ref().and_then(|session| self.sessions.get_mut(session)) {
            lane.waiting.insert(life.order.clone(), key);
        }
    }

    fn dispatch(&mut self, now: Now, key: &RunKey, to: &Dispatch) {
        self.outside.remove(key);
        // The fold has applied the dispatch already, so its cursor is that of the dispatch.
        let at = self.fold.cursor();
        if let Some(plan) = self.schedules.get_mut(&key.0).filter(|_| to.phase == Phase::Call) {
            plan.watch.was_called();
        }
        let Some(life) = self.runs.get_mut(key) else { return };
        life.dispatched = Some((to.phase, to.session.clone()));
        life.dispatched_at = at;
        life.called_at = Some(now.wall);
        life.state = RunState::InFlight;
        life.retrying = false;
        life.keeps_lane = false;
        leave_queue(&mut self.sessions, life);
        let lane = self.sessions.get_mut(&to.session).filter(|_| to.phase == Phase::PromptSubmit);
        if let Some(lane) = lane {
            lane.in_flight = Some(key.clone());
            lane.idled = false;
        }
    }

    fn retry(&mut self, key: &RunKey, failure: &Failure) {
        self.outside.remove(key);
        self.creating.remove(key);
        self.leave_lane(key, false);
        if let Some(life) = self.runs.get_mut(key) {
            leave_queue(&mut self.sessions, life);
            life.state = RunState::Queued;
            life.retrying = true;
            life.allowed = false;
            // A crash interrupted this run in its host, so it does not queue again behind
            // others.
            life.keeps_lane = failure.reason == Reason::Crashed;
            let is_unanswered =
                matches!(failure.reason, Reason::Crashed | Reason::HostLost | Reason::ReceiptOverdue);
            let out = life.dispatched.as_ref().map(|(phase, _)| *phase).filter(|_| is_unanswered);
            life.unanswered = life.with.zip(out);
            life.attempt += 1;
            life.lead = None;
            life.dispatched = None;
            life.with = None;
        }
    }

    /// A fact that only bulletins have.
    fn enter_bulletin(&mut self, key: &RunKey, fact: &RunFact) {
        if let RunFact::Joined { lead } = fact {
            return self.join(key, &key_of(lead));
        }
        let Some((life, plan)) = self.runs.get_mut(key).zip(self.schedules.get_mut(&key.0)) else { return };
        if let RunFact::Folded(telling) = fact {
            *life.definition = plan.schedule.bulletin(telling);
            life.sent = None;
            plan.telling = Some(key.clone());
        } else {
            leave_queue(&mut self.sessions, life);
            life.retrying = true;
        }
    }

    /// Puts a bulletin into the delivery of another one, which is out.
    fn join(&mut self, key: &RunKey, lead: &RunKey) {
        let at = self.fold.cursor();
        let dispatched = self.runs.get(lead).and_then(|lead| lead.dispatched.clone());
        let Some(life) = self.runs.get_mut(key) else { return };
        leave_queue(&mut self.sessions, life);
        life.dispatched = dispatched;
        life.dispatched_at = at;
        life.state = RunState::InFlight;
        life.retrying = false;
        life.lead = Some(lead.clone());
    }

    fn claim(&mut self, now: Now, key: RunKey, claim: &Claim) {
        let Some(plan) = self.schedules.get_mut(&key.0) else { return };
        let definition = match &claim.telling {
            Some(telling) => plan.schedule.bulletin(telling),
            None => plan.schedule.clone(),
        };
        let call = definition.payload.call();
        let (into, channel) = place_of(&definition);
        // A manual run may start at once, also if the slot was brought forward for it; any other waits for its slot.
        let earliest =
            plan.next.filter(|_| !claim.cause.is_beside_slots()).map_or(now.boot, |(_, earliest)| earliest);
        let life = RunModel {
            earliest,
            order: (key.2, plan.schedule.created_at, key.0.clone()),
            into,
            channel,
            cause: claim.cause,
            by_session: plan.cause_of(claim),
            begins_turn: definition.payload.begins_turn(),
            calls_freely: call.is_some_and(|call| call.via == CallVia::Any),
            lead: None,
            definition: Box::new(definition),
            attempt: 1,
            asked: false,
            allowed: false,
            approved: false,
            // The wake-up that follows hands a bulletin over.
            retrying: claim.telling.is_some(),
            keeps_lane: false,
            dispatched: None,
            called_at: None,
            dispatched_at: Cursor::START,
            sent: None,
            with: None,
            received: BTreeSet::new(),
            unanswered: None,
            state: RunState::Queued,
        };
        plan.runs.insert(key.clone());
        if claim.telling.is_none() {
            plan.last_run = Some(key.clone());
        } else {
            plan.telling = Some(key.clone());
        }
        if let Some(next) = claim.next {
            plan.last = Some(key.2);
            plan.arm_after(now, next);
        }
        self.runs.insert(key, life);
    }

    pub(in crate::testkit) fn end(&mut self, key: &RunKey, end: RunState) {
        self.outside.remove(key);
        self.creating.remove(key);
        let was_in_flight = self.runs.get(key).is_some_and(|life| life.state == RunState::InFlight);
        self.leave_lane(key, end == RunState::Delivered && was_in_flight);
        let Some(life) = self.runs.get_mut(key) else { return };
        life.state = end;
        life.retrying = false;
        life.lead = None;
        leave_queue(&mut self.sessions, life);
    }

    fn leave_lane(&mut self, key: &RunKey, taken: bool) {
        let Some(life) = self.runs.get(key) else { return };
        if let Some((Phase::PromptSubmit, session)) = &life.dispatched
            && let Some(lane) = self.sessions.get_mut(session)
            && lane.in_flight.as_ref() == Some(key)
        {
            lane.in_flight = None;
            // A host that accepted a prompt owes a turn, unless it reported the end of that turn
            // already.
            lane.turn_owed |= taken && life.begins_turn && lane.attached && !lane.idled;
        }
    }
}

fn end_of(is_ok: bool) -> RunState {
    if is_ok { RunState::Delivered } else { RunState::Failed }
}

fn first_of(plan: &ScheduleModel) -> RunKey {
    (plan.schedule.id.clone(), 0, Moment::EPOCH)
}

fn leave_queue(lanes: &mut BTreeMap<SessionId, SessionModel>, life: &RunModel) {
    if let Some(lane) = life.into.as_ref().and_then(|session| lanes.get_mut(session)) {
        lane.waiting.remove(&life.order);
    }
}

/// The session that a run goes into, or the channel that it is sent by; neither for a call and a fresh session.
pub(in crate::testkit) fn place_of(definition: &Schedule) -> (Option<SessionId>, Option<Box<str>>) {
    match definition.target() {
        _ if definition.payload.call().is_some() => (None, None),
        Target::Owner => (Some(definition.owner.clone()), None),
        Target::Session(session) => (Some(session.clone()), None),
        Target::Route(route) => (None, Some(route.channel.clone())),
        Target::Fresh => (None, None),
    }
}
