//! Codex: each conversation has a queue, from which its window takes what comes, and shows it to its hooks.
//!
//! What is due is put into the queue with the very program that the window runs.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::service::AgentProcess;

/// Puts a prompt into the queue of a conversation. The error says why that failed.
pub(super) fn queue(
    process: &AgentProcess,
    (conversation, directory): (&str, Option<&str>),
    prompt: &str,
) -> Result<(), String> {
    // Where the system does not tell, it is the one that is found by its name.
    let running = std::fs::read_link(format!("/proc/{}/exe", process.pid));
    let mut codex = Command::new(running.unwrap_or_else(|_| PathBuf::from(PROGRAM)));
    // Codex's own daemon, if one runs, takes it at once and goes on with a conversation that no window shows. A window without
    // one looks into its queue every ten seconds.
    codex.args(["queue", "--resume", "--thread", conversation]).arg(format!("--message={prompt}"));
    if let Some(directory) = directory {
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

const PROGRAM: &str = "codex";
/// Together ten seconds.
const LOOKS: u32 = 500;
const BETWEEN: Duration = Duration::from_millis(20);
