//! Runs the open GraphQL subscriptions of a server, each on a thread that waits for the engine's
//! feed.
//!
//! Invariant: the queue between a thread and its connection is bounded. A connection that does not
//! read blocks only its own thread; the feed reports later what it missed.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::message::waiting::{self, Held};
use crate::limits;
use crate::runtime::Stopper;
use crate::service::{Holder, Quota, Share};
use crate::surface::graphql::{Follower, refusal};

/// One running subscription, as its connection sees it. Dropping it ends the subscription.
pub(super) struct Following {
    pub(super) answers: mpsc::Receiver<Pushed>,
    stopper: Stopper,
}

/// An answer to push, which counts as one that waits to be sent.
pub(super) struct Pushed {
    pub(super) text: String,
    pub(super) held: Held,
}

impl Following {
    /// Runs a subscription on a thread of its own; `None` if the system provides no thread.
    pub(super) fn start(
        mut follower: Follower,
        place: Share,
        holder: Holder,
        waiting: Arc<Quota>,
    ) -> Option<Following> {
        let room = usize::try_from(limits::GRAPHQL_PUSHED.value).unwrap_or(1);
        let (sender, answers) = mpsc::channel(room);
        // Taken before the follower moves to its thread.
        let stopper = follower.stopper();
        let push = move |text: String| match waiting::hold(&waiting, || holder.clone(), text.len() as u64) {
            Ok(held) => sender.blocking_send(Pushed { text, held }).is_ok(),
            Err(limit) => {
                // The subscription ends, and the client can resume after what it has got.
                let text = refusal(&waiting::unsent_in_graphql(limit));
                let _ = sender.blocking_send(Pushed { text, held: None });
                false
            }
        };
        let run = move || {
            while let Some(pushed) = follower.wait() {
                // `all` stops at the first answer that the connection does not take.
                if !pushed.into_iter().all(&push) {
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
