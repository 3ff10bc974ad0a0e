//! What the lock guards, and the one way to change it.

use std::collections::VecDeque;

use super::feed::Feed;
use crate::domain::{BootTime, Entropy, Now, Refusal};
use crate::engine::{Effect, Input, State, decide};
use crate::port::Journal;

/// The engine with what hangs on its order: the feed, the effects not yet performed, the driver's alarm.
pub(super) struct Core {
    pub(super) state: State,
    pub(super) feed: Feed,
    pub(super) outbox: VecDeque<Effect>,
    /// What the driver sleeps until; `None` while it is awake and will look for itself.
    pub(super) armed: Option<BootTime>,
    pub(super) driver_stopped: bool,
    undrawn: Option<Entropy>,
    /// Subscribers asleep: nobody is roused at the price of a system call while there are none.
    pub(super) listeners: usize,
    journal: Option<Box<dyn Journal>>,
}

impl Core {
    pub(super) fn new(journal: Option<Box<dyn Journal>>) -> Core {
        Core {
            state: State::new(),
            feed: Feed::default(),
            outbox: VecDeque::new(),
            armed: None,
            driver_stopped: false,
            undrawn: None,
            listeners: 0,
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
        let step = decide(&self.state, input, now, entropy)?;
        self.undrawn = (!step.drew).then_some(entropy);
        if let Some(journal) = &mut self.journal
            && !step.facts.is_empty()
        {
            journal.append(now, &step.facts);
        }
        for fact in step.facts {
            let decision = self.state.apply(now, fact);
            self.feed.push(decision);
        }
        for effect in step.effects {
            self.outbox.push_back(effect);
        }
        Ok(())
    }

    /// Whether the engine has something to do at `now`.
    pub(super) fn is_due(&self, now: Now) -> bool {
        self.state.next_wake().is_some_and(|deadline| deadline <= now.boot)
    }

    /// Whether the driver sleeps longer than it may.
    pub(super) fn must_rouse(&self) -> bool {
        let Some(armed) = self.armed else { return false };
        self.state.next_wake().is_some_and(|deadline| deadline < armed)
    }
}
