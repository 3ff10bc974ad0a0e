//! GraphQL over the attribute graph: the schema is generated from the registry, and each query runs as one EQL plan.
//!
//! [`Roots`] declares the fields of `Query`, `Mutation` and `Subscription`; [`Graphql`] answers requests over one
//! registry. The path of a request: `http.rs` (HTTP) or `ws.rs` (WebSocket) → `document.rs` (scan, parse, measure,
//! validate) → `select.rs` (expand fragments, merge fields, coerce arguments) → `lower.rs` (one EQL query for the whole
//! selection) → `fast_writer.rs`, if the plan has a fast path (writes JSON while it reads); otherwise the graph's
//! executor → `answer.rs` (JSON in selection order, null propagation, errors with paths).
//!
//! async-graphql validates documents, answers introspection and prints the schema; it never resolves a field of ours.
//! Does not live here: servers, sockets, clocks and threads. The time limit comes in as a callback, the world as an
//! argument.

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
mod locator;
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
