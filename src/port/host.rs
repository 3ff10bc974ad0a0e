//! Port: the host, which runs agent sessions.

use std::sync::Arc;

use crate::domain::{Failure, Message, Obstacle, RunId, SessionConfig, SessionId, Transcript, Turn};
use crate::engine::{Delivery, Opening, QuestionAnswer};

/// The immediate answer of a host to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostAnswer {
    /// The request is done. For a delivery, this answer is the receipt.
    Done,
    /// The receipt will follow as a report, within `limits::RECEIPT_MS`.
    Later,
    /// The request cannot be fulfilled.
    Failed(Failure),
}

/// Runs sessions, accepts prompts, and reports truthfully what became of them.
///
/// Contract: a call hands something over and returns; it never waits for an agent's turn, a network
/// or a person. Calls for one session come in order, one at a time. A host that panics counts as
/// having refused. A request that is answered with `Later` must be reported by
/// [`Report`](crate::engine::Report), otherwise it fails when its receipt is overdue.
pub trait Host: Send + Sync {
    /// A session of this host was opened by a caller: put its preloaded messages into its
    /// transcript.
    fn opened(&self, session: &SessionId, config: &SessionConfig);

    /// Creates and configures a fresh top-level session, puts its preloaded messages there in
    /// order, and leaves the focus unchanged. A failure says whether the session exists all the
    /// same.
    fn create(&self, opening: &Opening) -> HostAnswer;

    /// Puts a prompt into a session. `Done` means accepted, not finished.
    fn deliver(&self, delivery: &Delivery) -> HostAnswer;

    /// Adds a message to the transcript without a delivery, for hosts that own the transcript: a
    /// message that a person wrote, or one that a run delivered before the process restarted.
    fn record(&self, session: &SessionId, message: &Message);

    /// The session is closed, and the host drops what it holds of it.
    fn forget(&self, session: &SessionId);

    /// Returns the transcript; `None` if the harness does not share it. Called under the engine's lock, so that a query sees one
    /// moment, and several threads may call it at a time: it copies pointers, never blocks, and does not call back into the
    /// runtime.
    fn transcript(&self, session: &SessionId) -> Option<Transcript>;

    /// Returns the size of a transcript, if this host keeps it. Called under a lock, so it must not wait.
    fn transcript_bytes(&self, session: &SessionId) -> Option<u64> {
        let transcript = self.transcript(session)?;
        Some(transcript.messages.iter().map(|message| message.bytes() as u64).sum())
    }

    /// Returns what is known of the turn that a run began, from a host that records turns. Called under the engine's lock as
    /// [`Host::transcript`] is.
    fn turn(&self, _run: &RunId) -> Option<Arc<Turn>> {
        None
    }

    /// Returns the runs of the turns in which an agent waits for an operator's answer, the oldest first. Called under the
    /// engine's lock as [`Host::transcript`] is.
    fn asking(&self) -> Vec<RunId> {
        Vec::new()
    }

    /// Returns what is known of why a session cannot be reached, beyond the reason, from a host that begins processes. Called
    /// under the engine's lock as [`Host::transcript`] is.
    fn obstacle(&self, _session: &SessionId) -> Option<Obstacle> {
        None
    }

    /// Passes on what an operator has decided about what an agent asks permission for. A question that does not wait any more
    /// stays as it was answered.
    fn answer_question(&self, _answer: &QuestionAnswer) {}
}
