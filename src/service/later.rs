//! Answers that come later: a call that has begun, and whose answer is there when other calls have ended.
//!
//! No thread has to wait for an answer: the receiver passes a function, which is called with it. Invariant: an answer is given
//! to one receiver, once. If the receiver is dropped before that, the call that was begun is cancelled.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::dialect::Answer;
use crate::domain::{Code, Span};
use crate::edn::{Map, Value};

/// What a call of a tool has led to.
pub enum Called {
    /// The answer.
    Now(Answer),
    /// An answer that comes later.
    Later(Pending),
}

/// An answer that comes later. Dropping it ends what the call has begun.
pub struct Pending {
    waiter: Waiter,
    /// How long it takes at most.
    at_most: Span,
}

/// The side that waits for an answer. Dropping it before the answer has come ends what the call has begun.
#[must_use]
pub struct Waiter {
    slot: Arc<Slot>,
}

/// The side that gives the answer. Dropping it answers that there is none.
pub(super) struct Promise {
    slot: Arc<Slot>,
}

struct Slot {
    stage: Mutex<Stage>,
    /// Rings when the answer was given.
    given: Condvar,
}

enum Stage {
    /// Nobody has said what is to be done with the answer.
    Open(GiveUp),
    /// It goes there.
    Awaited(Take, GiveUp),
    /// It is there, and nobody has asked for it yet.
    There(Answer),
    /// It was given, or nobody wants it any more.
    Over,
}

type Take = Box<dyn FnOnce(Answer) + Send>;
type GiveUp = Box<dyn FnOnce() + Send>;

impl Called {
    /// Waits for the answer, on this thread.
    pub(crate) fn wait(self) -> Answer {
        let pending = match self {
            Called::Now(answer) => return answer,
            Called::Later(pending) => pending,
        };
        let (give, take) = sync_channel(1);
        let _waiter = pending.then(move |answer| {
            // The receiver is below, for as long as this can run.
            let _ = give.send(answer);
        });
        take.recv().unwrap_or_else(|_| nothing())
    }

    /// Passes the answer on through this.
    pub(super) fn map(self, change: fn(Answer) -> Answer) -> Called {
        match self {
            Called::Now(answer) => Called::Now(change(answer)),
            // A later answer is cut to its bounds where it is given (`tools/tasks.rs`, `tools/parallel.rs`).
            later @ Called::Later(_) => later,
        }
    }
}

impl Pending {
    /// Makes an answer that comes within this time. `give_up` ends what the call has begun.
    pub(super) fn new(at_most: Span, give_up: impl FnOnce() + Send + 'static) -> (Pending, Promise) {
        let slot =
            Arc::new(Slot { stage: Mutex::new(Stage::Open(Box::new(give_up))), given: Condvar::new() });
        let waiter = Waiter { slot: Arc::clone(&slot) };
        (Pending { waiter, at_most }, Promise { slot })
    }

    /// How long it takes at most.
    pub fn at_most(&self) -> Span {
        self.at_most
    }

    /// Says what is to be done with the answer; at once, if it is there. Keep what this returns for as long as the answer is
    /// wanted.
    pub fn then(self, take: impl FnOnce(Answer) + Send + 'static) -> Waiter {
        let mut stage = self.waiter.slot.stage();
        match std::mem::replace(&mut *stage, Stage::Over) {
            Stage::Open(give_up) => *stage = Stage::Awaited(Box::new(take), give_up),
            Stage::There(answer) => {
                drop(stage);
                take(answer);
                return self.waiter;
            }
            // Not reached: only `then`, which takes the answer by value, and the end of the waiter lead to these stages.
            Stage::Awaited(..) | Stage::Over => {}
        }
        drop(stage);
        self.waiter
    }
}

impl Waiter {
    /// Whether the answer has not come yet.
    pub fn is_waiting(&self) -> bool {
        matches!(*self.slot.stage(), Stage::Open(_) | Stage::Awaited(..))
    }

    /// Waits until the answer was given, on this thread.
    pub fn wait(self) {
        let mut stage = self.slot.stage();
        // An answer counts as given as soon as its receiver is called, also while the receiver is still at work.
        while matches!(*stage, Stage::Open(_) | Stage::Awaited(..)) {
            stage = self.slot.given.wait(stage).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Promise {
    /// Gives the answer.
    pub(super) fn give(self, answer: Answer) {
        self.slot.give(answer);
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        // Given already, unless what should have given it has panicked.
        self.slot.give(nothing());
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let stage = std::mem::replace(&mut *self.slot.stage(), Stage::Over);
        match stage {
            Stage::Open(give_up) | Stage::Awaited(_, give_up) => give_up(),
            Stage::There(_) | Stage::Over => {}
        }
    }
}

impl Slot {
    fn give(&self, answer: Answer) {
        let mut stage = self.stage();
        match std::mem::replace(&mut *stage, Stage::Over) {
            // The call has ended, so there is nothing left to give up.
            Stage::Open(_) => *stage = Stage::There(answer),
            Stage::Awaited(take, _) => {
                // Unlocked first: the receiver may do anything.
                drop(stage);
                take(answer);
            }
            // A promise that is dropped after it was given says nothing more.
            there @ Stage::There(_) => *stage = there,
            Stage::Over => {}
        }
        self.given.notify_all();
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        // A panic elsewhere cannot leave it inconsistent: each change is one replacement.
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer in place of one that was lost.
fn nothing() -> Answer {
    let error = Map::new()
        .with("kind", Value::keyword("no_answer"))
        .with("class", Code::Unavailable.name())
        .with("message", "the answer was lost; what was called may have been done")
        .with("hint", "look at what has been done before you call again");
    Answer::refused(
        Map::new().with("status", Value::keyword("error")).with("error", error),
        Code::Unavailable,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending() -> (Pending, Promise, Arc<Mutex<Vec<&'static str>>>) {
        let said = Arc::<Mutex<Vec<&'static str>>>::default();
        let gone = Arc::clone(&said);
        let (pending, promise) =
            Pending::new(Span::ZERO, move || gone.lock().expect("no panic").push("gave up"));
        (pending, promise, said)
    }

    fn take(said: &Arc<Mutex<Vec<&'static str>>>) -> impl FnOnce(Answer) + Send + 'static {
        let said = Arc::clone(said);
        move |answer| said.lock().expect("no panic").push(if answer.is_error { "lost" } else { "answer" })
    }

    #[track_caller]
    fn check(said: &Arc<Mutex<Vec<&'static str>>>, expected: &[&str]) {
        assert_eq!(*said.lock().expect("no panic"), expected);
    }

    #[test]
    fn an_answer_is_given_once_in_either_order() {
        let (later, promise, said) = pending();
        let waiter = later.then(take(&said));
        promise.give(Answer::done(1));
        drop(waiter);
        check(&said, &["answer"]);
        let (later, promise, said) = pending();
        promise.give(Answer::done(1));
        drop(later.then(take(&said)));
        check(&said, &["answer"]);
    }

    #[test]
    fn who_goes_before_gives_up_and_who_gives_nothing_says_so() {
        let (later, promise, said) = pending();
        drop(later.then(take(&said)));
        promise.give(Answer::done(1));
        check(&said, &["gave up"]);
        let (later, promise, said) = pending();
        drop(later);
        drop(promise);
        check(&said, &["gave up"]);
        let (later, promise, said) = pending();
        let waiter = later.then(take(&said));
        drop(promise);
        drop(waiter);
        check(&said, &["lost"]);
    }
}
