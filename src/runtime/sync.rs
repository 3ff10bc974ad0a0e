//! The locks of the runtime: the standard library's, and shuttle's in this crate's unit tests.
//!
//! The race tests explore interleavings of the code that ships. Everything outside them (integration tests, doc
//! tests, embedders) links the standard locks.

#[cfg(not(test))]
pub(super) use std::sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

#[cfg(test)]
pub(super) use shuttle::sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The message if a lock is poisoned, which takes a defect in this crate: hosts run outside the locks, and a panic of
/// a closure that reads after a change is caught.
pub(super) const UNPOISONED: &str = "a panic under the engine's lock leaves its state undefined";
