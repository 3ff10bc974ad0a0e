//! A simulated guard that allows, holds, refuses, crashes or stays silent at random.

use std::sync::{Arc, Mutex, PoisonError};

use crate::domain::GuardAnswer;
use crate::engine::GuardQuestion;
use crate::port::{Guard, GuardReply};
use crate::testkit::sim::sim_entropy::SimEntropy;

/// A guard that answers at random.
pub struct SimGuard {
    entropy: Arc<SimEntropy>,
    /// Questions without an answer yet.
    open: Mutex<Vec<GuardReply>>,
}

impl SimGuard {
    /// A guard that draws its answers from this randomness.
    pub fn new(entropy: Arc<SimEntropy>) -> SimGuard {
        SimGuard { entropy, open: Mutex::default() }
    }

    /// Answers one open question, chosen at random; returns whether there was one.
    pub fn answer_one(&self) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.is_empty() {
            return false;
        }
        let place = usize::try_from(self.entropy.below(open.len() as u64)).unwrap_or(0);
        let reply = open.swap_remove(place);
        // Unlocked first: the answer may make the engine ask again, which locks `open`.
        drop(open);
        reply.give(self.any_answer());
        true
    }

    /// Drops all open questions, as a dying process does.
    pub fn die(&self) {
        drop(self.take_open());
    }

    /// Removes and returns the open questions, because the process that asked has died.
    pub fn take_open(&self) -> Vec<GuardReply> {
        std::mem::take(&mut *self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn any_answer(&self) -> GuardAnswer {
        let why = Some("as it was drawn".into()).filter(|_| self.entropy.one_in(2));
        match self.entropy.below(8) {
            0 => GuardAnswer::Refuse { why },
            1 => GuardAnswer::Hold { why },
            2 => GuardAnswer::Failed { detail: "it answered with something else".into() },
            _ => GuardAnswer::Allow,
        }
    }
}

impl Guard for SimGuard {
    fn ask(&self, _: GuardQuestion, reply: GuardReply) {
        match self.entropy.below(8) {
            // A crash: the reply is dropped unanswered.
            0 => drop(reply),
            1..=4 => reply.give(self.any_answer()),
            _ => self.open.lock().unwrap_or_else(PoisonError::into_inner).push(reply),
        }
    }
}
