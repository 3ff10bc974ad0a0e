//! Callers: who calls, in which role, and with which right.
//!
//! What lives elsewhere: what the log records of a caller (`actor.rs`); which role may ask for what (`op.rs`).

use crate::domain::{Actor, Dialect, Scope, SessionId, Target, TokenName, Via, names};

names! {
    /// What a caller may do with the things in its scope.
    Right {
        /// Read.
        Read = "read",
        /// Read and change.
        Change = "change",
    }
}

names! {
    /// What a caller is to the engine. Each operation has the roles that may ask for it.
    CallerRole {
        /// Runs the whole.
        Operator = "operator",
        /// Watches the whole, and changes nothing.
        Observer = "observer",
        /// Runs sessions: opens and closes them, runs their turns, and reports what happens in them.
        Host = "host",
        /// Holds a session's token, as a model does.
        Session = "session",
        /// Sends events by a channel, whose proof it has. It sees nothing.
        Channel = "channel",
    }
}

/// The caller of an operation: known from a token, a socket's peer or the embedding program, never
/// from what the call says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Which things exist for the caller.
    pub scope: Scope,
    /// What the caller is.
    pub role: CallerRole,
    /// What the caller may do with the things in its scope, if its role may do that.
    pub right: Right,
    /// How the call arrived.
    pub via: Via,
}

impl Caller {
    /// An operator with all rights, as the embedding program.
    pub const OPERATOR: Caller = Caller {
        scope: Scope::Operator,
        role: CallerRole::Operator,
        right: Right::Change,
        via: Via::Embedder,
    };

    /// Makes a caller for a session that the embedding program runs.
    pub fn session(session: SessionId) -> Caller {
        Caller { scope: Scope::Session(session), role: CallerRole::Host, ..Caller::OPERATOR }
    }

    /// Makes the caller with the host token of this name. It acts for no session yet.
    pub fn host(name: TokenName) -> Caller {
        Caller { scope: Scope::nothing(), role: CallerRole::Host, right: Right::Change, via: Via::Host(name) }
    }

    /// Makes the caller whose event came in by the channel of this name.
    pub fn channel(name: &str) -> Caller {
        // A configured channel has a name that is one of a token too.
        let via = TokenName::new(name).map_or(Via::Embedder, Via::Channel);
        Caller { role: CallerRole::Channel, via, ..Caller::OPERATOR }
    }

    /// Returns this caller acting for a session.
    #[must_use]
    pub fn acting_for(&self, session: SessionId) -> Caller {
        Caller { scope: Scope::Session(session), ..self.clone() }
    }

    /// Returns this caller in the hands of a model. Whatever token the model's program has, the model may only what a
    /// session's token may.
    #[must_use]
    pub fn as_model(&self) -> Caller {
        let role = if self.scope.session().is_some() { CallerRole::Session } else { self.role };
        Caller { role, ..self.clone() }
    }

    /// Returns this caller with the right to read only.
    #[must_use]
    pub fn reading(&self) -> Caller {
        Caller { right: Right::Read, ..self.clone() }
    }

    /// Returns the actor that the log records for this caller.
    pub fn actor(&self) -> Actor {
        // That a session's own token is in the hands of a model goes without saying.
        let as_model = self.role == CallerRole::Session && self.via != Via::Session;
        Actor { scope: self.scope.clone(), via: Some(self.via.clone()), tool: None, as_model }
    }

    /// Returns the actor for a call of a tool of this dialect.
    pub fn actor_with(&self, tool: Dialect) -> Actor {
        self.actor().with_tool(tool)
    }

    /// Returns who is recorded as the creator of something that `owner` owns and that goes to `target`, if one is given;
    /// `None` if the caller is that session itself.
    pub fn maker(
        &self,
        owner: &SessionId,
        tool: Option<Dialect>,
        target: Option<&Target>,
    ) -> Option<Box<Actor>> {
        // An operator who acts for a session is recorded as itself: the name of its token must not
        // be lost.
        let is_itself = self.scope.session() == Some(owner) && self.via.token().is_none();
        // What a session sends into another session or a channel has to be allowed to it at each run, so its author is recorded.
        let leaves = self.is_bound() && target.is_some_and(|target| target.is_outside(owner));
        (!is_itself || leaves).then(|| Box::new(Actor { tool, ..self.actor() }))
    }

    /// Returns whether the caller reaches what its session reaches and no more: with the token of a session or of a host, or as
    /// a model. Operators reach everything, and so do the embedding program and the user's own processes, which run sessions.
    pub(crate) fn is_bound(&self) -> bool {
        match self.role {
            CallerRole::Operator | CallerRole::Observer => false,
            CallerRole::Host => !matches!(self.via, Via::Embedder | Via::Peer),
            CallerRole::Session | CallerRole::Channel => true,
        }
    }

    /// Returns whether the caller may change things.
    pub fn may_change(&self) -> bool {
        self.right == Right::Change
    }
}
