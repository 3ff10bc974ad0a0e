//! What the lock guards, and the one way to change it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::feed::Feed;
use super::figures::Figures;
use crate::calendar::Zones;
use crate::domain::{BootTime, Entropy, Now, Refusal};
use crate::engine::{Effect, Given, Input, State, Step, decide_into};
use crate::port::Journal;

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
    /// Subscribers asleep: nobody is roused at the price of a system call while there are none.
    pub(super) listeners: usize,
    /// How many runs ended without a word from their host: effects that wait may be theirs.
    pub(super) recalls: Arc<AtomicU64>,
    zones: Arc<Zones>,
    journal: Option<Box<dyn Journal>>,
}

impl Core {
    pub(super) fn new(zones: Arc<Zones>, journal: Option<Box<dyn Journal>>) -> Core {
        Core {
            state: State::new(),
            feed: Feed::default(),
            figures: Figures::default(),
            outbox: VecDeque::new(),
            armed: None,
            driver_stopped: false,
            undrawn: None,
            spare: Step::default(),
            listeners: 0,
            recalls: Arc::default(),
            zones,
            journal,
        }
    }

    /// Decides, appends, applies. A refusal changes nothing.
    pub(super) fn step(
        &mut self,
        input: Input,
        now: Now,
        draw: impl FnOnce() -> Entropy,
    ) -> Result<(), Refusal> {
        // Most steps invent nothing: the bits wait for one that does.
        let entropy = self.undrawn.take().unwrap_or_else(draw);
        let given = Given { now, entropy, zones: &self.zones };
        let decided = decide_into(std::mem::take(&mut self.spare), &self.state, input, given);
        let mut step = decided.inspect_err(|refusal| self.figures.count_refusal(refusal.code()))?;
        self.undrawn = (!step.drew).then_some(entropy);
        step.drew = false;
        if let Some(journal) = &mut self.journal
            && !step.facts.is_empty()
        {
            journal.append(now, &step.facts);
        }
        for fact in step.facts.drain(..) {
            if fact.recalls() {
                self.recalls.fetch_add(1, Ordering::Release);
            }
            self.figures.count(&fact, &self.state, now);
            let decision = self.state.apply(now, fact);
            self.feed.push(decision);
        }
        self.outbox.extend(step.effects.drain(..));
        self.spare = step;
        Ok(())
    }

    /// Whether the engine has something to do at `now`.
    pub(super) fn is_due(&self, now: Now) -> bool {
        self.state.next_wake(now).is_some_and(|deadline| deadline <= now.boot)
    }

    /// Whether the driver sleeps longer than it may.
    pub(super) fn must_rouse(&self, now: Now) -> bool {
        let Some(armed) = self.armed else { return false };
        self.state.next_wake(now).is_some_and(|deadline| deadline < armed)
    }
}
