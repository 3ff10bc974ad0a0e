//! An engine with a simulated executor.

use std::sync::{Arc, Mutex};

use reveille::adapter::HostLocal;
use reveille::dialect::{Answer, Notation};
use reveille::domain::{
    CallPurpose, CallVia, Caller, ExecutorKind, HostId, Outcome, SessionConfig, SessionId, Span, ToolName,
};
use reveille::edn::{Map, Value};
use reveille::engine::Invocation;
use reveille::runtime::{Calling, Handle, Resolved};
use reveille::service::{CallStyle, Called, Service, Waiter};
use reveille::surface::json;
use reveille::testkit::{SimTools, Stage};

/// An engine, its surroundings, and one executor of an operator.
pub(crate) struct World {
    pub(crate) stage: Stage,
    pub(crate) handle: Handle,
    pub(crate) executor: SimTools,
}

/// The outcomes that came, with the ids of their calls.
pub(crate) type Outcomes = Arc<Mutex<Vec<(String, Outcome)>>>;

impl World {
    pub(crate) fn new(tools: impl FnOnce(SimTools) -> SimTools) -> World {
        let stage = Stage::seeded(1);
        let handle = Handle::new(stage.parts(Arc::new(HostLocal::new())));
        let executor = tools(SimTools::new(&stage));
        handle.tools().add_executor(ExecutorKind::Operator, Arc::new(executor.clone())).expect("no clash");
        World { stage, handle, executor }
    }

    pub(crate) fn open(&self, id: &str) -> SessionId {
        let session = session(id);
        let opened = self.handle.open_session(Some(session.clone()), HostId::LOCAL, SessionConfig::default());
        opened.expect("the id is free");
        session
    }

    /// Calls a tool, with 60 s.
    pub(crate) fn call(&self, id: &str, of: &SessionId, tool: &str, outcomes: &Outcomes) {
        self.call_with(id, of, (tool, Map::new().into()), outcomes);
    }

    pub(crate) fn call_with(
        &self,
        id: &str,
        of: &SessionId,
        (tool, args): (&str, Value),
        outcomes: &Outcomes,
    ) {
        self.make(id, (of, false), (tool, args), outcomes);
    }

    /// Calls a tool for a session as an operator, with 60 s.
    pub(crate) fn call_by_operator(&self, id: &str, of: &SessionId, tool: &str, outcomes: &Outcomes) {
        self.make(id, (of, true), (tool, Map::new().into()), outcomes);
    }

    fn make(
        &self,
        id: &str,
        (of, is_operators): (&SessionId, bool),
        (tool, args): (&str, Value),
        outcomes: &Outcomes,
    ) {
        let known = match self.handle.tools().of(of).resolve(tool) {
            Resolved::Known(known) => Some(known),
            Resolved::Ambiguous(_) | Resolved::Unknown(_) => None,
        };
        let known = known.expect("there is the tool");
        let invocation = Invocation {
            id: id.into(),
            session: of.clone(),
            tool: known.spec.name.clone(),
            args: Arc::new(args),
            via: CallVia::Any,
            timeout: Span::from_millis(60_000),
            attempt: 1,
            caller: Caller::session(of.clone()).actor(),
            is_operators,
            purpose: CallPurpose::Parallel,
            last: None,
        };
        let (outcomes, id) = (Arc::clone(outcomes), id.to_owned());
        let done = move |outcome| outcomes.lock().expect("no test panics here").push((id, outcome));
        self.handle.calls().begin(Calling { tool: *known, invocation }, done);
    }

    /// Calls a tool of Reveille's own, and keeps what it says once it does.
    pub(crate) fn begin(&self, tool: &str, caller: &Caller, args: &str) -> (Said, Option<Waiter>) {
        let args = json::read(args.as_bytes(), &reveille::dialect::REQUEST_CAPS).expect("JSON");
        let style = CallStyle { notation: Notation::Json, patience: None };
        let called = Service::new(self.handle.clone()).begin_tool(tool, caller, &args, style);
        let said = Said::default();
        let waiter = match called.expect("admitted").expect("it is there") {
            Called::Now(answer) => {
                said.say(&answer);
                None
            }
            Called::Later(pending) => {
                let tell = said.clone();
                Some(pending.then(move |answer| tell.say(&answer)))
            }
        };
        (said, waiter)
    }

    /// What the model of the session `s` was told.
    pub(crate) fn told(&self) -> Vec<String> {
        let transcript = self.handle.sessions().transcript(&session("s")).expect("the host shares it");
        transcript.messages.iter().map(|message| message.text()).collect()
    }

    pub(crate) fn run_for(&self, millis: u64) {
        self.executor.run_for(&self.stage, &self.handle, Span::from_millis(millis));
    }
}

pub(crate) fn session(id: &str) -> SessionId {
    SessionId::new(id).expect("an id")
}

/// The outcomes in the order in which they came: the id, and the value or the error.
pub(crate) fn told(outcomes: &Outcomes) -> Vec<(String, String)> {
    let outcomes = outcomes.lock().expect("no test panics here");
    let text = |outcome: &Outcome| match (&outcome.error, &outcome.value) {
        (Some(error), _) => error.to_string(),
        (None, value) => value.as_ref().map(ToString::to_string).unwrap_or_default(),
    };
    outcomes.iter().map(|(id, outcome)| (id.clone(), text(outcome))).collect()
}

pub(crate) fn tool(name: &str) -> ToolName {
    ToolName::new(name).expect("a name")
}

/// The answer to a call, as JSON, once it has come.
#[derive(Clone, Default)]
pub(crate) struct Said(Arc<Mutex<Option<(bool, String)>>>);

impl Said {
    fn say(&self, answer: &Answer) {
        let mut text = String::new();
        json::write(&answer.value, &mut text);
        *self.0.lock().expect("no test panics here") = Some((answer.is_error, text));
    }

    pub(crate) fn is_error(&self) -> bool {
        self.0.lock().expect("no test panics here").as_ref().is_some_and(|(is_error, _)| *is_error)
    }

    pub(crate) fn text(&self) -> String {
        self.0.lock().expect("no test panics here").as_ref().map(|(_, text)| text.clone()).unwrap_or_default()
    }
}
