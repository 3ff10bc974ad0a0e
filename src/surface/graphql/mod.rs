//! GraphQL over the attribute graph: the schema is generated from the registry, and each query runs as one EQL plan.
//!
//! [`Roots`] declares the fields of `Query`, `Mutation` and `Subscription`; [`Graphql`] answers requests over one
//! registry. The rooms, in the order in which a request passes them:
//!
//! - `transport`: HTTP, event streams, WebSockets, and what subscriptions push.
//! - `operation`: `prepare.rs` calls `document.rs` (scan, parse, measure, validate), `select.rs` (expand fragments, merge
//!   fields), `coerce.rs` (arguments) and `lower.rs` (one EQL query for the whole selection).
//! - `execution`: `execute.rs` runs the plan: `fast_writer.rs` if the plan has a fast path (writes JSON while it reads);
//!   otherwise the graph's executor and `answer.rs` (JSON in selection order, null propagation, errors with paths).
//! - `schema`: what the rooms above look up, generated from the registry.
//!
//! async-graphql validates documents, answers introspection and prints the schema; it never resolves a field of ours.
//! Does not live here: servers, sockets, clocks and threads. The time limit comes in as a callback, the world as an
//! argument.

mod error;
mod execution;
mod operation;
mod schema;
mod service;
pub mod transport;

pub use error::{Code, GraphqlError, Segment, refusal};
pub use execution::execute::{Graphql, GraphqlCaller, GraphqlReply, Outcome};
pub use operation::request::GraphqlRequest;
pub use schema::build::SchemaFault;
pub use schema::roots::{MutationRoot, Pages, QueryKind, QueryRoot, RootPayload, Roots, SubscriptionRoot};
pub use schema::scheduler::roots;
pub use service::{GraphqlService, sdl};
pub use transport::follow::Follower;
pub use transport::subscription::Subscribed;
