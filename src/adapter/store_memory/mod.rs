//! The durable store's contract, kept in memory: for tests, which can make it wait and fail.
//!
//! `store` is the port, `shelf` what is kept, `faults` what can be wrong with the disk that it would have. What lives
//! elsewhere: anything that survives the process. Invariant: answers come in log order, outside the lock, one thread at a
//! time, as the contract says (`port`).

mod faults;
mod shelf;
mod store;

pub use faults::{DiskFault, Torn};
pub use store::StoreMemory;
