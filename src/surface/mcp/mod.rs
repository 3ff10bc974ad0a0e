//! The Model Context Protocol: tools for models, and schedules, runs and explanations as resources.
//!
//! One message in, one answer out: `message` (JSON-RPC), `era` (which wire shape), `service` (the methods), `fault` (every
//! error and its code), `mirror` (what HTTP says twice), `lines` (stdio), `relay` (stdio in front of a daemon). What is offered
//! stands behind `features`: the scheduler's is `scheduler`, with `tools` and `resources`. What lives elsewhere: the server
//! of HTTP (`http`), processes (`app`), what a tool answers (`dialect`).
//!
//! Both wire shapes are spoken on every transport: the one with a handshake (2025-06-18, 2025-11-25) and the stateless one
//! (2026-07-28). Invariants: **nothing is remembered between two messages**, so there is no session id that could be guessed
//! or taken over, and who calls is known from the token of each request; a token is never passed on.

mod era;
mod fault;
mod features;
mod lines;
mod message;
mod mirror;
mod offer;
mod relay;
mod resources;
mod revision;
mod scheduler;
mod service;
mod tools;

pub use features::{Features, Listing, Page, Tool, Unserved};
pub use lines::serve;
pub use mirror::{Mirror, Said};
pub use offer::{Offer, UnknownDialect};
pub use relay::{Relayed, unanswered};
pub use resources::Kind as ResourceKind;
pub use revision::Revision;
pub use scheduler::Scheduler;
pub use service::{Method, Reply, Service};
