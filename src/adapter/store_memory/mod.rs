//! Adapter: durable store in memory, for tests, which can make it wait and fail.
//!
//! `store` implements the port, `tables` holds the data, `faults` simulates faults of the disk. What
//! lives elsewhere: anything that survives the process. Invariant: answers come in log order,
//! outside the lock, one thread at a time, as the contract requires (`port`).

mod faults;
mod store;
mod tables;

pub use faults::{DiskFault, Torn};
pub use store::StoreMemory;
