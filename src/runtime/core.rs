//! The state behind the engine's lock, and the only code that changes it. Readers share the lock.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::counters::Counters;
use super::durable::{self, Dropped, Persister, StoredMessage, WithoutStore};
use super::feed::Feed;
use super::sync::UNPOISONED;
use super::token::Tokens;
use super::waiter_table::{WaiterTable, concerned};
use crate::calendar::Zones;
use crate::domain::{BootTime, Entropy, Fact, Now, Refusal, Span};
use crate::engine::{Effect, Env, Input, Report, State, Step, StoreInput, Undo, decide_into};
use crate::limits;
use crate::port::{Journal, Store, StoreFault, Term, Ticket};

/// The engine and everything whose order depends on it: the feed, the pending effects, the driver's alarm.
pub(super) struct Core {
    pub(super) state: State,
    pub(super) feed: Feed,
    pub(super) counters: Counters,
    pub(super) outbox: VecDeque<Effect>,
    /// When the driver will wake up; `None` while it is awake and will compare with the clock itself.
    pub(super) armed: Option<BootTime>,
    pub(super) driver_stopped: bool,
    /// Random bits that were drawn for a step that did not need them.
    unused_entropy: Option<Entropy>,
    /// The emptied lists of the last step, reused by the next one to save allocations.
    reused_step: Step,
    /// Number of sleeping subscribers. Waking them costs a system call, which is saved while there are none. Changed
    /// under the lock only; the store's thread reads it without.
    pub(super) listeners: Arc<AtomicUsize>,
    /// How often runs ended without an answer of their host, and how often effects came late from the store: pending
    /// effects may be obsolete then. See `Shared::is_wanted`.
    pub(super) revocations: Arc<AtomicU64>,
    zones: Arc<Zones>,
    pub(super) persister: Option<Persister>,
    without_store: WithoutStore,
    tokens: Arc<Tokens>,
    pub(super) waiters: Arc<WaiterTable>,
    /// The lock only makes the type `Sync`: readers share the core and never use the journal.
    journal: Option<Mutex<Box<dyn Journal>>>,
}

impl Core {
    pub(super) fn new(
        zones: Arc<Zones>,
        without_store: WithoutStore,
        journal: Option<Box<dyn Journal>>,
    ) -> Core {
        Core {
            state: State::new(),
            feed: Feed::default(),
            counters: Counters::default(),
            outbox: VecDeque::new(),
            armed: None,
            driver_stopped: false,
            unused_entropy: None,
            reused_step: Step::default(),
            listeners: Arc::default(),
            revocations: Arc::default(),
            zones,
            persister: None,
            without_store,
            tokens: Arc::default(),
            waiters: Arc::default(),
            journal: journal.map(Mutex::new),
        }
    }

    /// The table of live tokens.
    pub(super) fn tokens(&self) -> Arc<Tokens> {
        Arc::clone(&self.tokens)
    }

    /// Decides on an input, applies the facts, and submits the durable ones to the store. A refusal changes nothing.
    /// The ticket resolves when they are committed; `None` if there is nothing to wait for.
    pub(super) fn step(
        &mut self,
        input: Input,
        now: Now,
        draw: impl FnOnce() -> Entropy,
    ) -> Result<Option<Ticket>, Refusal> {
        // The effects of batches that were committed meanwhile come before those of this step.
        self.settle();
        let is_command = matches!(input, Input::Command(_));
        let asks_for_disk = self.persister.is_some() && durable::asks_for_disk(&input, &self.state);
        let host_report = self.persister.as_ref().and_then(|_| durable::report_of_host(&input, &self.state));
        // Most steps draw nothing, so the bits are saved for one that does.
        let entropy = self.unused_entropy.take().unwrap_or_else(draw);
        // Any input may end a call: its time is up, it is cancelled or denied, its host is gone. Of outcomes that come,
        // `report_outcome` says so.
        let awaited = self.waiters.awaited();
        let env = Env { now, entropy, zones: &self.zones, awaited: awaited.as_deref() };
        let decided = decide_into(std::mem::take(&mut self.reused_step), &self.state, input, env);
        let mut step = decided.inspect_err(|refusal| self.counters.count_refusal(refusal.code()))?;
        // A durable command without facts repeats an earlier one, and is acknowledged as that was.
        let repeats_earlier = asks_for_disk && step.facts.is_empty();
        let checked = self.check_store(&step, is_command, repeats_earlier);
        checked.inspect_err(|refusal| self.counters.count_refusal(refusal.code()))?;
        // Drawn bits have become part of an id, so they must not serve another step.
        self.unused_entropy = (!step.drew).then_some(entropy);
        step.drew = false;
        // The set is given back here, so that those who come and go do not have to copy it.
        let concerned = awaited.map(|awaited| concerned(&awaited, &step.facts));
        // Only what a caller is told to be refused has to be taken back. Nothing is copied for volatile work and for claims.
        let undo = if asks_for_disk { self.state.before(&step.facts) } else { Vec::new() };
        self.apply(now, &mut step);
        let ended = concerned.map(|concerned| self.waiters.close_ended(&concerned, &self.state));
        let ticket = self.submit_batch(&mut step, host_report, undo);
        // The original of a repeat may still be on its way to the disk. The repeat is acknowledged
        // only once that is committed.
        let earlier =
            || self.persister.as_mut().filter(|_| repeats_earlier).and_then(Persister::wait_for_all);
        let ticket = ticket.or_else(earlier);
        self.outbox.extend(step.effects.drain(..));
        // Rings those who wait, also for a call that was never out.
        if let Some(ended) = ended {
            self.outbox.extend(ended.into_iter().map(|run| Effect::CancelCall { run }));
        }
        self.reused_step = step;
        Ok(ticket)
    }

    /// What [`Core::step`] would say to an input at this moment. Nothing is applied or counted.
    pub(super) fn would_refuse(&self, input: Input, now: Now, entropy: Entropy) -> Option<Refusal> {
        let is_command = matches!(input, Input::Command(_));
        let asks_for_disk = self.persister.is_some() && durable::asks_for_disk(&input, &self.state);
        let env = Env { now, entropy, zones: &self.zones, awaited: None };
        let decided = decide_into(Step::default(), &self.state, input, env);
        let checked = decided
            .and_then(|step| self.check_store(&step, is_command, asks_for_disk && step.facts.is_empty()));
        checked.err()
    }

    /// Applies the facts of a step. Those with a cursor go to the store and the feed as well.
    #[inline]
    fn apply(&mut self, now: Now, step: &mut Step) {
        // The journal comes first, because applying a fact consumes it. It gets the local facts first, as the state does.
        if let Some(journal) = &mut self.journal {
            let journal = journal.get_mut().expect(UNPOISONED);
            if !step.local.is_empty() {
                journal.local(now, &step.local);
            }
            if !step.facts.is_empty() {
                journal.append(now, &step.facts);
            }
        }
        if !step.local.is_empty() {
            for fact in step.local.drain(..) {
                self.state.apply(now, fact);
                self.note_forgotten();
            }
        }
        for fact in step.facts.drain(..) {
            // Pairs with the acquiring load in `Shared::is_wanted`: effects of this run may be in the performer's batch already.
            if fact.recalls() {
                self.revocations.fetch_add(1, Ordering::Release);
            }
            // Both look up what the fact is about in the state before it.
            self.counters.count(&fact, &self.state, now);
            let quiet = self.state.quiet_check(&fact);
            if quiet.is_none_or(|quiet| quiet.is_kept)
                && self.persister.is_some()
                && self.state.may_store(&fact, now.boot)
            {
                self.add_to_batch(now, &fact);
            }
            let decision = self.state.apply(now, fact);
            if quiet.is_none_or(|quiet| quiet.is_shown) {
                self.feed.push(decision);
            }
            self.note_forgotten();
        }
    }

    #[inline]
    fn note_forgotten(&mut self) {
        if let Some(persister) = &mut self.persister
            && !self.state.forgotten().is_empty()
        {
            persister.forget(self.state.forgotten());
        }
    }

    /// Refuses a command whose facts could not be committed: there is no store, it has failed, or
    /// its queue is nearly full.
    fn check_store(&self, step: &Step, is_command: bool, repeats_earlier: bool) -> Result<(), Refusal> {
        // While the store is down, memory may hold changes that are not on disk. So a repeat
        // cannot be acknowledged either.
        let needs_disk =
            || repeats_earlier || step.facts.iter().any(|fact| durable::needs_disk(fact, &self.state));
        match &self.persister {
            None => {
                let creates =
                    |fact: &Fact| matches!(fact, Fact::Created { schedule, .. } if schedule.is_durable());
                let unkept = self.without_store == WithoutStore::Reject && step.facts.iter().any(creates);
                if unkept { Err(Refusal::NoStore) } else { Ok(()) }
            }
            // Commands only: a report tells what has happened already, so it cannot be refused.
            Some(persister)
                if is_command
                    && persister.term.is_none()
                    && (needs_disk() || persister.is_reopened_by(&step.facts)) =>
            {
                let detail = persister.last_fault.as_ref().map(StoreFault::why).unwrap_or_default();
                Err(Refusal::StoreUnavailable { detail })
            }
            // Refuse while there is still room: a batch that the store itself refuses has been
            // applied to the state already.
            Some(persister) if is_command && persister.is_filled(3, 4) && needs_disk() => {
                Err(Refusal::StoreUnavailable { detail: "too much waits for the disk".into() })
            }
            Some(_) => Ok(()),
        }
    }

    /// Adds a durable fact to the batch of this step. While the store has failed, only its session is noted: the row is written
    /// once the store works again.
    fn add_to_batch(&mut self, now: Now, fact: &Fact) {
        if let Some(persister) = &mut self.persister
            && let Some(lasting) = durable::lasting(fact, &self.state)
        {
            if persister.term.is_some() {
                persister.add_to_batch(self.state.cursor().next(), now, fact, lasting);
            } else if let Fact::Session(session, ..) = fact {
                persister.want_session(session.clone());
            }
        }
    }

    /// Submits the batch of this step to the store, and holds back the effects that have to wait for its commit.
    fn submit_batch(
        &mut self,
        step: &mut Step,
        host_report: Option<Report>,
        undo: Vec<Undo>,
    ) -> Option<Ticket> {
        let persister = self.persister.as_mut()?;
        let held_back = |effect: &mut Effect| durable::waits_for_disk(effect, &self.state);
        // The effects that remain wait for no disk and go out at once.
        let effects = step.effects.extract_if(.., held_back).collect();
        // The rows of the batch are read from the state, which has the facts of this step by now.
        let ticket = persister.submit(&self.state, &self.tokens, (effects, host_report, undo));
        self.hide_uncommitted();
        ticket
    }

    /// Releases the effects of all batches that are committed by now. Returns whether there were any such batches.
    pub(super) fn settle(&mut self) -> bool {
        let Some(persister) = &mut self.persister else { return false };
        let mut is_news = false;
        // In log order, so that the effects of one session keep theirs.
        while let Some(effects) = persister.next_committed() {
            is_news = true;
            if !effects.is_empty() {
                // Their runs may have ended while they waited, so the performer has to check each of them.
                self.revocations.fetch_add(1, Ordering::Release);
                self.outbox.extend(effects);
            }
        }
        if is_news {
            self.hide_uncommitted();
        }
        is_news
    }

    /// Continues with the messages that were loaded from the store.
    pub(super) fn load_transcripts(&mut self, said: &[StoredMessage]) {
        let (state, at) = (&self.state, self.state.cursor().next());
        if let Some(persister) = &mut self.persister {
            persister.transcripts.load(said, at, |said| said.is_of_open_session(state));
        }
    }

    /// Ends the term after a failure of the store: durable work is suspended until the store works again.
    pub(super) fn store_failed(&mut self, fault: StoreFault, now: Now, draw: impl FnOnce() -> Entropy) {
        self.stand_still((fault.why(), |persister| persister.fail(fault)), now, draw);
    }

    /// Suspends durable work after the store refused to enqueue a batch. Earlier batches may still be committed.
    pub(super) fn batch_rejected(&mut self, fault: StoreFault, now: Now, draw: impl FnOnce() -> Entropy) {
        self.stand_still((fault.why(), |persister| persister.refuse(fault)), now, draw);
    }

    /// Removes the decisions that could not be committed from the feed, and lets the engine suspend durable work.
    fn stand_still(
        &mut self,
        (why, fail): (Box<str>, impl FnOnce(&mut Persister) -> Dropped),
        now: Now,
        draw: impl FnOnce() -> Entropy,
    ) {
        let Some(persister) = &mut self.persister else { return };
        let Dropped { cursors, unsent, undone } = fail(persister);
        // No subscriber has seen these decisions: they have been hidden since their batch was submitted.
        self.feed.retract(&cursors);
        self.hide_uncommitted();
        self.tell(StoreInput::Failed { unsent, undone, why }, now, draw);
    }

    /// Submits an input about the store. The engine never refuses one.
    pub(super) fn tell(&mut self, input: StoreInput, now: Now, draw: impl FnOnce() -> Entropy) {
        let told = self.step(Input::Store(input), now, draw);
        debug_assert!(told.is_ok(), "nobody refuses what has become of the store: {:?}", told.err());
    }

    /// Whether a newer term has begun, so that a failure reported for `term` has been handled already.
    pub(super) fn is_past(&self, term: Term) -> bool {
        self.persister.as_ref().and_then(|persister| persister.term).is_some_and(|now| now > term)
    }

    /// Settles all batches that were accepted before the store was renewed: each one not committed by now has failed.
    pub(super) fn settle_renewed(&mut self, now: Now, draw: impl FnOnce() -> Entropy) {
        self.settle();
        let left = self.persister.as_ref().filter(|persister| persister.first_uncommitted().is_some());
        if let Some(fault) = left.and_then(|persister| persister.last_fault.clone()) {
            self.store_failed(fault, now, draw);
        }
    }

    fn hide_uncommitted(&mut self) {
        self.feed.hide_from(self.persister.as_ref().and_then(Persister::first_uncommitted));
    }

    /// The time zone database.
    pub(super) fn zones(&self) -> &Zones {
        &self.zones
    }

    /// The attached store.
    pub(super) fn store(&self) -> Option<Arc<dyn Store>> {
        self.persister.as_ref().map(|persister| Arc::clone(&persister.store))
    }

    /// Whether durable work is taken: there is a store, or memory stands for one.
    pub(super) fn takes_durable(&self) -> bool {
        self.persister.is_some() || self.without_store == WithoutStore::InMemory
    }

    /// Whether the engine has something to do at `now`. It has not while the store's queue is half full or more: a
    /// burst is claimed only as fast as it is committed.
    pub(super) fn is_due(&self, now: Now) -> bool {
        !self.is_behind() && self.state.next_wake(now).is_some_and(|deadline| deadline <= now.boot)
    }

    fn is_behind(&self) -> bool {
        self.persister.as_ref().is_some_and(|persister| persister.is_filled(1, 2))
    }

    /// Until when the driver may sleep: the next deadline, but no longer than a slice, so that it notices a resumed
    /// machine or a stepped clock.
    pub(super) fn sleeps_until(&self, now: Now) -> BootTime {
        let slice = if self.state.waits_for_wall() { limits::WALL_SLICE_MS } else { limits::SLEEP_SLICE_MS };
        let slice = now.boot.after(Span::from_millis(slice.value));
        // Nothing is claimed while the store is behind, so a passed deadline would make the driver spin. The commit rouses it.
        let next = self.state.next_wake(now).filter(|_| !self.is_behind());
        next.map_or(slice, |deadline| deadline.min(slice))
    }

    /// Whether the driver is set to sleep longer than it may now.
    pub(super) fn must_rouse(&self, now: Now) -> bool {
        self.armed.is_some_and(|armed| self.sleeps_until(now) < armed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Durability, HostId, Moment, SessionId, When};
    use crate::engine::{Command, NewSchedule};

    /// Asserts how long the driver sleeps, in milliseconds, while a schedule is due in `delay_ms`.
    #[track_caller]
    fn check(durability: Durability, delay_ms: u64, expected: u64) {
        let mut core = Core::new(Arc::default(), WithoutStore::InMemory, None);
        let now = Now { wall: Moment::EPOCH, boot: BootTime::ZERO };
        let session = SessionId::new("one").expect("an id");
        let open = Command::OpenSession {
            session: Some(session.clone()),
            host: HostId::LOCAL,
            config: Arc::default(),
            by: None,
        };
        let when = When::After(Span::from_millis(delay_ms));
        let create = NewSchedule { durability, ..NewSchedule::message(session, when, "later") };
        for command in [open, Command::CreateSchedule(create)] {
            core.step(Input::Command(command), now, || Entropy([7; 16])).expect("there is room");
        }
        assert_eq!(core.sleeps_until(now), BootTime::ZERO.after(Span::from_millis(expected)));
    }

    #[test]
    fn a_wall_clock_that_may_be_set_is_looked_at_more_often() {
        check(Durability::Volatile, 20_000, 20_000);
        check(Durability::Volatile, 3_600_000, 30_000);
        check(Durability::Durable, 500, 500);
        check(Durability::Durable, 20_000, 1_000);
    }
}
