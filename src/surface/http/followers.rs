//! The open GraphQL subscriptions of a server: each has a thread of its own that waits for the engine's news.
//!
//! Invariant: what waits between a thread and its connection is bounded; a connection that takes nothing holds up its own
//! thread and nobody else, and the feed says later what was missed.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::limits;
use crate::runtime::Stopper;
use crate::surface::graphql::Follower;

/// How many there may be.
pub(super) struct Followers(Arc<Semaphore>);

/// One of them, from its connection's side. It ends with this.
pub(super) struct Following {
    pub(super) answers: mpsc::Receiver<String>,
    stopper: Stopper,
}

impl Default for Followers {
    fn default() -> Self {
        let most = usize::try_from(limits::GRAPHQL_SUBSCRIPTIONS.value).unwrap_or(Semaphore::MAX_PERMITS);
        Followers(Arc::new(Semaphore::new(most)))
    }
}

impl Followers {
    /// Takes a place for one more, if there is one.
    pub(super) fn enter(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).try_acquire_owned().ok()
    }
}

impl Following {
    /// Lets a subscription run; nothing where the system has no thread to give.
    pub(super) fn start(mut follower: Follower, place: OwnedSemaphorePermit) -> Option<Following> {
        let room = usize::try_from(limits::GRAPHQL_PUSHED.value).unwrap_or(1);
        let (sender, answers) = mpsc::channel(room);
        let stopper = follower.stopper();
        let run = move || {
            while let Some(pushed) = follower.wait() {
                if pushed.into_iter().any(|answer| sender.blocking_send(answer).is_err()) {
                    break;
                }
            }
            drop(place);
        };
        let thread = std::thread::Builder::new().name("reveille-follow".into()).spawn(run);
        thread.ok().map(|_| Following { answers, stopper })
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.stopper.stop();
    }
}
