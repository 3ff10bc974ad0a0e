//! The codec of who did something.

use super::FactError;
use super::form::Form;
use super::parts::{flag_or, map, maybe, one, part, text, wrong};
use super::printed::{Part, Printed, Word};
use crate::domain::{Actor, Dialect, Scope, SessionId, TokenName, Via};

/// Who did something. In logs from before more was recorded, it is the scope alone.
pub(super) fn actor(form: &Form<'_>, key: &'static str) -> Result<Actor, FactError> {
    // The short form is a keyword or a session's id.
    if !part(form, key).is_map() {
        return Ok(Actor { scope: scope(form, key)?, via: None, tool: None, as_model: false });
    }
    let form = map(form, key)?;
    let entry = maybe(form, "entry", |form, key| match part(form, key).as_keyword() {
        Some("embedder") => Ok(Via::Embedder),
        Some("peer") => Ok(Via::Peer),
        Some("session") => Ok(Via::Session),
        Some("operator") => token_name(form, "token").map(Via::Operator),
        Some("host") => token_name(form, "token").map(Via::Host),
        Some("channel") => token_name(form, "token").map(Via::Channel),
        Some(_) | None => {
            Err(wrong(key, "embedder, peer, session, operator, host or channel", part(form, key)))
        }
    })?;
    let tool = maybe(form, "tool", |form, key| one(form, key, Dialect::parse))?;
    let as_model = flag_or(false, form, "model")?;
    Ok(Actor { scope: scope(form, "scope")?, via: entry, tool, as_model })
}

/// The name of a token.
pub(super) fn token_name(form: &Form<'_>, key: &'static str) -> Result<TokenName, FactError> {
    TokenName::new(text(form, key)?).map_err(|_| wrong(key, "a token's name", part(form, key)))
}

fn scope(form: &Form<'_>, key: &'static str) -> Result<Scope, FactError> {
    let value = part(form, key);
    match value.as_keyword() {
        Some("operator") => return Ok(Scope::Operator),
        Some("nothing") => return Ok(Scope::nothing()),
        Some(_) | None => {}
    }
    let session = value.as_str().and_then(|text| SessionId::new(text).ok());
    session.map(Scope::Session).ok_or_else(|| wrong(key, ":operator, :nothing or a session's id", value))
}

impl Part for &Scope {
    fn print(self, out: &mut String) {
        match self {
            Scope::Operator => Word("operator").print(out),
            // A host that acted for no session.
            Scope::Session(_) if self.is_nothing() => Word("nothing").print(out),
            Scope::Session(session) => session.as_str().print(out),
        }
    }
}

impl Part for &Actor {
    /// An actor of which only the scope is known is printed as the scope alone, as in logs from
    /// before more was recorded.
    fn print(self, out: &mut String) {
        let Actor { scope, via: entry, tool, as_model } = self;
        if entry.is_none() && tool.is_none() && !as_model {
            return scope.print(out);
        }
        // `entry` below is the stored key of `Actor::via`.
        let mut map = Printed::new().with("scope", scope);
        if let Some(entry) = entry {
            map = map.with("entry", Word(entry.name()));
            if let Some(token) = entry.token() {
                map = map.with("token", token.as_str());
            }
        }
        if let Some(tool) = tool {
            map = map.with("tool", Word(tool.name()));
        }
        if *as_model {
            map = map.with("model", true);
        }
        map.print(out);
    }
}
