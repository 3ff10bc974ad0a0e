//! GraphQL over the attribute graph: the schema is a walk over the registry, and a query is one run of EQL's plan.
//!
//! [`Roots`] says what `Query`, `Mutation` and `Subscription` begin with; [`Graphql`] is what came of it for one
//! registry. The way of a request: `edge.rs` (HTTP) or `ws.rs` → `document.rs` (scan, parse, count, validate) →
//! `select.rs` (what is asked, fields merged, variables filled in) → `lower.rs` (one EQL query for all of it) →
//! `shape.rs`, where the plan can be walked (JSON while it is read); else the graph's executor → `answer.rs` (JSON in
//! selection order, null propagation, errors with paths).
//!
//! async-graphql validates documents, answers introspection and prints the schema; it never resolves a field of ours.
//! Does not live here: any server, socket, clock or thread. Time comes in as a callback, a world as an argument.

mod answer;
mod cache;
mod coerce;
mod document;
pub mod edge;
mod error;
mod execute;
mod face;
mod follow;
mod inputs;
mod lower;
mod model;
mod names;
mod prepare;
mod request;
mod roots;
mod scan;
mod scheduler;
mod schema;
mod select;
mod service;
mod shape;
pub mod sse;
mod subscription;
mod write;
pub mod ws;

pub use error::{Code, GraphqlError, Segment, refusal};
pub use execute::{Caller, Graphql, Outcome, Reply};
pub use follow::Follower;
pub use request::Request;
pub use roots::{Mutation, Pages, Payload, Query, QueryKind, Roots, Subscription};
pub use scheduler::roots;
pub use schema::SchemaFault;
pub use service::{Service, sdl};
pub use subscription::Subscribed;
