//! The stream protocol: one map per message and one line per answer, in EDN or in JSON, on any pair of byte streams.
//!
//! Source: the project's interface description, §3. The answers of tools are in `dialect`, timing in `engine`.
//! Invariants: unreadable input gets an error as its answer, and the stream continues with the next form. Input over
//! the limits gets an answer and ends the stream. A client that does not read is disconnected at a limit, and no
//! thread waits for it. The notation is a matter of the codec: a request in JSON is parsed, admitted and performed like
//! one in EDN.

mod agent_request;
mod codec;
mod connection;
mod error;
mod json_lines;
mod later;
mod outgoing;
mod print;
mod pump;
mod request;
mod request_fields;
mod serve;
mod tool_request;
mod visibility;

#[cfg(feature = "http")]
pub(crate) use connection::OnAnswer;
pub use connection::{Connection, Peer};
pub use serve::serve;
