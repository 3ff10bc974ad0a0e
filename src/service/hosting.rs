//! What hosts ask for: sessions opened and closed, reports of what happens in them, and receipts for deliveries.
//!
//! Both languages of the graph and the stream come here. What lives elsewhere: the rules of a session's life (`engine`).

use std::sync::Arc;

use super::Service;
use super::admission::Admitted;
use super::denial::Denial;
use super::reach::Reach;
use crate::calendar::ZoneFault;
use crate::domain::{
    Caller, Failure, HostId, JobId, Op, Phase, Reason, Refusal, RunId, RunState, SessionConfig, SessionId,
    ToolName,
};
use crate::engine::{Command, Input, Report, SessionRecord};
use crate::port::Executor;
use crate::runtime::Token;

/// A request that only hosts and operators may make.
pub(crate) enum HostRequest {
    Open {
        /// A random one if it is not given.
        session: Option<SessionId>,
        asked: SessionRequest,
        /// Whether somebody reads along. If not, and if no host has it, messages are left in its inbox.
        listens: bool,
    },
    Close {
        session: SessionId,
    },
    Busy {
        session: SessionId,
        busy: bool,
    },
    UserMessage {
        session: SessionId,
        text: Box<str>,
    },
    JobReady {
        session: SessionId,
        job: JobId,
    },
    Acknowledge {
        run: RunId,
    },
    Refuse {
        run: RunId,
        /// What failed: the fresh session, or the prompt.
        phase: Phase,
        error: Box<str>,
    },
}

/// What a session is to be opened with.
#[derive(Default)]
pub(crate) struct SessionRequest {
    pub(crate) config: Box<SessionConfig>,
    /// The zone that calls of the session mean if they name none, as it was given.
    pub(crate) zone: Option<Box<str>>,
}

/// What became of a request to open a session or take it over.
pub(crate) enum Opening {
    /// It was opened, and has this token.
    Opened(Token),
    /// It was open already, and goes on as it was opened.
    Attached {
        /// The keys of the request that ask for something else.
        ignored: Vec<&'static str>,
    },
}

/// The keys of what a configuration asks for and a session does not have.
fn differing_keys(wanted: &SessionConfig, present: &SessionConfig) -> Vec<&'static str> {
    // Zone and address apart from the rest: a request that leaves one of them out asks for nothing different there.
    let parts = |config: &SessionConfig| {
        let rest = SessionConfig { zone: None, address: None, ..config.clone() };
        (config.zone.clone(), config.address.clone(), rest)
    };
    let ((zone, address, rest), (its_zone, its_address, its_rest)) = (parts(wanted), parts(present));
    let differs = [
        ("zone", zone.is_some() && zone != its_zone),
        ("address", address.is_some() && address != its_address),
        ("session-config", rest != SessionConfig::default() && rest != its_rest),
    ];
    differs.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key).collect()
}

/// Why a request of a host is not carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostError {
    /// The caller may not ask for it.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// The engine refuses it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The run does not wait for a receipt: it stands otherwise, for this reason if it failed or waits.
    #[error("{refusal}: it is {}", .state.name())]
    NotInFlight { refusal: Refusal, state: RunState, reason: Option<Reason> },
    /// The session would be in a zone that nobody knows.
    #[error("{0}: {hint}", hint = .0.hint())]
    Zone(#[from] ZoneFault),
}

impl HostRequest {
    /// The session that it names.
    pub(crate) fn session(&self) -> Option<&SessionId> {
        match self {
            HostRequest::Open { session, .. } => session.as_ref(),
            HostRequest::Close { session }
            | HostRequest::Busy { session, .. }
            | HostRequest::UserMessage { session, .. }
            | HostRequest::JobReady { session, .. } => Some(session),
            HostRequest::Acknowledge { .. } | HostRequest::Refuse { .. } => None,
        }
    }

    /// The operation that it is.
    pub(crate) fn op(&self) -> Op {
        match self {
            HostRequest::Open { .. } => Op::OpenSession,
            HostRequest::Close { .. } => Op::CloseSession,
            HostRequest::Busy { .. } => Op::Busy,
            HostRequest::UserMessage { .. } => Op::UserMessage,
            HostRequest::JobReady { .. } => Op::JobReady,
            HostRequest::Acknowledge { .. } | HostRequest::Refuse { .. } => Op::Receipt,
        }
    }
}

impl Service {
    /// Carries out a request of a host within its reach, and returns the session and its token if it opened one.
    ///
    /// # Errors
    /// [`HostError`]; nothing has changed then. A session beyond the reach is answered like one that does not exist.
    pub(crate) fn host(
        &self,
        caller: &Caller,
        reach: &mut Reach,
        request: HostRequest,
    ) -> Result<Option<(SessionId, Token)>, HostError> {
        let admitted = self.admit(caller, request.op(), None)?;
        self.host_admitted(admitted, reach, request)
    }

    /// Carries out a request that was admitted.
    ///
    /// # Errors
    /// As of [`host`](Service::host), but for the admission.
    pub(super) fn host_admitted(
        &self,
        admitted: Admitted<'_>,
        reach: &mut Reach,
        request: HostRequest,
    ) -> Result<Option<(SessionId, Token)>, HostError> {
        debug_assert_eq!(admitted.op(), request.op(), "it was admitted for something else");
        let caller = admitted.caller();
        let input = match request {
            HostRequest::Open { session, asked, listens } => {
                let built_in = if listens { HostId::LOCAL } else { HostId::INBOX };
                // A client that has attached as a host also hosts the sessions that it opens.
                let host = if reach.host.is_attached() { reach.host } else { built_in };
                let config = self.config_of(asked)?;
                return Ok(Some(self.open(admitted, reach, (session, config), host)?));
            }
            HostRequest::Close { session } => {
                self.check_reach(reach, &session)?;
                self.handle().sessions().close_by(&session, Some(caller.actor()))?;
                return Ok(None);
            }
            HostRequest::Busy { session, busy } => {
                self.check_reach(reach, &session)?;
                Input::Report(Report::Busy { session, busy, by: Some(caller.actor()) })
            }
            HostRequest::UserMessage { session, text } => {
                self.check_reach(reach, &session)?;
                Input::Report(Report::UserMessage { session, text, by: Some(caller.actor()) })
            }
            HostRequest::JobReady { session, job } => {
                self.check_reach(reach, &session)?;
                Input::Command(Command::JobReady { session, job, by: Some(caller.actor()) })
            }
            HostRequest::Acknowledge { run } => {
                self.check_delivery(reach, &run)?;
                Input::Report(Report::Accepted { run })
            }
            HostRequest::Refuse { run, phase, error } => {
                self.check_delivery(reach, &run)?;
                let failure = Failure::new(phase, Reason::HostRefused, error);
                Input::Report(Report::Failed { run, failure })
            }
        };
        self.handle().submit(input).map_err(|refusal| self.with_run_state(refusal))?;
        Ok(None)
    }

    /// Adds to a refused receipt how its run stands: a harness has to know whether its turn counts.
    fn with_run_state(&self, refusal: Refusal) -> HostError {
        let Refusal::NotInFlight { run } = &refusal else { return refusal.into() };
        let standing = self.handle().view(|state| state.run(run).map(|it| (it.run().state, it.run().reason)));
        match standing {
            Some((state, reason)) => HostError::NotInFlight { refusal, state, reason },
            None => refusal.into(),
        }
    }

    /// Makes a connection the host of sessions within its reach, which are busy if a turn of theirs is under way; if that is not
    /// said, each is as busy as it was. `attach` makes it a host if it is none yet.
    ///
    /// # Errors
    /// [`HostError`]; nothing has changed then.
    pub(crate) fn attach(
        &self,
        caller: &Caller,
        reach: &mut Reach,
        (sessions, busy): (Vec<SessionId>, Option<bool>),
        attach: impl FnOnce() -> HostId,
    ) -> Result<(), HostError> {
        let admitted = self.admit(caller, Op::AttachHost, None)?;
        // All sessions are checked before the host is created, so a refused request changes nothing.
        sessions.iter().try_for_each(|session| self.check_reach(reach, session))?;
        let hosted_before = reach.host.is_attached();
        if !hosted_before {
            reach.host = attach();
        }
        let taken = self.handle().submit(Input::Command(Command::HostSessions {
            host: reach.host,
            sessions,
            busy,
            by: Some(admitted.caller().actor()),
        }));
        // A refused attach leaves no empty host behind.
        if taken.is_err() && !hosted_before {
            self.detach(reach);
        }
        Ok(taken?)
    }

    /// Makes a connection no host again.
    fn detach(&self, reach: &mut Reach) {
        let host = std::mem::replace(&mut reach.host, HostId::LOCAL);
        self.handle().hosts().detach(host);
    }

    /// Offers the tools of an attached host to its sessions. Returns the names by which they get tools of others.
    ///
    /// # Errors
    /// [`HostError`]; the caller is no host.
    pub(crate) fn offer_tools(
        &self,
        caller: &Caller,
        reach: &Reach,
        tools: Arc<dyn Executor>,
    ) -> Result<Vec<ToolName>, HostError> {
        self.admit(caller, Op::AttachHost, None).map(drop)?;
        Ok(self.handle().tools().offer(reach.host, tools))
    }

    /// Admits that a host says what a call came to.
    ///
    /// # Errors
    /// [`HostError`]
    pub(crate) fn admit_result(&self, caller: &Caller) -> Result<(), HostError> {
        Ok(self.admit(caller, Op::Receipt, None).map(drop)?)
    }

    /// Opens a session, or takes over the one that has this id. `attach` makes the connection a host if it is none yet.
    ///
    /// # Errors
    /// [`HostError`]; no session was opened or taken over then, and no connection became a host.
    pub(crate) fn open_or_attach(
        &self,
        caller: &Caller,
        reach: &mut Reach,
        (session, asked, busy): (SessionId, SessionRequest, bool),
        attach: impl FnOnce() -> HostId,
    ) -> Result<Opening, HostError> {
        let admitted = self.admit(caller, Op::OpenSession, None)?;
        // Before anything changes.
        let wanted = self.config_of(asked)?;
        // A session beyond the reach is refused as in an opening, which says that the id is taken.
        let is_reached = reach.covers(self.handle(), &session);
        let present = || self.handle().view(|state| Some(Arc::clone(state.session(&session)?.config())));
        if let Some(present) = is_reached.then(present).flatten() {
            self.attach(caller, reach, (vec![session], Some(busy)), attach)?;
            return Ok(Opening::Attached { ignored: differing_keys(&wanted, &present) });
        }
        // The connection becomes a host first, so that the session is opened with it as its host.
        let hosted_before = reach.host.is_attached();
        self.attach(caller, reach, (Vec::new(), Some(false)), attach)?;
        let host = reach.host;
        let opened = self.open(admitted, reach, (Some(session), wanted), host);
        // As after a refused attach.
        if opened.is_err() && !hosted_before {
            self.detach(reach);
        }
        let (session, token) = opened?;
        if busy {
            // The session was closed while a turn went on in the harness. That turn still counts: what is due in the new session
            // waits for its end.
            self.handle().submit(Input::Report(Report::Busy { session, busy, by: Some(caller.actor()) }))?;
        }
        Ok(Opening::Opened(token))
    }

    /// Reports that a job of a session is ready, on behalf of the session itself.
    ///
    /// # Errors
    /// [`Refusal`]; nothing has changed then.
    #[cfg(feature = "http")]
    pub(crate) fn report_job(
        &self,
        admitted: Admitted<'_>,
        session: SessionId,
        job: JobId,
    ) -> Result<(), Refusal> {
        debug_assert_eq!(admitted.op(), Op::ReportJob, "it was admitted for something else");
        let by = Some(admitted.caller().actor());
        self.handle().submit(Input::Command(Command::JobReady { session, job, by }))
    }

    /// Admits an operation about this session, such as a report that a job is ready.
    ///
    /// # Errors
    /// [`HostError`]
    #[cfg(feature = "http")]
    pub(crate) fn admit_about<'a>(
        &self,
        caller: &'a Caller,
        session: &SessionId,
        op: Op,
    ) -> Result<Admitted<'a>, HostError> {
        if !caller.scope.covers(session) {
            return Err(Refusal::UnknownSession { session: session.clone() }.into());
        }
        Ok(self.admit(caller, op, None)?)
    }

    fn open(
        &self,
        admitted: Admitted<'_>,
        reach: &mut Reach,
        (session, config): (Option<SessionId>, SessionConfig),
        host: HostId,
    ) -> Result<(SessionId, Token), Refusal> {
        let by = Some(admitted.caller().actor());
        let opened = self.handle().sessions().open_by(session, host, config, by)?;
        // Only after success: a session that another client had opened must stay invisible.
        reach.add(self.handle(), &opened.0);
        Ok(opened)
    }

    fn config_of(&self, asked: SessionRequest) -> Result<SessionConfig, ZoneFault> {
        let zone = asked.zone.map(|name| self.handle().zones().named(&name)).transpose()?;
        Ok(SessionConfig { zone, ..*asked.config })
    }

    /// Refuses a session beyond the reach, as if it did not exist.
    fn check_reach(&self, reach: &Reach, session: &SessionId) -> Result<(), Refusal> {
        if reach.covers(self.handle(), session) {
            return Ok(());
        }
        Err(Refusal::UnknownSession { session: session.clone() })
    }

    /// Refuses a receipt unless the connection hosts the delivery's session.
    pub(super) fn check_delivery(&self, reach: &Reach, run: &RunId) -> Result<(), Refusal> {
        let host = self.handle().view(|state| {
            let into = state.run(run)?.run().session.as_ref()?;
            state.session(into).map(SessionRecord::host)
        });
        // A connection that is no host has the number of the built-in one, whose deliveries are not its own.
        if reach.host.is_attached() && host == Some(reach.host) {
            return Ok(());
        }
        Err(Refusal::UnknownRun { run: run.clone() })
    }
}
