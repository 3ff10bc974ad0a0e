//! The channels of SEED-001: tools by which a session sends through the channels that operators have configured, and looks at
//! them.
//!
//! This module parses arguments into [`Call`]s, converts messages to commands, and prints answers. What is sent is a run like any
//! other, with its retries and its receipt. Invariant: a channel that the caller may not use is one that does not exist.

mod answer;
mod call;
mod command;
mod error;
mod tool;
mod view;

pub use answer::{arrived, broadcast, history, listed, paused, sent, stats, status};
pub use call::{Call, HistoryRequest, OutMessage, parse};
pub use error::{errors, no_session, not_inbound, not_managed, nothing_to_answer, refused, unknown_channel};
pub use tool::Tool;
pub use view::Provider;
