//! Why a store refused or failed.

use std::error::Error;
use std::sync::Arc;

use crate::domain::Cursor;

/// Why a store refused or failed. The variants from `TooLarge` on are the caller's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreFault {
    /// The store could not be written or flushed.
    #[error("the store cannot be written: {detail}; the batch was not acknowledged")]
    Unwritable {
        /// The error text of the operating system or database.
        detail: Arc<str>,
    },
    /// The store could not be read.
    #[error("the store cannot be read: {detail}")]
    Unreadable {
        /// The error text of the operating system or database.
        detail: Arc<str>,
    },
    /// The store holds something other than what was written to it.
    #[error("the store is damaged: {what}; run the doctor, and restore a backup")]
    Damaged {
        /// Where the damage is, and of what kind.
        what: Arc<str>,
    },
    /// The owner closed the store.
    #[error("the store is closed")]
    Closed,
    /// The term has ended: reload the persisted state, and decide anew.
    #[error("an earlier append failed, and this was decided on top of it; renew the term and read again")]
    TermOver,
    /// The queue is full.
    #[error("more than {max} {unit} wait for the disk; try again")]
    Overloaded {
        /// The bound that was reached.
        max: u64,
        /// What the bound counts.
        unit: &'static str,
    },
    /// A part of a batch is too large. A batch itself has no bound: one decision is committed whole.
    #[error("{what} is larger than {max}")]
    TooLarge {
        /// Which part is too large.
        what: &'static str,
        /// The bound that was exceeded.
        max: u64,
    },
    /// A batch without facts.
    #[error("a batch needs a fact that says why")]
    NoFact,
    /// A cursor that is not above the one before it.
    #[error("cursor {cursor} does not come after {after}")]
    OutOfOrder {
        /// The refused cursor.
        cursor: Cursor,
        /// The last accepted cursor.
        after: Cursor,
    },
    /// A row whose revision is not above the stored one.
    #[error("revision {revision} of `{key}` does not come after the stored one")]
    StaleRow {
        /// The row's key.
        key: Arc<str>,
        /// The refused revision.
        revision: u64,
    },
}

impl StoreFault {
    /// Returns what is wrong, for a text that says already that the store cannot be used.
    #[cfg(feature = "embed")]
    pub(crate) fn why(&self) -> Box<str> {
        match self {
            // The detail alone: the whole text would say once more that the store cannot be used.
            StoreFault::Unwritable { detail } | StoreFault::Unreadable { detail } => (**detail).into(),
            StoreFault::Damaged { .. }
            | StoreFault::Closed
            | StoreFault::TermOver
            | StoreFault::Overloaded { .. }
            | StoreFault::TooLarge { .. }
            | StoreFault::NoFact
            | StoreFault::OutOfOrder { .. }
            | StoreFault::StaleRow { .. } => self.to_string().into(),
        }
    }

    /// Makes a failed write from the error that caused it.
    pub fn unwritable(error: &dyn Error) -> StoreFault {
        StoreFault::Unwritable { detail: error.to_string().into() }
    }

    /// Makes a failed read from the error that caused it.
    pub fn unreadable(error: &dyn Error) -> StoreFault {
        StoreFault::Unreadable { detail: error.to_string().into() }
    }
}
