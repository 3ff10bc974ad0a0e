//! Whoever runs the sessions.

use crate::domain::{Failure, Message, SessionConfig, SessionId, Transcript};
use crate::engine::{Delivery, Opening};

/// What a host says of a request at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostAnswer {
    /// It is done: a delivery with this answer has its receipt.
    Done,
    /// The receipt will follow as a report, within `limits::RECEIPT_MS`.
    Later,
    /// It cannot be done.
    Failed(Failure),
}

/// Keeps sessions, takes prompts, and says truly what became of them.
///
/// Contract: a call hands something over and returns; it never waits for an agent's turn, a network or a person. Calls
/// for one session come in order, one at a time. A host that panics counts as having refused. Whatever is not
/// answered with `Done` or `Failed` must be reported by [`Report`](crate::engine::Report), else it fails when its
/// receipt is overdue.
pub trait Host: Send + Sync {
    /// A session of this host was opened by somebody: put its preloaded messages into its transcript.
    fn opened(&self, session: &SessionId, config: &SessionConfig);

    /// Creates and configures a fresh top-level session, puts its preloaded messages there in order, and leaves the
    /// focus where it is. A failure says whether the session exists all the same.
    fn create(&self, opening: &Opening) -> HostAnswer;

    /// Puts a prompt into a session. `Done` means accepted, not finished.
    fn deliver(&self, delivery: &Delivery) -> HostAnswer;

    /// Keeps a message that no run hands over, where the host keeps the transcript itself: a person's, or one that a run
    /// had delivered in an earlier life.
    fn record(&self, session: &SessionId, message: &Message);

    /// The session is gone.
    fn forget(&self, session: &SessionId);

    /// The transcript; `None` where the harness keeps it to itself. The one call that comes under the engine's lock, so
    /// that a query sees one moment, and that several threads may make at a time: it copies pointers, waits for nobody and calls
    /// nothing of ours.
    fn transcript(&self, session: &SessionId) -> Option<Transcript>;
}
