//! The clock.

use crate::domain::Now;

/// Reads the wall clock and the boot clock.
///
/// Contract: the boot clock never goes back and counts suspended time; the wall clock may be stepped either way. There
/// is no fallback: an implementation that cannot read a clock must not be built.
pub trait Clock: Send + Sync {
    /// One reading of both.
    fn now(&self) -> Now;

    /// Prepares the calling thread for precise waits; called once by the thread that waits for deadlines.
    fn sharpen_thread(&self) {}
}
