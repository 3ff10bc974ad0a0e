//! How the model follows a store failure, and the recovery from it.
//!
//! From the failure on, what is on disk stands still; what was decided about it on top of the last fact that is kept has not
//! happened, as far as anybody was told. When the store is well again, the engine takes up what is kept, and the pages about
//! what is on disk are those that the kept facts alone would have filled. What is in memory goes on through all of it. The
//! pages are turned by the engine's local facts, and what those must be is known from the store.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::books::{Books, Plan, RunKey, key_of};
use super::history::{Observation, Seen};
use super::lane::Lane;
use super::laws::{Broken, Laws};
use super::life::Life;
use super::next_life::{Held, WHAT_IS_KEPT_IS_THERE};
use crate::domain::{Cursor, Fact, RunId, RunState, ScheduleId, SessionFact, SessionId};
use crate::engine::{LocalFact, StoredRow};
use crate::port::Store;

/// What the engine is about to load after a failure.
#[derive(Clone, Debug)]
pub(super) struct Return {
    held: Arc<Held>,
    /// The pages that the kept facts fill.
    told: Books,
}

/// Rows that the engine is about to load, and has to load before anything else happens.
#[derive(Clone, Debug)]
pub(super) struct Loading {
    held: Arc<Held>,
    sessions: BTreeSet<SessionId>,
    schedules: BTreeSet<ScheduleId>,
}

impl Loading {
    /// All that is held, of the sessions those for which that holds.
    pub(super) fn of(held: &Arc<Held>, is_loaded: impl Fn(&SessionId) -> bool) -> Loading {
        let sessions = held.sessions.iter().map(|row| row.id.clone()).filter(|id| is_loaded(id)).collect();
        let schedules = held.schedules.iter().map(|row| row.schedule.id.clone()).collect();
        Loading { held: Arc::clone(held), sessions, schedules }
    }

    /// Whether this is one of the rows, and was not loaded before.
    pub(super) fn awaits(&self, row: &StoredRow) -> bool {
        match row {
            StoredRow::Session(row) => self.sessions.contains(&row.id) && self.held.sessions.contains(row),
            StoredRow::Schedule(row) => {
                self.schedules.contains(&row.schedule.id) && self.held.schedules.contains(row)
            }
            StoredRow::Hold(hold) => self.held.hold == *hold,
            StoredRow::Guard { policy, grants } => self.held.policy == *policy && self.held.grants == *grants,
        }
    }

    /// What has not been loaded, if anything; settings are in the fold.
    pub(super) fn left(&self) -> Option<String> {
        let session = self.sessions.first().map(ToString::to_string);
        session.or_else(|| self.schedules.first().map(ToString::to_string))
    }

    fn strike(&mut self, row: &StoredRow) {
        match row {
            StoredRow::Session(row) => _ = self.sessions.remove(&row.id),
            StoredRow::Schedule(row) => _ = self.schedules.remove(&row.schedule.id),
            StoredRow::Hold(_) | StoredRow::Guard { .. } => {}
        }
    }
}

impl Books {
    pub(super) fn enter_local(&mut self, fact: &LocalFact) {
        match fact {
            LocalFact::LogEnds { .. } => {}
            LocalFact::Restored(row) => {
                if let Some(loading) = &mut self.loading {
                    loading.strike(row);
                }
            }
            LocalFact::Retracted(run) => self.retract(&key_of(run)),
            LocalFact::DurableFrozen => self.frozen_at = Some(self.fold.cursor()),
            LocalFact::DurableDropped => {
                if let Some(it) = self.returning.take() {
                    self.come_back(&it.held, it.told);
                }
            }
        }
    }

    /// Whether nothing can be kept, and what is on disk stands still.
    pub(super) fn is_frozen(&self) -> bool {
        self.frozen_at.is_some()
    }

    /// Whether the fact that says that a run is with its host is not kept, as far as is known when the store fails or is about
    /// to be loaded again.
    pub(super) fn is_unkept(&self, life: &Life) -> bool {
        match &self.returning {
            Some(returning) => !returning.held.holds(life.dispatched_at),
            None => self.kept_at_failure.is_some_and(|kept| life.dispatched_at > kept),
        }
    }

    /// What was about to be handed over is not.
    fn retract(&mut self, key: &RunKey) {
        for lane in self.lanes.values_mut() {
            lane.in_flight.take_if(|other| other == key);
        }
        if let Some(life) = self.lives.get_mut(key) {
            life.state = RunState::Queued;
            life.retrying = true;
        }
    }

    /// The store is well again, and the engine takes up what it holds: `told` are the pages that the kept facts fill.
    fn come_back(&mut self, held: &Arc<Held>, told: Books) {
        self.counts.expected -= self.pending_on_disk();
        self.loading = Some(Loading::of(held, |session| !self.lanes.contains_key(session)));
        // What was closed meanwhile is open on the disk; the engine is about to close it again.
        for row in held.sessions.iter().filter(|row| !self.lanes.contains_key(&row.id)).collect::<Vec<_>>() {
            self.lanes.insert(row.id.clone(), Lane { attached: !row.built_in, ..Lane::default() });
        }
        let durable = |books: &Books, key: &RunKey| books.plans.get(&key.0).is_some_and(Plan::is_durable);
        let gone: Vec<RunKey> = self.lives.keys().filter(|key| durable(self, key)).cloned().collect();
        for key in &gone {
            self.lives.remove(key);
            self.outside.remove(key);
        }
        for lane in self.lanes.values_mut() {
            lane.in_flight.take_if(|key| gone.contains(key));
            lane.waiting.retain(|_, key| !gone.contains(key));
        }
        let before = std::mem::take(&mut self.plans);
        self.plans = before
            .iter()
            .filter(|(_, plan)| !plan.is_durable())
            .map(|(id, plan)| (id.clone(), plan.clone()))
            .collect();
        for row in &held.schedules {
            let id = &row.schedule.id;
            let Some(mut plan) = told.plans.get(id).cloned() else { continue };
            plan.orphaned |= !self.lanes.contains_key(&plan.schedule.owner);
            // Its end was rolled back, and other schedules may have taken its place in the limit
            // meanwhile.
            plan.revived |= plan.end.is_none() && before.get(id).is_some_and(|before| before.end.is_some());
            self.plans.insert(id.clone(), plan);
        }
        for (key, mut life) in told.lives {
            if !durable(self, &key) {
                continue;
            }
            // Questions to the guard are not stored: they have to be asked again.
            life.forget_the_guard();
            // Queue the reloaded runs again, as the engine does when it loads them.
            if life.state == RunState::Queued && !life.retrying {
                let lane = life.into.as_ref().and_then(|session| self.lanes.get_mut(session));
                if life.channel.is_some() {
                    self.outside.insert(key.clone());
                } else if let Some(lane) = lane {
                    lane.waiting.insert(life.order.clone(), key.clone());
                }
            }
            self.lives.insert(key, life);
        }
        self.counts.expected += self.pending_on_disk();
        self.take_over_settings(held);
        self.frozen_at = None;
    }

    /// The number of future slots and live runs of durable schedules.
    fn pending_on_disk(&self) -> u64 {
        let durable = self.plans.values().filter(|plan| plan.is_durable());
        let pending = durable.map(|plan| usize::from(plan.next.is_some()) + self.live_runs(plan).count());
        pending.sum::<usize>() as u64
    }

    /// Whether a fact must be persisted. To be asked before the fact is added to the model.
    pub(super) fn is_lasting(&self, fact: &Fact) -> bool {
        match fact {
            Fact::Created { schedule, .. } => schedule.is_durable(),
            Fact::Schedule(id, _) | Fact::Run(RunId { schedule: id, .. }, _) => {
                self.plans.get(id).is_some_and(Plan::is_durable)
            }
            Fact::Session(_, fact) => is_lasting_of_session(fact),
            Fact::Held { .. } | Fact::Released { .. } | Fact::Guarded { .. } | Fact::Awoke { .. } => true,
            Fact::Host(..) | Fact::Channel(..) | Fact::Stopping { .. } => false,
        }
    }
}

pub(super) fn is_lasting_of_session(fact: &SessionFact) -> bool {
    match fact {
        SessionFact::Opened { .. }
        | SessionFact::Closed
        | SessionFact::Hosted { .. }
        | SessionFact::Granted { .. } => true,
        SessionFact::Unhosted
        | SessionFact::Busy
        | SessionFact::Idle
        | SessionFact::UserSpoke
        | SessionFact::TurnUnreported
        | SessionFact::JobReady { .. } => false,
    }
}

impl Laws {
    /// Records that every fact up to `cursor` is committed, so its effects may be performed.
    pub fn know_kept(&mut self, cursor: Cursor) {
        self.books.kept = Some(cursor);
    }

    /// The store failed, works again, and is about to be loaded, with the rows that it holds.
    ///
    /// # Errors
    /// [`Broken`], if something is not in the store that somebody was told is kept, or if it is not what its facts make of it.
    pub fn come_back(&mut self, store: &dyn Store) -> Result<(), Broken> {
        let broken = |detail: String| Broken { law: WHAT_IS_KEPT_IS_THERE, detail };
        let held = Held::read(store).map_err(broken)?;
        self.past.nothing_told_is_missing(&held).map_err(broken)?;
        let told = self.past.as_told_by(&held).books;
        held.schedules_are_fold(&told).map_err(broken)?;
        self.books.returning = Some(Box::new(Return { held: Arc::new(held), told }));
        Ok(())
    }

    /// Whether an observation is a fact that the feed may show only after its commit.
    pub(super) fn is_lasting(&self, observation: &Observation) -> bool {
        if let Seen::Fact(fact) = &observation.seen { self.books.is_lasting(fact) } else { false }
    }

    /// The cursor of the last fact.
    pub(super) fn cursor(&self) -> Cursor {
        self.books.fold.cursor()
    }
}
