//! Runs one program that an operator has configured: a text in, an exit code and two short outputs
//! back.
//!
//! No shell is involved. The program gets the arguments, environment and directory of its profile,
//! its input, and no other file descriptor. It leads a process group of its own, which is killed as
//! a whole when the time is up, when the program has ended, and when the caller drops the future.

use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::timeout;

use crate::adapter::process_group::ProcessGroup;
use crate::limits;

/// A program to run, as an operator configured it.
#[derive(Clone, PartialEq, Eq)]
pub struct Program {
    /// The absolute path of the program, then its arguments.
    pub argv: Vec<String>,
    /// The whole environment; nothing is inherited.
    pub environment: Vec<(String, String)>,
    /// The working directory, an absolute path.
    pub directory: PathBuf,
    /// How long the program may run.
    pub time: Duration,
}

/// Prints names without values: environment variables and arguments often hold secrets.
impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.environment.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Program")
            .field("program", &self.argv.first())
            .field("environment", &names)
            .field("directory", &self.directory)
            .field("time", &self.time)
            .finish_non_exhaustive()
    }
}

/// The output of a program, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramOutput {
    /// How it ended.
    pub ended: Ended,
    /// The beginning of its standard output.
    pub output: Vec<u8>,
    /// The beginning of its standard error.
    pub errors: Vec<u8>,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this code; 0 for success.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

/// Why a program has no exit status.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProgramFault {
    /// The argument list is empty, or the path is relative to wherever the daemon was started.
    #[error("a program is named by its absolute path")]
    NotAbsolute,
    /// The program cannot be started.
    #[error("it cannot be started: {detail}")]
    Unstarted {
        /// The error of the operating system.
        detail: Box<str>,
    },
    /// The program took too long, and was killed with all processes of its group.
    #[error("it did not end within {} ms, and was killed", .time.as_millis())]
    TimedOut {
        /// The time limit.
        time: Duration,
    },
    /// Waiting for the program failed.
    #[error("its end cannot be waited for: {detail}")]
    Lost {
        /// The error of the operating system.
        detail: Box<str>,
    },
}

impl Program {
    /// Runs the program with this input, and waits for its end. Dropping the future kills it.
    ///
    /// # Errors
    /// [`ProgramFault`] if there is no exit status; any exit code is a success.
    pub async fn run(&self, input: &[u8]) -> Result<ProgramOutput, ProgramFault> {
        self.run_keeping(input, usize::try_from(limits::PROGRAM_OUTPUT_BYTES.value).unwrap_or(usize::MAX))
            .await
    }

    /// Runs the program, as [`run`](Program::run), and keeps so many bytes of each of its outputs.
    ///
    /// # Errors
    /// [`ProgramFault`] if there is no exit status; any exit code is a success.
    pub async fn run_keeping(&self, input: &[u8], max: usize) -> Result<ProgramOutput, ProgramFault> {
        // The group is dropped before its leader, whose id it has.
        let (mut child, mut group) = self.start()?;
        let (input_end, output_end, errors_end) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        let ended = {
            let reading = async {
                tokio::join!(drain(output_end, &mut output, max), drain(errors_end, &mut errors, max))
            };
            let (mut reading, mut feeding) = (pin!(reading), pin!(feed(input_end, input)));
            let (mut is_read, mut is_fed) = (false, false);
            let ended = {
                let mut waiting = pin!(timeout(self.time, child.wait()));
                // Input and outputs are served at the same time, so that neither side blocks on a
                // full pipe. Only the end of the process counts.
                loop {
                    tokio::select! {
                        ended = &mut waiting => break ended,
                        _ = &mut reading, if !is_read => is_read = true,
                        () = &mut feeding, if !is_fed => is_fed = true,
                    }
                }
            };
            // Kill the group before the drain: its remaining members hold the outputs open.
            group.kill();
            if !is_read {
                // A descendant that left the group may hold an output open for ever.
                let _ = timeout(Duration::from_millis(limits::PROGRAM_DRAIN_MS.value), reading).await;
            }
            ended
        };
        match ended {
            Ok(Ok(status)) => Ok(ProgramOutput { ended: Ended::of(status), output, errors }),
            Ok(Err(error)) => Err(ProgramFault::Lost { detail: error.to_string().into() }),
            Err(_) => Err(ProgramFault::TimedOut { time: self.time }),
        }
    }

    /// Starts the program as the leader of a group, with three pipes. It has to be called on a runtime.
    pub(super) fn start(&self) -> Result<(Child, ProcessGroup), ProgramFault> {
        let (program, arguments) = self.argv.split_first().ok_or(ProgramFault::NotAbsolute)?;
        if !Path::new(program).is_absolute() || !self.directory.is_absolute() {
            return Err(ProgramFault::NotAbsolute);
        }
        let unstarted = |error: io::Error| ProgramFault::Unstarted { detail: error.to_string().into() };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        ProcessGroup::start(&mut command).map_err(unstarted)
    }
}

impl Ended {
    pub(super) fn of(status: ExitStatus) -> Ended {
        // A process on Unix ends either with a code or by a signal.
        status.code().map_or_else(|| Ended::Signal(status.signal().unwrap_or_default()), Ended::Code)
    }
}

/// Writes all of the input and closes the pipe. A program need not read it: its exit code decides.
async fn feed(end: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut end) = end {
        let _ = end.write_all(input).await;
    }
}

/// Reads an output to its end, and keeps the beginning. Reading on keeps the program from blocking
/// on a full pipe.
async fn drain(end: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>, max: usize) {
    let Some(mut end) = end else { return };
    let mut piece = [0; 4_096];
    while let Ok(read @ 1..) = end.read(&mut piece).await {
        let room = max - kept.len();
        kept.extend_from_slice(&piece[..read.min(room)]);
    }
}
