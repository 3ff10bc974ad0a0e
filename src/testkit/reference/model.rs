//! The model that the laws judge by: one record per schedule, run and session, and the fold of the
//! facts.
//!
//! Invariant: it is filled from observations only and never asks the engine, so that an error of
//! the engine cannot hide itself. The rules are in `laws`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::domain::{
    BootTime, Channel, ChannelFact, Cursor, Direction, EngineFact, Fact, Gate, Grant, GuardPolicy, HostId,
    Next, Now, RunFact, RunId, RunState, Schedule, ScheduleFact, ScheduleId, SessionFact, SessionId,
    SessionProvenance, Status,
};
use crate::engine::State;
use crate::testkit::history::{Observation, Seen};
use crate::testkit::reference::before::Before;
use crate::testkit::reference::counts::Counts;
use crate::testkit::reference::loading::Loading;
use crate::testkit::reference::run_key::{RunKey, key_of};
use crate::testkit::reference::run_model::RunModel;
use crate::testkit::reference::schedule_model::{ScheduleModel, reckon};
use crate::testkit::reference::session_model::SessionModel;
use crate::testkit::reference::store_contents::StoreContents;
use crate::testkit::reference::waiting::WaitingModel;
use crate::testkit::reference::watch_model::WatchModel;

/// The model of everything seen so far.
#[derive(Clone, Debug, Default)]
pub(in crate::testkit) struct ReferenceModel {
    pub(in crate::testkit) schedules: BTreeMap<ScheduleId, ScheduleModel>,
    pub(in crate::testkit) runs: BTreeMap<RunKey, RunModel>,
    pub(in crate::testkit) sessions: BTreeMap<SessionId, SessionModel>,
    /// Where each fresh session came from, also after it was closed.
    pub(in crate::testkit) fresh: BTreeMap<SessionId, Box<SessionProvenance>>,
    /// The host of each session: the one that opened it, created it, or took it over.
    pub(in crate::testkit) homes: BTreeMap<SessionId, HostId>,
    pub(in crate::testkit) counts: Counts,
    pub(in crate::testkit) held: bool,
    /// The guard policy in force.
    pub(in crate::testkit) policy: Option<Arc<GuardPolicy>>,
    /// Grants of sessions that are restricted; a session without an entry has the full grant.
    pub(in crate::testkit) grants: BTreeMap<SessionId, Grant>,
    /// The families of tools that are switched on in this process.
    pub(in crate::testkit) switched_on: BTreeSet<Gate>,
    /// Runs that have asked a host for a fresh session which is not there yet, with the root of the family that it is to be of.
    pub(in crate::testkit) creating: BTreeMap<RunKey, SessionId>,
    /// What the runs of each family have had written by this process: when, and how many bytes.
    pub(in crate::testkit) written: BTreeMap<SessionId, Vec<(BootTime, u64)>>,
    /// A shutdown has been requested.
    pub(in crate::testkit) stopping: bool,
    /// A caller was notified that the engine has stopped.
    pub(in crate::testkit) stopped: bool,
    /// The channels by name.
    pub(in crate::testkit) channels: BTreeMap<Box<str>, ChannelModel>,
    /// The channels that let nothing out for now.
    pub(in crate::testkit) paused_channels: BTreeSet<Box<str>>,
    /// Runs that wait to be sent through a channel.
    pub(in crate::testkit) outside: BTreeSet<RunKey>,
    /// Who waits for the ends of calls.
    pub(in crate::testkit) waiting: WaitingModel,
    /// The schedule of whose call the last fact tells.
    pub(in crate::testkit) told_last: Option<ScheduleId>,
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
    /// How things stood before the durable facts that are not known to be committed, in order.
    pub(in crate::testkit) befores: Vec<Before>,
    /// A state built from the facts alone, to be compared with the engine's.
    pub(in crate::testkit) fold: State,
}

/// A channel out of the process.
#[derive(Clone, Copy, Debug)]
pub(in crate::testkit) struct ChannelModel {
    /// Whether it still accepts messages.
    pub(in crate::testkit) is_open: bool,
    /// Whether sessions may use it.
    pub(in crate::testkit) agents: bool,
}

/// What the engine is about to load after a failure.
#[derive(Clone, Debug)]
pub(in crate::testkit) struct PendingRecovery {
    pub(in crate::testkit) held: Arc<StoreContents>,
    /// The model that the committed facts produce.
    pub(in crate::testkit) told: ReferenceModel,
}

impl ReferenceModel {
    /// Adds one observation to the model.
    pub(in crate::testkit) fn enter(&mut self, observation: &Observation) {
        match &observation.seen {
            Seen::Local(fact) => {
                // The fold still has the inboxes that the fact may empty.
                self.enter_local(fact);
                self.fold.apply(observation.now, fact.clone());
            }
            Seen::Fact(fact) => {
                self.loading = None;
                self.note_before(fact);
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

    /// Whether a live schedule had ended before. A revival is not checked against the session's limit, so `limits_hold` does not
    /// count it.
    pub(in crate::testkit) fn is_revived(&self, id: &ScheduleId) -> bool {
        self.schedules.get(id).is_some_and(|plan| plan.revived && plan.end.is_none())
    }

    fn enter_fact(&mut self, now: Now, fact: &Fact) {
        match fact {
            Fact::Session(session, fact, _) => {
                // Before the session's own record changes: only what lay ahead when the user spoke
                // is affected.
                if *fact == SessionFact::UserMessage {
                    self.note_moot(now, session);
                }
                self.enter_session(session, fact);
            }
            Fact::Created { schedule, next } => self.create(now, schedule, *next),
            Fact::Schedule(schedule, fact) => self.enter_schedule(now, schedule, fact),
            Fact::Run(run, fact, _) => self.enter_run(now, run, fact),
            Fact::Engine(EngineFact::AllHeld { .. }) => self.held = true,
            Fact::Engine(EngineFact::AllReleased { .. }) => self.held = false,
            Fact::Channel(_, ChannelFact::Opened(channel)) => self.open_channel(channel),
            Fact::Channel(name, ChannelFact::Disabled) => {
                if let Some(channel) = self.channels.get_mut(name) {
                    channel.is_open = false;
                }
            }
            Fact::Channel(name, ChannelFact::Paused { direction: Direction::Outbound, .. }) => {
                self.paused_channels.insert(name.clone());
            }
            Fact::Channel(name, ChannelFact::Resumed { direction: Direction::Outbound, .. }) => {
                self.paused_channels.remove(name);
            }
            Fact::Channel(_, ChannelFact::Paused { .. } | ChannelFact::Resumed { .. }) => {}
            Fact::Engine(EngineFact::Restarted { downs, .. }) => self.note_downs(downs),
            Fact::Host(..) | Fact::Engine(EngineFact::Refused { .. }) => {}
            Fact::Engine(EngineFact::GuardPolicySet { policy, .. }) => self.policy.clone_from(policy),
            Fact::Engine(EngineFact::Stopping { .. }) => self.stopping = true,
        }
        if let Fact::Run(run, fact, _) = fact
            && self.runs.get(&key_of(run)).is_some_and(|life| life.definition.payload.call().is_some())
        {
            self.waiting.enter(&run.schedule, fact);
        }
        self.told_last = self.telling_of(fact);
        if let Some(schedule) = fact.schedule() {
            self.conclude(schedule);
        }
    }

    /// The schedule of whose call a fact tells, or has told by the facts right before it.
    fn telling_of(&self, fact: &Fact) -> Option<ScheduleId> {
        match fact {
            Fact::Run(run, RunFact::Claimed(claim), _) if claim.telling.is_some() => {
                Some(run.schedule.clone())
            }
            Fact::Run(run, RunFact::Folded(_), _) => Some(run.schedule.clone()),
            // A bulletin that has no session to go to is told to wait at once.
            Fact::Run(run, RunFact::Postponed { .. }, _) => {
                self.told_last.clone().filter(|it| *it == run.schedule)
            }
            Fact::Run(..)
            | Fact::Session(..)
            | Fact::Created { .. }
            | Fact::Schedule(..)
            | Fact::Host(..)
            | Fact::Channel(..)
            | Fact::Engine(_) => None,
        }
    }

    pub(in crate::testkit) fn open_channel(&mut self, channel: &Channel) {
        let model = ChannelModel { is_open: true, agents: channel.agents };
        self.channels.insert(channel.name.clone(), model);
    }

    fn create(&mut self, now: Now, schedule: &Schedule, next: Next) {
        let plan = ScheduleModel {
            schedule: schedule.clone(),
            incarnation: 1,
            made_at: 1,
            next: reckon(now, next),
            last: None,
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
            is_armed_by_session: false,
            telling: None,
            watch: WatchModel::default(),
        };
        self.schedules.insert(schedule.id.clone(), plan);
        self.note_policy(&schedule.id);
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
        if let ScheduleFact::Resumed { next, by } = fact {
            self.note_resumer(schedule, *next, by);
        }
        let Some(plan) = self.schedules.get_mut(schedule) else { return };
        match fact {
            ScheduleFact::Changed(change) => {
                let former = std::mem::replace(&mut plan.schedule, change.schedule.clone());
                let identity = |it: &Schedule| (it.created_at, it.owner.clone());
                let is_anew = identity(&former) != identity(&plan.schedule);
                plan.incarnation += u32::from(change.retriggered.is_some());
                if is_anew {
                    plan.made_at = plan.incarnation;
                    plan.last_run = None;
                }
                if let Some(next) = change.retriggered {
                    plan.last = None;
                    plan.revived |= plan.end.take().is_some();
                    plan.arm(now, next);
                }
                self.note_policy(schedule);
            }
            ScheduleFact::Paused { .. } => plan.paused = true,
            // The slot stays; after a pause the boot time for it is computed anew from the clocks as they are now.
            ScheduleFact::Resumed { next, .. } => {
                if plan.paused {
                    plan.next = reckon(now, *next).filter(|_| plan.next.is_some());
                }
                plan.paused = false;
            }
            ScheduleFact::Skipped(skip) => {
                // What was told just before tells of this skip, and of no call.
                plan.telling = None;
                plan.last = Some(skip.until);
                plan.arm_after(now, skip.next);
            }
            ScheduleFact::Armed { next, by } => plan.arm_for(now, *next, by.as_deref()),
            ScheduleFact::Cancelled { .. } => {
                plan.last = plan.next.take().map(|(slot, _)| slot).or(plan.last);
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
        // What was left ends anew when it is taken, or has gone to a host.
        let has_ended = plan.end.is_some_and(|end| end != Status::Left);
        if has_ended || is_open || self.live_runs(plan).next().is_some() {
            return;
        }
        let last = plan.last_run.as_ref().and_then(|run| self.runs.get(run)).map(|life| life.state);
        let end = match last {
            _ if plan.schedule.recurs() => Status::Finished,
            None => Status::Skipped,
            Some(RunState::Left) => Status::Left,
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

    /// Whether a fact must be persisted. Must be called before the fact is added to the model.
    pub(in crate::testkit) fn is_lasting(&self, fact: &Fact) -> bool {
        match fact {
            Fact::Created { schedule, .. } => schedule.is_durable(),
            Fact::Schedule(id, _) | Fact::Run(RunId { schedule: id, .. }, _, _) => {
                self.schedules.get(id).is_some_and(ScheduleModel::is_durable)
            }
            Fact::Session(_, fact, _) => is_lasting_of_session(fact),
            Fact::Engine(
                EngineFact::AllHeld { .. }
                | EngineFact::AllReleased { .. }
                | EngineFact::GuardPolicySet { .. }
                | EngineFact::Restarted { .. }
                | EngineFact::Refused { .. },
            )
            | Fact::Channel(_, ChannelFact::Paused { .. } | ChannelFact::Resumed { .. }) => true,
            Fact::Host(..)
            | Fact::Channel(_, ChannelFact::Opened(_) | ChannelFact::Disabled)
            | Fact::Engine(EngineFact::Stopping { .. }) => false,
        }
    }
}

pub(in crate::testkit) fn is_lasting_of_session(fact: &SessionFact) -> bool {
    match fact {
        SessionFact::Opened { .. }
        | SessionFact::Closed
        | SessionFact::HostAttached { .. }
        | SessionFact::Addressed { .. }
        | SessionFact::JobReady { .. }
        | SessionFact::Memory(_)
        | SessionFact::Pinged { .. }
        | SessionFact::ToolsCalled { .. }
        | SessionFact::Granted { .. } => true,
        SessionFact::HostDetached { .. }
        | SessionFact::Busy
        | SessionFact::Idle
        | SessionFact::UserMessage
        | SessionFact::TurnUnreported => false,
    }
}
