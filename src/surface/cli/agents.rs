//! Arguments of the commands that agents call, and of those that set agents up.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::asking::{DaemonArgs, StateArgs, session_id};
use crate::domain::SessionId;
use crate::surface::mcp::{ToolFilter, UnknownDialect};

/// Arguments of `reveille mcp`.
#[derive(Args, Debug)]
pub struct McpArgs {
    /// The session that calls [default: REVEILLE_SESSION, else the session of the agent's conversation, which is opened when
    /// it first calls; with an in-process engine, mcp]
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub(crate) session: Option<SessionId>,
    /// Call as the operator, for no session.
    #[arg(long, conflicts_with = "session")]
    pub(crate) operator: bool,
    /// The dialects whose tools are offered: native, psi, cron, reminder, session-action, claude-cron, primitives, watch,
    /// scheduler, channels, memory, or several of them [default: native]
    #[arg(long, value_name = "DIALECTS", value_parser = offer)]
    pub(crate) tools: Option<ToolFilter>,
    /// Which daemon to ask.
    #[command(flatten)]
    pub(crate) daemon: DaemonArgs,
}

fn offer(text: &str) -> Result<ToolFilter, UnknownDialect> {
    ToolFilter::parse(text)
}

/// Arguments of `reveille hook`.
#[derive(Args, Debug)]
pub struct HookArgs {
    /// The agent whose hook it is.
    #[arg(value_name = "AGENT")]
    pub(crate) agent: String,
    /// Wait until something is due.
    #[arg(long)]
    pub(crate) wait: bool,
    /// The agent's process, if it is not the one that started this one.
    #[arg(long, hide = true, value_name = "PID", requires = "wait")]
    pub(crate) agent_pid: Option<u32>,
    /// The daemon's data directory.
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// An agent that has a plugin, and can be set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PluginAgent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// opencode.
    Opencode,
    /// Gemini CLI.
    Gemini,
    /// Qwen Code.
    Qwen,
}

/// Arguments of `reveille plugin`.
#[derive(Args, Debug)]
pub struct PluginArgs {
    /// The agent.
    #[arg(value_name = "AGENT")]
    pub(crate) agent: PluginAgent,
    /// Write it into this directory [default: plugins/AGENT in the data directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
    /// The daemon's data directory.
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Arguments of `reveille agents`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct AgentsArgs {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Try an agent instead.
    #[command(subcommand)]
    pub(crate) action: Option<AgentsAction>,
}

/// What is done with an agent.
#[derive(Debug, Subcommand)]
pub(crate) enum AgentsAction {
    /// Let the daemon begin a conversation with an agent, kill the agent, and let the daemon go on with the conversation: two
    /// turns of its model, each by a schedule.
    ///
    /// Prints one line for each step. Exit code 0: it was woken in its own conversation. 1: a step failed.
    #[command(after_help = "Example:\n  reveille agents test codex")]
    Test(AgentTestArgs),
}

/// Arguments of `reveille agents test`.
#[derive(Args, Debug)]
pub(crate) struct AgentTestArgs {
    /// The agent, by its name in the daemon's configuration.
    #[arg(value_name = "NAME")]
    pub(crate) agent: String,
    /// The working directory of the conversation [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// How many seconds a step may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) patience: u32,
    /// The daemon's data directory. A daemon on another machine is not asked, because a process is killed.
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Arguments of `reveille setup`.
#[derive(Args, Debug)]
pub struct SetupArgs {
    /// The agent.
    #[arg(value_name = "AGENT")]
    pub(crate) agent: PluginAgent,
    /// Do what is shown.
    #[arg(long)]
    pub(crate) yes: bool,
    /// The daemon's data directory.
    #[command(flatten)]
    pub(crate) state: StateArgs,
}
