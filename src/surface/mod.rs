//! The surfaces, by which clients reach the engine: EDN streams, HTTP, GraphQL, MCP and the command
//! line.
//!
//! A surface converts bytes into calls of the service, and answers into bytes. Invariant:
//! no surface decides anything about schedules.

#[cfg(feature = "cli")]
pub mod cli;
pub mod edn_stream;
#[cfg(feature = "graphql")]
pub mod graphql;
#[cfg(feature = "http")]
pub mod http;
pub mod mcp;
pub use crate::dialect::json;
