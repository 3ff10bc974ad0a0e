//! Codex: each conversation has a queue, from which its window takes what comes, and shows it to its hooks.
//!
//! A hook of Codex's must end before its turn goes on, so the waiter is a process of its own. It puts what is due into the queue
//! with the very program that the window runs. Invariant: a prompt is queued only while the process that has the conversation
//! runs.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use std::os::unix::process::CommandExt as _;

use super::input::{CODEX, HookEvent, HookInput};
use crate::app::mcp::processes;
use crate::edn::{Map, Value};
use crate::service::AgentProcess;
use crate::surface::cli::HookArgs;
use crate::surface::json;

/// Starts the waiter of a conversation, apart from this hook.
///
/// # Errors
/// The operating system's.
pub(super) fn start_waiter(args: &HookArgs, input: &HookInput) -> io::Result<()> {
    let (Some(process), Some(conversation)) = (&input.process, input.address.conversation()) else {
        return Ok(());
    };
    let event = if input.event == HookEvent::Prompted { "UserPromptSubmit" } else { "Stop" };
    let given = Map::new().with("session_id", conversation).with("hook_event_name", event);
    let given = match input.address.directory() {
        Some(directory) => given.with("cwd", directory),
        None => given,
    };
    let mut text = String::new();
    json::write(&Value::from(given), &mut text);
    let mut waiter = Command::new(std::env::current_exe()?);
    waiter.args(["hook", CODEX, "--wait", "--agent-pid", &process.pid.to_string()]);
    if let Some(directory) = &args.state.data_dir {
        waiter.arg("--data-dir").arg(directory);
    }
    // In a group of its own, so that it does not end with the hook's.
    let mut waiter =
        waiter.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    waiter.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(text.as_bytes()))
}

/// Puts a prompt into the queue of a conversation. The error says why that failed.
pub(super) fn queue(input: &HookInput, prompt: &str) -> Result<(), String> {
    let is_there = |process: &&AgentProcess| processes::is_running(process);
    let process = input.process.as_ref().filter(is_there).ok_or("its window is gone")?;
    let conversation = input.address.conversation().ok_or("it has no conversation")?;
    // Where the system does not tell, it is the one that is found by its name.
    let running = std::fs::read_link(format!("/proc/{}/exe", process.pid));
    let mut codex = Command::new(running.unwrap_or_else(|_| PathBuf::from(CODEX)));
    // Codex's own daemon, if one runs, takes it at once and goes on with a conversation that no window shows. A window without
    // one looks into its queue every ten seconds.
    codex.args(["queue", "--resume", "--thread", conversation]).arg(format!("--message={prompt}"));
    if let Some(directory) = input.address.directory() {
        codex.current_dir(directory);
    }
    codex.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = codex.spawn().map_err(|error| format!("codex queue cannot be started: {error}"))?;
    ended(started)
}

/// Waits for the end of `codex queue`.
fn ended(mut codex: Child) -> Result<(), String> {
    let (_held, never) = channel::<()>();
    for _ in 0..LOOKS {
        match codex.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("codex queue has failed: {status}")),
            Ok(None) => {}
            Err(error) => return Err(format!("codex queue cannot be waited for: {error}")),
        }
        // Nothing is ever sent, so this is the time-out.
        let _ = never.recv_timeout(BETWEEN);
    }
    let _ = codex.kill();
    let _ = codex.wait();
    // It may have queued the prompt. Whether it did shows when Codex takes it.
    Ok(())
}

/// Together ten seconds.
const LOOKS: u32 = 500;
const BETWEEN: Duration = Duration::from_millis(20);
