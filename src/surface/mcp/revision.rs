//! The supported revisions of the protocol. Only complete support counts.
//!
//! Older revisions are excluded because they have batches, which no client sends and which the bound on one request
//! does not limit.

use crate::domain::names;

names! {
    /// A supported revision, newest first.
    Revision {
        /// Without a handshake: every request declares its revision.
        Stateless = "2026-07-28",
        /// With a handshake.
        Handshake = "2025-11-25",
        /// With a handshake.
        EarlyHandshake = "2025-06-18",
    }
}

impl Revision {
    /// True if every request stands alone, without a handshake.
    pub(crate) const fn is_stateless(self) -> bool {
        match self {
            Revision::Stateless => true,
            Revision::Handshake | Revision::EarlyHandshake => false,
        }
    }

    /// The result of a handshake: the requested revision if it has handshakes, otherwise the newest one that has.
    pub(crate) fn agreed(asked: &str) -> Revision {
        Revision::parse(asked).filter(|revision| !revision.is_stateless()).unwrap_or(Revision::Handshake)
    }
}
