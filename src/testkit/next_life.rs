//! How the model follows a restart: what the store holds goes on, and volatile state is gone.
//!
//! The model of the next process is built again from the facts that the log holds, without what was
//! only in memory. So the laws span all processes: a slot whose claim was committed is never
//! claimed again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::books::{Books, RunKey};
use super::counts::Counts;
use super::history::{Observation, Seen};
use super::illness::{Loading, is_lasting_of_session};
use super::lane::Lane;
use super::laws::{Broken, Laws};
use crate::domain::{
    Channel, ChannelFact, Cursor, Fact, Grant, GuardPolicy, HostId, Now, RunState, ScheduleId, SessionFact,
    SessionId,
};
use crate::engine::{Pause, ScheduleRow, SessionRecord, SessionRow, State};
use crate::port::{Store, StoreFault};
use crate::runtime::rows::{self, Row};

/// The name of the law: every acknowledged fact is in the store, and its rows are the fold of its
/// facts.
pub(super) const WHAT_IS_KEPT_IS_THERE: &str = "what_is_kept_is_there";

/// The observations since the process began, to be replayed when it ends.
#[derive(Debug, Default)]
pub(super) struct Past {
    begin: Books,
    seen: Vec<Observation>,
    /// The cursors up to which callers were told that their changes are committed.
    told: Vec<Cursor>,
}

/// The model that the committed facts alone produce.
pub(super) struct Told {
    pub(super) books: Books,
    /// Sessions that changed while the store failed: their rows were written later, with other
    /// changes.
    unsettled: BTreeSet<SessionId>,
}

/// What a store holds.
#[derive(Debug, Default)]
pub(super) struct Held {
    facts: BTreeSet<Cursor>,
    pub(super) schedules: Vec<ScheduleRow>,
    pub(super) sessions: Vec<SessionRow>,
    pub(super) hold: Option<Pause>,
    pub(super) policy: Option<Arc<GuardPolicy>>,
    pub(super) grants: BTreeMap<SessionId, Grant>,
}

impl Past {
    pub(super) fn note(&mut self, observation: &Observation) {
        match &observation.seen {
            // A life begins with what is loaded before anything happens in it.
            Seen::Local(_) if self.seen.is_empty() => self.begin.enter(observation),
            // What a failure took back was never told, and what was loaded after it is what the facts say.
            Seen::Local(_) => {}
            Seen::Fact(_)
            | Seen::Received(_)
            | Seen::CancelAcknowledged { .. }
            | Seen::HostLost(_)
            | Seen::ShutDown
            | Seen::DiskFailed { .. } => self.seen.push(observation.clone()),
        }
    }

    pub(super) fn nothing_told_is_missing(&self, held: &Held) -> Result<(), String> {
        let missing = self.told.iter().find(|told| !held.facts.contains(told));
        missing.map_or(Ok(()), |missing| {
            Err(format!("somebody was told that {missing} is kept, and it is not in the log"))
        })
    }

    /// Replays the observations, without facts that the store does not hold.
    pub(super) fn as_told_by(&self, held: &Held) -> Told {
        let mut told = Told { books: self.begin.clone(), unsettled: BTreeSet::new() };
        let mut cursor = told.books.fold.cursor();
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
                told.books.enter(observation);
            }
        }
        told
    }
}

impl Told {
    /// Whether a session's change was not stored by its own fact, but with the session's row later.
    fn is_settled_later(&mut self, fact: &Fact, cursor: Cursor, held: &Held) -> bool {
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
        let held = Held::read(store).map_err(broken)?;
        self.past.nothing_told_is_missing(&held).map_err(broken)?;
        let lost = self.books.plans.values().filter(|plan| plan.end.is_none() && !plan.is_durable()).count();
        let told = std::mem::take(&mut self.past).as_told_by(&held);
        held.is_fold(&told).map_err(broken)?;
        let mut books = told.books;
        books.outlive(&Arc::new(held), now, store.health().head, channels);
        self.past.begin = books.clone();
        self.books = books;
        Ok(lost as u64)
    }
}

impl Books {
    /// Goes on with what is held: in memory there is nothing, no host is connected, and no turn goes on.
    fn outlive(&mut self, held: &Arc<Held>, now: Now, head: Cursor, channels: &[Channel]) {
        let there: BTreeSet<&ScheduleId> = held.schedules.iter().map(|row| &row.schedule.id).collect();
        self.plans.retain(|id, _| there.contains(id));
        self.lives.retain(|key, _| there.contains(&key.0));
        self.fold = State::new();
        self.channels = channels.iter().map(|channel| (channel.name.clone(), true)).collect();
        for channel in channels {
            // Channels are opened before the store is loaded, so their facts come first.
            let opened = Fact::Channel(channel.name.clone(), ChannelFact::Opened(channel.clone()));
            self.fold.apply(now, opened);
        }
        self.loading = Some(Loading::of(held, |_| true));
        self.take_over_settings(held);
        for life in self.lives.values_mut() {
            life.forget_the_guard();
        }
        (self.stopping, self.stopped) = (false, false);
        (self.frozen_at, self.kept) = (None, Some(head));
        (self.kept_at_failure, self.returning) = (None, None);
        self.outside =
            self.lives.iter().filter(|(_, life)| life.waits_outside()).map(|it| it.0.clone()).collect();
        // Connected hosts are gone; only built-in sessions have a home until a host takes the
        // others over.
        self.homes.clear();
        self.lanes = BTreeMap::new();
        for row in &held.sessions {
            let waiting = self.lives.iter().filter(|(_, life)| {
                life.state == RunState::Queued && !life.retrying && life.into.as_ref() == Some(&row.id)
            });
            let waiting = waiting.map(|(key, life)| (life.order.clone(), key.clone())).collect();
            self.lanes.insert(row.id.clone(), Lane { attached: !row.built_in, waiting, ..Lane::default() });
            if row.built_in {
                self.homes.insert(row.id.clone(), HostId::LOCAL);
            }
        }
        let slots = self.plans.values().filter(|plan| plan.next.is_some()).count();
        let live: Vec<&RunKey> = self.lives.iter().filter(|(_, it)| it.is_live()).map(|it| it.0).collect();
        // A new process counts from what is pending; outcomes of the former one are not in its
        // ledger.
        self.counts = Counts { expected: (slots + live.len()) as u64, ..Counts::default() };
    }
}

impl Books {
    /// Takes the global pause, the guard policy and the grants from the store.
    pub(super) fn take_over_settings(&mut self, held: &Held) {
        self.held = held.hold.is_some();
        (self.policy, self.grants) = (held.policy.clone(), held.grants.clone());
    }
}

impl Held {
    pub(super) fn read(store: &dyn Store) -> Result<Held, String> {
        let said = |fault: StoreFault| fault.to_string();
        let mut held = Held::default();
        let mut after = Cursor::START;
        loop {
            let facts = store.facts_after(after).map_err(said)?;
            let Some(last) = facts.last() else { break };
            after = last.cursor;
            held.facts.extend(facts.iter().map(|fact| fact.cursor));
        }
        let read = rows::for_each(store, |row| match row {
            Row::Schedule(row) => held.schedules.push(*row),
            Row::Session(row, _) => held.sessions.push(*row),
            Row::Hold(hold) => held.hold = hold,
            Row::Guard(policy, grants) => (held.policy, held.grants) = (policy, grants),
            // A stored answer to an idempotent call; no fact corresponds to it.
            Row::Said(_) => {}
        });
        read.map_err(|fault| fault.to_string())?;
        Ok(held)
    }

    /// Whether a fact is held.
    pub(super) fn holds(&self, fact: Cursor) -> bool {
        self.facts.contains(&fact)
    }

    /// Whether every row is what the kept facts make of it, and there is one for each thing that they speak of.
    pub(super) fn schedules_are_fold(&self, books: &Books) -> Result<(), String> {
        for row in &self.schedules {
            let told = books.fold.schedule_row(&row.schedule.id);
            if told.as_ref() != Some(row) {
                return Err(format!("kept is {row:?}, but its facts make {told:?} of it"));
            }
        }
        let durable = books.plans.iter().filter(|(_, plan)| plan.end.is_none() && plan.is_durable());
        for (id, plan) in durable {
            if !self.schedules.iter().any(|row| row.schedule.id == *id) {
                return Err(format!("{id} has no row: {plan:?}"));
            }
        }
        Ok(())
    }

    fn is_fold(&self, told: &Told) -> Result<(), String> {
        let books = &told.books;
        self.schedules_are_fold(books)?;
        for row in self.sessions.iter().filter(|row| !told.unsettled.contains(&row.id)) {
            let told = books.fold.session_row(&row.id);
            // The time of the last user message is written only together with other changes.
            let told = told.map(|told| SessionRow { last_user_activity: row.last_user_activity, ..told });
            if told.as_ref() != Some(row) {
                return Err(format!("kept is {row:?}, but its facts make {told:?} of it"));
            }
        }
        let open = books.fold.sessions().into_iter().map(SessionRecord::id);
        let open: BTreeSet<&SessionId> = open.filter(|id| !told.unsettled.contains(id)).collect();
        let kept = self.sessions.iter().map(|row| &row.id);
        let kept: BTreeSet<&SessionId> = kept.filter(|id| !told.unsettled.contains(id)).collect();
        if open != kept {
            return Err(format!("{kept:?} are kept as open, but {open:?} are"));
        }
        if books.fold.held() != self.hold.as_ref() {
            return Err(format!(
                "kept is the hold {:?}, but its facts make {:?} of it",
                self.hold,
                books.fold.held()
            ));
        }
        if (books.fold.guard(), books.fold.grants()) != (self.policy.as_deref(), &self.grants) {
            return Err(format!("kept of the guard is {:?} {:?}", self.policy, self.grants));
        }
        Ok(())
    }
}
