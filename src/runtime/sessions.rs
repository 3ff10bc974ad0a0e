//! Sessions by a handle: opened and closed together with their tokens.
//!
//! What lives elsewhere: which tokens are live (`token`), who may ask for what (`service`). Invariant: a token is live only
//! while its session is open, whichever threads open and close it.

use std::sync::Arc;

use super::handle::Handle;
use super::token::Token;
use crate::domain::{Actor, Grant, GrantChange, HostId, Refusal, SessionConfig, SessionId, Transcript};
use crate::engine::{Command, Input, SessionRecord, State};

/// The sessions of an engine.
pub struct Sessions<'a>(pub(super) &'a Handle);

impl Sessions<'_> {
    /// Opens a session on a host, for this actor, and issues its token.
    ///
    /// # Errors
    /// [`Refusal`] if the id is in use, or the engine is full or stopping.
    pub(crate) fn open_by(
        &self,
        session: Option<SessionId>,
        host: HostId,
        config: SessionConfig,
        by: Option<Actor>,
    ) -> Result<(SessionId, Token), Refusal> {
        let session = session.unwrap_or_else(|| SessionId::random(self.0.random_bits()));
        let (id, config) = (Some(session.clone()), Arc::new(config));
        let token = Token::from_entropy(self.0.random_bits(), self.0.random_bits());
        // Issued in the same critical section, so that a close on another thread comes before both or after both; and before
        // the step, because the step persists the token's digest with the session.
        let mut issued = false;
        let issue = |state: &State| {
            issued = state.session(&session).is_none();
            if issued {
                self.0.tokens().issue(&token, &session);
            }
        };
        let open = Input::Command(Command::OpenSession { session: id, host, config, by });
        let opened = self.0.submit_prepared(open, issue, |_| ());
        if issued && opened.is_err() {
            // This token alone: another thread may have opened the session since.
            self.0.tokens().withdraw(&token, &session);
        }
        opened?;
        Ok((session, token))
    }

    /// Closes a session, for this actor. Its schedules are cancelled and its token is revoked.
    ///
    /// # Errors
    /// [`Refusal::UnknownSession`].
    pub(crate) fn close_by(&self, session: &SessionId, by: Option<Actor>) -> Result<(), Refusal> {
        let close = Command::CloseSession { session: session.clone(), by };
        // Revoked in the critical section that closes the session: later, the id may belong to a new session and its token.
        self.0.submit_with(Input::Command(close), |_| self.0.tokens().revoke(session))
    }

    /// Sets what a session may do from now on: its calls, and the runs of its schedules. A grant of nothing revokes its token.
    ///
    /// # Errors
    /// [`Refusal`] if the session is unknown.
    pub fn grant(&self, session: &SessionId, grant: Grant, by: impl Into<Actor>) -> Result<(), Refusal> {
        self.submit_grant(session, Command::SetGrant { session: session.clone(), grant, by: by.into() })
    }

    /// Changes parts of what a session may do, as [`grant`](Sessions::grant) sets all of it.
    ///
    /// # Errors
    /// [`Refusal`] if the session is unknown.
    pub(crate) fn change_grant(
        &self,
        session: &SessionId,
        change: GrantChange,
        by: Actor,
    ) -> Result<(), Refusal> {
        self.submit_grant(session, Command::ChangeGrant { session: session.clone(), change, by })
    }

    fn submit_grant(&self, session: &SessionId, command: Command) -> Result<(), Refusal> {
        let granted = self.0.submit(Input::Command(command));
        // Only now: a step that is refused, or that the store cannot keep, leaves the token as it was.
        if granted.is_ok() {
            // Under the lock, and looked up again: the id may belong to a new session by now.
            let core = self.0.shared.core();
            if core.state.grant(session).right.is_none() {
                self.0.tokens().revoke(session);
            }
        }
        granted
    }

    /// The transcript of a session; `None` if there is no such session, or if its harness does not share it.
    pub fn transcript(&self, session: &SessionId) -> Option<Transcript> {
        // The host is called without the engine's lock.
        let host = self.0.view(|state| state.session(session).map(SessionRecord::host))?;
        self.0.shared.hosts.find(host)?.transcript(session)
    }
}
