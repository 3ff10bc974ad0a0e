//! What hosts must do, as data. The runtime performs effects in order and reports back as [`Input`](super::Input).

use std::sync::Arc;

use crate::domain::{
    Attachment, Cause, Dialect, Digest, HostId, Message, Moment, Route, RunId, Schedule, SessionConfig,
    SessionId, SessionProvenance, Span,
};

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
    /// Send something out by a channel; report `Accepted` once it is there, or `Failed`.
    Send(Box<Parcel>),
    /// Ask the guard whether a run may be handed over; report `GuardAnswered`.
    AskGuard(Box<GuardQuestion>),
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

/// A run that is about to be handed over, with all that there is to know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardQuestion {
    /// The run, to be named in the report.
    pub run: RunId,
    /// What is asked about, to be named there too.
    pub digest: Digest,
    /// What was asked for: who made it, what is said, and to whom.
    pub schedule: Schedule,
    /// How often that was defined, from 1.
    pub revision: u32,
    /// What made the run happen.
    pub cause: Cause,
    /// How much later than its slot this is.
    pub late: Span,
    /// How many earlier slots it stands for.
    pub folded: u64,
    /// Which try it is, from 1.
    pub attempt: u16,
    /// The session that it goes into, or that a fresh one comes from.
    pub session: Option<SessionId>,
    /// The schedule that this session comes from, if one opened it.
    pub provenance: Option<SessionProvenance>,
    /// How long there is for an answer.
    pub patience: Span,
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

/// Something to be sent out for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parcel {
    /// The run, to be named in the report; whoever gets it twice knows it by this.
    pub run: RunId,
    /// By which channel, and to whom there.
    pub route: Route,
    /// When it is handed over.
    pub at: Moment,
    /// Which try this is, from 1.
    pub attempt: u16,
    /// What made the run happen.
    pub cause: Cause,
    /// From the slot to the hand-over.
    pub late: Span,
    /// How many earlier slots it stands for.
    pub folded: u64,
    /// Whose words the schedule was made in.
    pub dialect: Dialect,
    /// The session that owns the schedule.
    pub session: SessionId,
    /// The schedule's name for people.
    pub label: Option<Box<str>>,
    /// The text.
    pub text: Box<str>,
    /// The file that goes with it, by its path.
    pub file: Option<Attachment>,
}
