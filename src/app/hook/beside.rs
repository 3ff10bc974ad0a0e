//! The waiter beside an agent, for agents whose hooks have to end before a turn goes on: a process of its own, which hands what
//! is due to the agent in the agent's own way.
//!
//! Invariant: a prompt is handed in only while the process that has the conversation runs.

use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use super::codex;
use super::input::{HookEvent, HookInput};
use super::qwen;
use crate::app::mcp::processes;
use crate::domain::LiveDoor;
use crate::edn::{Map, Value};
use crate::surface::cli::HookArgs;
use crate::surface::json;

/// Starts the waiter of a conversation, apart from this hook.
///
/// # Errors
/// The operating system's.
pub(super) fn start(args: &HookArgs, input: &HookInput) -> io::Result<()> {
    let (Some(process), Some(conversation)) = (&input.process, input.address.conversation()) else {
        return Ok(());
    };
    let event = match input.event {
        HookEvent::Begins => "SessionStart",
        HookEvent::Prompted => "UserPromptSubmit",
        // The waiter only has to know that no turn is under way.
        HookEvent::TurnEnds | HookEvent::Idles | HookEvent::Ends => "Stop",
    };
    let given = Map::new().with("session_id", conversation).with("hook_event_name", event);
    let given = given.with_some("cwd", input.address.directory());
    let transcript = input.transcript.as_ref().and_then(|path| path.to_str());
    let given = given.with_some("transcript_path", transcript);
    let mut text = String::new();
    json::write(&Value::from(given), &mut text);
    let mut waiter = Command::new(std::env::current_exe()?);
    waiter.args(["hook", &args.agent, "--wait", "--agent-pid", &process.pid.to_string()]);
    if let Some(directory) = &args.state.data_dir {
        waiter.arg("--data-dir").arg(directory);
    }
    // In a group of its own, so that it does not end with the hook's.
    let mut waiter =
        waiter.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    waiter.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(text.as_bytes()))
}

/// Hands a prompt to the agent. The error says why that failed.
pub(super) fn hand_in(input: &HookInput, prompt: &str) -> Result<(), String> {
    let process = input.process.as_ref().filter(|process| processes::is_running(process));
    let process = process.ok_or("its window is gone")?;
    let conversation = input.address.conversation().ok_or("it has no conversation")?;
    match input.kind().live {
        LiveDoor::Queue => codex::queue(process, (conversation, input.address.directory()), prompt),
        LiveDoor::Socket => qwen::send(conversation, prompt),
        LiveDoor::Hook | LiveDoor::Plugin | LiveDoor::Closed => {
            Err("nothing is handed to this agent from beside it".to_owned())
        }
    }
}
