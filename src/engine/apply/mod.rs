//! The fold: applies one fact to the state, deterministically, and cannot fail.
//!
//! Live operation, replay, simulation and loading a store all use this function; nothing else
//! changes a state. What lives elsewhere: every rule about *whether* something may happen (`step`).
//! A fact about something unknown, which only a damaged log can contain, advances the cursor and
//! changes nothing else.

mod arm;
mod bulletin;
mod channel;
mod engine;
mod guard;
mod inbox;
mod restored;
mod run;
mod schedule;
mod session;
mod status;
mod store;
mod supersede;

pub(super) use supersede::is_anew;

use super::local_fact::{LocalFact, Sealed, StateFact};
use super::state::State;
use crate::domain::{Decision, EngineFact, Fact, HostFact, Now};

impl Sealed for Fact {
    type Shown = Decision;

    #[inline(always)]
    fn fold(self, state: &mut State, now: Now) -> Decision {
        state.apply_logged(now, self)
    }
}

impl Sealed for LocalFact {
    type Shown = ();

    #[inline(always)]
    fn fold(self, state: &mut State, now: Now) {
        state.apply_local(now, self);
    }
}

impl State {
    /// Applies one fact that was decided at `now`, and returns what the feed shows of it: a
    /// decision for a logged fact, nothing for a local one.
    #[inline(always)]
    pub fn apply<F: StateFact>(&mut self, now: Now, fact: F) -> F::Shown {
        // The wall clock was set back: what comes from here on is seen, although it was seen before by the clock.
        if self.armed_since.is_some_and(|since| since > now.wall) {
            self.armed_since = Some(now.wall);
        }
        let shown = fact.fold(self, now);
        debug_assert!(
            self.ledger.imbalance() == 0,
            "{:?} is out by {}",
            self.ledger,
            self.ledger.imbalance()
        );
        shown
    }

    fn apply_local(&mut self, now: Now, fact: LocalFact) {
        // `forgotten` is about the last fact alone.
        self.forgotten.clear();
        let settled = self.ledger.settled();
        match fact {
            // Cursors are never reused, and the log has them up to `at`.
            LocalFact::LogEnds { at } => self.cursor = self.cursor.max(at),
            LocalFact::Restored(row) => self.restore(row, now),
            LocalFact::Retracted(run) => self.retract(&run),
            LocalFact::TakenBack(undo) => self.take_back(undo, now),
            LocalFact::MemoryRestored { session, memory, pings } => {
                self.restore_memory(&session, memory, pings);
            }
            LocalFact::Switched(primitives) => self.primitives = primitives,
            LocalFact::AgentSchedules { session, said } => self.note_agent_schedules(now, &session, said),
            LocalFact::DurableFrozen { why } => self.freeze_durable(now, why),
            LocalFact::DurableDropped => self.drop_durable(now),
        }
        // Rows add and remove slots and runs, but end none.
        assert!(settled == self.ledger.settled(), "{settled:?} have become {:?}", self.ledger);
    }

    fn apply_logged(&mut self, now: Now, fact: Fact) -> Decision {
        self.forgotten.clear();
        self.cursor = self.cursor.next();
        let mut decision = Decision::of(self.cursor, now.wall, &fact);
        match fact {
            Fact::Session(id, fact, by) => {
                self.apply_to_session(now, &id, fact, by.as_deref());
                decision.session = Some(id);
            }
            Fact::Created { schedule, next } => {
                decision.session = Some(schedule.owner.clone());
                self.create(schedule, next);
            }
            // The owner is read first: applying the fact may remove the schedule's record.
            Fact::Schedule(id, fact) => {
                let key = self.schedule_key_in_turn(&id);
                decision.session = self.owner_of(key);
                if let Some(key) = key {
                    self.apply_to_schedule(key, now, fact);
                }
            }
            Fact::Run(id, fact, _) => {
                let key = self.schedule_key_in_turn(&id.schedule);
                decision.session = self.owner_of(key);
                if let Some(key) = key {
                    self.apply_to_run(key, &id, now, fact);
                }
            }
            // A host that reports itself again keeps its sessions.
            Fact::Host(host, HostFact::Attached, by) => self.hosts.entry(host).or_default().by = by,
            Fact::Host(host, HostFact::Lost, _) => _ = self.hosts.remove(&host),
            Fact::Channel(name, fact) => self.apply_to_channel(now, name, fact),
            // Nothing changes. The feed shows it to the session that asked.
            Fact::Engine(EngineFact::Refused { by, .. }) => decision.session = by.scope.session().cloned(),
            Fact::Engine(fact) => self.apply_to_engine(now, fact),
        }
        decision
    }

    fn owner_of(&self, key: Option<super::slab::Key>) -> Option<crate::domain::SessionId> {
        self.schedules.get(key?).map(|record| record.schedule.owner.clone())
    }
}
