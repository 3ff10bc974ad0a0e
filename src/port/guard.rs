//! Port: an external guard, which allows or denies the hand-over of a run.

use crate::domain::GuardAnswer;
use crate::engine::GuardQuestion;

/// Decides whether runs may be handed over.
///
/// Contract: `ask` accepts the question and returns; it never waits for a process, a network or a
/// person. The guard answers when it knows. An answer that comes after the question's patience, or
/// never, counts as a refusal. A guard that panics has failed, and so has one that drops the reply
/// without answering.
pub trait Guard: Send + Sync {
    /// Accepts a question; the answer goes to `reply`.
    fn ask(&self, question: GuardQuestion, reply: GuardReply);
}

/// The way to return one answer to one question.
pub struct GuardReply(Option<Box<dyn FnOnce(GuardAnswer) + Send>>);

impl GuardReply {
    /// Makes a reply that passes the answer to `take`.
    pub fn new(take: impl FnOnce(GuardAnswer) + Send + 'static) -> GuardReply {
        GuardReply(Some(Box::new(take)))
    }

    /// Sends the answer.
    pub fn give(mut self, answer: GuardAnswer) {
        // Taken out, so that the drop at the end of this call does not answer a second time.
        if let Some(take) = self.0.take() {
            take(answer);
        }
    }
}

impl Drop for GuardReply {
    /// Fails closed: a reply that is dropped without an answer reports a failed guard.
    fn drop(&mut self) {
        if let Some(take) = self.0.take() {
            take(GuardAnswer::Failed { detail: "the guard gave no answer".into() });
        }
    }
}
