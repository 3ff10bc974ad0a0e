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
//! With feature `embed`, a running scheduler is one call away; [`embed`] is a tutorial. This is `examples/embed.rs`:
//!
//! ```no_run
#![doc = include_str!("../examples/embed.rs")]
//! ```
//!
//! Your own tests need not wait for real time: feature `testkit` has a simulated clock, simulated hosts, and whole seeded worlds.
//!
//! # What is public
//!
//! [`prelude`], [`embed`], the nouns in [`domain`], [`edn`], the traits in [`port`], and [`testkit`]. Public are also what the
//! signatures of `port` and `testkit` name of [`engine`], such as `engine::Delivery` and `engine::NewSchedule`, and
//! `runtime::Handle`. The other modules can be named, because the program and our tests are made of them; they are hidden from
//! this documentation and may change in any release.

#[doc(hidden)]
#[cfg(feature = "embed")]
pub mod adapter;
#[doc(hidden)]
#[cfg(feature = "cli")]
pub mod app;
#[doc(hidden)]
pub mod calendar;
#[doc(hidden)]
pub mod dialect;
pub mod domain;
pub mod edn;
#[cfg(feature = "embed")]
pub mod embed;
#[doc(hidden)]
pub mod engine;
#[doc(hidden)]
pub mod graph;
#[doc(hidden)]
pub mod limits;
pub mod port;
#[cfg(feature = "embed")]
pub mod prelude;
#[doc(hidden)]
#[cfg(feature = "embed")]
pub mod runtime;
#[doc(hidden)]
#[cfg(feature = "embed")]
pub mod service;
#[doc(hidden)]
#[cfg(feature = "embed")]
pub mod surface;
#[cfg(feature = "testkit")]
pub mod testkit;
