//! The EDN stream protocol: one map per message and one line per answer, on any pair of byte
//! streams.
//!
//! Source: the project's interface description, §3. What lives elsewhere: what tools answer
//! (`dialect`), when things happen (`engine`). Invariants: unreadable input is answered, and the
//! stream goes on with the next form; input over the limits is answered and ends the stream; a
//! client that does not read is cut off at a limit, and no thread waits for it.

mod connection;
mod error;
mod outgoing;
mod own;
mod print;
mod pump;
mod request;
mod serve;

pub use connection::{Connection, Peer};
pub use serve::serve;
