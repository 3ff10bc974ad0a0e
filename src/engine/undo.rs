//! What a command is about to change of what is stored, as it is before: a failure of the store takes the change back.
//!
//! What lives elsewhere: which changes are taken back (`step/whole/store_failed.rs`), and how (`apply/store.rs`).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::channels::ChannelPauses;
use super::pause::Holds;
use super::row::ScheduleRow;
use crate::domain::{Cursor, Grant, GuardPolicy, Memory, Pings, ScheduleId, SessionId};

/// Something that a command changes, as it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undo {
    /// A durable schedule.
    Schedule {
        /// Its id.
        id: ScheduleId,
        /// The schedule with its runs; `None` if the command creates it.
        row: Option<Box<ScheduleRow>>,
    },
    /// The hold of everything, and the latest that are over.
    Holds(Holds),
    /// The channels that are paused, by name.
    ChannelPauses(BTreeMap<Box<str>, ChannelPauses>),
    /// The guard policy and the grants.
    Guard {
        /// The policy that runs are checked by; `None` for no policy.
        policy: Option<Arc<GuardPolicy>>,
        /// The restricted grants by session.
        grants: BTreeMap<SessionId, Grant>,
    },
    /// What an open session remembers, and its pings.
    Memory {
        /// The session.
        session: SessionId,
        /// The cursor of its opening, which tells it from a later session of its id.
        opened: Cursor,
        /// What it remembers; `None` for nothing.
        memory: Option<Box<Memory>>,
        /// Its pings.
        pings: Pings,
    },
}

/// What an [`Undo`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Touched<'a> {
    Schedule(&'a ScheduleId),
    Holds,
    ChannelPauses,
    Guard,
    Memory(&'a SessionId),
}

impl Undo {
    pub(super) fn touched(&self) -> Touched<'_> {
        match self {
            Undo::Schedule { id, .. } => Touched::Schedule(id),
            Undo::Holds(_) => Touched::Holds,
            Undo::ChannelPauses(_) => Touched::ChannelPauses,
            Undo::Guard { .. } => Touched::Guard,
            Undo::Memory { session, .. } => Touched::Memory(session),
        }
    }
}
