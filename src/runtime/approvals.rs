//! What operators decide about what others may do: their word on runs that are held, and the grants of sessions.

use super::hands::{CallerHands, refused, wrong};
use crate::domain::{Code, Dialect, Digest, Grant, Refusal, Right, RunId, Scope};
use crate::edn::{Keyword, Map, Value};
use crate::engine::{Command, Input};
use crate::graph::registry::ResolverError;

impl CallerHands<'_> {
    /// Says yes to a run, as it was shown.
    pub(super) fn approve(&self, params: &Map) -> Result<Value, ResolverError> {
        self.only_operators("approve runs")?;
        let run = self.run(params)?;
        let text = self.text(params, "digest")?;
        let digest = Digest::parse(text);
        let digest =
            digest.ok_or_else(|| wrong("digest", "the digest that is shown", params.keyword("digest")))?;
        self.decide(&run.clone(), Command::Approve { run, digest, by: self.actor() })
    }

    /// Says no to it.
    pub(super) fn deny(&self, params: &Map) -> Result<Value, ResolverError> {
        self.only_operators("deny runs")?;
        let (run, why) = (self.run(params)?, self.words(params)?);
        self.decide(&run.clone(), Command::Deny { run, why, by: self.actor() })
    }

    /// Changes what a session may do. What is left out stays as it is; a right that is nil is none.
    pub(super) fn set_grant(&self, params: &Map) -> Result<Value, ResolverError> {
        self.only_operators("change what a session may do")?;
        let session = self.session(params, "session-id")?;
        let mut grant = self.handle.view(|state| state.grant(&session).clone());
        if let Some(value) = params.keyword("right") {
            let right = name(value).and_then(Right::parse);
            if right.is_none() && !value.is_nil() && name(value) != Some("none") {
                return Err(wrong("right", "change, read or none", Some(value)));
            }
            grant.right = right;
        }
        if let Some(value) = params.keyword("dialects") {
            grant.dialects = dialects(value)?;
        }
        if let Some(value) = params.keyword("depth") {
            let depth = value.as_int().and_then(|depth| u32::try_from(depth).ok());
            grant.depth = depth.ok_or_else(|| wrong("depth", "a whole number, 0 or more", Some(value)))?;
        }
        self.handle.grant(&session, grant, self.actor()).map_err(|refusal| refused(&refusal))?;
        Ok(Map::new().with("psi.agent-session/session-id", session.as_str()).into())
    }

    fn decide(&self, run: &RunId, command: Command) -> Result<Value, ResolverError> {
        self.handle.submit(Input::Command(command)).map_err(|refusal| {
            let Refusal::ApprovalConflict { present, .. } = &refusal else { return refused(&refusal) };
            let data = Map::new().with("hint", refusal.hint()).with("digest", present.to_string());
            ResolverError::new(refusal.to_string(), data).coded(refusal.code())
        })?;
        Ok(Map::new().with("reveille.run/id", run.to_string()).into())
    }

    fn run(&self, params: &Map) -> Result<RunId, ResolverError> {
        let text = self.text(params, "run-id")?;
        RunId::parse(text).ok_or_else(|| wrong("run-id", "a run's id", params.keyword("run-id")))
    }

    fn only_operators(&self, what: &str) -> Result<(), ResolverError> {
        if self.caller.scope == Scope::Operator {
            return Ok(());
        }
        let message = format!("only an operator may {what}");
        Err(ResolverError::new(message, Map::new()).coded(Code::Forbidden))
    }
}

impl super::handle::Handle {
    /// Changes what a session may do, from this moment on: its calls, and the runs of its schedules. Where that is nothing, its
    /// token ends.
    ///
    /// # Errors
    /// [`Refusal`], if nothing is known of the session.
    pub fn grant(
        &self,
        session: &crate::domain::SessionId,
        grant: Grant,
        by: impl Into<crate::domain::Actor>,
    ) -> Result<(), Refusal> {
        let ends = grant.right.is_none();
        let command = Command::SetGrant { session: session.clone(), grant, by: by.into() };
        // Before the row of the session is written, which has its token in it.
        let revoke = |_: &crate::engine::State| {
            if ends {
                self.shared.tokens.revoke(session);
            }
        };
        self.carry_out(Input::Command(command), revoke, |_| ())
    }
}

fn dialects(value: &Value) -> Result<Option<Vec<Dialect>>, ResolverError> {
    if value.is_nil() {
        return Ok(None);
    }
    let wrong = || wrong("dialects", "a list of dialects, or nil for all", Some(value));
    let items = value.as_items().ok_or_else(wrong)?;
    let found: Option<Vec<Dialect>> = items.iter().map(|item| name(item).and_then(Dialect::parse)).collect();
    let mut found = found.ok_or_else(wrong)?;
    found.sort_unstable();
    found.dedup();
    Ok(Some(found))
}

fn name(value: &Value) -> Option<&str> {
    value.as_keyword().map(Keyword::as_str).or_else(|| value.as_str())
}
