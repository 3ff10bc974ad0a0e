//! Sessions that live in a harness connected to us: deliveries are pushed, receipts come back as reports.
//!
//! It keeps nothing: transcripts are the harness's, and a delivery's id is its run's. What lives elsewhere: the wire
//! (`surface/edn_stream`), time-outs and lost connections (`engine`).

use std::sync::Arc;

use crate::domain::{
    Failure, Message, Phase, Reason, RunId, SessionConfig, SessionId, SessionProvenance, Transcript,
};
use crate::engine::{Delivery, Opening};
use crate::port::{Host, HostAnswer};

/// What a connected harness is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Push {
    /// A schedule opened a fresh session, which is the harness's from here on. The prompt follows as a delivery.
    SessionOpened {
        /// The fresh session.
        session: SessionId,
        /// What it is to be, inherited values and preloaded messages included.
        config: Arc<SessionConfig>,
        /// Where it comes from.
        provenance: SessionProvenance,
    },
    /// A session is gone, whoever closed it; a fresh one may be called off while it is being created.
    SessionClosed {
        /// The session.
        session: SessionId,
    },
    /// A prompt, to be acknowledged by its id.
    Delivery {
        /// The id to acknowledge.
        run: RunId,
        /// The session.
        session: SessionId,
        /// The prompt.
        message: Message,
    },
}

/// The way to a harness. `false` says that the connection is gone or its backlog full.
pub trait PushSink: Send + Sync {
    /// Puts a push into the connection's outgoing queue, and returns without waiting for the other side.
    fn push(&self, push: Push) -> bool;
}

/// A connected harness.
pub struct HostAttached<S> {
    sink: S,
}

impl<S: PushSink> HostAttached<S> {
    /// A host that pushes into `sink`.
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
    /// Nothing to do: the harness asked for it.
    fn opened(&self, _session: &SessionId, _config: &SessionConfig) {}

    fn create(&self, opening: &Opening) -> HostAnswer {
        let push = Push::SessionOpened {
            session: opening.session.clone(),
            config: Arc::clone(&opening.config),
            provenance: opening.provenance.clone(),
        };
        self.push(push, Phase::CreateSession, HostAnswer::Done)
    }

    fn deliver(&self, delivery: &Delivery) -> HostAnswer {
        let push = Push::Delivery {
            run: delivery.run.clone(),
            session: delivery.session.clone(),
            message: Message::clone(&delivery.message),
        };
        self.push(push, Phase::PromptSubmit, HostAnswer::Later)
    }

    /// Nothing to do: the harness reported it.
    fn record(&self, _session: &SessionId, _message: &Message) {}

    /// The harness keeps the session: it is told. Should it be gone as well, there is nobody to tell.
    fn forget(&self, session: &SessionId) {
        self.sink.push(Push::SessionClosed { session: session.clone() });
    }

    fn transcript(&self, _session: &SessionId) -> Option<Transcript> {
        None
    }
}
