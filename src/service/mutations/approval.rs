//! Operators' decisions: approving and denying runs that are held, and changing the grants of sessions.

use super::{CallerMutator, refused};
use crate::domain::RunId;
use crate::edn::{Map, Value};
use crate::engine::{Command, Input};
use crate::graph::mutation::{Approve, GrantParams, GrantRight};
use crate::graph::params::OneOrMany;
use crate::graph::registry::ResolverError;

impl CallerMutator<'_> {
    /// Approves a run. The digest names the version that the operator was shown.
    pub(super) fn approve(&self, params: Approve) -> Result<Value, ResolverError> {
        let (run, digest) = (params.which.run, params.shown.digest);
        self.decide(&run.clone(), Command::Approve { run, digest, by: self.actor() })
    }

    /// Denies a run.
    pub(super) fn deny(&self, run: RunId, why: Option<Box<str>>) -> Result<Value, ResolverError> {
        self.decide(&run.clone(), Command::Deny { run, why, by: self.actor() })
    }

    /// Changes a session's grant. Omitted parts stay as they are; a right of nil is no right at all.
    pub(super) fn set_grant(&self, params: GrantParams) -> Result<Value, ResolverError> {
        let session = params.session;
        let mut grant = self.handle().view(|state| state.grant(&session).clone());
        if let Some(right) = params.right {
            grant.right = right.and_then(GrantRight::right);
        }
        if let Some(dialects) = params.dialects {
            grant.dialects = dialects.map(|OneOrMany(mut dialects)| {
                dialects.sort_unstable();
                dialects.dedup();
                dialects
            });
        }
        if let Some(depth) = params.depth {
            grant.depth = depth;
        }
        if let Some(cron_others) = params.cron_others {
            grant.cron_others = cron_others;
        }
        self.handle().grant(&session, grant, self.actor()).map_err(|refusal| refused(&refusal))?;
        Ok(Map::new().with("psi.agent-session/session-id", session.as_str()).into())
    }

    fn decide(&self, run: &RunId, command: Command) -> Result<Value, ResolverError> {
        self.handle().submit(Input::Command(command)).map_err(|refusal| refused(&refusal))?;
        Ok(Map::new().with("reveille.run/id", run.to_string()).into())
    }
}
