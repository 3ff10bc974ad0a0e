//! Whoever is asked, outside, whether a run may be handed over.

use crate::domain::GuardAnswer;
use crate::engine::GuardQuestion;

/// Says whether runs may be handed over.
///
/// Contract: a call takes the question and returns; it never waits for a process, a network or a person. The answer is given
/// whenever it is known; what comes after the question's patience, or not at all, is a refusal. A guard that panics has
/// failed, and so has one that lets go of the reply without giving it.
pub trait Guard: Send + Sync {
    /// Takes a question.
    fn ask(&self, question: GuardQuestion, reply: GuardReply);
}

/// The way back for one answer.
pub struct GuardReply(Option<Box<dyn FnOnce(GuardAnswer) + Send>>);

impl GuardReply {
    /// A way back that ends with whoever `take`s the answer.
    pub fn new(take: impl FnOnce(GuardAnswer) + Send + 'static) -> GuardReply {
        GuardReply(Some(Box::new(take)))
    }

    /// Gives the answer.
    pub fn give(mut self, answer: GuardAnswer) {
        if let Some(take) = self.0.take() {
            take(answer);
        }
    }
}

impl Drop for GuardReply {
    /// Fail closed: whoever lets go of it has said nothing.
    fn drop(&mut self) {
        if let Some(take) = self.0.take() {
            take(GuardAnswer::Failed { detail: "the guard gave no answer".into() });
        }
    }
}
