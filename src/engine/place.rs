//! Where a run goes, and why it cannot go there right now.
//!
//! What lives elsewhere: how that is found out (`state`), and the way there (`step/hand_over.rs`).

use super::record::SessionRecord;
use super::slab::Key;
use crate::domain::{Reason, Route};

/// Where a run goes, at this moment.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'a> {
    /// Into this session.
    Lane(Key, &'a SessionRecord),
    /// Into a fresh one, which the host of this one creates.
    Fresh(Key, &'a SessionRecord),
    /// Out of the process, by this channel.
    Outside(&'a Route),
    /// Nowhere, for this reason.
    Nowhere(Reason),
}

impl<'a> Place<'a> {
    /// The session it goes into, or that a fresh one comes from.
    pub(super) fn session(self) -> Option<&'a SessionRecord> {
        match self {
            Place::Lane(_, session) | Place::Fresh(_, session) => Some(session),
            Place::Outside(_) | Place::Nowhere(_) => None,
        }
    }
}

impl Place<'_> {
    /// Why a run for there cannot be handed over right now, if it cannot.
    pub(super) fn blocks(self) -> Option<Reason> {
        match self {
            Place::Lane(_, session) => session.blocks_prompt(),
            Place::Fresh(_, session) => session.blocks_fresh(),
            Place::Outside(_) | Place::Nowhere(_) => None,
        }
    }
}
