//! What hosts must do, as data. The runtime performs effects in order and reports back as [`Input`](super::Input).

use std::sync::Arc;

use crate::domain::{HostId, Message, RunId, SessionConfig, SessionId, SessionProvenance};

/// One thing for one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A session was opened: keep a transcript for it and put its preloaded messages there, in order.
    OpenSession {
        /// Who runs its turns.
        host: HostId,
        /// The session.
        session: SessionId,
        /// What it is.
        config: Arc<SessionConfig>,
    },
    /// Create and configure a fresh top-level session without moving the focus there, and put its preloaded messages
    /// into it; report `Created`, or `Failed` with what exists by then.
    CreateSession(Box<Opening>),
    /// Put a prompt into a session; report `Accepted` once it is, or `Failed`.
    Deliver(Delivery),
    /// A message for the transcript of a built-in session that no run hands over: a person's, or one of an earlier life.
    RecordMessage {
        /// Who runs its turns.
        host: HostId,
        /// The session.
        session: SessionId,
        /// What was said.
        message: Message,
    },
    /// The session is gone: forget it.
    ForgetSession {
        /// Who ran its turns.
        host: HostId,
        /// The session.
        session: SessionId,
    },
}

/// A fresh session to be created for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The run, to be named in the report.
    pub run: RunId,
    /// The host of the origin, which becomes the fresh session's.
    pub host: HostId,
    /// The fresh session's id.
    pub session: SessionId,
    /// What it is to be, inherited values included.
    pub config: Arc<SessionConfig>,
    /// Where it comes from.
    pub provenance: SessionProvenance,
}

/// A prompt to be delivered for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The run, to be named in the report.
    pub run: RunId,
    /// Who runs the session's turns.
    pub host: HostId,
    /// The session.
    pub session: SessionId,
    /// The prompt, stamped with the moment of delivery and the schedule it comes from.
    pub message: Arc<Message>,
}
