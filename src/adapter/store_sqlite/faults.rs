//! Fault injection: points at which a test can make the disk fail.
//!
//! Without a fault layer, each point costs one comparison. What lives elsewhere: what happens after
//! a failure (`writer`).

use std::sync::Arc;

use crate::port::StoreFault;

/// A point at which the disk may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultPoint {
    /// Before a transaction begins.
    Begin,
    /// Before a transaction is flushed: nothing of it is in the file.
    Commit,
    /// After a transaction was written, as if only the flush had failed: it may be in the file.
    Flush,
    /// Before the file is opened again after a failure.
    Reopen,
}

/// Called at every point; if it returns a text, the operation fails with that text.
pub type FaultLayer = Arc<dyn Fn(FaultPoint) -> Option<&'static str> + Send + Sync>;

/// The fault layer of a store, if it has one.
#[derive(Clone, Default)]
pub(super) struct Faults(pub(super) Option<FaultLayer>);

impl Faults {
    pub(super) fn pass(&self, point: FaultPoint) -> Result<(), StoreFault> {
        match self.0.as_ref().and_then(|layer| layer(point)) {
            Some(detail) => Err(StoreFault::Unwritable { detail: detail.into() }),
            None => Ok(()),
        }
    }
}
