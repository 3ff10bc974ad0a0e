//! What survives the process: batches on their way to the store, and recovery from it.
//!
//! `durability` says which work concerns the store, `persister` writes, `recovery` reads at the start and after a store
//! failure, `codec` is the text of facts and rows, `stored_rows` the rows of a store as types, and `transcripts` the messages of
//! durable runs in built-in sessions.

pub mod codec;
mod durability;
mod persister;
mod recovery;
mod stored_rows;
mod transcripts;

pub(super) use durability::{asks_for_disk, lasting, needs_disk, report_of_host, waits_for_disk};
pub(super) use persister::Persister;
pub use persister::WithoutStore;
pub(super) use recovery::attach;
pub use recovery::{AttachOptions, RecoveryError, StoreReplies, load_rows};
pub(crate) use stored_rows::{Row, for_each as for_each_row};
pub(super) use transcripts::StoredMessage;
