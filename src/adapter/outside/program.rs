//! One program that an operator has named, run once: a text in, an exit code and two short outputs back.
//!
//! No shell reads anything of it. It gets the arguments, the environment and the directory that its profile names, its input,
//! and no other descriptor; it leads a process group of its own, which is killed as a whole when its time is up, when it has
//! ended, and when whoever asked has lost interest.

use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::timeout;

use crate::limits;

/// What is run, as an operator wrote it.
#[derive(Clone, PartialEq, Eq)]
pub struct Program {
    /// The program by its absolute path, then its arguments.
    pub argv: Vec<String>,
    /// All of its environment.
    pub environment: Vec<(String, String)>,
    /// Where it runs.
    pub directory: PathBuf,
    /// How long it may take.
    pub time: Duration,
}

/// Names, and no values: an environment often holds secrets, and so may an argument.
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

/// What a program said, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// How it ended.
    pub ended: Ended,
    /// The beginning of what it wrote to its output.
    pub output: Vec<u8>,
    /// The beginning of what it wrote to its error output.
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

/// Why a program has no end to tell of.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProgramFault {
    /// There is nothing to run, or it is named by where one happens to be.
    #[error("a program is named by its absolute path")]
    NotAbsolute,
    /// It cannot be started.
    #[error("it cannot be started: {detail}")]
    Unstarted {
        /// What the system says.
        detail: Box<str>,
    },
    /// It took too long, and was killed with all that it had started.
    #[error("it did not end within {} ms, and was killed", .time.as_millis())]
    TimedOut {
        /// How long it had.
        time: Duration,
    },
    /// Its end cannot be waited for.
    #[error("its end cannot be waited for: {detail}")]
    Lost {
        /// What the system says.
        detail: Box<str>,
    },
}

impl Program {
    /// Runs it with this input, and waits for its end. It is killed when this is given up.
    ///
    /// # Errors
    /// [`ProgramFault`]; any exit code is an end.
    pub async fn run(&self, input: &[u8]) -> Result<Told, ProgramFault> {
        let mut group = self.start()?;
        let child = &mut group.child;
        let (input_end, output_end, errors_end) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        let ended = {
            let reading =
                async { tokio::join!(drain(output_end, &mut output), drain(errors_end, &mut errors)) };
            let (mut reading, mut feeding) = (pin!(reading), pin!(feed(input_end, input)));
            let (mut is_read, mut is_fed) = (false, false);
            let ended = {
                let mut waiting = pin!(timeout(self.time, child.wait()));
                // It is fed and read all the while, so that it never stands still for us; its end is what counts.
                loop {
                    tokio::select! {
                        ended = &mut waiting => break ended,
                        _ = &mut reading, if !is_read => is_read = true,
                        () = &mut feeding, if !is_fed => is_fed = true,
                    }
                }
            };
            group.kill();
            if !is_read {
                // Whoever has left the group may hold an output for ever.
                let _ = timeout(Duration::from_millis(limits::PROGRAM_DRAIN_MS.value), reading).await;
            }
            ended
        };
        match ended {
            Ok(Ok(status)) => Ok(Told { ended: Ended::of(status), output, errors }),
            Ok(Err(error)) => Err(ProgramFault::Lost { detail: error.to_string().into() }),
            Err(_) => Err(ProgramFault::TimedOut { time: self.time }),
        }
    }

    fn start(&self) -> Result<Group, ProgramFault> {
        let (program, arguments) = self.argv.split_first().ok_or(ProgramFault::NotAbsolute)?;
        if !Path::new(program).is_absolute() || !self.directory.is_absolute() {
            return Err(ProgramFault::NotAbsolute);
        }
        let unstarted = |error: io::Error| ProgramFault::Unstarted { detail: error.to_string().into() };
        let child = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(unstarted)?;
        let number = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Ok(Group { child, number })
    }
}

/// A program that runs, with all that it starts.
struct Group {
    child: Child,
    /// The leader's number and the group's; `None` once the group has been killed.
    number: Option<Pid>,
}

impl Group {
    /// Kills whoever is left of it. The system gives the number to nobody else while one of them lives.
    fn kill(&mut self) {
        if let Some(number) = self.number.take() {
            // Nobody left is what was wanted.
            let _ = kill_process_group(number, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Ended {
    fn of(status: ExitStatus) -> Ended {
        // A process on Unix ends in one of the two ways.
        status.code().map_or_else(|| Ended::Signal(status.signal().unwrap_or_default()), Ended::Code)
    }
}

/// Writes all of the input and closes it. A program need not read it: it is judged by its exit code.
async fn feed(end: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut end) = end {
        let _ = end.write_all(input).await;
    }
}

/// Reads to the end, and keeps the beginning.
async fn drain(end: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    let Some(mut end) = end else { return };
    let max = usize::try_from(limits::PROGRAM_OUTPUT_BYTES.value).unwrap_or(usize::MAX);
    let mut piece = [0; 4_096];
    while let Ok(read @ 1..) = end.read(&mut piece).await {
        let room = max - kept.len();
        kept.extend_from_slice(&piece[..read.min(room)]);
    }
}
