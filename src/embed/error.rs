//! What can go wrong for an embedder.

use std::io;

use crate::calendar::{PhraseError, ZoneFault};
use crate::domain::{Code, IdError, Refusal, SchedulerNeedsWatchers};
use crate::runtime::{NameClash, RecoveryError};

/// Why a call failed. Nothing was changed by it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The phrase does not say when.
    #[error("{0}")]
    Phrase(#[from] PhraseError),
    /// The text is not a time zone, or none that the time zone database knows.
    #[error(transparent)]
    Zone(#[from] ZoneFault),
    /// A zone was given together with a typed time, which needs none.
    #[error(
        "a zone was given for a typed time, which needs none; leave it out, or give the time as a phrase"
    )]
    ZoneWithoutPhrase,
    /// Primitives are switched on that do not go together.
    #[error(transparent)]
    Primitives(#[from] SchedulerNeedsWatchers),
    /// Two executors offer tools of one name.
    #[error(transparent)]
    Tools(#[from] NameClash),
    /// The text is not an id.
    #[error(transparent)]
    Id(#[from] IdError),
    /// The engine refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The query cannot be read, or it failed.
    #[error("{message}")]
    Query {
        /// What is wrong.
        message: Box<str>,
    },
    /// The store cannot be opened.
    #[cfg(feature = "sqlite")]
    #[error(transparent)]
    Open(#[from] crate::adapter::OpenFault),
    /// The store cannot be loaded.
    #[error(transparent)]
    Store(#[from] RecoveryError),
    /// The operating system has no thread or no randomness.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl Error {
    /// The class of the error, as in every other interface.
    pub fn code(&self) -> Code {
        match self {
            Error::Refused(refusal) => refusal.code(),
            Error::Phrase(_)
            | Error::Zone(_)
            | Error::ZoneWithoutPhrase
            | Error::Primitives(_)
            | Error::Tools(_)
            | Error::Id(_)
            | Error::Query { .. } => Code::Validation,
            #[cfg(feature = "sqlite")]
            Error::Open(_) => Code::Unavailable,
            Error::Store(_) | Error::System(_) => Code::Unavailable,
        }
    }

    /// What to do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Refused(refusal) => Some(refusal.hint().to_owned()),
            Error::Phrase(error) => Some(error.hint()),
            Error::Zone(fault) => Some(fault.hint()),
            #[cfg(feature = "sqlite")]
            Error::Open(_) => None,
            Error::ZoneWithoutPhrase
            | Error::Primitives(_)
            | Error::Tools(_)
            | Error::Id(_)
            | Error::Query { .. }
            | Error::Store(_)
            | Error::System(_) => None,
        }
    }
}
