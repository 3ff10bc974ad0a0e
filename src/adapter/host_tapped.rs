//! Adapter: a host with a listener, which is called with each message that was delivered.
//!
//! It passes on the calls about sessions, messages and deliveries. Those about turns of agents (`turn`, `asking`, `obstacle`,
//! `answer_question`) are answered by the defaults of [`Host`].

use std::sync::Arc;

use crate::domain::{Message, SessionConfig, SessionId, Transcript};
use crate::engine::{Delivery, Opening};
use crate::port::{Host, HostAnswer};

/// A host that tells a listener what another host has accepted.
pub struct HostTapped<L> {
    host: Arc<dyn Host>,
    listener: L,
}

impl<L: Fn(&SessionId, &Message) + Send + Sync> HostTapped<L> {
    /// Taps a host. The listener is called on the delivering thread and must return at once; it should only pass the message
    /// on.
    pub fn new(host: Arc<dyn Host>, listener: L) -> HostTapped<L> {
        HostTapped { host, listener }
    }
}

impl<L: Fn(&SessionId, &Message) + Send + Sync> Host for HostTapped<L> {
    fn opened(&self, session: &SessionId, config: &SessionConfig) {
        self.host.opened(session, config);
    }

    fn create(&self, opening: &Opening) -> HostAnswer {
        self.host.create(opening)
    }

    fn deliver(&self, delivery: &Delivery) -> HostAnswer {
        let answer = self.host.deliver(delivery);
        // `Later` is no receipt yet: a host of that kind reports to its own program.
        if answer == HostAnswer::Done {
            (self.listener)(&delivery.session, &delivery.message);
        }
        answer
    }

    fn record(&self, session: &SessionId, message: &Message) {
        self.host.record(session, message);
    }

    fn forget(&self, session: &SessionId) {
        self.host.forget(session);
    }

    fn transcript(&self, session: &SessionId) -> Option<Transcript> {
        self.host.transcript(session)
    }

    fn transcript_bytes(&self, session: &SessionId) -> Option<u64> {
        self.host.transcript_bytes(session)
    }
}
