//! The errors that keep a command from starting, with their exit codes.

use std::io;
use std::process::ExitCode;

use super::foreign_text::complain;

/// An error that keeps a command from starting.
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
    /// Something the command needs is in use or missing.
    #[error("{0}")]
    Taken(String),
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
        match self {
            AppFault::Usage(_) => ExitCode::from(2),
            AppFault::Io { .. } | AppFault::Absent(_) | AppFault::Taken(_) => ExitCode::FAILURE,
        }
    }
}
