//! GraphQL over the attribute graph: the schema is a walk over the registry, and a query is one run of EQL's plan.
//!
//! [`Roots`] says what `QueryRoot`, `MutationRoot` and `SubscriptionRoot` begin with; [`Graphql`] is what came of it for one
//! registry. The way of a request: `http.rs` (HTTP) or `ws.rs` → `document.rs` (scan, parse, count, validate) →
//! `select.rs` (what is asked, fields merged, variables filled in) → `lower.rs` (one EQL query for all of it) →
//! `fast_writer.rs`, where the plan can be walked (JSON while it is read); else the graph's executor → `answer.rs` (JSON in
//! selection order, null propagation, errors with paths).
//!
//! async-graphql validates documents, answers introspection and prints the schema; it never resolves a field of ours.
//! Does not live here: any server, socket, clock or thread. Time comes in as a callback, a world as an argument.

mod answer;
mod async_graphql_schema;
mod cache;
mod coerce;
mod document;
mod error;
mod execute;
mod fast_writer;
mod follow;
pub mod http;
mod inputs;
mod lower;
mod model;
mod names;
mod prepare;
mod record;
mod request;
mod roots;
mod scan;
mod scheduler;
mod schema;
mod select;
mod service;
pub mod sse;
mod subscription;
mod write;
pub mod ws;

pub use error::{Code, GraphqlError, Segment, refusal};
pub use execute::{Graphql, GraphqlCaller, GraphqlReply, Outcome};
pub use follow::Follower;
pub use request::GraphqlRequest;
pub use roots::{MutationRoot, Pages, QueryKind, QueryRoot, RootPayload, Roots, SubscriptionRoot};
pub use scheduler::roots;
pub use schema::SchemaFault;
pub use service::{GraphqlService, sdl};
pub use subscription::Subscribed;
