//! A running scheduler.

use std::sync::Arc;

use super::deliveries::{Deliveries, Fanout};
use super::error::Error;
use super::summary::Summary;
use crate::dialect::REQUEST_CAPS;
use crate::domain::{
    Caller, GuardPolicy, HostId, Refusal, ScheduleId, Scope, SessionConfig, SessionId, Transcript,
};
use crate::edn::{Value, read_keeping_meta};
use crate::engine::{Command, Input, Which};
use crate::graph::eql::{Boundary, QueryAnswer, QueryFailure};
use crate::runtime::{Handle, Runtime};
use crate::service::{Service, reply};

/// A scheduler in this process. Dropping it stops the engine in good order.
pub struct Reveille {
    runtime: Runtime,
    service: Service,
    deliveries: Arc<Fanout>,
}

impl Reveille {
    pub(super) fn new(runtime: Runtime, service: Service, deliveries: Arc<Fanout>) -> Reveille {
        Reveille { runtime, service, deliveries }
    }

    /// Starts a scheduler in memory, with built-in sessions.
    ///
    /// # Errors
    /// [`Error::System`] if the operating system has no thread or no randomness.
    pub fn start() -> Result<Reveille, Error> {
        Reveille::builder().start()
    }

    /// The schedules that have not ended, of all sessions.
    pub fn schedules(&self) -> Vec<Summary> {
        self.handle().view(|state| {
            let sessions = state.sessions().into_iter();
            let live = sessions.flat_map(|session| state.live_schedules_of(session.id()));
            live.map(Summary::of).collect()
        })
    }

    /// One schedule, also one that has ended, as long as it is retained.
    pub fn schedule(&self, schedule: &ScheduleId) -> Option<Summary> {
        self.handle().view(|state| state.schedule(schedule).map(Summary::of))
    }

    /// Cancels a schedule: when this returns `Ok`, nothing more of it is delivered.
    ///
    /// # Errors
    /// [`Error::Refused`] if there is no such schedule, if it has ended, or if it is being delivered.
    pub fn cancel(&self, schedule: &ScheduleId) -> Result<(), Error> {
        self.command(Command::CancelSchedule(Which::any(Scope::Operator, schedule.clone())))
    }

    /// Pauses a schedule: its slots pass without a run until it is resumed.
    ///
    /// # Errors
    /// [`Error::Refused`] if there is no such schedule, or if it has ended.
    pub fn pause(&self, schedule: &ScheduleId, reason: Option<&str>) -> Result<(), Error> {
        self.lives(schedule)?;
        let which = Which::any(Scope::Operator, schedule.clone());
        self.command(Command::PauseSchedule { which, reason: reason.map(Into::into) })
    }

    /// Resumes a paused schedule with its next slot.
    ///
    /// # Errors
    /// [`Error::Refused`] if there is no such schedule, or if it has ended.
    pub fn resume(&self, schedule: &ScheduleId) -> Result<(), Error> {
        self.lives(schedule)?;
        self.command(Command::ResumeSchedule(Which::any(Scope::Operator, schedule.clone())))
    }

    /// The session of this name, which is opened with the default configuration if it is not open.
    ///
    /// # Errors
    /// [`Error::Id`] if the name is not an id; [`Error::Refused`] if the engine is full or stopping.
    pub fn session(&self, name: &str) -> Result<SessionId, Error> {
        let session = SessionId::new(name)?;
        if self.handle().view(|state| state.session(&session).is_none()) {
            let opened =
                self.handle().open_session(Some(session.clone()), HostId::LOCAL, SessionConfig::default());
            // Another thread may have opened it in between.
            if opened.is_err() && self.handle().view(|state| state.session(&session).is_none()) {
                opened?;
            }
        }
        Ok(session)
    }

    /// The transcript of a session, as far as its host shares it.
    pub fn transcript(&self, session: &SessionId) -> Option<Transcript> {
        self.handle().sessions().transcript(session)
    }

    /// Deliveries from now on. Each receiver gets all of them.
    pub fn deliveries(&self) -> Deliveries {
        self.deliveries.subscribe()
    }

    /// Answers a query of the graph in EQL, as an operator. Mutations in it are carried out.
    ///
    /// # Errors
    /// [`Error::Query`] if the text is not a query, exceeds a limit, or asks for something that does not exist.
    pub fn query(&self, query: &str) -> Result<Value, Error> {
        let failed = |message: String| Error::Query { message: message.into() };
        let form =
            read_keeping_meta(query.as_bytes(), &REQUEST_CAPS).map_err(|error| failed(error.to_string()))?;
        let boundary = Boundary::read(&form).map_err(|error| failed(error.to_string()))?;
        // Strict, so that a misspelt attribute is an error and not a missing key.
        let answer = self.service.query(&Caller::OPERATOR, &boundary, false);
        let answer = answer.map_err(|refusal| failed(refusal.to_string()))?;
        if let QueryAnswer::Failed(failure) = &answer {
            return Err(failed(explain(failure)));
        }
        Ok(Value::Map(reply(&boundary, answer)))
    }

    /// The engine's handle, for everything that this facade leaves out.
    pub fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    /// Queries, mutations and tool calls on behalf of a caller, as the daemon's interfaces make them.
    pub fn service(&self) -> &Service {
        &self.service
    }

    /// Stops the engine: volatile schedules are cancelled, deliveries under way get a short time for their receipts, and
    /// receivers see the end. Durable schedules stay in the store.
    pub fn shut_down(&mut self) {
        self.runtime.shut_down();
        // After the engine, so that deliveries of its last moments are still received.
        self.deliveries.end();
    }

    /// Refuses a schedule that has ended. One that does not exist is refused by the command itself.
    fn lives(&self, schedule: &ScheduleId) -> Result<(), Error> {
        let status = self.schedule(schedule).map(|summary| summary.status);
        match status.filter(|status| status.is_terminal()) {
            Some(status) => Err(Refusal::WrongStatus { schedule: schedule.clone(), status }.into()),
            None => Ok(()),
        }
    }

    fn command(&self, command: Command) -> Result<(), Error> {
        Ok(self.handle().submit(Input::Command(command))?)
    }
}

impl Drop for Reveille {
    fn drop(&mut self) {
        self.shut_down();
    }
}

/// What is wrong with a query, with what was probably meant.
fn explain(failure: &QueryFailure) -> String {
    let Some(error) = &failure.error else { return format!("{} cannot be reached", failure.key) };
    let said = |key: &str| error.data.as_map()?.keyword(key).filter(|said| !said.is_nil()).cloned();
    match (said("did-you-mean"), said("hint")) {
        (Some(meant), _) => format!("{}; did you mean {meant}?", error.message),
        (None, Some(Value::Str(hint))) => format!("{}; {hint}", error.message),
        (None, _) => error.message.clone(),
    }
}

/// Sets the guard's policy of an engine without a store.
pub(super) fn set_policy(handle: &Handle, policy: Option<Arc<GuardPolicy>>) -> Result<(), Error> {
    let guard = Command::SetGuard { policy, by: Scope::Operator.into() };
    Ok(handle.submit(Input::Command(guard))?)
}
