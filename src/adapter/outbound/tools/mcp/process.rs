//! A server as a program: started, watched, and ended.
//!
//! Invariant: no process of it outlives its connection for longer than the bound on its end.

use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::lines::{Ends, Lines};
use super::wire::{Down, Wire};
use crate::adapter::outbound::program::{Ended, Program};
use crate::adapter::process_group::ProcessGroup;
use crate::limits;

/// The process of a server.
pub(super) struct Process {
    // Dropped before its leader, whose id it has.
    group: ProcessGroup,
    child: Child,
    ends: Arc<Ends<ChildStdin>>,
    errors: Arc<Mutex<Vec<u8>>>,
    /// What reads them.
    reading: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts a server, and returns it with the wire to it.
    pub(super) fn start(program: &Program) -> Result<(Process, Lines<ChildStdout, ChildStdin>), Box<str>> {
        let (mut child, group) = program.start().map_err(|fault| fault.to_string())?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("it has no pipes".into());
        };
        let errors = Arc::<Mutex<Vec<u8>>>::default();
        let reading = child.stderr.take().map(|end| tokio::spawn(keep_end(end, Arc::clone(&errors))));
        let ends = Ends::new(input);
        let lines = Lines::new(output, Arc::clone(&ends));
        Ok((Process { group, child, ends, errors, reading }, lines))
    }

    pub(super) fn wire(&self) -> Arc<Wire> {
        Arc::clone(&self.ends.wire)
    }

    /// Closes its input, and waits until it has ended by itself.
    pub(super) async fn close(&mut self) {
        self.ends.close_input().await;
        let _ = self.child.wait().await;
    }

    /// Waits until nothing comes from it any more. A process that it has left behind may hold its output open; what it wrote
    /// before its own end is read all the same.
    pub(super) async fn gone(&mut self) {
        tokio::select! {
            _ = self.ends.wire.down() => {}
            _ = self.child.wait() => {
                let _ = timeout(DRAIN, self.ends.wire.down()).await;
            }
        }
    }

    /// Why nothing comes from it any more: how it ended, or else what it did. `None` if something could still come.
    pub(super) async fn why(&mut self) -> Option<Box<str>> {
        // A process that has closed its output ends in the next moment, most of the time.
        let status = timeout(DRAIN, self.child.wait()).await;
        let status = status.ok().and_then(Result::ok);
        match (self.ends.wire.why_down(), status) {
            // It may have ended because it was told to.
            (Some(Down::Broken(why)), _) => Some(why),
            (_, Some(status)) => Some(self.ended(status).await),
            (down, None) => down.map(Down::told),
        }
    }

    /// How it ended, with the end of what it printed as errors.
    async fn ended(&mut self, status: ExitStatus) -> Box<str> {
        if let Some(reading) = self.reading.take() {
            let _ = timeout(DRAIN, reading).await;
        }
        let ended = match Ended::of(status) {
            Ended::Code(code) => format!("it ended with exit code {code}"),
            Ended::Signal(signal) => format!("it was ended by signal {signal}"),
        };
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let errors = String::from_utf8_lossy(&errors);
        match errors.trim() {
            "" => ended.into(),
            errors => format!("{ended}: {errors}").into(),
        }
    }

    /// Kills the whole group, and waits for its leader, so that none is left as a zombie.
    pub(super) async fn kill(&mut self) {
        self.group.kill();
        let _ = timeout(Duration::from_millis(limits::SERVER_END_MS.value), self.child.wait()).await;
    }
}

/// Reads what is printed as errors to its end, and keeps the last of it.
async fn keep_end(mut end: impl AsyncRead + Unpin, kept: Arc<Mutex<Vec<u8>>>) {
    let mut piece = [0; 4_096];
    while let Ok(read @ 1..) = end.read(&mut piece).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&piece[..read]);
        let over = kept.len().saturating_sub(ERRORS_BYTES);
        kept.drain(..over);
    }
}

/// How long what a process wrote before its end is read.
const DRAIN: Duration = Duration::from_millis(limits::PROGRAM_DRAIN_MS.value);
/// How much is kept of what a server prints as errors.
const ERRORS_BYTES: usize = 2_000;
