//! Carries out the graph's mutations for one caller, with the checks of the tools.
//!
//! Invariant: a caller changes its own things only; others answer as if they did not exist. A caller that may only
//! read is refused before anything else is checked.

mod approval;
mod bulk;
mod schedule;

use super::Service;
use super::admission::Denial;
use crate::dialect::{Notation, psi, refusal_data};
use crate::domain::{Actor, Caller, Code, Dialect, HostId, Refusal, Scope, SessionConfig, SessionId, Status};
use crate::edn::{Map, Value};
use crate::engine::{Command, Input, Report};
use crate::graph::mutation::{JobReady, Mutation, OpenSession, ReasonParams};
use crate::graph::registry::ResolverError;
use crate::graph::view::Mutator;
use crate::graph::{self};
use crate::limits;
use crate::runtime::Handle;

/// The mutations of one caller.
pub(super) struct CallerMutator<'a> {
    service: &'a Service,
    caller: &'a Caller,
    /// The dialect of the tool that acts; `None` if no tool does.
    tool: Option<Dialect>,
}

impl Service {
    pub(super) fn mutator<'a>(&'a self, caller: &'a Caller) -> CallerMutator<'a> {
        CallerMutator { service: self, caller, tool: None }
    }
}

impl<'a> CallerMutator<'a> {
    /// This caller, acting through a tool of this dialect: the session's grant has to cover
    /// it, and the log records it.
    pub(super) fn through(self, tool: Dialect) -> CallerMutator<'a> {
        CallerMutator { tool: Some(tool), ..self }
    }

    fn handle(&self) -> &'a Handle {
        self.service.handle()
    }

    /// Who acts, as the log records it.
    pub(super) fn actor(&self) -> Actor {
        Actor { tool: self.tool, ..self.caller.actor() }
    }
}

impl Mutator for CallerMutator<'_> {
    fn admit(&self) -> Result<(), ResolverError> {
        if !self.caller.may_change() {
            let message = "this caller may look and not change; use a token that may";
            return Err(ResolverError::new(message, Map::new()).coded(Code::Forbidden));
        }
        if let Scope::Session(session) = &self.caller.scope {
            let dialect = self.tool.unwrap_or(Dialect::Native);
            // Usually there are no grants at all, and the session need not be looked up.
            if !self.handle().view(|state| state.grants().is_empty() || state.grant(session).covers(dialect))
            {
                return Err(denied(Denial::NotGranted { dialect }));
            }
        }
        Ok(())
    }

    fn execute(&self, mutation: Mutation) -> Result<Value, ResolverError> {
        match mutation {
            Mutation::Create(params) => self.create(*params),
            Mutation::Cancel(which) => self.command(&which, Command::CancelSchedule),
            Mutation::Reschedule(params) => self.reschedule(*params),
            Mutation::RunNow(which) => self.command(&which, Command::RunNow),
            Mutation::Pause(params) => {
                let reason = reason(params.why)?;
                self.command(&params.which, |which| Command::PauseSchedule { which, reason })
            }
            Mutation::Resume(which) => self.command(&which, Command::ResumeSchedule),
            Mutation::SkipNext(which) => self.command(&which, Command::SkipNext),
            Mutation::CancelAll(of) => self.cancel_all(of.session),
            Mutation::PauseAll(params) => self.pause_all(params.of.session, reason(params.why)?.as_deref()),
            Mutation::ResumeAll(of) => self.resume_all(of.session),
            Mutation::HoldAll(why) => self.hold(Some(reason(*why)?)),
            Mutation::ReleaseAll(_) => self.hold(None),
            Mutation::Approve(params) => self.approve(*params),
            Mutation::Deny(params) => self.deny(params.which.run, reason(params.why)?),
            Mutation::SetGrant(params) => self.set_grant(*params),
            Mutation::Open(params) => self.open(*params),
            Mutation::Close(of) => self.close(of.session),
            Mutation::UserMessage(params) => {
                let text = params.said.text;
                self.report(params.of.session, |session| Report::UserMessage { session, text })
            }
            Mutation::Busy(params) => {
                let busy = params.busy.busy;
                self.report(params.of.session, |session| Report::Busy { session, busy })
            }
            Mutation::JobReady(params) => self.job_ready(*params),
        }
    }
}

impl CallerMutator<'_> {
    fn open(&self, params: OpenSession) -> Result<Value, ResolverError> {
        // No check of the caller: the declaration makes this mutation exist for operators only (`graph::mutation`).
        let config = params.config.map_or_else(|| Ok(SessionConfig::default()), session_config)?;
        let opened = self.handle().open_session(params.session, HostId::LOCAL, config);
        let (session, token) = opened.map_err(|refusal| refused(&refusal))?;
        let answer = Map::new().with("psi.agent-session/session-id", session.as_str());
        Ok(answer.with("psi.agent-session/token", token.reveal()).into())
    }

    fn close(&self, session: Option<SessionId>) -> Result<Value, ResolverError> {
        self.only_hosts()?;
        let session = self.session(session, "session-id")?;
        self.handle().close_session(&session).map_err(|refusal| refused(&refusal))?;
        Ok(shown(&session))
    }

    fn job_ready(&self, params: JobReady) -> Result<Value, ResolverError> {
        self.only_hosts()?;
        let session = self.session(params.of.session, "session-id")?;
        let answer = shown(&session);
        let ready = Command::JobReady { session, job: params.job.job };
        self.handle().submit(Input::Command(ready)).map_err(|refusal| refused(&refusal))?;
        Ok(answer)
    }

    fn report(
        &self,
        session: Option<SessionId>,
        report: impl FnOnce(SessionId) -> Report,
    ) -> Result<Value, ResolverError> {
        self.only_hosts()?;
        let session = self.session(session, "session-id")?;
        let answer = shown(&session);
        self.handle().submit(Input::Report(report(session))).map_err(|refusal| refused(&refusal))?;
        Ok(answer)
    }

    /// Refuses a session's token: the operation is for hosts and operators.
    fn only_hosts(&self) -> Result<(), ResolverError> {
        self.service.admit_host(self.caller).map_err(denied)
    }

    /// The session that was named, or else the caller's own.
    pub(super) fn session(
        &self,
        given: Option<SessionId>,
        name: &'static str,
    ) -> Result<SessionId, ResolverError> {
        let own = self.caller.scope.session().cloned();
        let session = given.or(own).ok_or_else(|| wrong(name, "a session's id", None))?;
        if self.caller.scope.covers(&session) {
            return Ok(session);
        }
        // The answer does not reveal whether another caller's session exists.
        Err(refused(&Refusal::UnknownSession { session }))
    }
}

/// The configuration of a session, read as psi's tool reads it.
pub(super) fn session_config(config: Map) -> Result<SessionConfig, ResolverError> {
    let parsed = psi::session_config::parse(&config.into(), Notation::Edn);
    parsed.map_err(|error| ResolverError::new(error.to_string(), error.data()).coded(Code::Validation))
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

fn shown(session: &SessionId) -> Value {
    Map::new().with("psi.agent-session/session-id", session.as_str()).into()
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
    if let Refusal::UnknownSchedule { .. } = refusal {
        return Some(None);
    }
    if let Refusal::NotCancellable { status, .. } | Refusal::WrongStatus { status, .. } = refusal {
        return Some(Some(*status));
    }
    None
}

/// A denial as the error of a mutation.
pub(super) fn denied(denial: Denial) -> ResolverError {
    let (code, data) = match denial {
        Denial::ReadOnly | Denial::HostsOnly => (Code::Forbidden, Map::new()),
        Denial::NotGranted { dialect } => {
            (Code::Forbidden, Map::new().with("dialect", Value::keyword(dialect.name())))
        }
        Denial::TooFast { wait } => {
            let wait_ms = i64::try_from(wait.millis()).unwrap_or(i64::MAX);
            let limit = limits::CREATES_PER_MINUTE;
            let max = i64::try_from(limit.value).unwrap_or(i64::MAX);
            let data = Map::new().with("limit", limit.name).with("max", max).with("wait-ms", wait_ms);
            (Code::Limit, data)
        }
    };
    ResolverError::new(denial.to_string(), data).coded(code)
}
