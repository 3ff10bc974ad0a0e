//! How the model follows a restart: what the store holds goes on, and volatile state is gone.
//!
//! The model of the next process is built again from the facts that the log holds, without what was
//! only in memory. So the laws span all processes: a slot whose claim was committed is never
//! claimed again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::domain::{
    Channel, ChannelFact, Cursor, Fact, Grant, GuardPolicy, HostId, Now, RunState, ScheduleId, SessionFact,
    SessionId,
};
use crate::engine::{Pause, ScheduleRow, SessionRecord, SessionRow, State};
use crate::port::{Store, StoreFault};
use crate::runtime::{Row, for_each_row};
use crate::testkit::checks::counts::Counts;
use crate::testkit::history::{Observation, Seen};
use crate::testkit::laws::{Broken, Laws};
use crate::testkit::reference::model::{ReferenceModel, RunKey};
use crate::testkit::reference::session_model::SessionModel;
use crate::testkit::reference::store_failure::{Loading, is_lasting_of_session};

/// The name of the law: every acknowledged fact is in the store, and its rows are the fold of its
/// facts.
pub(in crate::testkit) const WHAT_IS_KEPT_IS_THERE: &str = "what_is_kept_is_there";

/// The observations since the process began, to be replayed when it ends.
#[derive(Debug, Default)]
pub(in crate::testkit) struct ProcessLog {
    begin: ReferenceModel,
    seen: Vec<Observation>,
    /// The cursors up to which callers were told that their changes are committed.
    told: Vec<Cursor>,
}

/// The model that the committed facts alone produce.
pub(in crate::testkit) struct CommittedModel {
    pub(in crate::testkit) model: ReferenceModel,
    /// Sessions that changed while the store failed: their rows were written later, with other
    /// changes.
    unsettled: BTreeSet<SessionId>,
}

/// What a store holds.
#[derive(Debug, Default)]
pub(in crate::testkit) struct StoreContents {
    facts: BTreeSet<Cursor>,
    pub(in crate::testkit) schedules: Vec<ScheduleRow>,
    pub(in crate::testkit) sessions: Vec<SessionRow>,
    pub(in crate::testkit) hold: Option<Pause>,
    pub(in crate::testkit) policy: Option<Arc<GuardPolicy>>,
    pub(in crate::testkit) grants: BTreeMap<SessionId, Grant>,
}

impl ProcessLog {
    pub(in crate::testkit) fn note(&mut self, observation: &Observation) {
        match &observation.seen {
            // A process first loads its rows; those are part of the model that it starts with.
            Seen::Local(_) if self.seen.is_empty() => self.begin.enter(observation),
            // Later local facts withdraw what was never acknowledged, and load what the facts say
            // already.
            Seen::Local(_) => {}
            Seen::Fact(_)
            | Seen::Received(_)
            | Seen::CancelAcknowledged { .. }
            | Seen::HostLost(_)
            | Seen::ShutDown
            | Seen::DiskFailed { .. } => self.seen.push(observation.clone()),
        }
    }

    pub(in crate::testkit) fn nothing_told_is_missing(&self, held: &StoreContents) -> Result<(), String> {
        let missing = self.told.iter().find(|told| !held.facts.contains(told));
        missing.map_or(Ok(()), |missing| {
            Err(format!("somebody was told that {missing} is kept, and it is not in the log"))
        })
    }

    /// Replays the observations, without facts that the store does not hold.
    pub(in crate::testkit) fn as_told_by(&self, held: &StoreContents) -> CommittedModel {
        let mut told = CommittedModel { model: self.begin.clone(), unsettled: BTreeSet::new() };
        let mut cursor = told.model.fold.cursor();
        for observation in &self.seen {
            let is_left = match &observation.seen {
                Seen::Fact(fact) => {
                    cursor = cursor.next();
                    let is_held = held.facts.contains(&cursor);
                    // Channels are configuration: they are opened again by every process.
                    is_held || matches!(fact, Fact::Channel(..)) || told.is_settled_later(fact, cursor, held)
                }
                Seen::Received(_) | Seen::CancelAcknowledged { .. } => true,
                Seen::Local(_) | Seen::HostLost(_) | Seen::ShutDown | Seen::DiskFailed { .. } => false,
            };
            if is_left {
                told.model.enter(observation);
            }
        }
        told
    }
}

impl CommittedModel {
    /// Whether a session's change was not stored by its own fact, but with the session's row later.
    fn is_settled_later(&mut self, fact: &Fact, cursor: Cursor, held: &StoreContents) -> bool {
        let Fact::Session(session, of_session) = fact else { return false };
        let is_later = held.facts.last().is_some_and(|last| *last > cursor);
        let is_granted = matches!(of_session, SessionFact::Granted { .. });
        let is_settled = is_later && !is_granted && is_lasting_of_session(of_session);
        if is_settled {
            self.unsettled.insert(session.clone());
        }
        is_settled
    }
}

impl Laws {
    /// Records that a caller was told that everything up to `cursor` is committed.
    pub fn tell_kept(&mut self, cursor: Cursor) {
        self.past.told.push(cursor);
    }

    /// Follows the end of a process and the start of the next, which loads `store` at `now` after
    /// opening these channels. Returns how many live volatile schedules are lost.
    ///
    /// # Errors
    /// [`Broken`], if the store lacks a fact that was acknowledged, or if its rows differ from the
    /// fold of its facts.
    pub fn begin_anew(&mut self, now: Now, store: &dyn Store, channels: &[Channel]) -> Result<u64, Broken> {
        let broken = |detail: String| Broken { law: WHAT_IS_KEPT_IS_THERE, detail };
        let held = StoreContents::read(store).map_err(broken)?;
        self.past.nothing_told_is_missing(&held).map_err(broken)?;
        let lost =
            self.model.schedules.values().filter(|plan| plan.end.is_none() && !plan.is_durable()).count();
        let told = std::mem::take(&mut self.past).as_told_by(&held);
        held.is_fold(&told).map_err(broken)?;
        let mut model = told.model;
        model.outlive(&Arc::new(held), now, store.health().head, channels);
        self.past.begin = model.clone();
        self.model = model;
        Ok(lost as u64)
    }
}

impl ReferenceModel {
    /// Continues with what the store holds. Volatile state is lost, no host is connected, and no
    /// turn is going on.
    fn outlive(&mut self, held: &Arc<StoreContents>, now: Now, head: Cursor, channels: &[Channel]) {
        let there: BTreeSet<&ScheduleId> = held.schedules.iter().map(|row| &row.schedule.id).collect();
        self.schedules.retain(|id, _| there.contains(id));
        self.runs.retain(|key, _| there.contains(&key.0));
        self.fold = State::new();
        self.channels = channels.iter().map(|channel| (channel.name.clone(), true)).collect();
        for channel in channels {
            // Channels are opened before the store is loaded, so their facts come first.
            let opened = Fact::Channel(channel.name.clone(), ChannelFact::Opened(channel.clone()));
            self.fold.apply(now, opened);
        }
        self.loading = Some(Loading::of(held, |_| true));
        self.take_over_settings(held);
        for life in self.runs.values_mut() {
            life.forget_the_guard();
        }
        (self.stopping, self.stopped) = (false, false);
        (self.frozen_at, self.kept) = (None, Some(head));
        (self.kept_at_failure, self.returning) = (None, None);
        self.outside =
            self.runs.iter().filter(|(_, life)| life.waits_outside()).map(|it| it.0.clone()).collect();
        // Connected hosts are gone; only built-in sessions have a home until a host takes the
        // others over.
        self.homes.clear();
        self.sessions = BTreeMap::new();
        for row in &held.sessions {
            let waiting = self.runs.iter().filter(|(_, life)| {
                life.state == RunState::Queued && !life.retrying && life.into.as_ref() == Some(&row.id)
            });
            let waiting = waiting.map(|(key, life)| (life.order.clone(), key.clone())).collect();
            self.sessions.insert(
                row.id.clone(),
                SessionModel { attached: !row.built_in, waiting, ..SessionModel::default() },
            );
            if row.built_in {
                self.homes.insert(row.id.clone(), HostId::LOCAL);
            }
        }
        let slots = self.schedules.values().filter(|plan| plan.next.is_some()).count();
        let live: Vec<&RunKey> = self.runs.iter().filter(|(_, it)| it.is_live()).map(|it| it.0).collect();
        // A new process counts from what is pending; outcomes of the former one are not in its
        // ledger.
        self.counts = Counts { expected: (slots + live.len()) as u64, ..Counts::default() };
    }
}

impl ReferenceModel {
    /// Takes the global pause, the guard policy and the grants from the store.
    pub(in crate::testkit) fn take_over_settings(&mut self, held: &StoreContents) {
        self.held = held.hold.is_some();
        (self.policy, self.grants) = (held.policy.clone(), held.grants.clone());
    }
}

impl StoreContents {
    pub(in crate::testkit) fn read(store: &dyn Store) -> Result<StoreContents, String> {
        let said = |fault: StoreFault| fault.to_string();
        let mut held = StoreContents::default();
        let mut after = Cursor::START;
        loop {
            let facts = store.facts_after(after).map_err(said)?;
            let Some(last) = facts.last() else { break };
            after = last.cursor;
            held.facts.extend(facts.iter().map(|fact| fact.cursor));
        }
        let read = for_each_row(store, |row| match row {
            Row::Schedule(row) => held.schedules.push(*row),
            Row::Session(row, _) => held.sessions.push(*row),
            Row::Hold(hold) => held.hold = hold,
            Row::Guard(policy, grants) => (held.policy, held.grants) = (policy, grants),
            // A stored answer to an idempotent call; no fact corresponds to it.
            Row::Message(_) => {}
        });
        read.map_err(|fault| fault.to_string())?;
        Ok(held)
    }

    /// Whether the log holds a fact.
    pub(in crate::testkit) fn holds(&self, fact: Cursor) -> bool {
        self.facts.contains(&fact)
    }

    /// Checks that every row equals the fold of the committed facts, and that everything they
    /// mention has a row.
    pub(in crate::testkit) fn schedules_are_fold(&self, model: &ReferenceModel) -> Result<(), String> {
        for row in &self.schedules {
            let told = model.fold.schedule_row(&row.schedule.id);
            if told.as_ref() != Some(row) {
                return Err(format!("kept is {row:?}, but its facts make {told:?} of it"));
            }
        }
        let durable = model.schedules.iter().filter(|(_, plan)| plan.end.is_none() && plan.is_durable());
        for (id, plan) in durable {
            if !self.schedules.iter().any(|row| row.schedule.id == *id) {
                return Err(format!("{id} has no row: {plan:?}"));
            }
        }
        Ok(())
    }

    fn is_fold(&self, told: &CommittedModel) -> Result<(), String> {
        let model = &told.model;
        self.schedules_are_fold(model)?;
        for row in self.sessions.iter().filter(|row| !told.unsettled.contains(&row.id)) {
            let told = model.fold.session_row(&row.id);
            // The time of the last user message is written only together with other changes.
            let told = told.map(|told| SessionRow { last_user_activity: row.last_user_activity, ..told });
            if told.as_ref() != Some(row) {
                return Err(format!("kept is {row:?}, but its facts make {told:?} of it"));
            }
        }
        let open = model.fold.sessions().into_iter().map(SessionRecord::id);
        let open: BTreeSet<&SessionId> = open.filter(|id| !told.unsettled.contains(id)).collect();
        let kept = self.sessions.iter().map(|row| &row.id);
        let kept: BTreeSet<&SessionId> = kept.filter(|id| !told.unsettled.contains(id)).collect();
        if open != kept {
            return Err(format!("{kept:?} are kept as open, but {open:?} are"));
        }
        if model.fold.held() != self.hold.as_ref() {
            return Err(format!(
                "kept is the hold {:?}, but its facts make {:?} of it",
                self.hold,
                model.fold.held()
            ));
        }
        if (model.fold.guard(), model.fold.grants()) != (self.policy.as_deref(), &self.grants) {
            return Err(format!("kept of the guard is {:?} {:?}", self.policy, self.grants));
        }
        Ok(())
    }
}
