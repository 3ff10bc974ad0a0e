//! The crate from inside one process: a module for each part, against tables, laws and simulated surroundings.
//!
//! One program holds them all, so that the crate is linked once. `cargo test --test suite durable::` runs one part. The tests
//! run at the same time and share the process, so none of them changes what belongs to all of it: the environment, the current
//! directory, the panic hook. Tests that start daemons are in `tests/blackbox/`, seeded worlds in `tests/worlds.rs`.

mod admission;
mod agents;
mod agreement;
mod answer_bytes;
mod answer_sizes;
mod budgets;
mod bulletin_texts;
mod bulletins;
mod calendar;
mod calls;
mod checker;
mod claude_cron;
mod condition;
mod cron;
mod cron_engine;
mod cron_others;
mod dialects;
mod durable;
mod edn;
mod edn_meta;
mod edn_properties;
mod embed;
mod eql;
mod eql_properties;
mod eql_run;
mod examples;
mod families;
mod far_future;
mod foresight;
mod generated;
mod graph;
mod graphql;
mod graphql_scheduler;
mod guarded_tools;
mod handle;
mod http;
mod inbox;
mod kit;
mod laws;
mod lists;
mod mcp;
mod memory;
mod outside;
mod params;
mod pathom3;
mod psi_rows;
mod registry;
mod run_now;
mod scheduled_calls;
mod scheduler_calls;
mod simulated;
mod stdio;
mod store;
mod times;
mod tool_schemas;
mod toy;
mod true_answers;
mod unreached;
mod watch;
mod watching;
mod year;
mod zones_os;
