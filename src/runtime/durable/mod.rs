//! What survives the process: batches on their way to the store, and recovery from it.
//!
//! `durability` says which work concerns the store, `persister` writes, `recovery` reads at the start and after a store
//! failure, `store_replies` publishes what the store answers, and `manual` attaches a store without its thread. `codec` is the
//! text of facts and rows, `stored_rows` the rows of a store as types, and `transcripts` the messages of durable runs in
//! built-in sessions.

pub mod codec;
mod durability;
mod manual;
mod pending;
mod persister;
mod recovery;
mod recovery_error;
mod store_replies;
mod stored_rows;
mod transcripts;

pub(super) use durability::{asks_for_disk, lasting, needs_disk, report_of_host, waits_for_disk};
pub use manual::load_rows;
pub(super) use pending::Dropped;
pub(super) use persister::Persister;
pub use persister::WithoutStore;
pub use recovery::AttachOptions;
pub(super) use recovery::load_and_recover;
pub use recovery_error::RecoveryError;
pub use store_replies::StoreReplies;
pub(super) use store_replies::replies;
#[cfg(feature = "testkit")]
pub(crate) use stored_rows::for_each as for_each_row;
#[cfg(feature = "cli")]
pub(crate) use stored_rows::row_fault;
pub(crate) use stored_rows::{Row, for_each_of as for_each_row_of, try_for_each as try_for_each_row};
pub(super) use transcripts::StoredMessage;
