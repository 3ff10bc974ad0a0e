//! Carries out the graph's mutations for one caller, with the checks of the tools.
//!
//! Invariant: a caller changes its own things only; others answer as if they did not exist. A caller that may only
//! read is refused before anything else is checked.

mod approval;
mod bulk;
mod inbox;
mod memory;
mod schedule;

use super::admission::Admitted;
use super::denial::{Denial, NO_SESSION};
use super::{HostError, HostRequest, Reach, Service, SessionRequest};
use crate::dialect::{Notation, psi, refusal_data};
use crate::domain::{Actor, AddressError, Caller, Code, Dialect, Refusal, SessionConfig, SessionId, Status};
use crate::edn::{Map, Value};
use crate::engine::Command;
use crate::graph::config_params::ConfigMap;
use crate::graph::mutation::{Mutation, MutationName, PingRequest, ReasonParams, unknown_zone};
use crate::graph::registry::ResolverError;
use crate::graph::view::{AdmittedMutation, Mutator};
use crate::graph::{self};
use crate::limits;
use crate::runtime::{Handle, Token};

/// What asks for the mutations of one caller.
pub(super) struct CallerHand<'a> {
    pub(super) service: &'a Service,
    pub(super) caller: &'a Caller,
}

impl Mutator for CallerHand<'_> {
    fn admit(&self, mutation: MutationName) -> Result<Box<dyn AdmittedMutation + '_>, ResolverError> {
        let admitted = self.service.admit(self.caller, mutation.op(), None);
        let admitted = admitted.map_err(|denial| denied(&denial.asked_as(mutation.name())))?;
        Ok(Box::new(CallerMutator { service: self.service, admitted, tool: None }))
    }
}

/// The mutations of one caller that was admitted.
pub(super) struct CallerMutator<'a> {
    pub(super) service: &'a Service,
    pub(super) admitted: Admitted<'a>,
    /// The dialect of the tool that acts; `None` if no tool does.
    pub(super) tool: Option<Dialect>,
}

impl<'a> CallerMutator<'a> {
    fn handle(&self) -> &'a Handle {
        self.service.handle()
    }

    /// Who acts, as the log records it.
    pub(super) fn actor(&self) -> Actor {
        Actor { tool: self.tool, ..self.caller().actor() }
    }

    fn caller(&self) -> &'a Caller {
        self.admitted.caller()
    }
}

impl AdmittedMutation for CallerMutator<'_> {
    fn carry_out(&self, mutation: Mutation) -> Result<Value, ResolverError> {
        match mutation {
            Mutation::Create(params) => self.create(*params),
            Mutation::Cancel(which) => self.command(&which, Command::CancelSchedule),
            Mutation::Reschedule(params) => self.reschedule(*params),
            Mutation::RunNow(request) => self.run_now(&request),
            Mutation::Pause(params) => {
                let reason = reason(params.why)?;
                self.toggle(&params.which, |which| Command::PauseSchedule { which, reason })
            }
            Mutation::Resume(which) => self.toggle(&which, Command::ResumeSchedule),
            Mutation::SkipNext(which) => self.command(&which, Command::SkipNext),
            Mutation::Retry(which) => self.retry(&which),
            Mutation::ChangeMany(params) => self.change_many(*params),
            Mutation::CancelAll(of) => self.cancel_all(of.session),
            Mutation::PauseAll(params) => self.pause_all(params.of.session, reason(params.why)?.as_deref()),
            Mutation::ResumeAll(of) => self.resume_all(of.session),
            Mutation::HoldAll(why) => self.hold(Some(reason(*why)?)),
            Mutation::ReleaseAll(_) => self.hold(None),
            Mutation::Approve(params) => self.approve(*params),
            Mutation::Deny(params) => self.deny(params.which.run, params.what.digest, reason(params.why)?),
            Mutation::SetGrant(params) => self.set_grant(*params),
            Mutation::Open(params) => {
                let address = params.whole_address().map_err(unaddressed)?;
                let config = params.config.map_or_else(|| Ok(SessionConfig::default()), session_config)?;
                let config = SessionConfig { address, ..config };
                let (session, listens) = (params.session, params.listens.unwrap_or(false));
                let asked = SessionRequest { config: Box::new(config), zone: params.zone };
                self.host(HostRequest::Open { session, asked, listens })
            }
            Mutation::Close(of) => self.host(HostRequest::Close { session: self.named(of.session)? }),
            Mutation::TakeMessages(request) => self.take_messages(*request),
            Mutation::Remember(request) => self.remember(*request),
            Mutation::SetGoal(request) => self.set_goal(*request),
            Mutation::CreateTask(request) => self.create_task(*request),
            Mutation::UpdateTask(request) => self.update_task(&request),
            Mutation::Ping(request) => self.ping(*request),
            Mutation::UserMessage(params) => {
                let session = self.named(params.of.session)?;
                self.host(HostRequest::UserMessage { session, text: params.said.text })
            }
            Mutation::Busy(params) => {
                let session = self.named(params.of.session)?;
                self.host(HostRequest::Busy { session, busy: params.busy.busy })
            }
            Mutation::JobReady(params) => {
                let session = self.named(params.of.session)?;
                self.host(HostRequest::JobReady { session, job: params.job.job })
            }
        }
    }
}

impl CallerMutator<'_> {
    /// Carries out what only hosts and operators may ask for.
    fn host(&self, request: HostRequest) -> Result<Value, ResolverError> {
        let session = request.session().cloned();
        let mut reach = Reach::of(self.handle(), self.caller());
        let opened =
            self.service.host_admitted(self.admitted, &mut reach, request).map_err(|error| match error {
                HostError::Denied(denial) => denied(&denial),
                HostError::Refused(refusal) | HostError::NotInFlight { refusal, .. } => refused(&refusal),
                HostError::Zone(fault) => unknown_zone(&fault),
            })?;
        let (session, token) =
            opened.map_or((session, None), |(session, token)| (Some(session), Some(token)));
        let answer = Map::new().with("psi.agent-session/session-id", session.as_ref().map(SessionId::as_str));
        Ok(answer.with_some("psi.agent-session/token", token.as_ref().map(Token::reveal)).into())
    }

    fn ping(&self, request: PingRequest) -> Result<Value, ResolverError> {
        // A host speaks for the sessions that it has opened.
        let is_hosts = |session: &SessionId| {
            let (handle, caller) = (self.service.handle(), self.caller());
            caller.scope.is_nothing() && Reach::of(handle, caller).covers(handle, session)
        };
        let session = match request.of.session {
            Some(session) if is_hosts(&session) => session,
            given => self.session(given, "session-id")?,
        };
        let at = self.service.ping(self.admitted, &session, &request.ping.name);
        let at = at.map_err(|refusal| refused(&refusal))?;
        Ok(Map::new()
            .with("psi.agent-session/session-id", session.as_str())
            .with("psi.agent-session/pinged-at", graph::psi_terms::instant(at))
            .into())
    }

    /// The session that a host speaks about: the one that was named, or else the caller's own. Whether it is within reach is
    /// decided with the request.
    fn named(&self, given: Option<SessionId>) -> Result<SessionId, ResolverError> {
        // The scope of a host that acts for no session has an id too, which no session can have.
        let own = self.caller().scope.session().filter(|own| !own.is_nobodys()).cloned();
        given.or(own).ok_or_else(|| wrong("session-id", "a session's id", None))
    }

    /// The session that was named, or else the caller's own.
    pub(super) fn session(
        &self,
        given: Option<SessionId>,
        name: &'static str,
    ) -> Result<SessionId, ResolverError> {
        let own = self.caller().scope.session().filter(|own| !own.is_nobodys()).cloned();
        let session = given.or(own).ok_or_else(|| wrong(name, "a session's id", None))?;
        if self.caller().scope.covers(&session) {
            return Ok(session);
        }
        // The answer does not reveal whether another caller's session exists.
        let refusal = Refusal::UnknownSession { session };
        Err(if self.caller().scope.is_nothing() {
            let data = Map::new().with("hint", NO_SESSION);
            ResolverError::new(refusal.to_string(), data).coded(refusal.code())
        } else {
            refused(&refusal)
        })
    }
}

/// The configuration of a session, read as psi's tool reads it.
pub(super) fn session_config(config: ConfigMap) -> Result<SessionConfig, ResolverError> {
    let parsed = psi::session_config::parse(&config.0.into(), Notation::Edn);
    parsed.map_err(|error| ResolverError::new(error.to_string(), error.data()).coded(Code::Validation))
}

/// The parts of an address that make none, as the error of a mutation.
fn unaddressed(fault: AddressError) -> ResolverError {
    ResolverError::new(fault.to_string(), Map::new()).coded(Code::Validation)
}

/// The caller's reason, if it is not too long.
fn reason(why: ReasonParams) -> Result<Option<Box<str>>, ResolverError> {
    let most = limits::LABEL_BYTES;
    match why.reason {
        Some(words) if words.len() as u64 > most.value => {
            Err(refused(&Refusal::LimitReached { limit: most }))
        }
        reason => Ok(reason),
    }
}

pub(super) fn wrong(name: &str, expected: &str, value: Option<&Value>) -> ResolverError {
    let data = Map::new()
        .with("parameter", Value::keyword(name))
        .with("value", value.map_or(Value::Nil, crate::dialect::echo))
        .with("expected", expected);
    ResolverError::new(format!("{name} must be {expected}"), data).coded(Code::Validation)
}

pub(super) fn refused(refusal: &Refusal) -> ResolverError {
    let data = refusal_data(refusal, "run-id");
    // In psi's words: the schedule's status, and a flag while it is being delivered.
    let data = match standing(refusal) {
        None => data,
        Some(status) => {
            let shown = status.map(|status| Value::keyword(graph::psi_terms::status(status).name()));
            let data = data.with("status", shown);
            if status == Some(Status::InFlight) { data.with("in-flight?", true) } else { data }
        }
    };
    ResolverError::new(refusal.to_string(), data.with("hint", refusal.hint())).coded(refusal.code())
}

/// The status of the schedule that a refusal is about; the inner `None` if there is no such schedule.
fn standing(refusal: &Refusal) -> Option<Option<Status>> {
    if let Refusal::UnknownSchedule { .. } | Refusal::ScheduleLost { .. } = refusal {
        return Some(None);
    }
    if let Refusal::NotCancellable { status, .. } | Refusal::WrongStatus { status, .. } = refusal {
        return Some(Some(*status));
    }
    None
}

/// A denial as the error of a mutation.
pub(super) fn denied(denial: &Denial) -> ResolverError {
    ResolverError::new(denial.to_string(), denial.data().with("hint", denial.hint().into_owned()))
        .coded(denial.code())
}
