//! Tools that call tools, at a real daemon: an operator's programs, a connected host's tools, servers of the Model Context
//! Protocol, and what is built in.

mod approvals;
mod built_in;
mod commands;
mod fake;
mod fake_http;
mod fake_server;
mod file_events;
mod gates;
mod host_tools;
mod kills;
mod pings;
mod programs;
mod scene;
mod servers;
mod servers_http;
mod servers_used;
mod spread;
