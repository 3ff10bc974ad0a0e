//! Times in which no process was there to claim slots.

use crate::domain::Moment;

/// A time in which the process was down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Downtime {
    /// The last moment at which the process is known to have lived.
    pub from: Moment,
    /// When the next one began to look at the clock.
    pub until: Moment,
}
