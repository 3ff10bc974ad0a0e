//! Port: hearing of changes between two calls of a tool.

use std::sync::Arc;

/// Says that the result of a call may have changed. It can be called on any thread, and as often as something happens.
pub type Stirred = Arc<dyn Fn() + Send + Sync>;

/// Hears of changes until it is dropped. It may miss some, so the listener also asks again from time to time.
pub trait Listening: Send {
    /// Returns whether it can still hear of anything.
    fn is_live(&self) -> bool;
}
