//! Scope and rights of a caller, as far as rules depend on them.

use crate::domain::{Actor, Dialect, Schedule, SessionId, Via, names};

/// Which things a caller may see and change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All things.
    Operator,
    /// The things of one session; any other thing appears not to exist.
    Session(SessionId),
}

impl Scope {
    /// Returns whether a thing that belongs to `owner` exists for this scope.
    pub fn covers(&self, owner: &SessionId) -> bool {
        match self {
            Scope::Operator => true,
            Scope::Session(own) => own == owner,
        }
    }

    /// Returns whether a schedule exists for this scope: it belongs to it, or is shared.
    pub fn reaches(&self, schedule: &Schedule) -> bool {
        self.covers(&schedule.owner) || schedule.settings().shared
    }

    /// Returns the session of the scope, if it is one.
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Scope::Operator => None,
            Scope::Session(session) => Some(session),
        }
    }
}

names! {
    /// What a caller may do with the things in its scope.
    Right {
        /// Read.
        Read = "read",
        /// Read and change.
        Change = "change",
    }
}

/// The caller of an operation: known from a token, a socket's peer or the embedding program, never
/// from what the call says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Which things exist for the caller.
    pub scope: Scope,
    /// What the caller may do with them.
    pub right: Right,
    /// Whether the rate limit of a session's token applies: `limits::CREATES_PER_MINUTE`.
    pub rate_limited: bool,
    /// How the call arrived.
    pub via: Via,
}

impl Caller {
    /// An operator with all rights, as the embedding program.
    pub const OPERATOR: Caller =
        Caller { scope: Scope::Operator, right: Right::Change, rate_limited: false, via: Via::Embedder };

    /// Makes a caller for a session, vouched for by the embedding program.
    pub fn session(session: SessionId) -> Caller {
        Caller { scope: Scope::Session(session), ..Caller::OPERATOR }
    }

    /// Returns the actor that the log records for this caller.
    pub fn actor(&self) -> Actor {
        Actor { scope: self.scope.clone(), via: Some(self.via.clone()), tool: None }
    }

    /// Returns the actor for a call of a tool of this dialect.
    pub fn actor_with(&self, tool: Dialect) -> Actor {
        self.actor().with_tool(tool)
    }

    /// Returns who is recorded as the creator of something that `owner` owns; `None` if the caller
    /// is that session itself.
    pub fn maker(&self, owner: &SessionId, tool: Option<Dialect>) -> Option<Box<Actor>> {
        // An operator who acts for a session is recorded as itself: the name of its token must not
        // be lost.
        let is_itself = self.scope.session() == Some(owner) && self.via.token().is_none();
        (!is_itself).then(|| Box::new(Actor { tool, ..self.actor() }))
    }

    /// Returns whether the caller may speak for a host: open and close sessions, and report turns
    /// and what people say. A session's own token may not, because a model holds it.
    pub fn is_host(&self) -> bool {
        self.via != Via::Session
    }

    /// Returns whether the caller may change things.
    pub fn may_change(&self) -> bool {
        self.right == Right::Change
    }
}
