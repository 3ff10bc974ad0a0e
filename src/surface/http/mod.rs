//! The daemon's HTTP interface: an accept loop, access checks before any route, and one table of
//! routes.
//!
//! A connection takes a seat (`seats`) and is timed while it is open (`pulse`); each of its
//! requests passes the access checks (`gate`) before the routes (`routes`) see it. Answers are data
//! until one place prints them (`reply`). Source: the project's interface description, §2 and §4.
//! What lives elsewhere: what tools answer (`dialect`), the stream protocol (`edn_stream`), files
//! and signals (`app`). Invariants: no request reaches a route without an accepted Host and, except
//! for the open routes, a live token; no client can hold a task for ever; no body reaches a parser
//! before its size and depth are known; nothing that a client sent is logged.

mod accept;
mod backoff;
mod body;
mod config;
mod eql;
mod error;
mod event_stream;
mod followers;
mod gate;
mod graphql;
mod health;
mod jobs;
mod mcp;
mod metrics;
mod notation;
mod page;
mod pulse;
mod reply;
mod routes;
mod scan;
mod seats;
mod server;
mod site;
mod socket;
mod stream;
mod streams;
mod tools;
mod traffic;
mod websocket;
mod who;

pub use config::{Config, Times};
pub use error::ErrorCode;
pub use scan::{Syntax, depth};
pub use server::Server;
pub use socket::{Socket, SocketError};
