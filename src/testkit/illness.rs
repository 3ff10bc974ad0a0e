//! How the model follows a store failure, and the recovery from it.
//!
//! From the failure on, durable schedules stand still. Whatever was decided about them after the
//! last committed fact counts as never having happened, because nobody was told of it. On recovery
//! the engine reloads its durable state from the store, and the model keeps only what the committed
//! facts say about it. Volatile schedules go on throughout.

use super::books::{Books, Plan, RunKey};
use super::history::{Observation, Seen};
use super::lane::Lane;
use super::laws::{Broken, Laws};
use super::next_life::{Held, WHAT_IS_KEPT_IS_THERE};
use crate::domain::{Cursor, Fact, Now, RunId, RunState, SessionFact};
use crate::port::Store;

impl Books {
    /// Freezes the durable part: dispatches that were not committed are revoked, and its timers
    /// stop.
    pub(super) fn freeze(&mut self, kept: Cursor) {
        let is_recalled = |key: &RunKey, books: &Books| {
            let life = &books.lives[key];
            let is_durable = books.plans.get(&key.0).is_some_and(Plan::is_durable);
            // Committed dispatches may have reached their host, so these runs stay in flight.
            is_durable && life.state == RunState::InFlight && life.dispatched_at > kept
        };
        let recalled: Vec<RunKey> = self.lives.keys().filter(|key| is_recalled(key, self)).cloned().collect();
        for key in recalled {
            let run = RunId { schedule: key.0.clone(), incarnation: key.1, slot: key.2 };
            self.fold.recall(&run);
            for lane in self.lanes.values_mut() {
                lane.in_flight.take_if(|other| *other == key);
            }
            if let Some(life) = self.lives.get_mut(&key) {
                life.state = RunState::Queued;
                life.retrying = true;
            }
        }
        // Several failures may be reported before one recovery; the state freezes once.
        if !self.frozen {
            self.fold.freeze_durable();
        }
        self.frozen = true;
    }

    /// Replaces the durable part by what the store holds. `told` is the model built from the
    /// committed facts alone.
    fn come_back(&mut self, held: &Held, told: Books, now: Now) {
        // Pending slots are recounted below: rolled-back decisions may have added or removed some.
        self.counts.expected -= self.pending_on_disk();
        self.fold.let_durable_go();
        // A session closed during the failure is still open on disk; the engine will close it
        // again.
        for row in
            held.sessions.iter().filter(|row| !self.lanes.contains_key(&row.id)).cloned().collect::<Vec<_>>()
        {
            self.lanes.insert(row.id.clone(), Lane { attached: !row.built_in, ..Lane::default() });
            self.fold.restore_session(row);
        }
        for row in &held.schedules {
            self.fold.restore_schedule(row.clone(), now);
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
        self.frozen = false;
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

    /// Follows the recovery of a failed store, just before the engine reloads from it at `now`.
    ///
    /// # Errors
    /// [`Broken`], if the store lacks a fact that was acknowledged, or if its rows differ from the
    /// fold of its facts.
    pub fn come_back(&mut self, now: Now, store: &dyn Store) -> Result<(), Broken> {
        let broken = |detail: String| Broken { law: WHAT_IS_KEPT_IS_THERE, detail };
        let held = Held::read(store).map_err(broken)?;
        self.past.nothing_told_is_missing(&held).map_err(broken)?;
        let told = self.past.as_told_by(&held);
        held.schedules_are_fold(&told.books).map_err(broken)?;
        self.books.come_back(&held, told.books, now);
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
