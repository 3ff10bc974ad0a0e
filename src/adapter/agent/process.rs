//! A process of an agent: it leads a group of its own, which is signalled and killed as a whole; it gets the environment that was
//! listed, a variable that says who drives it, a working directory, three pipes, and nothing else.
//!
//! Invariants: no line of it is longer than `limits::AGENT_LINE_BYTES` here, and of its error output only the end is kept; no
//! process outlives `process_group::end_groups`.

use std::io;
use std::num::NonZeroI32;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;

use super::plan::AgentPlan;
use super::redact::redacted;
use super::wire::{self, Incoming};
use crate::adapter::process_group::{self, ProcessGroup};
use crate::limits;

/// A running agent.
pub(super) struct Process {
    // Dropped before its leader, whose id it has.
    group: ProcessGroup,
    child: Child,
    /// Where to put lines for it.
    input: mpsc::Sender<String>,
    /// What it writes, read.
    pub(super) lines: mpsc::Receiver<Incoming>,
    errors: Arc<Mutex<Vec<u8>>>,
}

/// Why a process was not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unstarted {
    /// There is no such program, or it may not be run.
    Missing(Box<str>),
    /// Something else went wrong.
    Failed(Box<str>),
}

impl Process {
    /// Starts an agent in a directory. It has to be called on a runtime.
    pub(super) fn start(plan: &AgentPlan, directory: &Path) -> Result<Process, Unstarted> {
        let missing = |text: &str| Unstarted::Missing(text.into());
        let (program, arguments) = plan.command.split_first().ok_or_else(|| missing("it has no command"))?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs(plan.environment.0.iter().map(|(name, value)| (name, value)))
            .env(HOSTED, "1")
            .current_dir(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let (mut child, group) = ProcessGroup::start(&mut command).map_err(|error| {
            let is_missing =
                matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied);
            let text = error.to_string();
            if is_missing { missing(&text) } else { Unstarted::Failed(text.into()) }
        })?;
        let (input, to_write) = mpsc::channel(LINES_OUT);
        let (to_read, lines) = mpsc::channel(LINES_IN);
        let errors = Arc::<Mutex<Vec<u8>>>::default();
        if let Some(end) = child.stdin.take() {
            tokio::spawn(write_lines(end, to_write));
        }
        if let Some(end) = child.stdout.take() {
            tokio::spawn(read_lines(end, to_read));
        }
        if let Some(end) = child.stderr.take() {
            tokio::spawn(keep_end(end, Arc::clone(&errors)));
        }
        Ok(Process { child, group, input, lines, errors })
    }

    /// Returns its process id.
    pub(super) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Writes a line; returns whether the agent reads what it is sent.
    pub(super) fn send(&self, line: String) -> bool {
        self.input.try_send(line).is_ok()
    }

    /// Waits for its end. Safe to drop.
    pub(super) async fn wait(&mut self) {
        // An error means that it cannot be waited for, because it is gone.
        let _ = self.child.wait().await;
    }

    /// Asks all processes of the group to end.
    pub(super) fn terminate(&self) {
        self.group.terminate();
    }

    /// Kills what is left of the group.
    pub(super) fn kill(&mut self) {
        self.group.kill();
    }

    /// Returns the end of what it wrote to its error output, without what looks like a secret.
    pub(super) fn errors(&self, plan: &AgentPlan) -> Box<str> {
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        redacted(&String::from_utf8_lossy(&errors), &plan.environment).into()
    }
}

async fn write_lines(mut end: ChildStdin, mut lines: mpsc::Receiver<String>) {
    while let Some(line) = lines.recv().await {
        if end.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Reads lines to the end of the output. A line that is too long is passed over.
async fn read_lines(end: impl AsyncRead + Unpin, lines: mpsc::Sender<Incoming>) {
    let most = usize::try_from(limits::AGENT_LINE_BYTES.value).unwrap_or(usize::MAX);
    let (mut reader, mut line, mut is_too_long) = (BufReader::new(end), Vec::new(), false);
    loop {
        let Ok(piece) = reader.fill_buf().await else { return };
        if piece.is_empty() {
            return;
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        let (used, part) = end.map_or((piece.len(), piece), |end| (end + 1, &piece[..end]));
        is_too_long |= line.len() + part.len() > most;
        if !is_too_long {
            line.extend_from_slice(part);
        }
        reader.consume(used);
        if end.is_none() {
            continue;
        }
        let read = if is_too_long { Incoming::Noise } else { wire::read(&line) };
        // A long line must not keep its room for all that follow.
        line = Vec::new();
        is_too_long = false;
        // The receiver is slower at most for a moment: then the agent waits.
        if read != Incoming::Noise && lines.send(read).await.is_err() {
            return;
        }
    }
}

/// Reads an output to its end, and keeps the end of it.
async fn keep_end(mut end: impl AsyncRead + Unpin, kept: Arc<Mutex<Vec<u8>>>) {
    let most = usize::try_from(limits::AGENT_ERRORS_BYTES.value).unwrap_or(usize::MAX);
    let mut piece = [0; 4_096];
    while let Ok(read @ 1..) = end.read(&mut piece).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&piece[..read]);
        let over = kept.len().saturating_sub(most);
        kept.drain(..over);
    }
}

/// Returns whether a process belongs to one of our agents.
pub(super) fn is_ours(process: u32) -> bool {
    group_of(process).is_some_and(process_group::is_ours)
}

/// The group of a process. The call of the system is not used: its answer for a process whose group is outside of our namespace
/// is 0, which the library takes for impossible.
fn group_of(process: u32) -> Option<NonZeroI32> {
    let text = stat(process, GROUP).or_else(|| {
        // A system without that directory has this program.
        let mut ps = std::process::Command::new("/bin/ps");
        let listed = ps.args(["-o", "pgid=", "-p", &process.to_string()]).env_clear().output().ok()?;
        String::from_utf8(listed.stdout).ok()
    })?;
    text.trim().parse().ok()
}

/// Returns a field of what Linux says about a process, counted from behind its name, which may have blanks of its own.
pub(super) fn stat(process: u32, field: usize) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(field).map(str::to_owned)
}

/// Returns whether a process has ended, and is listed because its parent has not asked how.
pub(super) fn is_zombie(process: u32) -> bool {
    stat(process, STATE).as_deref() == Some("Z")
}

// The fields behind the name begin with the state, the parent and the group. Source: proc(5).
const STATE: usize = 0;
const GROUP: usize = 2;
/// The variable by which our hooks know an agent that we drive: they say nothing there, because we hear of its turns anyway.
pub(crate) const HOSTED: &str = "REVEILLE_HOSTED";
/// Lines that wait to be written. An agent that does not read so many is not well.
const LINES_OUT: usize = 256;
/// Lines that were read and wait to be taken.
const LINES_IN: usize = 8;
