//! The program: wires the layers together and runs the commands. The only layer that knows a
//! process.

#[cfg(feature = "cli")]
mod channels;
#[cfg(feature = "cli")]
mod client;
#[cfg(feature = "cli")]
mod config;
#[cfg(feature = "cli")]
mod control;
#[cfg(feature = "cli")]
mod data_dir;
#[cfg(feature = "cli")]
mod demo;
#[cfg(feature = "cli")]
mod doctor;
#[cfg(feature = "embed")]
mod embedded;
#[cfg(feature = "cli")]
mod environment;
#[cfg(feature = "cli")]
mod eql;
#[cfg(feature = "cli")]
pub mod export;
#[cfg(feature = "cli")]
mod fault;
#[cfg(feature = "cli")]
mod foresight;
#[cfg(feature = "cli")]
mod graphql;
#[cfg(feature = "cli")]
mod guard_rules;
#[cfg(feature = "cli")]
pub mod import;
#[cfg(feature = "cli")]
mod keeping;
#[cfg(feature = "cli")]
mod log;
#[cfg(feature = "cli")]
mod mcp;
#[cfg(feature = "cli")]
mod run;
#[cfg(feature = "cli")]
pub mod schema;
#[cfg(feature = "cli")]
mod serve;
#[cfg(feature = "cli")]
mod signals;
#[cfg(feature = "cli")]
mod stdio;
#[cfg(feature = "cli")]
mod tool;
#[cfg(feature = "cli")]
mod transfer;

#[cfg(feature = "embed")]
pub use embedded::Embedded;
#[cfg(feature = "cli")]
pub use run::run;
