//! Where a failure of the disk can be played: the tests' way to an fsync that fails.
//!
//! Without a layer this costs one comparison. What lives elsewhere: what happens after a failure (`writer`).

use std::sync::Arc;

use crate::port::StoreFault;

/// A moment at which the disk may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultPoint {
    /// Before a transaction begins.
    Begin,
    /// Before it is flushed: nothing of it is in the file.
    Commit,
    /// After its bytes were written, as when only the flush failed: it may be in the file.
    Flush,
    /// Before the file is opened again after a failure.
    Reopen,
}

/// Asked at every point; a text makes it fail with that text.
pub type FaultLayer = Arc<dyn Fn(FaultPoint) -> Option<&'static str> + Send + Sync>;

/// A store's layer, if it has one.
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
