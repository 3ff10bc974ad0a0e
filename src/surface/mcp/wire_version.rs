//! The wire shapes of a request and its answer: with a handshake, or stateless.
//!
//! What lives elsewhere: which of them a request has (`declaration.rs`).

/// The wire shape of a request and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WireVersion {
    /// After a handshake: revisions up to 2025-11-25.
    Handshake,
    /// Without a handshake: revision 2026-07-28.
    Stateless,
}
