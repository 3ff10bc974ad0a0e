//! What calls a daemon: commands, dialects, channels, guards, hosts, and clients that repeat themselves or hang.

mod agent_schedules;
mod agents;
mod calendar;
mod callers;
mod channels;
mod cli;
mod codex;
mod dialects;
mod guard;
mod hook_kills;
mod hosts;
mod inbound;
mod memory;
mod other_agents;
mod readme;
mod repeats;
mod setup;
mod slow_clients;
mod token;
mod transfer;
mod words;
