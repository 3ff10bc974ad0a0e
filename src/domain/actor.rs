//! Who did something, as the log keeps it: known from how a call came in, never from what it says.

use std::fmt;
use std::sync::Arc;

use super::id::check;
use super::{Dialect, IdError, Scope};

/// Who did something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// Whose things it may see and change.
    pub scope: Scope,
    /// How it came in; `None` in a log that was kept before that was noted.
    pub entry: Option<Entry>,
    /// Whose tool it used, if it used one.
    pub tool: Option<Dialect>,
}

/// How somebody came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// It is the program that the engine is a part of.
    Embedder,
    /// It is a process of the same user, at the socket or at the other end of a pipe.
    Peer,
    /// By the token of its session.
    Session,
    /// By the operator's token of this name.
    Operator(TokenName),
}

/// What an operator's token is called: nothing of the token itself. Copies share one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenName(Arc<str>);

impl TokenName {
    /// Checks a name.
    ///
    /// # Errors
    /// [`IdError`] if it is blank, too long or holds control characters.
    pub fn new(text: &str) -> Result<TokenName, IdError> {
        check(text)?;
        Ok(TokenName(text.into()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Entry {
    /// The kind of entry, the same in every notation.
    pub fn name(&self) -> &'static str {
        match self {
            Entry::Embedder => "embedder",
            Entry::Peer => "peer",
            Entry::Session => "session",
            Entry::Operator(_) => "operator",
        }
    }

    /// The operator's token by which somebody came in.
    pub fn token(&self) -> Option<&TokenName> {
        if let Entry::Operator(token) = self { Some(token) } else { None }
    }
}

impl Actor {
    /// The same, with a tool of this dialect in its hand.
    #[must_use]
    pub fn with_tool(self, tool: Dialect) -> Actor {
        Actor { tool: Some(tool), ..self }
    }
}

impl Actor {
    /// As much of it as concerns a caller: a session sees itself, and of operators that one of them it was.
    pub fn seen_by(&self, viewer: &Scope) -> Option<Actor> {
        match (viewer, &self.scope) {
            (Scope::Operator, _) => Some(self.clone()),
            (Scope::Session(_), Scope::Operator) => {
                Some(Actor { scope: Scope::Operator, entry: None, tool: None })
            }
            (Scope::Session(own), Scope::Session(session)) => (own == session).then(|| self.clone()),
        }
    }
}

impl From<Scope> for Actor {
    /// Whoever holds the engine itself speaks for anybody.
    fn from(scope: Scope) -> Actor {
        Actor { scope, entry: Some(Entry::Embedder), tool: None }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.scope {
            Scope::Operator => f.write_str("operator")?,
            Scope::Session(session) => write!(f, "session {session}")?,
        }
        let tool = self.tool.map(|tool| format!("{} tool", tool.name()));
        let entry = match &self.entry {
            None | Some(Entry::Session) => None,
            Some(Entry::Embedder) => Some("embedder".to_owned()),
            Some(Entry::Peer) => Some("local user".to_owned()),
            Some(Entry::Operator(token)) => Some(format!("token {}", token.as_str())),
        };
        let how: Vec<String> = entry.into_iter().chain(tool).collect();
        if how.is_empty() { Ok(()) } else { write!(f, " ({})", how.join(", ")) }
    }
}
