//! Facts about this process and its store: what was loaded, and what a failure of the store takes back.
//!
//! They change the state as every fact does, by `apply`, and are stored nowhere: the next process reads the same rows again,
//! and has failures of its own. Types keep it so: a log, a journal's `append` and the feed take a [`Fact`], and a
//! [`LocalFact`] is none.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::record::Pause;
use super::row::{ScheduleRow, SessionRow};
use super::state::State;
use crate::domain::{Cursor, Fact, Grant, GuardPolicy, Now, RunId, SessionId};

/// A fact about this process and its store. It ends no run and no schedule: the accounts of what has ended stay as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalFact {
    /// Facts are counted on from here: the log of an earlier process ends there.
    LogEnds {
        /// Its last cursor.
        at: Cursor,
    },
    /// A row of the store was loaded. Of what is there already nothing changes.
    Restored(StoredRow),
    /// The hand-over of a run was withdrawn before anybody heard of it, because its claim could not be stored. The run waits
    /// until what is stored is loaded again.
    Retracted(RunId),
    /// Nothing can be stored: durable schedules stand still until they are loaded again.
    DurableFrozen,
    /// Durable schedules, the hold, the guard's policy and grants were dropped from memory, which may differ from the store, to
    /// be loaded from there. Sessions stay: what became of them meanwhile is written later.
    DurableDropped,
}

/// One row of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredRow {
    /// A session.
    Session(Box<SessionRow>),
    /// A schedule. The row of its session comes before it.
    Schedule(Box<ScheduleRow>),
    /// Who holds everything, if somebody does.
    Hold(Option<Pause>),
    /// What runs are measured by, and what sessions may do.
    Guard {
        /// The policy of all.
        policy: Option<Arc<GuardPolicy>>,
        /// The sessions that may do less than everything.
        grants: BTreeMap<SessionId, Grant>,
    },
}

/// What a state is folded from: a [`Fact`] or a [`LocalFact`], and nothing else.
pub trait StateFact: Sealed {}

impl StateFact for Fact {}

impl StateFact for LocalFact {}

/// How a fact changes the state. Only the fold has it.
pub trait Sealed {
    /// What the feed shows of it.
    type Shown;

    /// Changes the state.
    fn fold(self, state: &mut State, now: Now) -> Self::Shown;
}
