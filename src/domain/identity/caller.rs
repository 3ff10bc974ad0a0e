//! Callers: who calls, and with which right.
//!
//! What lives elsewhere: what the log records of a caller (`actor.rs`); who may make which call (`service::admission`).

use crate::domain::{Actor, Dialect, Scope, SessionId, Via, names};

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
