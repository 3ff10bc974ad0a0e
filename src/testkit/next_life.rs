//! What the end of a process leaves of all that was seen: what its store keeps, and what happened outside.
//!
//! The books of the next life are those of the one before it, entered again with the facts that the log holds, and without what
//! lived in memory only. So the laws go on over all lives: a slot that was claimed and kept is never claimed again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::books::{Books, Lane, RunKey};
use super::counts::Counts;
use super::history::{Observation, Seen};
use super::laws::{Broken, Laws};
use crate::domain::{Cursor, Grant, GuardPolicy, HostId, Now, RunState, ScheduleId, SessionId};
use crate::engine::{Pause, ScheduleRow, SessionRow, State};
use crate::port::{Store, StoreFault};
use crate::runtime::rows::{self, Row};

/// The law's name.
pub(super) const WHAT_IS_KEPT_IS_THERE: &str = "what_is_kept_is_there";

/// What was seen since a life began, for whoever has to reckon anew when it ends.
#[derive(Debug, Default)]
pub(super) struct Past {
    begin: Books,
    seen: Vec<Observation>,
    /// The last facts of what callers were told is kept.
    told: Vec<Cursor>,
}

/// What a store holds.
#[derive(Default)]
struct Held {
    facts: BTreeSet<Cursor>,
    schedules: Vec<ScheduleRow>,
    sessions: Vec<SessionRow>,
    hold: Option<Pause>,
    policy: Option<Arc<GuardPolicy>>,
    grants: BTreeMap<SessionId, Grant>,
}

impl Past {
    pub(super) fn note(&mut self, observation: &Observation) {
        self.seen.push(observation.clone());
    }
}

impl Laws {
    /// A caller was told that everything up to this fact is kept.
    pub fn tell_kept(&mut self, cursor: Cursor) {
        self.past.told.push(cursor);
    }

    /// The process has ended, whatever it was doing, and `store` is what the next one takes up at `now`. Returns how many
    /// schedules are lost with it, because they lived in memory only.
    ///
    /// # Errors
    /// [`Broken`], if something is not in the store that somebody was told is kept, or if it is not what its facts make of it.
    pub fn begin_anew(&mut self, now: Now, store: &dyn Store) -> Result<u64, Broken> {
        let broken = |detail: String| Broken { law: WHAT_IS_KEPT_IS_THERE, detail };
        let held = Held::read(store).map_err(broken)?;
        if let Some(missing) = self.past.told.iter().find(|told| !held.facts.contains(told)) {
            return Err(broken(format!(
                "somebody was told that {missing} is kept, and it is not in the log"
            )));
        }
        let lost = self.books.plans.values().filter(|plan| plan.end.is_none() && !plan.is_durable()).count();
        let past = std::mem::take(&mut self.past);
        let mut books = past.begin;
        let mut cursor = books.fold.cursor();
        for observation in &past.seen {
            let is_left = match &observation.seen {
                Seen::Fact(_) => {
                    cursor = cursor.next();
                    held.facts.contains(&cursor)
                }
                Seen::Received(_) | Seen::CancelAcknowledged { .. } => true,
                Seen::HostLost(_) | Seen::ShutDown => false,
            };
            if is_left {
                books.enter(observation);
            }
        }
        held.is_fold(&books).map_err(broken)?;
        books.outlive(&held, now, store.health().head);
        self.past.begin = books.clone();
        self.books = books;
        Ok(lost as u64)
    }
}

impl Books {
    /// Goes on with what is held: in memory there is nothing, no host is connected, and no turn goes on.
    fn outlive(&mut self, held: &Held, now: Now, head: Cursor) {
        let there: BTreeSet<&ScheduleId> = held.schedules.iter().map(|row| &row.schedule.id).collect();
        self.plans.retain(|id, _| there.contains(id));
        self.lives.retain(|key, _| there.contains(&key.0));
        self.fold = State::new();
        self.fold.resume_at(head);
        for row in &held.sessions {
            self.fold.restore_session(row.clone());
        }
        for row in &held.schedules {
            self.fold.restore_schedule(row.clone(), now);
        }
        self.fold.restore_hold(held.hold.clone());
        self.held = held.hold.is_some();
        self.fold.restore_guard(held.policy.clone(), held.grants.clone());
        (self.policy, self.grants) = (held.policy.clone(), held.grants.clone());
        for life in self.lives.values_mut() {
            // What a guard outside was asked, or said, is forgotten with the process.
            life.retrying &= !std::mem::take(&mut life.asked);
            life.allowed = false;
        }
        (self.stopping, self.stopped) = (false, false);
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
        self.counts = Counts { expected: (slots + live.len()) as u64, ..Counts::default() };
    }
}

impl Held {
    fn read(store: &dyn Store) -> Result<Held, String> {
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
            // No fact says what was said.
            Row::Said(_) => {}
        });
        read.map_err(|fault| fault.to_string())?;
        Ok(held)
    }

    /// Whether every row is what the kept facts make of it, and there is one for each thing that they speak of.
    fn is_fold(&self, books: &Books) -> Result<(), String> {
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
        for row in &self.sessions {
            let told = books.fold.session_row(&row.id);
            // When somebody last spoke in it is written with whatever else is.
            let told = told.map(|told| SessionRow { last_user_activity: row.last_user_activity, ..told });
            if told.as_ref() != Some(row) {
                return Err(format!("kept is {row:?}, but its facts make {told:?} of it"));
            }
        }
        let open = books.fold.sessions().len();
        if open != self.sessions.len() {
            return Err(format!("{} sessions are kept, but {open} are open", self.sessions.len()));
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
