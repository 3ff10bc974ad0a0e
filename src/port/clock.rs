//! Port: the clock, which reads wall time and boot time together.

use crate::domain::Now;

/// Reads the wall clock and the boot clock.
///
/// Contract: the boot clock never goes back and counts suspended time; the wall clock may be
/// stepped either way. There is no fallback: an implementation that cannot read one of its clocks
/// must fail to construct.
pub trait Clock: Send + Sync {
    /// Reads both clocks, as close together as the system allows.
    fn now(&self) -> Now;

    /// Prepares the calling thread for precise waits. The thread that waits for deadlines calls it
    /// once.
    fn sharpen_thread(&self) {}
}
