//! Adapter: built-in host, with transcripts in memory. A session is idle again right after each
//! prompt.
//!
//! Invariant: a transcript holds at most `limits::TRANSCRIPT_MESSAGES` and `limits::TRANSCRIPT_BYTES`; the oldest messages are
//! dropped first, and counted.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;

use crate::domain::{Message, SessionConfig, SessionId, Transcript};
use crate::engine::{Delivery, Opening};
use crate::limits;
use crate::port::{Host, HostAnswer};

/// The built-in host, which stores prompts instead of running a model.
#[derive(Default)]
pub struct HostLocal {
    transcripts: Mutex<HashMap<SessionId, BoundedTranscript>>,
}

/// A bounded transcript: messages are added at one end and dropped at the other.
#[derive(Default)]
struct BoundedTranscript {
    messages: VecDeque<Arc<Message>>,
    /// The size of their texts.
    bytes: usize,
    dropped: u64,
}

impl HostLocal {
    /// Makes a host that stores transcripts.
    pub fn new() -> HostLocal {
        HostLocal::default()
    }

    /// Returns how many of a session's oldest messages were dropped to bound its transcript.
    pub fn dropped(&self, session: &SessionId) -> u64 {
        self.transcripts().get(session).map_or(0, |transcript| transcript.dropped)
    }

    fn transcripts(&self) -> MutexGuard<'_, HashMap<SessionId, BoundedTranscript>> {
        // Each change below is a single push or remove, so a panic elsewhere leaves nothing half
        // done.
        self.transcripts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, session: &SessionId, message: Arc<Message>) {
        let mut transcripts = self.transcripts();
        // Looked up twice in the rare case, so that the common one does not clone the id.
        if let Some(transcript) = transcripts.get_mut(session) {
            transcript.push(message);
        } else {
            transcripts.entry(session.clone()).or_default().push(message);
        }
    }

    fn preload(&self, session: &SessionId, config: &SessionConfig) {
        let mut transcripts = self.transcripts();
        let transcript = transcripts.entry(session.clone()).or_default();
        for message in config.preloaded_messages.iter().flatten() {
            transcript.push(Arc::new(message.clone()));
        }
    }
}

impl BoundedTranscript {
    fn push(&mut self, message: Arc<Message>) {
        self.bytes += message.bytes();
        self.messages.push_back(message);
        while self.is_over()
            && let Some(oldest) = self.messages.pop_front()
        {
            self.bytes -= oldest.bytes();
            self.dropped += 1;
        }
    }

    fn is_over(&self) -> bool {
        self.messages.len() as u64 > limits::TRANSCRIPT_MESSAGES.value
            || self.bytes as u64 > limits::TRANSCRIPT_BYTES.value
    }
}

impl Host for HostLocal {
    fn opened(&self, session: &SessionId, config: &SessionConfig) {
        self.preload(session, config);
    }

    fn create(&self, opening: &Opening) -> HostAnswer {
        self.preload(&opening.session, &opening.config);
        HostAnswer::Done
    }

    fn deliver(&self, delivery: &Delivery) -> HostAnswer {
        self.keep(&delivery.session, Arc::clone(&delivery.message));
        HostAnswer::Done
    }

    fn record(&self, session: &SessionId, message: &Message) {
        self.keep(session, Arc::new(message.clone()));
    }

    fn forget(&self, session: &SessionId) {
        self.transcripts().remove(session);
    }

    fn transcript(&self, session: &SessionId) -> Option<Transcript> {
        let transcripts = self.transcripts();
        let kept = transcripts.get(session)?;
        Some(Transcript { dropped: kept.dropped, messages: kept.messages.iter().cloned().collect() })
    }

    fn transcript_bytes(&self, session: &SessionId) -> Option<u64> {
        self.transcripts().get(session).map(|kept| kept.bytes as u64)
    }
}
