//! The daemon's HTTP interface: an accept loop, access checks before any route, and one table of
//! routes.
//!
//! A connection takes a permit (`conn_limit`) and is timed while it is open (`conn_watchdog`); each of its
//! requests passes the access checks (`gate`) before its route (`route`, `routes`) sees it. Answers are data
//! until one place prints them (`reply`). Source: the project's interface description, §2 and §4.
//! What lives elsewhere: what tools answer (`dialect`), the stream protocol (`edn_stream`), files
//! and signals (`app`). Invariants: no request reaches a route without an accepted Host and, except
//! for the open routes and those with a proof of their own, a live token; no client can hold a task for ever; no body reaches a
//! parser before its size and depth are known; nothing that a client sent is logged.

mod app_state;
mod assets;
mod auth;
mod calendar;
mod config;
mod connection;
mod cors;
mod followers;
mod gate;
mod handlers;
mod later;
mod login;
mod long;
mod message;
mod route;
mod routes;
mod server;
mod streams;
mod traffic;

pub use calendar::CalendarKey;
pub use config::{Config, Times};
pub use connection::socket::{Socket, SocketError};
pub use message::error::ErrorCode;
pub use message::scan::{Syntax, depth};
pub use server::Server;
