//! A guard that allows, holds, refuses, crashes, and says nothing, as its randomness has it.

use std::sync::{Arc, Mutex, PoisonError};

use super::sim_entropy::SimEntropy;
use crate::domain::GuardAnswer;
use crate::engine::GuardQuestion;
use crate::port::{Guard, GuardReply};

/// A guard without judgement.
pub struct SimGuard {
    entropy: Arc<SimEntropy>,
    /// Questions that it has not answered yet.
    open: Mutex<Vec<GuardReply>>,
}

impl SimGuard {
    /// One that draws from this randomness.
    pub fn new(entropy: Arc<SimEntropy>) -> SimGuard {
        SimGuard { entropy, open: Mutex::default() }
    }

    /// Answers a question that is open, in no order; whether there was one.
    pub fn answer_one(&self) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.is_empty() {
            return false;
        }
        let place = usize::try_from(self.entropy.below(open.len() as u64)).unwrap_or(0);
        let reply = open.swap_remove(place);
        drop(open);
        reply.give(self.any_answer());
        true
    }

    /// Lets go of all questions, as a process does that dies.
    pub fn die(&self) {
        drop(self.take_open());
    }

    /// Takes the questions that are open away from it: whoever asked has died.
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
            // It crashes: the reply goes with it.
            0 => drop(reply),
            1..=4 => reply.give(self.any_answer()),
            _ => self.open.lock().unwrap_or_else(PoisonError::into_inner).push(reply),
        }
    }
}
