//! Adapter: host for sessions of a connected harness. Deliveries are pushed to it, receipts come
//! back as reports.
//!
//! It holds no state: transcripts belong to the harness, and the id of a delivery is the id of its
//! run. What lives elsewhere: the wire format (`surface/edn_stream`), time-outs and lost
//! connections (`engine`).

mod tools;

use std::sync::Arc;

use crate::domain::{
    Failure, Message, Phase, Reason, RunId, SessionConfig, SessionId, SessionProvenance, Transcript,
};
use crate::engine::{Delivery, Invocation, Opening};
use crate::port::{Host, HostAnswer};

pub use self::tools::HostTools;

/// A message to a connected harness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Push {
    /// A session belongs to the harness from now on: a fresh one that a schedule opened, whose prompt
    /// follows as a delivery, or one that the harness took over.
    SessionOpened {
        /// The session.
        session: SessionId,
        /// The session's configuration, inherited values and preloaded messages included.
        config: Arc<SessionConfig>,
        /// The schedule and the session that a fresh session comes from.
        provenance: Option<SessionProvenance>,
    },
    /// A session was closed, by the harness or by another caller; a fresh one may be closed while
    /// it is still being created.
    SessionClosed {
        /// The closed session.
        session: SessionId,
    },
    /// A prompt, which the harness acknowledges by its id.
    Delivery {
        /// The id to acknowledge.
        run: RunId,
        /// The session that the prompt is for.
        session: SessionId,
        /// The prompt.
        message: Message,
        /// The runs of further bulletins in it, a text each, which the same receipt acknowledges.
        with: Vec<RunId>,
    },
    /// A call of a tool that the harness offers. It sends back what the call came to, by its id.
    ToolCall(Box<Invocation>),
    /// Nobody waits for a call any more.
    ToolCancelled {
        /// The id of the call.
        id: Box<str>,
    },
}

/// The outgoing connection to a harness.
pub trait PushSink: Send + Sync {
    /// Enqueues a push, and returns without waiting for the other side; `false` if the connection
    /// is gone or its backlog is full.
    fn push(&self, push: Push) -> bool;
}

/// The host of a connected harness.
pub struct HostAttached<S> {
    sink: S,
}

impl<S: PushSink> HostAttached<S> {
    /// Makes a host that pushes into `sink`.
    pub fn new(sink: S) -> HostAttached<S> {
        HostAttached { sink }
    }

    fn push(&self, push: Push, phase: Phase, pushed: HostAnswer) -> HostAnswer {
        if self.sink.push(push) {
            return pushed;
        }
        HostAnswer::Failed(Failure::new(phase, Reason::HostLost, "the harness takes no more deliveries"))
    }
}

impl<S: PushSink> Host for HostAttached<S> {
    /// Does nothing, because the harness itself opened the session.
    fn opened(&self, _session: &SessionId, _config: &SessionConfig) {}

    fn create(&self, opening: &Opening) -> HostAnswer {
        let push = Push::SessionOpened {
            session: opening.session.clone(),
            config: Arc::clone(&opening.config),
            provenance: Some(opening.provenance.clone()),
        };
        // The harness owns the session once it is pushed; it does not acknowledge a creation.
        self.push(push, Phase::CreateSession, HostAnswer::Done)
    }

    fn deliver(&self, delivery: &Delivery) -> HostAnswer {
        let push = Push::Delivery {
            run: delivery.run.clone(),
            session: delivery.session.clone(),
            message: Message::clone(&delivery.message),
            with: delivery.with.clone(),
        };
        // The harness acknowledges each delivery, so the receipt is a later report.
        self.push(push, Phase::PromptSubmit, HostAnswer::Later)
    }

    /// Does nothing, because the harness reported the message.
    fn record(&self, _session: &SessionId, _message: &Message) {}

    /// Notifies the harness, which holds the session. If the connection is gone too, the harness
    /// cannot be notified.
    fn forget(&self, session: &SessionId) {
        self.sink.push(Push::SessionClosed { session: session.clone() });
    }

    fn transcript(&self, _session: &SessionId) -> Option<Transcript> {
        None
    }
}
