//! The author of a change, as recorded in the log: derived from how the call arrived, never from
//! what the call says.

use std::fmt;
use std::sync::Arc;

use crate::domain::identity::id::check;
use crate::domain::{Dialect, IdError, Scope};

/// The author of a change: scope, way of access, and tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// Which things the actor may see and change.
    pub scope: Scope,
    /// How the actor's call arrived; `None` in logs written before this was recorded.
    pub via: Option<Via>,
    /// The dialect of the tool that was used; `None` if the call used no tool.
    pub tool: Option<Dialect>,
    /// Whether a model acted through what its program holds, as over MCP: it may what its session may, whatever `via` says. Not
    /// set for a session's own token, which says that by itself, and in logs written before this was recorded.
    pub as_model: bool,
}

/// How a call arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Via {
    /// From the program that embeds the engine.
    Embedder,
    /// From a process of the same user, over the socket or a pipe.
    Peer,
    /// With the token of a session.
    Session,
    /// With the operator token of this name.
    Operator(TokenName),
    /// With the host token of this name.
    Host(TokenName),
    /// By the channel of this name, whose proof it had.
    Channel(TokenName),
}

/// The name of an operator's or a host's token; it contains nothing of the token itself. Copies share one text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenName(Arc<str>);

impl TokenName {
    /// Checks a name, and makes a token name of it.
    ///
    /// # Errors
    /// [`IdError`] if it is blank, too long or holds control characters.
    pub fn new(text: &str) -> Result<TokenName, IdError> {
        check(text)?;
        Ok(TokenName(text.into()))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Via {
    /// Returns the kind of entry, spelled alike in every notation.
    pub fn name(&self) -> &'static str {
        match self {
            Via::Embedder => "embedder",
            Via::Peer => "peer",
            Via::Session => "session",
            Via::Operator(_) => "operator",
            Via::Host(_) => "host",
            Via::Channel(_) => "channel",
        }
    }

    /// Returns the name of the token, if the call came with one that has a name; of a channel, the channel's.
    pub fn token(&self) -> Option<&TokenName> {
        match self {
            Via::Operator(token) | Via::Host(token) | Via::Channel(token) => Some(token),
            Via::Embedder | Via::Peer | Via::Session => None,
        }
    }

    /// Returns the name of the host token, if the call came with one.
    pub(crate) fn host(&self) -> Option<&TokenName> {
        if let Via::Host(token) = self { Some(token) } else { None }
    }
}

impl Actor {
    /// Returns this actor with a tool of the given dialect.
    #[must_use]
    pub(crate) fn with_tool(self, tool: Dialect) -> Actor {
        Actor { tool: Some(tool), ..self }
    }
}

impl Actor {
    /// Returns whether it acted with the rights of its session and no others: with the token of the session or of its host, or as
    /// a model. What it makes has to be allowed to the session at each run.
    pub(crate) fn is_bound(&self) -> bool {
        let is_token = matches!(self.via, Some(Via::Session | Via::Host(_)));
        self.is_of_session() && (is_token || self.as_model)
    }

    /// Returns whether it acts for a session, and not for the whole.
    pub(crate) fn is_of_session(&self) -> bool {
        self.scope != Scope::Operator
    }

    /// Returns what a viewer may know of this actor. An operator sees everything; a session sees
    /// itself in full, of an operator only that it was one, and of other sessions nothing.
    pub(crate) fn seen_by(&self, viewer: &Scope) -> Option<Actor> {
        match (viewer, &self.scope) {
            (Scope::Operator, _) => Some(self.clone()),
            // Entry and tool of an operator are dropped: a session must not learn the names of
            // operator tokens.
            (Scope::Session(_), Scope::Operator) => {
                Some(Actor { scope: Scope::Operator, via: None, tool: None, as_model: false })
            }
            (Scope::Session(own), Scope::Session(session)) => (own == session).then(|| self.clone()),
        }
    }
}

impl From<Scope> for Actor {
    /// Attributes a bare scope to the embedding program, which may act in any scope.
    fn from(scope: Scope) -> Actor {
        Actor { scope, via: Some(Via::Embedder), tool: None, as_model: false }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = self.tool.map(|tool| format!("{} tool", tool.name()));
        let model = self.as_model.then(|| "model".to_owned());
        let mut entry = match &self.via {
            // "session s1" already says how a session's call arrived.
            None | Some(Via::Session) => None,
            Some(Via::Embedder) => Some("embedder".to_owned()),
            Some(Via::Peer) => Some("local user".to_owned()),
            Some(Via::Operator(token)) => Some(format!("token {}", token.as_str())),
            Some(Via::Host(token)) => Some(format!("host {}", token.as_str())),
            Some(Via::Channel(name)) => Some(format!("channel {}", name.as_str())),
        };
        match &self.scope {
            Scope::Operator => f.write_str("operator")?,
            // A host or a channel that acts for no session.
            Scope::Session(_) if self.scope.is_nothing() => {
                f.write_str(&entry.take().unwrap_or_else(|| "no session".to_owned()))?;
            }
            Scope::Session(session) => write!(f, "session {session}")?,
        }
        let how: Vec<String> = entry.into_iter().chain(model).chain(tool).collect();
        if how.is_empty() { Ok(()) } else { write!(f, " ({})", how.join(", ")) }
    }
}
