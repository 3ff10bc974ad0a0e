//! What the lock guards, and the one way to change it. Readers share it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::feed::Feed;
use super::figures::Figures;
use super::keep::{self, Keeper, Keeps};
use super::sync::UNPOISONED;
use super::token::Tokens;
use super::transcripts::Said;
use crate::calendar::Zones;
use crate::domain::{BootTime, Cursor, Entropy, Fact, Now, Refusal, RunId, Span};
use crate::engine::{Effect, Given, Input, Report, State, Step, StoreInput, decide_into};
use crate::limits;
use crate::port::{Journal, StoreFault, Term, Ticket};

/// The engine with what hangs on its order: the feed, the effects not yet performed, the driver's alarm.
pub(super) struct Core {
    pub(super) state: State,
    pub(super) feed: Feed,
    pub(super) figures: Figures,
    pub(super) outbox: VecDeque<Effect>,
    /// What the driver sleeps until; `None` while it is awake and will look for itself.
    pub(super) armed: Option<BootTime>,
    pub(super) driver_stopped: bool,
    undrawn: Option<Entropy>,
    /// The emptied lists of the last step, for the next.
    spare: Step,
    /// Subscribers asleep: nobody is roused at the price of a system call while there are none. Changed under the lock
    /// only; the store's thread reads it without.
    pub(super) listeners: Arc<AtomicUsize>,
    /// How many runs ended without a word from their host: effects that wait may be theirs.
    pub(super) recalls: Arc<AtomicU64>,
    zones: Arc<Zones>,
    pub(super) keeper: Option<Keeper>,
    keeps: Keeps,
    tokens: Arc<Tokens>,
    /// The lock is for its type alone: readers share the core and never come here.
    journal: Option<Mutex<Box<dyn Journal>>>,
}

impl Core {
    pub(super) fn new(zones: Arc<Zones>, keeps: Keeps, journal: Option<Box<dyn Journal>>) -> Core {
        Core {
            state: State::new(),
            feed: Feed::default(),
            figures: Figures::default(),
            outbox: VecDeque::new(),
            armed: None,
            driver_stopped: false,
            undrawn: None,
            spare: Step::default(),
            listeners: Arc::default(),
            recalls: Arc::default(),
            zones,
            keeper: None,
            keeps,
            tokens: Arc::default(),
            journal: journal.map(Mutex::new),
        }
    }

    /// What stands for sessions.
    pub(super) fn tokens(&self) -> Arc<Tokens> {
        Arc::clone(&self.tokens)
    }

    /// Decides, appends, applies. A refusal changes nothing. What has to be kept is on its way to the disk when this
    /// returns, and the ticket says when it is there.
    pub(super) fn step(
        &mut self,
        input: Input,
        now: Now,
        draw: impl FnOnce() -> Entropy,
    ) -> Result<Option<Ticket>, Refusal> {
        self.settle();
        let is_command = matches!(input, Input::Command(_));
        let asks_for_disk = self.keeper.is_some() && keep::asks_for_disk(&input, &self.state);
        let word = self.keeper.as_ref().and_then(|_| keep::word_of_host(&input, &self.state));
        // Most steps invent nothing: the bits wait for one that does.
        let entropy = self.undrawn.take().unwrap_or_else(draw);
        let given = Given { now, entropy, zones: &self.zones };
        let decided = decide_into(std::mem::take(&mut self.spare), &self.state, input, given);
        let says_so_already = |step: &Step| asks_for_disk && step.facts.is_empty();
        let decided = decided
            .and_then(|step| self.check_kept(&step, is_command, says_so_already(&step)).map(|()| step));
        let mut step = decided.inspect_err(|refusal| self.figures.count_refusal(refusal.code()))?;
        self.undrawn = (!step.drew).then_some(entropy);
        step.drew = false;
        let says_so_already = says_so_already(&step);
        self.apply(now, &mut step);
        let ticket = self.keep(&mut step, word);
        // What was asked for before and is on its way to the disk is not promised before it is there.
        let earlier = || self.keeper.as_mut().filter(|_| says_so_already).and_then(Keeper::wait_for_all);
        let ticket = ticket.or_else(earlier);
        self.outbox.extend(step.effects.drain(..));
        self.spare = step;
        Ok(ticket)
    }

    /// Applies the facts of a step; those with a cursor go to the journal, the store and the feed as well.
    #[inline]
    fn apply(&mut self, now: Now, step: &mut Step) {
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
            if fact.recalls() {
                self.recalls.fetch_add(1, Ordering::Release);
            }
            self.figures.count(&fact, &self.state, now);
            self.note(now, &fact);
            let decision = self.state.apply(now, fact);
            self.feed.push(decision);
            self.note_forgotten();
        }
    }

    #[inline]
    fn note_forgotten(&mut self) {
        if let Some(keeper) = &mut self.keeper
            && !self.state.forgotten().is_empty()
        {
            keeper.forget(self.state.forgotten());
        }
    }

    /// Refuses what nobody may be promised: to keep something where nothing is kept, or while nothing can be.
    fn check_kept(&self, step: &Step, is_command: bool, says_so_already: bool) -> Result<(), Refusal> {
        // While nothing can be kept, memory may know of what the disk does not: that is no answer to a repeat either.
        let needs_disk =
            || says_so_already || step.facts.iter().any(|fact| keep::needs_disk(fact, &self.state));
        match &self.keeper {
            None => {
                let creates =
                    |fact: &Fact| matches!(fact, Fact::Created { schedule, .. } if schedule.is_durable());
                let unkept = self.keeps == Keeps::Nothing && step.facts.iter().any(creates);
                if unkept { Err(Refusal::NoStore) } else { Ok(()) }
            }
            Some(keeper) if is_command && keeper.term.is_none() && needs_disk() => {
                let detail = keeper.last_fault.as_ref().map_or_else(String::new, ToString::to_string);
                Err(Refusal::StoreUnavailable { detail: detail.into() })
            }
            // What was refused later would have been applied by then.
            Some(keeper) if is_command && keeper.is_filled(3, 4) && needs_disk() => {
                Err(Refusal::StoreUnavailable { detail: "too much waits for the disk".into() })
            }
            Some(_) => Ok(()),
        }
    }

    fn note(&mut self, now: Now, fact: &Fact) {
        if let Some(keeper) = &mut self.keeper
            && keeper.term.is_some()
            && let Some(lasting) = keep::lasting(fact, &self.state)
        {
            keeper.note(self.state.cursor().next(), now, fact, lasting.session);
        }
    }

    /// Sends what was noted to the disk, and holds back the effects that must not come before it.
    fn keep(&mut self, step: &mut Step, word: Option<Report>) -> Option<Ticket> {
        let keeper = self.keeper.as_mut()?;
        let held_back = |effect: &mut Effect| keep::waits_for_disk(effect, &self.state);
        let effects = step.effects.extract_if(.., held_back).collect();
        let ticket = keeper.submit(&self.state, &self.tokens, (effects, word));
        self.hide_unkept();
        ticket
    }

    /// Takes note of what is kept by now; whether there was anything.
    pub(super) fn settle(&mut self) -> bool {
        let Some(keeper) = &mut self.keeper else { return false };
        let mut is_news = false;
        while let Some(effects) = keeper.next_kept() {
            is_news = true;
            if !effects.is_empty() {
                // Their runs may have ended meanwhile: whoever performs them looks.
                self.recalls.fetch_add(1, Ordering::Release);
                self.outbox.extend(effects);
            }
        }
        if is_news {
            self.hide_unkept();
        }
        is_news
    }

    /// Goes on with the messages that are on disk.
    pub(super) fn take_up_said(&mut self, said: &[Said]) {
        let (state, at) = (&self.state, self.state.cursor().next());
        if let Some(keeper) = &mut self.keeper {
            keeper.transcripts.take_up(said, at, |session| state.session(session).is_some());
        }
    }

    /// Nothing can be kept any more: what is on disk stands still until that works again, and says so.
    pub(super) fn unkept(&mut self, fault: StoreFault, now: Now, draw: impl FnOnce() -> Entropy) {
        self.stand_still(|keeper| keeper.fail(fault), now, draw);
    }

    /// The same from a batch on that was not let in: those before it may be kept yet.
    pub(super) fn refused(&mut self, fault: StoreFault, now: Now, draw: impl FnOnce() -> Entropy) {
        self.stand_still(|keeper| keeper.refuse(fault), now, draw);
    }

    fn stand_still(
        &mut self,
        fail: impl FnOnce(&mut Keeper) -> (Vec<Cursor>, Vec<RunId>),
        now: Now,
        draw: impl FnOnce() -> Entropy,
    ) {
        let Some(keeper) = &mut self.keeper else { return };
        let (cursors, unsent) = fail(keeper);
        self.feed.retract(&cursors);
        self.hide_unkept();
        self.tell(StoreInput::Failed { unsent }, now, draw);
    }

    /// Decides on what becomes of the store, which is never refused.
    pub(super) fn tell(&mut self, input: StoreInput, now: Now, draw: impl FnOnce() -> Entropy) {
        let told = self.step(Input::Store(input), now, draw);
        debug_assert!(told.is_ok(), "nobody refuses what has become of the store: {:?}", told.err());
    }

    /// Whether what is said of a term has been dealt with: another one has begun.
    pub(super) fn is_past(&self, term: Term) -> bool {
        self.keeper.as_ref().and_then(|keeper| keeper.term).is_some_and(|now| now > term)
    }

    /// Takes note of what became of all that was let in before the store was renewed: whatever is not kept by now has failed.
    pub(super) fn settle_renewed(&mut self, now: Now, draw: impl FnOnce() -> Entropy) {
        self.settle();
        let left = self.keeper.as_ref().filter(|keeper| keeper.first_unkept().is_some());
        if let Some(fault) = left.and_then(|keeper| keeper.last_fault.clone()) {
            self.unkept(fault, now, draw);
        }
    }

    fn hide_unkept(&mut self) {
        self.feed.hide_from(self.keeper.as_ref().and_then(Keeper::first_unkept));
    }

    /// Whether the engine has something to do at `now`. While too much waits for the disk, what is due waits too: a burst is
    /// claimed as fast as it is kept.
    pub(super) fn is_due(&self, now: Now) -> bool {
        !self.is_behind() && self.state.next_wake(now).is_some_and(|deadline| deadline <= now.boot)
    }

    fn is_behind(&self) -> bool {
        self.keeper.as_ref().is_some_and(|keeper| keeper.is_filled(1, 2))
    }

    /// Until when the driver may sleep: its next deadline, and no longer than a slice, because a suspended machine or a
    /// stepped clock is noticed by the end of it.
    pub(super) fn sleeps_until(&self, now: Now) -> BootTime {
        let slice = if self.state.waits_for_wall() { limits::WALL_SLICE_MS } else { limits::SLEEP_SLICE_MS };
        let slice = now.boot.after(Span::from_millis(slice.value));
        let next = self.state.next_wake(now).filter(|_| !self.is_behind());
        next.map_or(slice, |deadline| deadline.min(slice))
    }

    /// Whether the driver sleeps longer than it may.
    pub(super) fn must_rouse(&self, now: Now) -> bool {
        self.armed.is_some_and(|armed| self.sleeps_until(now) < armed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Durability, HostId, Moment, SessionId, When};
    use crate::engine::{Command, NewSchedule};

    /// How long the driver sleeps, in milliseconds, before a schedule that is due in so many.
    #[track_caller]
    fn check(durability: Durability, delay_ms: u64, expected: u64) {
        let mut core = Core::new(Arc::default(), Keeps::InMemory, None);
        let now = Now { wall: Moment::EPOCH, boot: BootTime::ZERO };
        let session = SessionId::new("one").expect("an id");
        let open = Command::OpenSession {
            session: Some(session.clone()),
            host: HostId::LOCAL,
            config: Arc::default(),
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
