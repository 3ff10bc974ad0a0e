//! The arguments, as types: help, errors and checks come from here.

use clap::{Args, Parser, Subcommand};

use crate::domain::SessionId;

/// Wakes AI agents: an agent asks for something to happen later, Reveille owns the timing, proves what it did and says
/// why it did not.
#[derive(Debug, Parser)]
#[command(
    name = "reveille",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  reveille demo
  reveille stdio --session main
  reveille tool psi-tool '{:action \"scheduler\" :op \"list\"}'"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Play the main job on real input: a message, a queued message, a fresh session, a cancel that holds.
    ///
    /// Needs no setup and takes about two seconds. Shows each tool call with its answer, and each delivery as it
    /// happens, with its lateness.
    #[command(after_help = "Example:\n  reveille demo")]
    Demo,
    /// Speak the EDN stream protocol on stdin and stdout, over an engine that lives as long as the stream.
    ///
    /// One EDN map per message, one line per answer. The end of the input, SIGTERM and SIGINT stop the engine in good
    /// order: schedules that have not ended by then are called off, and a line on stderr says how many.
    #[command(after_help = "\
Example (a reminder in one second; what happens to it is shown as events):
  ( echo '{:id 1 :op :subscribe}'
    echo '{:action \"scheduler\" :op \"create\" :kind \"message\"
           :delay-ms 1000 :message \"Check the build.\"}'
    sleep 2 ) | reveille stdio --session main

A harness gets deliveries pushed. It sends {:op :host/attach :sessions [\"main\"]}, and answers
each push with {:op :delivery/ack :delivery-id \"…\"} within 30 s.")]
    Stdio(StdioArgs),
    /// Call one tool and print its answer in the notation of its arguments.
    ///
    /// Exit code 0: done. 1: refused, and the answer says why. 2: the call itself could not be read.
    #[command(after_help = "\
Examples:
  reveille tool psi-tool '{:action \"scheduler\" :op \"list\"}'
  echo '{\"action\": \"scheduler\", \"op\": \"list\"}' | reveille tool psi-tool
  reveille tool psi-tool --wait '{:action \"scheduler\" :op \"create\" :kind \"message\"
                                  :delay-ms 1000 :message \"Stretch your legs.\"}'")]
    Tool(ToolArgs),
}

/// Arguments of `reveille stdio`.
#[derive(Args, Debug)]
pub struct StdioArgs {
    /// Open a session of this id and speak for it; without it, speak as the operator.
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub session: Option<SessionId>,
}

/// Arguments of `reveille tool`.
#[derive(Args, Debug)]
pub struct ToolArgs {
    /// The tool's name, such as psi-tool.
    pub name: String,
    /// The arguments in EDN or JSON; `-` or nothing reads them from stdin.
    pub args: Option<String>,
    /// The session that calls.
    #[arg(long, value_name = "ID", default_value = "cli", value_parser = session_id)]
    pub session: SessionId,
    /// Stay until every schedule has ended, and print each as it ends.
    #[arg(long)]
    pub wait: bool,
}

fn session_id(text: &str) -> Result<SessionId, String> {
    SessionId::new(text).map_err(|error| error.to_string())
}
