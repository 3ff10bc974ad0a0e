//! The program: wires the layers together and runs the commands. Only this layer knows about processes.

mod agent_hosts;
mod agents;
mod approvals;
mod changed;
mod channels;
mod client;
mod config;
mod control;
mod daemon;
mod dashboard;
mod data_dir;
mod decisions;
mod demo;
mod doctor;
#[cfg(feature = "email")]
mod email_config;
mod environment;
mod eql;
pub mod export;
mod export_import;
mod fault;
mod forecast_explain;
mod foreign_text;
mod graphql;
mod guard_rules;
mod hook;
pub mod import;
mod in_process;
mod inbound_config;
mod inbox;
mod life;
mod lists;
mod log;
mod lost_note;
mod mcp;
mod mcp_wait;
mod origin;
mod panics;
mod primitives;
mod processes;
mod question;
mod run;
pub mod schema;
mod serve;
mod signals;
mod stdio;
mod store;
mod table;
mod tool;
#[cfg(feature = "mcp-client")]
mod tool_servers;
mod tools;
mod typed_id;
mod watches;

pub use run::run;
