//! The program: wires the layers together and runs the commands. Only this layer knows about processes.

mod changed;
mod channels;
mod client;
mod config;
mod control;
mod daemon;
mod data_dir;
mod decisions;
mod demo;
mod doctor;
mod environment;
mod eql;
pub mod export;
mod export_import;
mod fault;
mod forecast_explain;
mod foreign_text;
mod graphql;
mod guard_rules;
pub mod import;
mod in_process;
mod inbox;
mod life;
mod log;
mod mcp;
mod panics;
mod question;
mod run;
pub mod schema;
mod serve;
mod signals;
mod stdio;
mod store;
mod tool;
mod typed_id;

pub use run::run;
