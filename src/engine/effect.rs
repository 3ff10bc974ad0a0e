//! What hosts, channels and the guard have to do, as data. The runtime performs effects in order,
//! and reports the outcome as an [`Input`](super::Input).

use std::sync::Arc;

use super::invocation::Invocation;
use super::reading::Look;
use crate::domain::{
    Actor, Attachment, Cause, Dialect, Digest, HostId, Message, Moment, Route, RunId, Schedule,
    SessionConfig, SessionId, SessionProvenance, Span,
};

/// One action for a host, a channel or the guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A session was opened: start its transcript with its preloaded messages, in order.
    OpenSession {
        /// The host that runs its turns.
        host: HostId,
        /// The session.
        session: SessionId,
        /// Its configuration.
        config: Arc<SessionConfig>,
    },
    /// Create and configure a fresh top-level session with its preloaded messages, without moving
    /// the focus there. The report is `Created`, or `Failed` with what exists by then.
    CreateSession(Box<Opening>),
    /// Submit a prompt to a session. The report is `Accepted` or `Failed`.
    Deliver(Delivery),
    /// Send a message through a channel. The report is `Accepted` once it has arrived, or `Failed`.
    Send(Box<Parcel>),
    /// Call a tool. The report is `Returned`.
    Call {
        /// The run; the report names it.
        run: RunId,
        /// The call.
        invocation: Box<Invocation>,
        /// Of a watch: what the outcome is evaluated against.
        look: Option<Box<Look>>,
    },
    /// Nobody waits for the call of a run any more: end it if that is possible. There is no report.
    CancelCall {
        /// The run.
        run: RunId,
    },
    /// Ask the guard whether a run may be handed over. The report is `GuardAnswered`.
    AskGuard(Box<GuardQuestion>),
    /// Pass on an operator's answer to what an agent asks permission for. There is no report.
    AnswerQuestion(Box<QuestionAnswer>),
    /// Add a message that no run delivers to the transcript of a built-in session: one that a
    /// person wrote, or one from an earlier process.
    RecordMessage {
        /// The host that runs its turns.
        host: HostId,
        /// The session.
        session: SessionId,
        /// The message.
        message: Message,
    },
    /// The session is gone: drop everything about it.
    ForgetSession {
        /// The host that ran its turns.
        host: HostId,
        /// The session.
        session: SessionId,
    },
}

/// A fresh session to create for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The run; the report names it.
    pub run: RunId,
    /// The host of the origin session, which becomes the host of the fresh one.
    pub host: HostId,
    /// The id of the fresh session.
    pub session: SessionId,
    /// Its configuration, inherited values included.
    pub config: Arc<SessionConfig>,
    /// The schedule and the session that it comes from.
    pub provenance: SessionProvenance,
}

/// A run that is about to be handed over, with everything a guard may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardQuestion {
    /// The run; the report names it.
    pub run: RunId,
    /// The digest of the question; the report names it too.
    pub digest: Digest,
    /// The definition: who made the schedule, what is delivered, and to whom.
    pub schedule: Schedule,
    /// The configuration that the fresh session would have, with what it inherits; `None` if none is opened.
    pub config: Option<SessionConfig>,
    /// The block of memory that would stand below the prompt; `None` if nothing is remembered.
    pub memory: Option<Box<str>>,
    /// The revision of that definition, from 1.
    pub revision: u32,
    /// What caused the run.
    pub cause: Cause,
    /// How long after its slot the run is handed over.
    pub late: Span,
    /// How many earlier slots the run stands for.
    pub folded: u64,
    /// The number of the attempt, from 1.
    pub attempt: u16,
    /// The session that the run goes into, or whose host creates the fresh session.
    pub session: Option<SessionId>,
    /// The schedule that opened this session, if one did.
    pub provenance: Option<SessionProvenance>,
    /// How long the guard has for its answer.
    pub patience: Span,
}

/// An operator's answer to what an agent asks permission for in a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionAnswer {
    /// The session in which the turn is.
    pub session: SessionId,
    /// Digest of the question.
    pub question: Digest,
    /// Whether the agent may do it, this once.
    pub is_allowed: bool,
    /// The operator.
    pub by: Actor,
}

/// A prompt to deliver for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The run; the report names it.
    pub run: RunId,
    /// The host that runs the session's turns.
    pub host: HostId,
    /// The session.
    pub session: SessionId,
    /// The prompt, with the moment of delivery and the schedule it comes from.
    pub message: Arc<Message>,
    /// The runs of further bulletins that it delivers, one text of the message each, in order. They end as this one does.
    pub with: Vec<RunId>,
}

/// A message to send through a channel for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parcel {
    /// The run; the report names it. A receiver that gets the message twice recognizes it by this
    /// id.
    pub run: RunId,
    /// The channel, and the recipient there.
    pub route: Route,
    /// When it is handed over.
    pub at: Moment,
    /// The number of the attempt, from 1.
    pub attempt: u16,
    /// What caused the run.
    pub cause: Cause,
    /// How long after its slot the run is handed over.
    pub late: Span,
    /// How many earlier slots the run stands for.
    pub folded: u64,
    /// The dialect that the schedule was made in.
    pub dialect: Dialect,
    /// The session that owns the schedule.
    pub session: SessionId,
    /// The root of that session's family, which shares its places outside.
    pub family: SessionId,
    /// Whether it may use the places that are reserved for operators: an operator created the schedule, no session has edited
    /// it, and no session caused the run.
    pub is_operators: bool,
    /// The schedule's display name.
    pub label: Option<Box<str>>,
    /// The text of the message.
    pub text: Box<str>,
    /// The attached file, by its path.
    pub file: Option<Attachment>,
}
