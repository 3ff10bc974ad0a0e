//! Tells the daemon which conversation a process of an agent is in.

use std::io;

use super::input::{CLAUDE, HookInput};
use super::link::{Link, request};
use crate::app::config::environment::Environment;
use crate::app::mcp::processes;
use crate::domain::{AgentName, BootTime};
use crate::service::AgentProcess;
use crate::surface::cli::HookArgs;

/// The agent's process, which has the conversation.
pub(super) fn agent_process(args: &HookArgs, agent: &AgentName) -> Option<AgentProcess> {
    // Hooks are started by the agent itself. Where a shell is in between, Claude Code says who it is; another agent may have been
    // started in a shell of Claude Code's.
    let is_claude = agent.as_str() == CLAUDE;
    let by_claude = || Environment::value("CLAUDE_PID").filter(|_| is_claude)?.parse().ok();
    let pid = args.agent_pid.or_else(by_claude).or_else(processes::parent)?;
    Some(AgentProcess { pid, started: processes::started(pid)?.into() })
}

/// Tells which conversation the agent's process is in.
pub(super) fn bind(link: &mut Link, input: &HookInput, until: BootTime) -> io::Result<()> {
    let Some(AgentProcess { pid, started }) = &input.process else { return Ok(()) };
    let bound = request("agent/bind")
        .with("pid", i64::from(*pid))
        .with("started", &**started)
        .with("address", input.address.to_string());
    let bound = match input.address.directory() {
        Some(directory) => bound.with("directory", directory),
        None => bound,
    };
    link.ask(bound, until)?.map(drop).map_err(|_| io::Error::other("refused"))
}
