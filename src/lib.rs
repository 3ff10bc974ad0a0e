//! Reveille wakes AI agents. Agents, and the people they work for, ask for something to happen
//! later; Reveille owns the timing. It proves what it did, explains what it did not do, and
//! forecasts what it will do.
//!
//! The core ([`engine`]) is pure: [`engine::decide`] turns an input, a moment and some randomness
//! into facts and effects, [`engine::State::apply`] folds facts into the state, and
//! [`engine::State::next_wake`] says when to come back. The core builds without any feature, and it
//! knows no clock, no thread and no I/O. [`runtime`] puts a lock, a clock and hosts around it;
//! `app` puts the operating system around that.
//!
//! # Embedding
//!
//! With feature `embed`, a running scheduler is one call away. This is `examples/embed.rs`:
//!
//! ```no_run
#![doc = include_str!("../examples/embed.rs")]
//! ```
//!
//! Your own tests need not wait for real time: feature `testkit` has a simulated clock, simulated
//! hosts, and whole seeded worlds.

#[cfg(feature = "runtime")]
pub mod adapter;
#[cfg(feature = "embed")]
pub mod app;
pub mod calendar;
pub mod dialect;
pub mod domain;
pub mod edn;
pub mod engine;
pub mod graph;
pub mod limits;
pub mod port;
#[cfg(feature = "runtime")]
pub mod runtime;
#[cfg(any(feature = "edn-stream", feature = "graphql", feature = "json"))]
pub mod surface;
#[cfg(feature = "testkit")]
pub mod testkit;
