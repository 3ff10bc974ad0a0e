//! Tells the daemon which conversation a process of an agent is in.

use std::io;

use super::input::HookInput;
use super::link::{Link, request};
use crate::app::config::environment::Environment;
use crate::app::mcp::processes;
use crate::domain::BootTime;

/// Tells which conversation the agent's process is in.
pub(super) fn bind(link: &mut Link, input: &HookInput, until: BootTime) -> io::Result<()> {
    // Hooks are started by the agent itself. Where a shell is in between, the agent may say who it is.
    let named = Environment::value("CLAUDE_PID").and_then(|pid| pid.parse().ok());
    let Some(pid) = named.or_else(processes::parent) else { return Ok(()) };
    let Some(started) = processes::started(pid) else { return Ok(()) };
    let bound = request("agent/bind")
        .with("pid", i64::from(pid))
        .with("started", started)
        .with("address", input.address.to_string());
    let bound = match input.address.directory() {
        Some(directory) => bound.with("directory", directory),
        None => bound,
    };
    link.ask(bound, until)?.map(drop).map_err(|_| io::Error::other("refused"))
}
