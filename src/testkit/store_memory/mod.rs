//! A durable store in memory, which tests can make wait, fail and tear its writes.
//!
//! `store` implements the port, `tables` holds the data, `faults` simulates faults of the disk. What
//! lives elsewhere: anything that survives the process. Invariant: answers come in log order,
//! outside the lock, one thread at a time, as the contract requires (`port`).

mod faults;
mod store;
mod tables;

pub use faults::{DiskFault, Torn};
pub use store::StoreMemory;
