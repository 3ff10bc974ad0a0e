//! The messages that durable runs put into built-in sessions: persisted with their receipts,
//! restored at the next start.
//!
//! The built-in host has transcripts in memory only. The message of a durable run that counts as delivered must not
//! be lost with the process, so it is a row in the batch of its receipt. Messages of people and of volatile runs
//! are not persisted. Invariant: no session has more persisted messages than its transcript may hold; closing a
//! session removes its rows.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::codec;
use crate::domain::{Cursor, Fact, Message, RunFact, RunId, SessionFact, SessionId};
use crate::engine::{Effect, State};
use crate::limits;
use crate::port::RowRecord;

/// A message as read from its row.
pub(crate) struct StoredMessage {
    pub(super) at: Cursor,
    pub(super) session: SessionId,
    pub(super) message: Message,
}

impl StoredMessage {
    /// Whether its session is open. One that was opened later under the id is another session, and gets nothing of what the
    /// earlier one was told.
    pub(in crate::runtime) fn is_of_open_session(&self, state: &State) -> bool {
        state.session(&self.session).is_some_and(|session| session.opened() < self.at)
    }
}

/// The messages that are persisted or about to be.
#[derive(Default)]
pub(in crate::runtime) struct Transcripts {
    /// Messages handed to the built-in host whose receipt is not committed yet.
    handed: BTreeMap<RunId, Handed>,
    /// The persisted messages of each session.
    places: BTreeMap<SessionId, Places>,
    /// Rows for the batch that is being made.
    rows: Vec<RowRecord>,
    /// Tombstones for the batch that is being made: those of a session go with its end.
    gone: Vec<RowRecord>,
}

/// The persisted messages of one session.
#[derive(Default)]
struct Places {
    /// Their cursors and sizes, oldest first.
    at: VecDeque<(Cursor, usize)>,
    /// Their size, in bytes.
    bytes: usize,
}

impl Places {
    fn push(&mut self, at: Cursor, bytes: usize) {
        let before = self.at.back().map(|(before, _)| *before);
        debug_assert!(before.is_none_or(|before| before < at), "{at} behind {before:?}: rows sort by it");
        self.at.push_back((at, bytes));
        self.bytes += bytes;
    }

    /// Removes the oldest message if there is more than the host's transcript holds, which drops it as well.
    fn pop_beyond_bounds(&mut self) -> Option<Cursor> {
        let is_over = self.at.len() as u64 > limits::TRANSCRIPT_MESSAGES.value
            || self.bytes as u64 > limits::TRANSCRIPT_BYTES.value;
        let (oldest, bytes) = if is_over { self.at.pop_front()? } else { return None };
        self.bytes -= bytes;
        Some(oldest)
    }
}

/// A message that the built-in host has, or is about to get.
struct Handed {
    session: SessionId,
    message: Arc<Message>,
    /// Whether its row is on its way to the disk.
    is_written: bool,
}

impl Transcripts {
    /// Continues with the messages that were loaded. Rows of sessions that are not open are removed with the next batch.
    pub(in crate::runtime) fn load(
        &mut self,
        said: &[StoredMessage],
        now_at: Cursor,
        is_of_open_session: impl Fn(&StoredMessage) -> bool,
    ) {
        // `handed` stays: the host has these messages, and receipts that were not committed are repeated after the reload.
        self.places.clear();
        self.rows.clear();
        self.gone.clear();
        for said in said {
            if is_of_open_session(said) {
                self.places.entry(said.session.clone()).or_default().push(said.at, said.message.bytes());
            } else {
                self.gone.push(tombstone(&said.session, said.at, now_at));
            }
        }
    }

    /// Remembers the message of a durable run that is about to be delivered.
    pub(super) fn hand_over(&mut self, effect: &Effect) {
        if let Effect::Deliver(delivery) = effect
            && !delivery.host.is_attached()
        {
            let (session, message) = (delivery.session.clone(), Arc::clone(&delivery.message));
            self.handed.insert(delivery.run.clone(), Handed { session, message, is_written: false });
        }
    }

    /// Handles a fact that is about to be applied at `cursor`: a receipt persists its message, and the end of a
    /// session removes its rows.
    pub(super) fn note(&mut self, cursor: Cursor, fact: &Fact) {
        match fact {
            Fact::Run(run, RunFact::Accepted | RunFact::Delivered | RunFact::Left, _) => {
                // A run may be accepted first and delivered later; its message is persisted once.
                let handed = self.handed.get_mut(run).filter(|handed| !handed.is_written);
                if let Some(Handed { session, message, is_written }) = handed {
                    *is_written = true;
                    let (session, message) = (session.clone(), Arc::clone(message));
                    self.write(&session, cursor, &message);
                }
            }
            Fact::Run(run, RunFact::Failed(_) | RunFact::Cancelled { .. } | RunFact::Retrying { .. }, _) => {
                // A retry hands its message over again.
                self.handed.remove(run);
            }
            Fact::Session(session, SessionFact::Closed, _) => {
                let gone = self.places.remove(session).unwrap_or_default();
                self.gone.extend(gone.at.into_iter().map(|(at, _)| tombstone(session, at, cursor)));
            }
            Fact::Session(..)
            | Fact::Created { .. }
            | Fact::Schedule(..)
            | Fact::Run(
                _,
                RunFact::Claimed(_)
                | RunFact::Queued { .. }
                | RunFact::Guard(_)
                | RunFact::Dispatched(_)
                | RunFact::Returned { .. }
                | RunFact::Folded(_)
                | RunFact::Joined { .. }
                | RunFact::Postponed { .. }
                | RunFact::Taken { .. },
                _,
            )
            | Fact::Host(..)
            | Fact::Channel(..)
            | Fact::Engine(_) => {}
        }
    }

    /// Called when the receipt of a run is committed, and its message with it.
    pub(super) fn is_committed(&mut self, run: &RunId) {
        self.handed.remove(run);
    }

    /// Called when pending batches have failed: their messages have to be written again.
    pub(super) fn write_again(&mut self) {
        self.handed.values_mut().for_each(|handed| handed.is_written = false);
    }

    fn write(&mut self, session: &SessionId, at: Cursor, message: &Message) {
        let form = codec::print_message(session, message).into_text();
        let payload = Some(form.into_bytes().into());
        self.rows.push(RowRecord { key: key(session, at).into(), revision: at.number(), payload });
        let places = self.places.entry(session.clone()).or_default();
        places.push(at, message.bytes());
        while let Some(oldest) = places.pop_beyond_bounds() {
            self.gone.push(tombstone(session, oldest, at));
        }
        let bytes: usize = places.at.iter().map(|(_, bytes)| bytes).sum();
        debug_assert!(places.bytes == bytes, "{session}: {} bytes are counted, of {bytes}", places.bytes);
    }

    /// The rows for the batch that is being made.
    pub(super) fn take_rows(&mut self) -> Vec<RowRecord> {
        let mut rows = std::mem::take(&mut self.rows);
        rows.append(&mut self.gone);
        rows
    }
}

fn tombstone(session: &SessionId, at: Cursor, now_at: Cursor) -> RowRecord {
    RowRecord { key: key(session, at).into(), revision: now_at.number(), payload: None }
}

/// The keys of a session's messages sort in the order of their delivery.
fn key(session: &SessionId, at: Cursor) -> String {
    // Padded to the 20 digits of the largest cursor, because keys sort as texts.
    format!("{MESSAGE}{session}/{:020}", at.number())
}

/// The cursor in the key of a message's row.
pub(super) fn place(key: &str) -> Option<Cursor> {
    Some(Cursor::new(key.rsplit_once('/')?.1.parse().ok()?))
}

/// Prefix of the keys of messages.
pub(super) const MESSAGE: &str = "message/";
