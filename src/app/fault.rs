//! Why a command could not begin, and the exit code that says so.

use std::io::{self, Write};
use std::process::ExitCode;

/// Why a command could not begin.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// What was asked for makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The world does not allow it.
    #[error("{what}: {error}")]
    Io { what: String, error: io::Error },
    /// Somebody else has what it needs.
    #[error("{0}")]
    Taken(String),
}

impl Fault {
    pub(super) fn usage(message: impl Into<String>) -> Fault {
        Fault::Usage(message.into())
    }

    pub(super) fn io(what: impl Into<String>, error: io::Error) -> Fault {
        Fault::Io { what: what.into(), error }
    }

    /// Says it on stderr.
    pub(super) fn tell(&self) -> ExitCode {
        // There is nobody to tell where stderr is closed.
        let _ = writeln!(io::stderr(), "reveille: {self}");
        match self {
            Fault::Usage(_) => ExitCode::from(2),
            Fault::Io { .. } | Fault::Taken(_) => ExitCode::FAILURE,
        }
    }
}
