//! `reveille hook`: what an agent's hooks call. It tells the daemon which conversation the agent's process is in and when a turn
//! begins and ends, which schedules the agent holds itself, and hands over what is due.
//!
//! What lives elsewhere: the table of processes and the waiters (`service/agents.rs`). Invariants: a hook ends with code 0
//! whatever happens, except a waiter that has a prompt for the agent, which ends with code 2; a hook that is no waiter sends
//! nothing after 200 ms, and then waits only for what it has taken; what is printed is meant for the agent and for nobody else.

mod beside;
mod binding;
mod codex;
mod input;
mod link;
mod qwen;
mod report;
mod schedules;
mod shown;
mod waiter;
mod words;

pub(super) use link::{Link, request};
pub(super) use report::hook;
