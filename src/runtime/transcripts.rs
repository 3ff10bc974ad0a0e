//! What durable runs said in built-in sessions: kept beside the receipt, and put back at the next start.
//!
//! The built-in host keeps transcripts in memory. A durable run that counts as delivered must not lose its message with the
//! process, so the message is a row of the batch that has the receipt. What people and volatile runs said stays in memory.
//! Invariant: of each session as many messages are kept as its transcript may have; the rows of a closed one go with it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::facts;
use crate::domain::{Cursor, Fact, HostId, Message, RunFact, RunId, SessionFact, SessionId};
use crate::engine::Effect;
use crate::limits;
use crate::port::RowRecord;

/// A message as it is read from its row.
pub(crate) struct Said {
    pub(super) at: Cursor,
    pub(super) session: SessionId,
    pub(super) message: Message,
}

/// The messages that are on disk, and those that are about to be.
#[derive(Default)]
pub(super) struct Transcripts {
    /// Handed to the built-in host, and not yet known to be kept.
    handed: BTreeMap<RunId, Handed>,
    /// Where the messages of each session stand, oldest first.
    places: BTreeMap<SessionId, VecDeque<Cursor>>,
    /// Rows that belong to the batch being made.
    said: Vec<RowRecord>,
    /// Tombstones, which may go with any batch.
    gone: VecDeque<RowRecord>,
}

struct Handed {
    session: SessionId,
    message: Arc<Message>,
    /// Its row is on its way to the disk.
    is_said: bool,
}

impl Transcripts {
    /// Goes on with what was read; what belongs to no open session is let go of with the next batch.
    pub(super) fn take_up(&mut self, said: &[Said], now_at: Cursor, is_open: impl Fn(&SessionId) -> bool) {
        self.places.clear();
        self.said.clear();
        self.gone.clear();
        for said in said {
            if is_open(&said.session) {
                self.places.entry(said.session.clone()).or_default().push_back(said.at);
            } else {
                self.gone.push_back(tombstone(&said.session, said.at, now_at));
            }
        }
    }

    /// Notes what a durable run is about to say.
    pub(super) fn hand_over(&mut self, effect: &Effect) {
        if let Effect::Deliver(delivery) = effect
            && delivery.host == HostId::LOCAL
        {
            let (session, message) = (delivery.session.clone(), Arc::clone(&delivery.message));
            self.handed.insert(delivery.run.clone(), Handed { session, message, is_said: false });
        }
    }

    /// Notes a fact that is about to be applied at `cursor`: a receipt, or the end of a session.
    pub(super) fn note(&mut self, cursor: Cursor, fact: &Fact) {
        match fact {
            Fact::Run(run, RunFact::Accepted | RunFact::Delivered) => {
                let handed = self.handed.get_mut(run).filter(|handed| !handed.is_said);
                if let Some(Handed { session, message, is_said }) = handed {
                    *is_said = true;
                    let (session, message) = (session.clone(), Arc::clone(message));
                    self.say(&session, cursor, &message);
                }
            }
            Fact::Run(run, RunFact::Failed(_) | RunFact::Cancelled { .. } | RunFact::Retrying { .. }) => {
                self.handed.remove(run);
            }
            Fact::Session(session, SessionFact::Closed) => {
                let gone = self.places.remove(session).unwrap_or_default();
                self.gone.extend(gone.into_iter().map(|at| tombstone(session, at, cursor)));
            }
            Fact::Session(..)
            | Fact::Created { .. }
            | Fact::Schedule(..)
            | Fact::Run(
                _,
                RunFact::Claimed(_)
                | RunFact::Queued { .. }
                | RunFact::Asked { .. }
                | RunFact::Allowed { .. }
                | RunFact::Held(_)
                | RunFact::Approved { .. }
                | RunFact::Denied { .. }
                | RunFact::Dispatched(_),
            )
            | Fact::Guarded { .. }
            | Fact::Host(..)
            | Fact::Channel(..)
            | Fact::Held { .. }
            | Fact::Released { .. }
            | Fact::Awoke { .. }
            | Fact::Stopping { .. } => {}
        }
    }

    /// The receipt of a run is on disk, and its message with it.
    pub(super) fn is_kept(&mut self, run: &RunId) {
        self.handed.remove(run);
    }

    /// What was on its way to the disk did not get there.
    pub(super) fn unsay(&mut self) {
        self.handed.values_mut().for_each(|handed| handed.is_said = false);
    }

    fn say(&mut self, session: &SessionId, at: Cursor, message: &Message) {
        let form = facts::print_message(session, message).into_text();
        let payload = Some(form.into_bytes().into());
        self.said.push(RowRecord { key: key(session, at).into(), revision: at.number(), payload });
        let places = self.places.entry(session.clone()).or_default();
        places.push_back(at);
        if places.len() as u64 > limits::TRANSCRIPT_MESSAGES.value
            && let Some(oldest) = places.pop_front()
        {
            self.gone.push_back(tombstone(session, oldest, at));
        }
    }

    /// The rows that go with the batch being made; a long transcript goes in several.
    pub(super) fn take_rows(&mut self) -> Vec<RowRecord> {
        let mut rows = std::mem::take(&mut self.said);
        rows.extend(self.gone.drain(..self.gone.len().min(GONE_AT_ONCE)));
        rows
    }
}

fn tombstone(session: &SessionId, at: Cursor, now_at: Cursor) -> RowRecord {
    RowRecord { key: key(session, at).into(), revision: now_at.number(), payload: None }
}

/// In the order in which they were said.
fn key(session: &SessionId, at: Cursor) -> String {
    format!("{MESSAGE}{session}/{:020}", at.number())
}

/// Where the message of a key stands.
pub(super) fn place(key: &str) -> Option<Cursor> {
    Some(Cursor::new(key.rsplit_once('/')?.1.parse().ok()?))
}

/// A batch holds more than this, and has other rows too.
const GONE_AT_ONCE: usize = 1_024;

/// How the keys of messages begin.
pub(super) const MESSAGE: &str = "message/";
