//! Runs the open GraphQL subscriptions of a server, each on a thread that waits for the engine's
//! feed.
//!
//! Invariant: the queue between a thread and its connection is bounded. A connection that does not
//! read blocks only its own thread; the feed reports later what it missed.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::limits;
use crate::runtime::Stopper;
use crate::surface::graphql::Follower;

/// The places for subscriptions.
pub(super) struct Followers(Arc<Semaphore>);

/// One running subscription, as its connection sees it. Dropping it ends the subscription.
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
    /// Takes a place, if one is free.
    pub(super) fn enter(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).try_acquire_owned().ok()
    }
}

impl Following {
    /// Runs a subscription on a thread of its own; `None` if the system provides no thread.
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
            // The place is free only when the thread has really ended.
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
