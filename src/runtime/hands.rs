//! What the graph's mutations do, for one caller: the tools' own operations, with the tools' own checks.
//!
//! Invariant: a caller changes its own things only; others answer as if they did not exist. Whoever may only look is
//! told so before anything else.

use super::admission::Denial;
use super::handle::Handle;
use crate::dialect::{Answer, Notation, psi};
use crate::domain::{
    Actor, Caller, Code, Dialect, HostId, JobId, Refusal, ScheduleId, Scope, SessionConfig, SessionId,
};
use crate::edn::{Keyword, Map, Value};
use crate::engine::{Command, Input, Report, Which};
use crate::graph::attr::mutation;
use crate::graph::registry::ResolverError;
use crate::graph::view::Hands;
use crate::limits;

/// One caller's way to change things.
pub(super) struct CallerHands<'a> {
    pub(super) handle: &'a Handle,
    pub(super) caller: &'a Caller,
    /// The dialect whose tool it is that acts, if it is one.
    pub(super) tool: Option<Dialect>,
}

impl<'a> CallerHands<'a> {
    pub(super) fn new(handle: &'a Handle, caller: &'a Caller) -> CallerHands<'a> {
        CallerHands { handle, caller, tool: None }
    }

    /// Who acts, as the log keeps it.
    pub(super) fn actor(&self) -> Actor {
        Actor { tool: self.tool, ..self.caller.actor() }
    }
}

impl Hands for CallerHands<'_> {
    fn act(&self, name: &'static str, params: &Map) -> Result<Value, ResolverError> {
        if !self.caller.may_change() {
            let data = Map::new().with("mutation", name);
            let message = "this caller may look and not change; use a token that may";
            return Err(ResolverError::new(message, data).coded(Code::Forbidden));
        }
        if let Scope::Session(session) = &self.caller.scope {
            let dialect = self.tool.unwrap_or(Dialect::Native);
            if !self.handle.view(|state| state.grants().is_empty() || state.grant(session).covers(dialect)) {
                return Err(denied(Denial::NotGranted { dialect }));
            }
        }
        let params = unqualified(params)?;
        match name {
            mutation::CREATE if super::hands_on::is_psis(&params) => self.create(params),
            mutation::CREATE => self.create_any(&params),
            mutation::CANCEL if params.keyword("base-revision").is_none() => self.cancel(&params),
            mutation::CANCEL => self.command(&params, Command::CancelSchedule),
            mutation::RESCHEDULE => self.reschedule(&params),
            mutation::RUN_NOW => self.command(&params, Command::RunNow),
            mutation::PAUSE => {
                let reason = self.words(&params)?;
                self.command(&params, |which| Command::PauseSchedule { which, reason })
            }
            mutation::RESUME => self.command(&params, Command::ResumeSchedule),
            mutation::SKIP_NEXT => self.command(&params, Command::SkipNext),
            mutation::CANCEL_ALL => self.cancel_all(&params),
            mutation::PAUSE_ALL => self.pause_all(&params),
            mutation::RESUME_ALL => self.resume_all(&params),
            mutation::HOLD_ALL => self.hold(Some(self.words(&params)?)),
            mutation::RELEASE_ALL => self.hold(None),
            mutation::APPROVE => self.approve(&params),
            mutation::DENY => self.deny(&params),
            mutation::SET_GRANT => self.set_grant(&params),
            mutation::OPEN => self.open(&params),
            mutation::CLOSE => self.close(&params),
            mutation::USER_MESSAGE => self.user_message(&params),
            mutation::BUSY => self.busy(&params),
            mutation::JOB_READY => self.job_ready(&params),
            _ => Err(ResolverError::new(format!("{name} is declared and not built"), Value::Nil)),
        }
    }
}

impl CallerHands<'_> {
    fn create(&self, params: Map) -> Result<Value, ResolverError> {
        let session = self.session(&params, "origin-session-id")?;
        let args =
            params.into_iter().filter(|(key, _)| !is_one_of(key, &["session-id", "origin-session-id"]));
        let args: Map = args.collect();
        let args = args.with("action", "scheduler").with("op", psi::Op::Create.name());
        let args = Value::from(args);
        self.handle.admit_call(self.caller, psi::TOOL, &args).map_err(denied)?;
        let caller = Caller { scope: Scope::Session(session), ..self.caller.clone() };
        let called = self.handle.call_tool(psi::TOOL, &caller, &args, Notation::Edn);
        let answer = called.ok_or_else(|| ResolverError::new("there is no psi-tool", Value::Nil))?;
        let created = answer.value.as_map().and_then(|map| map.keyword("psi-tool/scheduler")).cloned();
        let schedule = created.as_ref().and_then(|map| map.as_map()?.keyword("schedule")?.as_map());
        match schedule.and_then(|schedule| schedule.keyword("schedule-id")) {
            Some(id) => {
                let created = Map::new().with("psi.scheduler/schedule-id", id.clone());
                Ok(created
                    .with("psi.scheduler/created?", true)
                    .with("psi.scheduler/understood", Value::Nil)
                    .into())
            }
            None => Err(psi_error(&answer)),
        }
    }

    fn cancel(&self, params: &Map) -> Result<Value, ResolverError> {
        let text = self.text(params, "schedule-id")?;
        let refused = |refusal: &Refusal| psi_error(&psi::refused(psi::Op::Cancel, refusal, 0));
        let Ok(schedule) = ScheduleId::new(text) else {
            let data = Map::new().with("schedule-id", text).with("status", Value::Nil);
            return Err(ResolverError::new("schedule not found", data).coded(Code::NotFound));
        };
        let cancel = Command::CancelSchedule(Which::any(self.actor(), schedule));
        self.handle.submit(Input::Command(cancel)).map_err(|refusal| refused(&refusal))?;
        Ok(Map::new().with("psi.scheduler/schedule-id", text).into())
    }

    fn open(&self, params: &Map) -> Result<Value, ResolverError> {
        let id = match params.keyword("session-id").filter(|value| !value.is_nil()) {
            None => None,
            Some(value) => Some(session_id(value)?),
        };
        let config = match params.keyword("session-config").filter(|value| !value.is_nil()) {
            None => SessionConfig::default(),
            Some(value) => psi::session_config::parse(value, Notation::Edn).map_err(|error| {
                ResolverError::new(error.to_string(), error.data()).coded(Code::Validation)
            })?,
        };
        let opened = self.handle.open_session(id, HostId::LOCAL, config);
        let (session, token) = opened.map_err(|refusal| refused(&refusal))?;
        let answer = Map::new().with("psi.agent-session/session-id", session.as_str());
        Ok(answer.with("psi.agent-session/token", token.reveal()).into())
    }

    fn close(&self, params: &Map) -> Result<Value, ResolverError> {
        let session = self.session(params, "session-id")?;
        self.handle.close_session(&session).map_err(|refusal| refused(&refusal))?;
        Ok(shown(&session))
    }

    fn user_message(&self, params: &Map) -> Result<Value, ResolverError> {
        let (session, text) = (self.session(params, "session-id")?, self.text(params, "text")?);
        self.report(session, |session| Report::UserMessage { session, text: text.into() })
    }

    fn busy(&self, params: &Map) -> Result<Value, ResolverError> {
        let session = self.session(params, "session-id")?;
        let busy = params.keyword("busy").or_else(|| params.keyword("busy?"));
        let busy = busy.and_then(Value::as_bool).ok_or_else(|| wrong("busy", "true or false", busy))?;
        self.report(session, |session| Report::Busy { session, busy })
    }

    fn job_ready(&self, params: &Map) -> Result<Value, ResolverError> {
        let (session, given) = (self.session(params, "session-id")?, params.keyword("job-id"));
        let job = given.and_then(Value::as_str).and_then(|text| JobId::new(text).ok());
        let job = job.ok_or_else(|| wrong("job-id", "a job's id: text that is not blank", given))?;
        let answer = shown(&session);
        let ready = Command::JobReady { session, job };
        self.handle.submit(Input::Command(ready)).map_err(|refusal| refused(&refusal))?;
        Ok(answer)
    }

    fn report(
        &self,
        session: SessionId,
        report: impl FnOnce(SessionId) -> Report,
    ) -> Result<Value, ResolverError> {
        let answer = shown(&session);
        self.handle.submit(Input::Report(report(session))).map_err(|refusal| refused(&refusal))?;
        Ok(answer)
    }

    /// The session that is meant: the one named, or the caller's own.
    pub(super) fn session(&self, params: &Map, name: &'static str) -> Result<SessionId, ResolverError> {
        let given = params.keyword(name).or_else(|| params.keyword("session-id"));
        let given = given.filter(|value| !value.is_nil()).map(session_id).transpose()?;
        let own = self.caller.scope.session().cloned();
        let session = given.or(own).ok_or_else(|| wrong(name, "a session's id", None))?;
        if self.caller.scope.covers(&session) {
            return Ok(session);
        }
        Err(refused(&Refusal::UnknownSession { session }))
    }

    pub(super) fn text<'p>(&self, params: &'p Map, name: &'static str) -> Result<&'p str, ResolverError> {
        let value = params.keyword(name);
        value.and_then(Value::as_str).ok_or_else(|| wrong(name, "a string", value))
    }
}

/// Parameters by their bare names; one that is given twice, qualified and not, is an error.
fn unqualified(params: &Map) -> Result<Map, ResolverError> {
    let mut bare = Map::new();
    for (key, value) in params {
        let name = key.as_keyword().map(Keyword::name).or_else(|| key.as_str());
        let name = name.ok_or_else(|| wrong("key", "a keyword", Some(key)))?;
        let keyword = Keyword::new(name).map_err(|_| wrong("key", "a keyword", Some(key)))?;
        if bare.insert(keyword.into(), value.clone()).is_some() {
            let data = Map::new().with("parameter", key.clone());
            return Err(ResolverError::new(format!("{name} is given twice"), data).coded(Code::Validation));
        }
    }
    Ok(bare)
}

fn is_one_of(key: &Value, names: &[&str]) -> bool {
    key.as_keyword().is_some_and(|key| names.contains(&key.as_str()))
}

fn session_id(value: &Value) -> Result<SessionId, ResolverError> {
    let id = value.as_str().and_then(|text| SessionId::new(text).ok());
    id.ok_or_else(|| wrong("session-id", "a session's id: text that is not blank", Some(value)))
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

/// A key that is no parameter of a mutation, told as it was written.
pub(super) fn unknown(key: &Value, mutation: &str) -> ResolverError {
    let expected = format!("a parameter of {mutation}");
    let message = format!("{key} must be {expected}");
    let data = Map::new()
        .with("parameter", key.clone())
        .with("value", crate::dialect::echo(key))
        .with("expected", expected);
    ResolverError::new(message, data).coded(Code::Validation)
}

pub(super) fn refused(refusal: &Refusal) -> ResolverError {
    let data = Map::new().with("hint", refusal.hint());
    ResolverError::new(refusal.to_string(), data).coded(refusal.code())
}

/// What is denied before the tool looks at it.
pub(super) fn denied(denial: Denial) -> ResolverError {
    let (code, data) = match denial {
        Denial::ReadOnly => (Code::Forbidden, Map::new()),
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

/// psi's error as the graph's: the same message and data.
fn psi_error(answer: &Answer) -> ResolverError {
    let error = answer.value.as_map().and_then(|map| map.keyword("psi-tool/error")?.as_map());
    let part = |name: &str| error.and_then(|error| error.keyword(name)).cloned().unwrap_or(Value::Nil);
    let message = part("message").as_str().map_or_else(|| answer.value.to_string(), str::to_owned);
    let error = ResolverError::new(message, part("data"));
    match answer.code {
        Some(code) => error.coded(code),
        None => error,
    }
}
