//! Tells the daemon which conversation a process of an agent is in.

use std::io;

use super::input::HookInput;
use super::link::{Link, request};
use crate::app::config::environment::Environment;
use crate::app::mcp::processes;
use crate::domain::{AgentKind, AgentName, BootTime};
use crate::service::AgentProcess;
use crate::surface::cli::HookArgs;

/// The agent's process, which has the conversation.
pub(super) fn agent_process(args: &HookArgs, agent: &AgentName) -> Option<AgentProcess> {
    // Hooks are started by the agent itself. Where a shell is in between, the agent may say who it is; another agent may have
    // been started in a shell of that one, so each has a variable of its own.
    let told = || Environment::value(AgentKind::of(agent.as_str()).process_variable?)?.parse().ok();
    let pid = args.agent_pid.or_else(told).or_else(processes::parent)?;
    Some(AgentProcess { pid, started: processes::started(pid)?.into() })
}

/// Tells which conversation the agent's process is in.
pub(super) fn bind(link: &mut Link, input: &HookInput, until: BootTime) -> io::Result<()> {
    let Some(AgentProcess { pid, started }) = &input.process else { return Ok(()) };
    let bound = request("agent/bind")
        .with("pid", i64::from(*pid))
        .with("started", &**started)
        .with("address", input.address.to_string());
    let bound = bound.with_some("directory", input.address.directory());
    link.ask(bound, until)?.map(drop).map_err(|_| io::Error::other("refused"))
}
