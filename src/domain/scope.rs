//! Who is asking, as far as rules depend on it.

use super::{Actor, Dialect, Entry, Schedule, SessionId, names};

/// Whose things a caller may see and change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything.
    Operator,
    /// One session's own things; anything else answers as if it did not exist.
    Session(SessionId),
}

impl Scope {
    /// Whether something that belongs to `owner` exists for this caller.
    pub fn covers(&self, owner: &SessionId) -> bool {
        match self {
            Scope::Operator => true,
            Scope::Session(own) => own == owner,
        }
    }

    /// Whether a schedule exists for this caller: its own, or one that is everybody's.
    pub fn reaches(&self, schedule: &Schedule) -> bool {
        self.covers(&schedule.owner) || schedule.terms().shared
    }

    /// The session that asks, if one does.
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Scope::Operator => None,
            Scope::Session(session) => Some(session),
        }
    }
}

names! {
    /// What a caller may do with what it sees.
    Right {
        /// Look.
        Read = "read",
        /// Look and change.
        Change = "change",
    }
}

/// Who calls: known from a token, a socket's peer or an embedder's word, never from what the call says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// What exists for it.
    pub scope: Scope,
    /// What it may do with that.
    pub right: Right,
    /// Whether it keeps to the pace of a session's token: `limits::CREATES_PER_MINUTE`.
    pub metered: bool,
    /// How it came in.
    pub entry: Entry,
}

impl Caller {
    /// An operator who may do everything.
    pub const OPERATOR: Caller =
        Caller { scope: Scope::Operator, right: Right::Change, metered: false, entry: Entry::Embedder };

    /// A session, by the word of somebody who may do everything.
    pub fn session(session: SessionId) -> Caller {
        Caller { scope: Scope::Session(session), ..Caller::OPERATOR }
    }

    /// What the log keeps of it.
    pub fn actor(&self) -> Actor {
        Actor { scope: self.scope.clone(), entry: Some(self.entry.clone()), tool: None }
    }

    /// The same, of a call of a tool of this dialect.
    pub fn actor_with(&self, tool: Dialect) -> Actor {
        self.actor().with_tool(tool)
    }

    /// Who is to be named as the maker of something of `owner`'s, if that is not this session itself.
    pub fn maker(&self, owner: &SessionId, tool: Option<Dialect>) -> Option<Box<Actor>> {
        let is_itself = self.scope.session() == Some(owner) && self.entry.token().is_none();
        (!is_itself).then(|| Box::new(Actor { tool, ..self.actor() }))
    }

    /// Whether it may speak for a host: open and close sessions, and report turns and what people say. A session's own
    /// token may not, because a model holds it.
    pub fn is_host(&self) -> bool {
        self.entry != Entry::Session
    }

    /// Whether it may change things.
    pub fn may_change(&self) -> bool {
        self.right == Right::Change
    }
}
