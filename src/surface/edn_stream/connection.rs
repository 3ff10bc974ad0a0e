//! One client's connection: checks its permissions and performs its requests.

mod agent;

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::codec::entry;
use super::error::RequestError;
use super::later::Laters;
use super::outgoing::Outgoing;
use super::print;
use super::pump::Pump;
use super::request::StreamRequest;
use crate::adapter::{HostAttached, HostTools, Push, PushSink};
use crate::dialect::{Answer, Notation, echo, psi};
use crate::domain::{Caller, Cursor, HostId, Refusal, Scope, SessionId, ToolSpec, Via};
use crate::edn::{Map, ReadError, ReadErrorKind, Value};
use crate::engine::{SessionRecord, State};
use crate::graph::eql::Boundary;
use crate::limits;
use crate::runtime::{Handle, Subscription};
use crate::service::{CallStyle, Called, Opening, Pending, Reach, Service, SessionRequest, reply};

/// The identity of the client at the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// An operator, who may do everything.
    Operator,
    /// A session. It may also use the sessions that its connection opens.
    Session(SessionId),
}

/// The connection of one client.
pub struct Connection {
    service: Service,
    caller: Caller,
    // Shared with the pumps, which ask for each event whether this connection may see it.
    own: Arc<Mutex<Reach>>,
    outgoing: Arc<Outgoing>,
    pumps: Vec<Pump>,
    /// A subscription that starts once its answer has been sent: events must come after the answer.
    starting: Option<Subscription>,
    /// Sessions that this request takes over. Their pushes, which are held back meanwhile, come after the answer.
    taken: Option<Vec<SessionId>>,
    on_answer: Option<OnAnswer>,
    /// The session that the connection waits for, if it is a waiter, and what says that it waits no more.
    awaited: Option<(SessionId, Receiver<()>)>,
    /// The tools that the client offers, once it has.
    tools: Option<Arc<HostTools<Arc<Sink>>>>,
    laters: Laters,
}

/// Called with the operation of each request, and with whether it was answered without an error.
pub(crate) type OnAnswer = Box<dyn Fn(&'static str, bool) + Send>;

/// The sink for pushes to the harness at the other end.
struct Sink {
    handle: Handle,
    outgoing: Arc<Outgoing>,
    /// The host of the harness, once it is attached.
    host: OnceLock<HostId>,
}

impl PushSink for Arc<Sink> {
    fn push(&self, push: Push) -> bool {
        let sent = self.outgoing.push(&print::push(&push));
        // A harness that does not read loses its host: nothing more is delivered to it, whatever it
        // still sends.
        if let Some(host) = self.host.get().filter(|_| !sent) {
            self.handle.hosts().detach(*host);
        }
        sent
    }
}

impl Connection {
    fn handle(&self) -> &Handle {
        self.service.handle()
    }

    /// Creates a connection for this peer.
    pub fn new(service: Service, peer: Peer) -> Connection {
        let caller = match peer {
            Peer::Operator => Caller { via: Via::Peer, ..Caller::OPERATOR },
            Peer::Session(session) => Caller { via: Via::Peer, ..Caller::session(session) },
        };
        Connection::of_caller(service, caller)
    }

    /// Creates a connection for this caller.
    pub(crate) fn of_caller(service: Service, caller: Caller) -> Connection {
        let own = Reach::of(service.handle(), &caller);
        let outgoing = Outgoing::new(service.holder(&caller), Arc::clone(&service.places().answers));
        Connection {
            service,
            caller,
            own: Arc::new(Mutex::new(own)),
            outgoing: Arc::new(outgoing),
            pumps: Vec::new(),
            starting: None,
            taken: None,
            on_answer: None,
            awaited: None,
            tools: None,
            laters: Laters::default(),
        }
    }

    /// Makes it report each request that it has answered.
    #[cfg(feature = "http")]
    pub(crate) fn reporting(self, on_answer: OnAnswer) -> Connection {
        Connection { on_answer: Some(on_answer), ..self }
    }

    /// The caller at the other end.
    #[cfg(feature = "http")]
    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Makes it speak this notation from the beginning, whatever the first form is.
    #[cfg(feature = "http")]
    pub(crate) fn speaking(self, notation: Notation) -> Connection {
        self.speak(notation);
        self
    }

    /// Reads and writes this notation from now on, unless it has another one.
    pub(super) fn speak(&self, notation: Notation) {
        self.outgoing.speak(notation);
    }

    /// The notation of the client, if it is known.
    pub(super) fn notation(&self) -> Option<Notation> {
        self.outgoing.notation()
    }

    pub(super) fn outgoing(&self) -> &Arc<Outgoing> {
        &self.outgoing
    }

    /// Answers one form or a read error; `false` if the stream must end.
    pub(super) fn receive(&mut self, form: Result<Value, ReadError>) -> bool {
        match form {
            Err(error) => {
                // Beyond the limits the framer cannot find the next form, so the stream ends after
                // the answer.
                let within_limits = !matches!(error.kind(), ReadErrorKind::Limit { .. });
                self.outgoing.send(&psi::unreadable(&error, self.spoken())) && within_limits
            }
            Ok(form) => {
                let notation = self.spoken();
                let answer = self.answer(&form, notation);
                if let Some(report) = &self.on_answer {
                    // An answer that comes later is reported when its request is made, as one without an error.
                    let answer = answer.as_ref().and_then(Value::as_map);
                    report(
                        StreamRequest::name(&form, notation),
                        answer.is_none_or(|map| map.keyword("error").is_none()),
                    );
                }
                // The answer goes first, then the pushes that waited for it, then the events of a new subscription.
                let sent = answer.is_none_or(|answer| self.outgoing.send(&answer));
                if let Some(taken) = self.taken.take() {
                    self.announce(&taken);
                    self.outgoing.release();
                }
                if let Some(subscription) = self.starting.take() {
                    self.pumps.push(self.pump(subscription));
                }
                sent
            }
        }
    }

    /// Ends the connection: detaches its host and ends its subscriptions.
    pub(super) fn close(&mut self) {
        self.laters.end();
        let host = self.own().host;
        if let Some((session, over)) = self.awaited.take() {
            // A waiter that has ended keeps its place until the turn that it began is over.
            while self.service.is_place_kept(&session, host)
                && over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout)
            {}
            self.service.let_waiter_go(&session, host);
            self.service.forget_agent_schedules_if_gone(&session);
        }
        if host.is_attached() {
            self.handle().hosts().detach(host);
        }
        self.pumps.clear();
        // Last, so that everything queued before is still written.
        self.outgoing.close();
    }

    /// Refuses a connection whose session was closed and opened again: the session of that id is another's.
    fn check_opening(&self) -> Result<(), RequestError> {
        let Some(session) = self.caller.scope.session() else { return Ok(()) };
        let own = self.own().opening(session);
        let present = self.handle().view(|state| state.session(session).map(SessionRecord::opened));
        match (own, present) {
            (Some(own), Some(present)) if own != present => {
                Err(RequestError::from(&Refusal::UnknownSession { session: session.clone() }))
            }
            _ => Ok(()),
        }
    }

    /// Answers a form; `None` if the answer comes later.
    fn answer(&mut self, form: &Value, notation: Notation) -> Option<Value> {
        let Some(map) = form.as_map() else {
            let data = Map::new().with("value", echo(form)).with("expected", "a map");
            let error =
                RequestError::invalid("a request is a map with :op, or a psi-tool call with :action", data);
            return Some(Map::new().with("error", error.print()).into());
        };
        // A bare psi-tool call, without `:op`, is answered like the tool itself, with no envelope.
        if map.keyword("action").or_else(|| map.text("action")).is_some() {
            let called = self.check_opening().and_then(|()| {
                let called = self.service.call_tool(psi::TOOL, &self.caller, form, notation);
                called.map_err(|denial| RequestError::from(&denial))
            });
            return Some(match called {
                Ok(Some(answer)) => answer.value,
                Ok(None) => Map::new().with("error", self.no_tool(psi::TOOL, &self.caller).print()).into(),
                Err(error) => Map::new().with("error", error.print()).into(),
            });
        }
        let id = entry(map, "id", notation).cloned();
        let request =
            StreamRequest::parse(form, notation).and_then(|request| self.check_opening().map(|()| request));
        let outcome = request.and_then(|request| self.perform(request));
        let outcome = match outcome {
            Ok(Outcome::Later(pending)) => {
                let (outgoing, id) = (Arc::clone(&self.outgoing), id.clone());
                let send = move |answer| {
                    // A client that is gone takes nothing.
                    let _ = outgoing.send(&enveloped(id, Ok(Outcome::of(answer))));
                };
                // Without an error the answer comes later, so there is none yet.
                let limit = self.laters.add(pending, send).err()?;
                Err(RequestError::from(&Refusal::LimitReached { limit }))
            }
            outcome => outcome,
        };
        Some(enveloped(id, outcome))
    }

    /// Executes a request.
    fn perform(&mut self, request: StreamRequest) -> Result<Outcome, RequestError> {
        match request {
            StreamRequest::Call { tool, args, session } => self.call(&tool, &args, session),
            StreamRequest::Host(request) => {
                let opened = self.service.host(&self.caller, &mut self.own(), request)?;
                let answer = opened.map_or_else(Map::new, |(session, token)| {
                    Map::new().with("session-id", session.as_str()).with("token", token.reveal())
                });
                Ok(Outcome::Done(answer.into()))
            }
            StreamRequest::Agent(request) => self.agent(request),
            StreamRequest::Attach { sessions } => {
                self.begin_take_over(&sessions)?;
                let named = sessions.clone();
                self.service
                    .attach(&self.caller, &mut self.own(), (sessions, Some(false)), || self.become_host())?;
                self.taken = Some(named);
                Ok(Outcome::Done(Map::new().into()))
            }
            StreamRequest::OpenOrAttach { session, asked, busy } => {
                self.begin_take_over(std::slice::from_ref(&session))?;
                self.open_or_attach(session, asked, busy)
            }
            StreamRequest::Subscribe { after } => self.subscribe(after),
            StreamRequest::Query(boundary) => self.query(&boundary),
            StreamRequest::OfferTools(specs) => self.offer_tools(specs),
            StreamRequest::ToolResult(call, outcome) => {
                self.service.admit_result(&self.caller)?;
                let tools = self.tools.as_ref().filter(|tools| tools.returned(&call, *outcome));
                tools.ok_or_else(|| RequestError::not_in_flight(&call))?;
                Ok(Outcome::Done(Map::new().into()))
            }
        }
    }

    fn open_or_attach(
        &mut self,
        session: SessionId,
        asked: SessionRequest,
        busy: bool,
    ) -> Result<Outcome, RequestError> {
        let asked = (session.clone(), asked, busy);
        let opened = self.service.open_or_attach(&self.caller, &mut self.own(), asked, || self.become_host());
        let opened = opened?;
        let answer = print::opening(&session, &opened);
        // A session that was opened anew has nothing to announce: its client has just sent its configuration.
        if matches!(opened, Opening::Attached { .. }) {
            self.taken = Some(vec![session]);
        }
        Ok(Outcome::Done(answer.into()))
    }

    /// Holds back what is pushed into sessions until the client knows that it hosts them.
    fn begin_take_over(&mut self, sessions: &[SessionId]) -> Result<(), RequestError> {
        let distinct: BTreeSet<&SessionId> = sessions.iter().collect();
        let size = |id: &SessionId| {
            let size = |state: &State| state.session(id).map_or(0, |record| record.config().bytes() as u64);
            // A session beyond the reach counts nothing: its size would tell that it exists.
            if self.own().covers(self.handle(), id) { self.handle().view(size) } else { 0 }
        };
        // Their configurations are pushed at once, and must leave room in the backlog for deliveries.
        if distinct.into_iter().map(size).sum::<u64>() > limits::CLIENT_BACKLOG_BYTES.value / 2 {
            return Err(RequestError::from(&Refusal::LimitReached { limit: limits::CLIENT_BACKLOG_BYTES }));
        }
        self.outgoing.hold();
        // Set before the attempt, so that `receive` releases the pushes even if the attempt fails.
        self.taken = Some(Vec::new());
        Ok(())
    }

    /// Pushes the configurations of sessions that the client has taken over.
    fn announce(&self, taken: &[SessionId]) {
        let host = self.own().host;
        for id in taken.iter().collect::<BTreeSet<_>>() {
            let push = self.handle().view(|state| {
                let record = state.session(id).filter(|record| record.host() == host)?;
                let (session, config) = (id.clone(), Arc::clone(record.config()));
                Some(Push::SessionOpened { session, config, provenance: record.provenance().cloned() })
            });
            if let Some(push) = push {
                self.outgoing.send(&print::push(&push));
            }
        }
    }

    fn call(&self, tool: &str, args: &Value, session: Option<SessionId>) -> Result<Outcome, RequestError> {
        if let Some(session) = &session {
            self.guard(session)?;
        }
        // `guard` has passed, so the caller may act for the named session.
        let scope = session.map_or_else(|| self.caller.scope.clone(), Scope::Session);
        let caller = Caller { scope, ..self.caller.clone() };
        // No bound on the wait, because the stream goes on reading while a tool works.
        let style = CallStyle { notation: self.spoken(), patience: None };
        let called = self.service.begin_tool(tool, &caller, args, style);
        match called.map_err(|denial| RequestError::from(&denial))? {
            Some(Called::Now(answer)) => Ok(Outcome::of(answer)),
            Some(Called::Later(pending)) => Ok(Outcome::Later(pending)),
            None => Err(self.no_tool(tool, &caller)),
        }
    }

    /// The notation of a request that was received.
    fn spoken(&self) -> Notation {
        self.notation().unwrap_or(Notation::Edn)
    }

    fn no_tool(&self, tool: &str, caller: &Caller) -> RequestError {
        let absent = self.service.no_tool(caller, tool);
        RequestError::invalid(absent.message(), absent.data())
    }

    fn offer_tools(&mut self, specs: Vec<ToolSpec>) -> Result<Outcome, RequestError> {
        let host = self.own().host;
        let (handle, outgoing) = (self.handle().clone(), Arc::clone(&self.outgoing));
        let sink = || Arc::new(Sink { handle, outgoing, host: OnceLock::from(host) });
        let tools = self.tools.clone().unwrap_or_else(|| Arc::new(HostTools::new(sink())));
        let count = specs.len();
        // Before the list changes: who is no host has none.
        self.service.admit_result(&self.caller)?;
        if !host.is_attached() {
            let data = Map::new().with("hint", "send :host/attach first");
            return Err(RequestError::invalid("this connection is no host", data));
        }
        tools.offer(specs);
        let shadowed = self.service.offer_tools(&self.caller, &self.own(), tools.clone())?;
        self.tools = Some(tools);
        let shadowed: Vec<Value> = shadowed.iter().map(|name| Value::from(name.as_str())).collect();
        let offered = i64::try_from(count).unwrap_or(i64::MAX);
        Ok(Outcome::Done(Map::new().with("offered", offered).with("shadowed", shadowed).into()))
    }

    fn query(&self, boundary: &Boundary) -> Result<Outcome, RequestError> {
        match self.service.query(&self.caller, boundary, false) {
            Ok(answer) => Ok(Outcome::Done(reply(boundary, answer).into())),
            Err(refusal) => Err(RequestError::invalid(refusal.to_string(), refusal.to_map())),
        }
    }

    /// Makes the client a host, which gets deliveries pushed.
    fn become_host(&self) -> HostId {
        let (handle, outgoing) = (self.handle().clone(), Arc::clone(&self.outgoing));
        let sink = Arc::new(Sink { handle, outgoing, host: OnceLock::new() });
        let by = Some(self.caller.actor());
        let host = self.handle().hosts().attach_by(Arc::new(HostAttached::new(Arc::clone(&sink))), by);
        // Set before any delivery can come: those need a session on this host.
        let _ = sink.host.set(host);
        host
    }

    fn subscribe(&mut self, after: Cursor) -> Result<Outcome, RequestError> {
        let limit = limits::CLIENT_SUBSCRIPTIONS;
        if self.pumps.len() as u64 >= limit.value {
            return Err(RequestError::from(&Refusal::LimitReached { limit }));
        }
        // Started by `receive` after the answer is sent; see `starting`.
        let subscription =
            self.service.follow(&self.caller, after).map_err(|denial| RequestError::from(&denial))?;
        self.starting = Some(subscription);
        let last = self.handle().view(State::cursor);
        Ok(Outcome::Done(Map::new().with("cursor", print::cursor(last)).into()))
    }

    fn pump(&self, subscription: Subscription) -> Pump {
        Pump::new(self.handle().clone(), subscription, Arc::clone(&self.own), Arc::clone(&self.outgoing))
    }

    /// Refuses a session that is not this connection's, as if it did not exist.
    fn guard(&self, session: &SessionId) -> Result<(), RequestError> {
        if self.own().covers(self.handle(), session) {
            return Ok(());
        }
        Err(RequestError::from(&Refusal::UnknownSession { session: session.clone() }))
    }

    fn own(&self) -> MutexGuard<'_, Reach> {
        // A panic elsewhere cannot leave it inconsistent: each change is one assignment or insert.
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How often a connection looks whether the agent is there whose turn it has begun.
const LOOK: Duration = Duration::from_secs(1);

/// The result of a request.
enum Outcome {
    Done(Value),
    RefusedByTool(Value),
    Later(Pending),
}

impl Outcome {
    fn of(answer: Answer) -> Outcome {
        if answer.is_error { Outcome::RefusedByTool(answer.value) } else { Outcome::Done(answer.value) }
    }
}

/// The answer to a request with this id.
fn enveloped(id: Option<Value>, outcome: Result<Outcome, RequestError>) -> Value {
    let (key, value) = match outcome {
        Ok(Outcome::Done(value)) => ("ok", value),
        Ok(Outcome::RefusedByTool(value)) => ("error", value),
        // It has no answer yet.
        Ok(Outcome::Later(_)) => ("ok", Value::Nil),
        Err(error) => ("error", error.print()),
    };
    id.map_or_else(Map::new, |id| Map::new().with("id", id)).with(key, value).into()
}
