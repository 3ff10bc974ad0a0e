//! The revisions of the protocol that are spoken whole; what is spoken in part is not claimed.
//!
//! Older ones are not among them: they have batches, which nobody sends and a bound on one request does not bound.

use crate::domain::names;

names! {
    /// A revision of the protocol, newest first.
    Revision {
        /// Without a handshake: every request says what it speaks.
        Stateless = "2026-07-28",
        /// With a handshake.
        Handshake = "2025-11-25",
        /// With a handshake.
        EarlyHandshake = "2025-06-18",
    }
}

impl Revision {
    /// Whether each request stands for itself.
    pub const fn is_stateless(self) -> bool {
        match self {
            Revision::Stateless => true,
            Revision::Handshake | Revision::EarlyHandshake => false,
        }
    }

    /// What a handshake comes to: the revision asked for where that has one, else the newest that has.
    pub fn agreed(asked: &str) -> Revision {
        Revision::parse(asked).filter(|revision| !revision.is_stateless()).unwrap_or(Revision::Handshake)
    }
}
