//! Why a store cannot be attached.

use crate::port::StoreFault;

/// Why a store cannot be attached. The engine is unchanged, and so is the store, unless it failed while it wrote the guard's
/// policy: it may have that policy then.
#[derive(Debug, thiserror::Error)]
pub enum RecoveryError {
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreFault),
    /// A row is not what this program writes.
    #[error("the row {key} cannot be read: {why}; restore a backup, or start a newer program")]
    Row {
        /// Its key.
        key: Box<str>,
        /// What is wrong with it.
        why: Box<str>,
    },
    /// The guard's policy is invalid.
    #[error("the guard's policy cannot be taken: {why}")]
    Policy {
        /// What is wrong with it.
        why: Box<str>,
    },
    /// The operating system cannot start a thread.
    #[error("there is no thread for the store: {0}")]
    Thread(#[from] std::io::Error),
}
