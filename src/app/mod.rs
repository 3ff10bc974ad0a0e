//! The program: wires the layers together and runs the commands. Only this layer knows about processes.

mod agents;
mod approvals;
mod backup;
mod calendar;
mod changed;
mod client;
mod config;
mod control;
mod dashboard;
mod decisions;
mod demo;
mod doctor;
mod eql;
mod exit;
pub mod export;
mod export_import;
mod fault;
mod forecast_explain;
mod foreign_text;
mod graphql;
mod hook;
pub mod import;
mod inbox;
mod lists;
mod mcp;
mod run;
pub mod schema;
mod serve;
mod show;
mod stdio;
mod table;
mod tool;
mod watches;

pub use run::run;
