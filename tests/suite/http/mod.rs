//! The server over real sockets, from outside: raw bytes in, raw bytes out. Tables are in `fixtures/http/`.
//!
//! Nothing here waits for a time to pass: where a time-out is tested, it is short, and what is awaited is the end of the
//! connection. A read that takes longer than `PATIENCE` has failed.

mod bodies;
mod calendar;
mod client;
mod connections;
mod dashboard;
mod graphql;
mod health;
mod hosts;
mod inbound;
mod login;
mod matrix;
mod mcp;
mod page;
mod reports;
mod routes;
mod shares;
mod stream_ops;
mod streams;
mod subscriptions;
mod table;
mod tokens;
mod walls;
mod websocket;
