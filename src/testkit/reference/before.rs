//! How things stood before each durable fact that may still be lost, and how the model takes the fact back.
//!
//! A command that could not be committed was refused, so nothing of it may show until the store works again. The copies are
//! taken from the fold of the facts, at each fact; the engine takes its own at a command.

use std::collections::BTreeSet;

use crate::domain::{Cursor, Fact, Reason, Run, RunState, ScheduleFact, ScheduleId};
use crate::engine::{ScheduleRow, Undo};
use crate::testkit::reference::model::ReferenceModel;
use crate::testkit::reference::run_key::RunKey;
use crate::testkit::reference::run_model::RunModel;
use crate::testkit::reference::schedule_model::ScheduleModel;
use crate::testkit::reference::session_model::SessionModel;

/// How something stood before a durable fact.
#[derive(Clone, Debug)]
pub(in crate::testkit) struct Before {
    /// The cursor of the fact.
    pub(in crate::testkit) cursor: Cursor,
    /// The thing, as the fold has it.
    pub(in crate::testkit) was: Undo,
    /// The schedule, if it is one that was there.
    plan: Option<ScheduleModel>,
    /// Its runs that a later fact can change.
    runs: Vec<(RunKey, RunModel)>,
    /// Whether the fact is that somebody has cancelled the schedule.
    pub(in crate::testkit) is_cancel: bool,
}

impl Before {
    /// The schedule that the fact is about, if it is about one.
    pub(in crate::testkit) fn schedule(&self) -> Option<&ScheduleId> {
        if let Undo::Schedule { id, .. } = &self.was { Some(id) } else { None }
    }

    /// Whether the fact created the schedule.
    pub(in crate::testkit) fn is_creation(&self) -> bool {
        matches!(&self.was, Undo::Schedule { row: None, .. })
    }

    /// Whether a host had a run of the schedule.
    pub(in crate::testkit) fn was_out(&self) -> bool {
        self.runs.iter().any(|(_, life)| life.is_live() && life.state != RunState::Queued)
    }
}

impl ReferenceModel {
    /// Notes how that stands which a fact is about to change. Without a store nothing is lost.
    pub(in crate::testkit) fn note_before(&mut self, fact: &Fact) {
        if self.kept.is_none() {
            return;
        }
        let cancelled =
            |fact: &ScheduleFact| matches!(fact, ScheduleFact::Cancelled { reason: Reason::Cancelled, .. });
        let is_cancel = matches!(fact, Fact::Schedule(_, fact) if cancelled(fact));
        let cursor = self.fold.cursor().next();
        for was in self.fold.before(std::slice::from_ref(fact)) {
            let plan = if let Undo::Schedule { id, .. } = &was { self.schedules.get(id) } else { None };
            let runs = plan.into_iter().flat_map(|plan| &plan.runs);
            let runs =
                runs.filter_map(|key| self.runs.get_key_value(key)).filter(|(_, life)| may_change(life));
            let runs = runs.map(|(key, life)| (key.clone(), life.clone())).collect();
            self.befores.push(Before { cursor, plan: plan.cloned(), runs, was, is_cancel });
        }
    }

    /// The fact that is not committed, and before which something was as the engine takes it back.
    pub(in crate::testkit) fn before_of(&self, undo: &Undo) -> Option<&Before> {
        self.befores.iter().find(|before| before.was == *undo && self.is_lost(before.cursor))
    }

    /// Takes something back.
    pub(in crate::testkit) fn take_back(&mut self, undo: &Undo) {
        match undo {
            Undo::Schedule { id, row } => {
                if let Some(before) = self.before_of(undo).cloned() {
                    self.take_schedule_back(id, row.as_deref(), before);
                }
            }
            Undo::Holds(holds) => self.held = holds.present.is_some(),
            Undo::ChannelPauses(pauses) => {
                let paused = pauses.iter().filter(|(_, pauses)| pauses.outbound.is_some());
                self.paused_channels = paused.map(|(name, _)| name.clone()).collect();
            }
            Undo::Guard { policy, grants } => (self.policy, self.grants) = (policy.clone(), grants.clone()),
            Undo::Memory { session, pings, .. } => {
                if let Some(lane) = self.sessions.get_mut(session) {
                    lane.pings = SessionModel::pings_of(pings);
                }
            }
        }
    }

    fn take_schedule_back(&mut self, id: &ScheduleId, row: Option<&ScheduleRow>, before: Before) {
        // What is pending is counted again below, as it was. Final outcomes stay in the accounts.
        let left = self.left_of(id);
        self.counts.expected -= self.pending_of(id) + left;
        self.counts.left -= left;
        let present = self.schedules.remove(id);
        let known: BTreeSet<RunKey> = before.plan.iter().flat_map(|plan| &plan.runs).cloned().collect();
        self.runs.retain(|key, life| key.0 != *id || known.contains(key) && !may_change(life));
        self.outside.retain(|key| key.0 != *id);
        self.creating.retain(|key, _| key.0 != *id);
        for lane in self.sessions.values_mut() {
            lane.in_flight.take_if(|key| key.0 == *id);
            lane.waiting.retain(|_, key| key.0 != *id);
        }
        if let Some(mut plan) = before.plan {
            plan.orphaned |= !self.sessions.contains_key(&plan.schedule.owner);
            // Other schedules may have taken its place in the limit meanwhile.
            plan.revived |= plan.end.is_none() && present.is_some_and(|present| present.end.is_some());
            self.schedules.insert(id.clone(), plan);
        }
        for (key, life) in before.runs {
            self.load_run(key, life);
        }
        let left = self.left_among(row.into_iter().flat_map(|row: &ScheduleRow| &row.runs));
        self.counts.expected += self.pending_of(id) + left;
        self.counts.left += left;
    }

    /// The future slot and the live runs of a schedule.
    fn pending_of(&self, id: &ScheduleId) -> u64 {
        let plan = self.schedules.get(id);
        plan.map_or(0, |plan| usize::from(plan.next.is_some()) + self.live_runs(plan).count()) as u64
    }

    /// The messages of a schedule in inboxes.
    fn left_of(&self, id: &ScheduleId) -> u64 {
        let inboxes = self.fold.sessions().into_iter().flat_map(|session| self.fold.inbox(session));
        inboxes.filter(|run| self.fold.definition_of(run).is_some_and(|it| it.id == *id)).count() as u64
    }

    /// How many of these runs are messages that can be taken, or handed over: those in the inboxes of sessions that are open
    /// since before.
    pub(in crate::testkit) fn left_among<'a>(&self, runs: impl Iterator<Item = &'a Run>) -> u64 {
        let lane = |run: &Run| run.session.as_ref().and_then(|session| self.sessions.get(session));
        let left = runs.filter(|run| run.state == RunState::Left);
        left.filter(|run| lane(run).is_some_and(|lane| run.ended_at >= lane.opened_at)).count() as u64
    }
}

/// A message that was left may still be taken.
fn may_change(life: &RunModel) -> bool {
    life.is_live() || life.state == RunState::Left
}
