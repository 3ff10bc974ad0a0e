//! How the model follows a store failure, and the recovery from it.
//!
//! From the failure on, durable state is frozen: durable decisions after the last committed fact were
//! acknowledged to no caller, and count as not having happened. On recovery the engine reloads from
//! the store, and the model replaces its durable part by what the committed facts alone produce.
//! Volatile state is not affected. The engine's local facts mark these transitions, and the store
//! determines what they have to be.

use std::sync::Arc;

use crate::domain::{Cursor, Phase, RunState, SessionId};
use crate::engine::LocalFact;
use crate::port::Store;
use crate::testkit::history::{Observation, Seen};
use crate::testkit::laws::{Broken, Laws, WHAT_IS_KEPT_IS_THERE};
use crate::testkit::reference::loading::Loading;
use crate::testkit::reference::model::{PendingRecovery, ReferenceModel};
use crate::testkit::reference::restart::built_in_host;
use crate::testkit::reference::run_key::{RunKey, key_of};
use crate::testkit::reference::run_model::RunModel;
use crate::testkit::reference::schedule_model::ScheduleModel;
use crate::testkit::reference::session_model::SessionModel;
use crate::testkit::reference::store_contents::StoreContents;

impl ReferenceModel {
    pub(in crate::testkit) fn enter_local(&mut self, fact: &LocalFact) {
        match fact {
            LocalFact::LogEnds { .. } | LocalFact::AgentSchedules { .. } => {}
            LocalFact::Switched(primitives) => self.switch(primitives),
            LocalFact::MemoryRestored { session, pings, .. } => {
                if let Some(lane) = self.sessions.get_mut(session) {
                    lane.pings = SessionModel::pings_of(pings);
                }
            }
            LocalFact::Restored(row) => {
                if let Some(loading) = &mut self.loading {
                    loading.strike(row);
                }
            }
            LocalFact::Retracted(run) => self.retract(&key_of(run)),
            LocalFact::TakenBack(undo) => self.take_back(undo),
            LocalFact::DurableFrozen { .. } => self.frozen_at = Some(self.fold.cursor()),
            LocalFact::DurableDropped => {
                if let Some(it) = self.returning.take() {
                    self.come_back(&it.held, it.told);
                }
            }
        }
    }

    /// Whether durable state is frozen because nothing can be stored.
    pub(in crate::testkit) fn is_frozen(&self) -> bool {
        self.frozen_at.is_some()
    }

    /// Whether the dispatch of a run is not committed.
    pub(in crate::testkit) fn is_unkept(&self, life: &RunModel) -> bool {
        self.is_lost(life.dispatched_at)
    }

    /// Whether a durable fact is not committed, by what is known when the store fails or is about to be reloaded.
    pub(in crate::testkit) fn is_lost(&self, fact: Cursor) -> bool {
        match &self.returning {
            Some(returning) => !returning.held.holds(fact),
            None => self.kept_at_failure.is_some_and(|kept| fact > kept),
        }
    }

    /// Withdraws a dispatch.
    fn retract(&mut self, key: &RunKey) {
        self.creating.remove(key);
        for lane in self.sessions.values_mut() {
            lane.in_flight.take_if(|other| other == key);
        }
        if let Some(life) = self.runs.get_mut(key) {
            life.state = RunState::Queued;
            life.retrying = true;
            life.lead = None;
        }
    }

    /// Replaces the durable part of the model: `held` is in the store, and `told` is the model of
    /// its facts.
    fn come_back(&mut self, held: &Arc<StoreContents>, told: ReferenceModel) {
        // The pending durable slots are counted again below, from the new model.
        self.counts.expected -= self.pending_on_disk();
        // Messages that were left count again as they are loaded.
        let left = self.left_of_durable();
        self.counts.expected -= left;
        self.counts.left -= left;
        self.loading = Some(Loading::of(held, |session| !self.sessions.contains_key(session)));
        // A session that was closed meanwhile is still open in the store; the engine closes it
        // again after loading.
        for row in held.sessions.iter().filter(|row| !self.sessions.contains_key(&row.id)).collect::<Vec<_>>()
        {
            self.sessions.insert(row.id.clone(), SessionModel::loaded(row));
            if row.built_in {
                self.homes.insert(row.id.clone(), built_in_host(row));
            }
        }
        let durable = |model: &ReferenceModel, key: &RunKey| {
            model.schedules.get(&key.0).is_some_and(ScheduleModel::is_durable)
        };
        let gone: Vec<RunKey> = self.runs.keys().filter(|key| durable(self, key)).cloned().collect();
        let creating = gone.iter().filter_map(|key| self.creating.remove_entry(key)).collect();
        let former: Vec<_> = gone.iter().filter_map(|key| self.runs.remove_entry(key)).collect();
        self.outside.retain(|key| !gone.contains(key));
        let still_out = self.still_out(&gone);
        for lane in self.sessions.values_mut() {
            lane.in_flight.take_if(|key| gone.contains(key));
            lane.waiting.retain(|_, key| !gone.contains(key));
        }
        let before = std::mem::take(&mut self.schedules);
        self.schedules = before
            .iter()
            .filter(|(_, plan)| !plan.is_durable())
            .map(|(id, plan)| (id.clone(), plan.clone()))
            .collect();
        for row in &held.schedules {
            let id = &row.schedule.id;
            let Some(mut plan) = told.schedules.get(id).cloned() else { continue };
            plan.orphaned |= !self.sessions.contains_key(&plan.schedule.owner);
            // Its end was rolled back, or its creation was taken back and has reached the disk all the same: other schedules may
            // have taken its place in the limit meanwhile.
            let had_a_place = match before.get(id) {
                Some(before) => !before.revived && before.end.is_none(),
                None => !self.befores.iter().any(|it| it.is_creation() && it.schedule() == Some(id)),
            };
            plan.revived |= plan.end.is_none() && !had_a_place;
            self.schedules.insert(id.clone(), plan);
        }
        for (key, life) in told.runs {
            if durable(self, &key) {
                self.load_run(key, life);
            }
        }
        self.leave_out(still_out, creating);
        self.note_received(former);
        self.note_loaded();
        let left = self.left_in(held);
        self.counts.expected += self.pending_on_disk() + left;
        self.counts.left += left;
        self.take_over_settings(held);
        self.frozen_at = None;
        self.befores.clear();
    }

    /// The deliveries of these runs that are without a receipt, each with the session that it is out to.
    fn still_out(&self, runs: &[RunKey]) -> Vec<(SessionId, RunKey)> {
        let out =
            self.sessions.iter().filter_map(|(session, lane)| Some((session, lane.in_flight.as_ref()?)));
        let out = out.filter(|(_, key)| runs.contains(key));
        out.map(|(session, key)| (session.clone(), key.clone())).collect()
    }

    /// What was out is out still, because the process goes on and its hosts are there: a delivery occupies its lane, and a
    /// session that is being created its place.
    fn leave_out(&mut self, still_out: Vec<(SessionId, RunKey)>, creating: Vec<(RunKey, SessionId)>) {
        let is_out = |model: &ReferenceModel, key: &RunKey, phase: Phase| {
            let life = model.runs.get(key).filter(|life| life.state == RunState::InFlight);
            life.and_then(|life| life.dispatched.as_ref()).is_some_and(|(at, _)| *at == phase)
        };
        for (session, key) in still_out {
            let is_out = is_out(self, &key, Phase::PromptSubmit);
            if let Some(lane) = self.sessions.get_mut(&session).filter(|_| is_out) {
                lane.in_flight.get_or_insert(key);
            }
        }
        for (key, root) in creating {
            if is_out(self, &key, Phase::CreateSession) {
                self.creating.insert(key, root);
            }
        }
    }

    /// Adds what hosts received of these runs after the facts in the store were read: their dispatches were committed before.
    fn note_received(&mut self, former: Vec<(RunKey, RunModel)>) {
        for (key, before) in former {
            let life = self.runs.get_mut(&key).filter(|life| life.attempt == before.attempt);
            if let Some(life) = life.filter(|life| life.state == RunState::InFlight) {
                life.received.extend(before.received);
                life.with = life.with.or(before.with);
            }
        }
    }

    /// Adds a run that is loaded, and queues it again, as the engine does.
    pub(in crate::testkit) fn load_run(&mut self, key: RunKey, mut life: RunModel) {
        // Questions to the guard are not stored: they have to be asked again.
        life.forget_the_guard();
        if life.state == RunState::Queued && !life.retrying {
            let lane = life.into.as_ref().and_then(|session| self.sessions.get_mut(session));
            if life.is_outside() {
                self.outside.insert(key.clone());
            } else if let Some(lane) = lane {
                lane.waiting.insert(life.order.clone(), key.clone());
            }
        }
        self.runs.insert(key, life);
    }

    /// The number of messages of durable schedules in inboxes.
    fn left_of_durable(&self) -> u64 {
        let inboxes = self.fold.sessions().into_iter().flat_map(|session| self.fold.inbox(session));
        let schedules = inboxes.filter_map(|run| self.fold.definition_of(run));
        schedules.filter(|schedule| schedule.is_durable()).count() as u64
    }

    /// The number of future slots and live runs of durable schedules.
    fn pending_on_disk(&self) -> u64 {
        let durable = self.schedules.values().filter(|plan| plan.is_durable());
        let pending = durable.map(|plan| usize::from(plan.next.is_some()) + self.live_runs(plan).count());
        pending.sum::<usize>() as u64
    }
}

impl Laws {
    /// Records that every fact up to `cursor` is committed, so its effects may be performed.
    pub fn know_kept(&mut self, cursor: Cursor) {
        self.model.kept = Some(cursor);
        // A recovery that is still to be judged may take back facts before what was committed after it.
        if self.model.returning.is_none() {
            self.model.befores.retain(|before| before.cursor > cursor);
        }
    }

    /// Checks the store after a failure, when it works again, and prepares the model for the
    /// reload.
    ///
    /// # Errors
    /// [`Broken`], if the store lacks a fact that was acknowledged, or if its rows differ from the
    /// fold of its facts.
    pub(crate) fn come_back(&mut self, store: &dyn Store) -> Result<(), Broken> {
        let broken = |detail: String| Broken { law: WHAT_IS_KEPT_IS_THERE, detail };
        let held = StoreContents::read(store).map_err(broken)?;
        self.past.nothing_told_is_missing(&held).map_err(broken)?;
        let told = self.past.as_told_by(&held);
        told.makes_schedules_of(&held).map_err(broken)?;
        self.model.returning = Some(Box::new(PendingRecovery { held: Arc::new(held), told: told.model }));
        Ok(())
    }

    /// Whether an observation is a fact that the feed may show only after its commit.
    pub(in crate::testkit) fn is_lasting(&self, observation: &Observation) -> bool {
        if let Seen::Fact(fact) = &observation.seen { self.model.is_lasting(fact) } else { false }
    }

    /// The cursor of the last fact.
    pub(in crate::testkit) fn cursor(&self) -> Cursor {
        self.model.fold.cursor()
    }
}
