//! Port: the prober, which finds out who holds an agent's conversation.

use crate::domain::{Address, HolderProcess};

/// Who holds a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Nobody: the conversation may be resumed.
    Nobody,
    /// A process that is not one of ours.
    Other(HolderProcess),
    /// It cannot be found out. With it is the process that may have it, if one was seen.
    Unknown(Option<u32>),
}

/// Answers who holds a conversation.
///
/// Contract: a pure question, asked off the engine's lock and on a thread that may wait; it changes nothing and begins no turn.
/// `ours` says whether a process is one of ours. What cannot be found out within `limits::AGENT_PROBE_MS` is unknown.
pub trait Prober: Send + Sync {
    /// Returns who holds the conversation now.
    fn holder(&self, address: &Address, ours: &dyn Fn(u32) -> bool) -> Holder;

    /// Returns the process of a window that has said by itself that it has the conversation open. It asks nobody, so it can be
    /// called again right before something is sent.
    fn window(&self, address: &Address, ours: &dyn Fn(u32) -> bool) -> Option<HolderProcess>;
}
