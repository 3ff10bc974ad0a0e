//! Scopes: which things exist for a caller.
//!
//! What lives elsewhere: what is shared beyond its owner (`Schedule::is_in`).

use crate::domain::SessionId;

/// Which things a caller may see and change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All things.
    Operator,
    /// The things of one session; any other thing appears not to exist.
    Session(SessionId),
}

impl Scope {
    /// The scope in which nothing exists: that of a host as long as it acts for no session. It is a session's scope, so that
    /// whatever asks for the caller's session finds one that is never open, and not the whole.
    pub(crate) fn nothing() -> Scope {
        Scope::Session(SessionId::of_nobody())
    }

    /// Returns whether it is the scope in which nothing exists.
    pub(crate) fn is_nothing(&self) -> bool {
        self.session().is_some_and(SessionId::is_nobodys)
    }

    /// Returns whether a thing that belongs to `owner` exists for this scope.
    pub fn covers(&self, owner: &SessionId) -> bool {
        match self {
            Scope::Operator => true,
            Scope::Session(own) => own == owner,
        }
    }

    /// Returns the session of the scope, if it is one.
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Scope::Operator => None,
            Scope::Session(session) => Some(session),
        }
    }
}
