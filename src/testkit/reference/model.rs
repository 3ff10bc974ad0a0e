//! The model that the laws judge by: one record per schedule, run and session, and the fold of the
//! facts.
//!
//! Invariant: it is filled from observations only and never asks the engine, so that an error of
//! the engine cannot hide itself. The rules are in `laws`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::domain::{
    BootTime, ChannelFact, Cursor, Fact, Grant, GuardPolicy, HostId, Moment, Next, Now, RunId, RunState,
    Schedule, ScheduleFact, ScheduleId, SessionFact, SessionId, Status,
};
use crate::engine::State;
use crate::testkit::checks::counts::Counts;
use crate::testkit::history::{Observation, Seen};
use crate::testkit::reference::run_model::RunModel;
use crate::testkit::reference::session_model::SessionModel;
use crate::testkit::reference::store_failure::{Loading, PendingRecovery};

/// The order in which deliveries wait for a session: by slot, then by creation, then by id.
pub(in crate::testkit) type Order = (Moment, Moment, ScheduleId);

/// A run's id as a sortable key: schedule, incarnation, slot.
pub(in crate::testkit) type RunKey = (ScheduleId, u32, Moment);

pub(in crate::testkit) fn key_of(run: &RunId) -> RunKey {
    (run.schedule.clone(), run.incarnation, run.slot)
}

/// The model of everything seen so far.
#[derive(Clone, Debug, Default)]
pub(in crate::testkit) struct ReferenceModel {
    pub(in crate::testkit) schedules: BTreeMap<ScheduleId, ScheduleModel>,
    pub(in crate::testkit) runs: BTreeMap<RunKey, RunModel>,
    pub(in crate::testkit) sessions: BTreeMap<SessionId, SessionModel>,
    /// The host of each session: the one that opened it, created it, or took it over.
    pub(in crate::testkit) homes: BTreeMap<SessionId, HostId>,
    pub(in crate::testkit) counts: Counts,
    pub(in crate::testkit) held: bool,
    /// The guard policy in force.
    pub(in crate::testkit) policy: Option<Arc<GuardPolicy>>,
    /// Grants of sessions that are restricted; a session without an entry has the full grant.
    pub(in crate::testkit) grants: BTreeMap<SessionId, Grant>,
    /// A shutdown has been requested.
    pub(in crate::testkit) stopping: bool,
    /// A caller was notified that the engine has stopped.
    pub(in crate::testkit) stopped: bool,
    /// The channels by name, and whether each still accepts messages.
    pub(in crate::testkit) channels: BTreeMap<Box<str>, bool>,
    /// Runs that wait to be sent through a channel.
    pub(in crate::testkit) outside: BTreeSet<RunKey>,
    /// The last fact before the store failed; `None` while durable state is not frozen.
    pub(in crate::testkit) frozen_at: Option<Cursor>,
    /// The last committed fact when the store failed.
    pub(in crate::testkit) kept_at_failure: Option<Cursor>,
    /// The store works again, and the engine is about to load from it.
    pub(in crate::testkit) returning: Option<Box<PendingRecovery>>,
    /// Rows that the engine is about to load.
    pub(in crate::testkit) loading: Option<Loading>,
    /// The last fact that is known to be committed; `None` without a store.
    pub(in crate::testkit) kept: Option<Cursor>,
    /// A state built from the facts alone, to be compared with the engine's.
    pub(in crate::testkit) fold: State,
}

/// One schedule.
#[derive(Clone, Debug)]
pub(in crate::testkit) struct ScheduleModel {
    pub(in crate::testkit) schedule: Schedule,
    pub(in crate::testkit) incarnation: u32,
    /// The next slot and the earliest boot time for it, computed when the slot was set.
    pub(in crate::testkit) next: Option<(Moment, BootTime)>,
    pub(in crate::testkit) awaits_finish: bool,
    /// Its slot is set by an event, not by a clock.
    pub(in crate::testkit) awaits_event: bool,
    pub(in crate::testkit) paused: bool,
    pub(in crate::testkit) runs: BTreeSet<RunKey>,
    /// The most recently claimed run.
    pub(in crate::testkit) last_run: Option<RunKey>,
    pub(in crate::testkit) cancel_acknowledged: bool,
    /// It had ended and was then given a new trigger.
    pub(in crate::testkit) revived: bool,
    /// The schedule itself was cancelled, and not only one of its runs.
    pub(in crate::testkit) called_off: bool,
    pub(in crate::testkit) end: Option<Status>,
    /// Its session was closed. Stays true even if a session of that id is opened again.
    pub(in crate::testkit) orphaned: bool,
    /// A user spoke before its slot came, so `cancel-on-user-activity` must have cancelled it.
    pub(in crate::testkit) moot: bool,
}

impl ScheduleModel {
    /// Whether the schedule is durable, so that its slots follow the wall clock.
    pub(in crate::testkit) fn is_durable(&self) -> bool {
        self.schedule.is_durable()
    }

    pub(in crate::testkit) fn is_to_be_called_off_by_a_word_in(&self, session: &SessionId) -> bool {
        let flagged = self.schedule.lifetime().cancel_on_user_activity;
        flagged && self.end.is_none() && !self.paused && self.schedule.owner == *session
    }

    /// Whether its next slot lies strictly in the future, on the clock that it follows.
    pub(in crate::testkit) fn is_to_come(&self, now: Now) -> bool {
        match self.next {
            Some((slot, _)) if self.is_durable() => slot > now.wall,
            Some((_, earliest)) => earliest > now.boot,
            None => self.awaits(),
        }
    }

    /// Whether a slot is expected at a time that is not known yet.
    fn awaits(&self) -> bool {
        self.awaits_finish || self.awaits_event
    }
}

impl ReferenceModel {
    /// Adds one observation to the model.
    pub(in crate::testkit) fn enter(&mut self, observation: &Observation) {
        match &observation.seen {
            Seen::Local(fact) => {
                self.fold.apply(observation.now, fact.clone());
                self.enter_local(fact);
            }
            Seen::Fact(fact) => {
                self.loading = None;
                self.counts.enter(fact, &self.schedules, &self.runs);
                self.fold.apply(observation.now, fact.clone());
                self.enter_fact(observation.now, fact);
            }
            Seen::Received(reception) => self.receive(reception),
            Seen::CancelAcknowledged { schedule, .. } => {
                if let Some(plan) = self.schedules.get_mut(schedule) {
                    plan.cancel_acknowledged = true;
                }
            }
            Seen::HostLost(_) => {}
            Seen::ShutDown => self.stopped = true,
            Seen::DiskFailed { kept } => self.kept_at_failure = Some(*kept),
        }
    }

    /// The number of live schedules of a session that had ended before. A revival is not checked
    /// against the session's limit, so `limits_hold` subtracts them.
    pub(in crate::testkit) fn revived_of(&self, session: &SessionId) -> usize {
        let revived = self.schedules.values().filter(|plan| plan.revived && plan.end.is_none());
        revived.filter(|plan| plan.schedule.owner == *session).count()
    }

    fn enter_fact(&mut self, now: Now, fact: &Fact) {
        match fact {
            Fact::Session(session, fact) => {
                // Before the session's own record changes: only what lay ahead when the user spoke
                // is affected.
                if *fact == SessionFact::UserMessage {
                    self.note_moot(now, session);
                }
                self.enter_session(session, fact);
            }
            Fact::Created { schedule, next } => self.create(now, schedule, *next),
            Fact::Schedule(schedule, fact) => self.enter_schedule(now, schedule, fact),
            Fact::Run(run, fact) => self.enter_run(now, run, fact),
            Fact::AllHeld { .. } => self.held = true,
            Fact::AllReleased { .. } => self.held = false,
            Fact::Channel(name, ChannelFact::Opened(_)) => _ = self.channels.insert(name.clone(), true),
            Fact::Channel(name, ChannelFact::Disabled) => _ = self.channels.insert(name.clone(), false),
            Fact::Host(..) | Fact::Restarted { .. } => {}
            Fact::GuardPolicySet { policy, .. } => self.policy.clone_from(policy),
            Fact::Stopping { .. } => self.stopping = true,
        }
        if let Some(schedule) = fact.schedule() {
            self.conclude(schedule);
        }
    }

    fn create(&mut self, now: Now, schedule: &Schedule, next: Next) {
        let plan = ScheduleModel {
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
        self.schedules.insert(schedule.id.clone(), plan);
    }

    fn enter_schedule(&mut self, now: Now, schedule: &ScheduleId, fact: &ScheduleFact) {
        // A changed, paused or resumed schedule loses its approvals: they were given for what it
        // was.
        let touches = matches!(
            fact,
            ScheduleFact::Changed(_) | ScheduleFact::Paused { .. } | ScheduleFact::Resumed { .. }
        );
        for (_, life) in self.runs.iter_mut().filter(|(key, _)| touches && key.0 == *schedule) {
            life.approved = false;
            life.allowed = false;
            life.sent = None;
        }
        let Some(plan) = self.schedules.get_mut(schedule) else { return };
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
            // The slot stays; the boot time for it is computed anew from the clocks as they are
            // now.
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
                    // Runs that a host already has go on: their receipts still count.
                    if self.runs.get(&run).is_some_and(|life| life.state == RunState::Queued) {
                        self.end(&run, RunState::Cancelled);
                    }
                }
            }
        }
    }

    /// Ends a schedule that has neither a future slot nor a live run.
    fn conclude(&mut self, schedule: &ScheduleId) {
        let Some(plan) = self.schedules.get(schedule) else { return };
        let is_open = plan.next.is_some() || plan.awaits();
        if plan.end.is_some() || is_open || self.live_runs(plan).next().is_some() {
            return;
        }
        let last = plan.last_run.as_ref().and_then(|run| self.runs.get(run)).map(|life| life.state);
        let end = match last {
            _ if plan.schedule.recurs() => Status::Finished,
            None => Status::Skipped,
            Some(RunState::Delivered) => Status::Delivered,
            Some(RunState::Cancelled) => Status::Cancelled,
            Some(RunState::Failed | RunState::Queued | RunState::InFlight | RunState::Running) => {
                Status::Failed
            }
        };
        if let Some(plan) = self.schedules.get_mut(schedule) {
            plan.end = Some(end);
        }
    }
}

impl ScheduleModel {
    pub(in crate::testkit) fn arm(&mut self, now: Now, next: Next) {
        self.next = reckon(now, next);
        self.awaits_finish = next == Next::AfterFinish;
        self.awaits_event = next == Next::AtEvent;
    }
}

/// A slot with the earliest boot time for it, by the clocks at the time when it is set.
fn reckon(now: Now, next: Next) -> Option<(Moment, BootTime)> {
    next.slot().map(|slot| (slot, now.boot.after(slot.since(now.wall))))
}
