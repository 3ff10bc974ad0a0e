//! The fold: one fact changes the state, always in the same way, and cannot fail.
//!
//! Running, replaying, simulating and loading a store are this function; nothing else changes a state. What lives elsewhere:
//! every rule about *whether* a fact may be (`step`). A fact about something unknown, which only a damaged log can hold,
//! changes nothing but the cursor.

mod restored;
mod run;
mod schedule;
mod session;
mod store;

pub(super) use schedule::request_key;

use super::local_fact::{LocalFact, Sealed, StateFact};
use super::record::{ChannelRecord, Pause};
use super::state::{Mode, State};
use super::timers::Timer;
use crate::domain::{ChannelFact, Decision, Fact, HostFact, Now, RunState};

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
    /// Applies one fact, decided at `now`, and says what the feed shows of it: a decision, and nothing of a local one.
    #[inline(always)]
    pub fn apply<F: StateFact>(&mut self, now: Now, fact: F) -> F::Shown {
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
        self.forgotten.clear();
        let settled = self.ledger.settled();
        match fact {
            // No cursor is given twice, whatever an earlier process has used of them.
            LocalFact::LogEnds { at } => self.cursor = self.cursor.max(at),
            LocalFact::Restored(row) => self.restore(row, now),
            LocalFact::Retracted(run) => self.retract(&run),
            LocalFact::DurableFrozen => self.freeze_durable(),
            LocalFact::DurableDropped => self.drop_durable(),
        }
        // Slots and runs may come and go with rows; none of them ends by that.
        assert!(settled == self.ledger.settled(), "{settled:?} have become {:?}", self.ledger);
    }

    fn apply_logged(&mut self, now: Now, fact: Fact) -> Decision {
        self.forgotten.clear();
        self.cursor = self.cursor.next();
        let mut decision = Decision::of(self.cursor, now.wall, &fact);
        match fact {
            Fact::Session(id, fact) => {
                self.apply_to_session(now, &id, fact);
                decision.session = Some(id);
            }
            Fact::Created { schedule, next } => {
                decision.session = Some(schedule.owner.clone());
                self.create(schedule, next);
            }
            Fact::Schedule(id, fact) => {
                let key = self.schedule_key_in_turn(&id);
                decision.session = self.owner_of(key);
                if let Some(key) = key {
                    self.apply_to_schedule(key, now, fact);
                }
            }
            Fact::Run(id, fact) => {
                let key = self.schedule_key_in_turn(&id.schedule);
                decision.session = self.owner_of(key);
                if let Some(key) = key {
                    self.apply_to_run(key, &id, now, fact);
                }
            }
            Fact::Host(host, HostFact::Attached) => _ = self.hosts.entry(host).or_default(),
            Fact::Host(host, HostFact::Lost) => _ = self.hosts.remove(&host),
            Fact::Channel(name, ChannelFact::Opened(channel)) => {
                self.channels.insert(name, ChannelRecord { channel, disabled_at: None });
            }
            Fact::Channel(name, ChannelFact::Disabled) => {
                if let Some(record) = self.channels.get_mut(&name) {
                    record.disabled_at = Some(now.wall);
                }
            }
            Fact::Held { by, reason } => self.held = Some(Pause { by, reason, since: now.wall }),
            Fact::Guarded { policy, by: _ } => self.guard = policy,
            Fact::Released { .. } => {
                self.held = None;
                self.armed_since = Some(now.wall);
            }
            Fact::Awoke { lost } => {
                self.armed_since = Some(now.wall);
                self.ledger.lose(lost);
            }
            Fact::Stopping { abandon } => self.stop(abandon),
        }
        decision
    }

    fn owner_of(&self, key: Option<super::slab::Key>) -> Option<crate::domain::SessionId> {
        self.schedules.get(key?).map(|record| record.schedule.owner.clone())
    }

    fn stop(&mut self, abandon: bool) {
        let given_up = abandon || self.mode == Mode::Abandoning;
        self.mode = if given_up { Mode::Abandoning } else { Mode::Stopping };
        if !given_up {
            return;
        }
        // What is on disk is not given up: whoever starts next sees that it was in flight, and does as its policy says.
        let durable = |key| self.schedules.get(key).is_some_and(|record| record.schedule.is_durable());
        let runs = self.runs.iter().filter(|(_, run)| run.run.state == RunState::InFlight);
        let kept: Vec<_> = runs.filter(|(_, run)| durable(run.schedule)).map(|(key, _)| key).collect();
        for run in kept {
            self.timers.clear(Timer::Receipt(run));
        }
    }
}
