//! The locks of the runtime: the standard library's, and shuttle's in this crate's unit tests.
//!
//! The race tests explore interleavings of the very code that runs; everything outside them (integration tests, doc
//! tests, embedders) links the standard locks.

#[cfg(not(test))]
pub(super) use std::sync::{Condvar, Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

#[cfg(test)]
pub(super) use shuttle::sync::{Condvar, Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Why a lock cannot be poisoned by anything but a defect of ours: hosts run outside
/// it, and what reads right after a change is caught when it panics.
pub(super) const UNPOISONED: &str = "a panic under the engine's lock leaves its state undefined";
