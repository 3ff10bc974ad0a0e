//! The errors that end a command, and how each ends it.

use std::io;
use std::process::ExitCode;

use super::exit::Exit;
use super::foreign_text::complain;

/// An error that ends a command.
#[derive(Debug, thiserror::Error)]
pub(super) enum AppFault {
    /// The call is invalid.
    #[error("{0}")]
    Usage(String),
    /// The operating system or the network failed.
    #[error("{what}: {error}")]
    Io { what: String, error: io::Error },
    /// What the command is about does not exist, or not for the caller.
    #[error("{0}")]
    Absent(String),
    /// Something the command needs is in use, missing or refused.
    #[error("{0}")]
    Taken(String),
    /// There is no daemon to ask, or it does not answer.
    #[error("{0}")]
    NoDaemon(String),
}

impl AppFault {
    pub(super) fn usage(message: impl Into<String>) -> AppFault {
        AppFault::Usage(message.into())
    }

    pub(super) fn io(what: impl Into<String>, error: io::Error) -> AppFault {
        AppFault::Io { what: what.into(), error }
    }

    /// Prints the error to stderr and returns the exit code.
    pub(super) fn tell(&self) -> ExitCode {
        complain(self);
        self.exit().into()
    }

    fn exit(&self) -> Exit {
        match self {
            AppFault::Usage(_) => Exit::Usage,
            AppFault::NoDaemon(_) => Exit::NoDaemon,
            AppFault::Io { .. } | AppFault::Absent(_) | AppFault::Taken(_) => Exit::Failed,
        }
    }
}
