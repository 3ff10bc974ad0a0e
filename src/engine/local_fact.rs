//! Facts about this process and its store: rows that were loaded, state that a failure of the
//! store takes back, and what agents said that holds only while their processes run.
//!
//! Like every fact they change the state through `apply`, but they are not stored: the next process
//! reads the same rows again, has failures of its own, and hears again what agents say. The types enforce this: a log, a
//! journal's `append` and the feed accept a [`Fact`], which a [`LocalFact`] is not.

use super::row::StoredRow;
use super::state::State;
use super::undo::Undo;
use crate::domain::{AgentSchedules, Cursor, Fact, Memory, Now, Pings, Primitives, RunId, SessionId};

/// A fact about this process and its store. It ends no run and no schedule, so the totals of final
/// outcomes do not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalFact {
    /// New facts are numbered after this cursor, where the log of an earlier process ends.
    LogEnds {
        /// The last cursor in the log.
        at: Cursor,
    },
    /// A row of the store was loaded. A session or schedule that is in the state already stays as
    /// it is.
    Restored(StoredRow),
    /// The dispatch of a run was withdrawn before any host received it, because it could not be
    /// committed. The run waits until the store's rows are loaded again.
    Retracted(RunId),
    /// What a command had changed was taken back, because that could not be committed, and was refused.
    TakenBack(Undo),
    /// Nothing can be stored: durable schedules stand still until they are loaded again.
    DurableFrozen {
        /// The error of the store.
        why: Box<str>,
    },
    /// After a failure of the store, what an open session remembers and its pings were taken back to what is stored.
    MemoryRestored {
        /// The session.
        session: SessionId,
        /// What it remembers; `None` for nothing.
        memory: Option<Box<Memory>>,
        /// Its pings.
        pings: Pings,
    },
    /// Families of tools were switched on or off for this process.
    Switched(Primitives),
    /// An agent has said which schedules it holds itself for its conversation. After a restart that is not known.
    AgentSchedules {
        /// The session.
        session: SessionId,
        /// What the agent said; `None` if that is not known any more.
        said: Option<AgentSchedules>,
    },
    /// Durable schedules, the hold, the guard policy and the grants were dropped, to be loaded from
    /// the store, from which memory may differ. Sessions stay: their changes are written later.
    DurableDropped,
}

/// A fact that a state is folded from: a [`Fact`] or a [`LocalFact`]. Sealed.
pub trait StateFact: Sealed {}

impl StateFact for Fact {}

impl StateFact for LocalFact {}

/// How a fact changes the state. Only the fold implements it.
pub trait Sealed {
    /// What the feed shows of the fact.
    type Shown;

    /// Applies the fact to the state.
    fn fold(self, state: &mut State, now: Now) -> Self::Shown;
}
