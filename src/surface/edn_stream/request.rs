//! Parses a client's requests into types; raw EDN and JSON end here.

use super::agent_request::{self, AgentRequest};
use super::codec::entry;
use super::error::RequestError;
use super::request_fields::{address, optional_session, read, run, session, session_id};
use super::tool_request;
use crate::dialect::args::{Arg, ArgError, Args, Choices, Keys, Style};
use crate::dialect::psi::session_config;
use crate::dialect::{Notation, REQUEST_CAPS, echo};
use crate::domain::{Cursor, JobId, Outcome, Phase, SessionConfig, SessionId, ToolSpec, nearest};
use crate::edn::{self, Keyword, Map, Value};
use crate::graph::eql::Boundary;
use crate::service::{HostRequest, SessionRequest};

/// A parsed request.
pub(super) enum StreamRequest {
    Call {
        tool: Box<str>,
        args: Value,
        session: Option<SessionId>,
    },
    /// What only hosts and operators may ask for.
    Host(HostRequest),
    /// What the hooks of an agent ask for.
    Agent(AgentRequest),
    Attach {
        sessions: Vec<SessionId>,
    },
    /// Opens a session, or takes over the one that has this id; the connection becomes a host.
    OpenOrAttach {
        session: SessionId,
        asked: SessionRequest,
        /// Whether a turn of it is under way: the harness has lost its connection and comes back.
        busy: bool,
    },
    Subscribe {
        after: Cursor,
    },
    Query(Box<Boundary>),
    /// The tools of the harness, in the place of those that it offered before.
    OfferTools(Vec<ToolSpec>),
    /// What a call came to that was pushed to the harness.
    ToolResult(Box<str>, Box<Outcome>),
}

type Parse = fn(&Args<'_>) -> Result<StreamRequest, RequestError>;

/// All operations: name, allowed keys, parser.
const OPS: &[(&str, &[&str], Parse)] = &[
    ("call", &["op", "id", "tool", "args", "session-id"], call),
    ("session/open", OPEN, open_session),
    ("session/close", &["op", "id", "session-id"], close_session),
    ("session/busy", &["op", "id", "session-id", "busy?"], busy),
    ("session/user-message", &["op", "id", "session-id", "text"], user_message),
    ("session/job-ready", &["op", "id", "session-id", "job-id"], job_ready),
    ("host/attach", &["op", "id", "sessions"], attach),
    ("agent/bind", agent_request::BIND, |args| agent_request::bind(args).map(StreamRequest::Agent)),
    ("agent/whose", agent_request::WHOSE, |args| agent_request::whose(args).map(StreamRequest::Agent)),
    ("agent/wait", agent_request::WAIT, |args| agent_request::wait(args).map(StreamRequest::Agent)),
    ("agent/handed", agent_request::PROMPT, |args| agent_request::handed(args).map(StreamRequest::Agent)),
    ("agent/shown", agent_request::PROMPT, |args| agent_request::shown(args).map(StreamRequest::Agent)),
    ("agent/idle", agent_request::IDLE, |args| agent_request::idle(args).map(StreamRequest::Agent)),
    ("agent/schedules", agent_request::SCHEDULES, |args| {
        agent_request::schedules(args).map(StreamRequest::Agent)
    }),
    ("agent/release", agent_request::RELEASE, |args| agent_request::release(args).map(StreamRequest::Agent)),
    ("delivery/ack", &["op", "id", "delivery-id"], acknowledge),
    ("delivery/nack", &["op", "id", "delivery-id", "phase", "error"], refuse),
    ("subscribe", &["op", "id", "after"], subscribe),
    ("eql", &["op", "id", "query", "entity", "lenient?"], query),
    ("tools/offer", tool_request::OFFER, |args| tool_request::offer(args).map(StreamRequest::OfferTools)),
    ("tool/result", tool_request::RESULT, |args| {
        tool_request::result(args).map(|(id, outcome)| StreamRequest::ToolResult(id, Box::new(outcome)))
    }),
];

impl StreamRequest {
    /// The name of a request's operation, as far as it is one of ours.
    pub(super) fn name(form: &Value, notation: Notation) -> &'static str {
        let is_bare = form.as_map().is_some_and(|map| entry(map, "op", notation).is_none());
        known(form, notation).map_or(if is_bare { "psi-tool" } else { "unknown" }, |(name, ..)| name)
    }

    /// Parses a map with `:op`, or an object with `"op"`.
    pub(super) fn parse(form: &Value, notation: Notation) -> Result<StreamRequest, RequestError> {
        // The operation decides about the other keys, so it is read first.
        let Some((_, keys, parse)) = known(form, notation) else {
            let op = form.as_map().and_then(|map| entry(map, "op", notation));
            let supported: Vec<Value> = OPS.iter().map(|(name, ..)| Value::keyword(name)).collect();
            let data = Map::new().with("op", op.map_or(Value::Nil, echo)).with("supported-ops", supported);
            let name = op.and_then(word);
            let near = name.and_then(|name| nearest(OPS.iter().map(|(known, ..)| (*known, *known)), name));
            let message = match (op, near) {
                (None, _) => "a request has :op; a call of psi-tool has :action instead".to_owned(),
                (Some(op), None) => format!("there is no :op {}", echo(op)),
                (Some(op), Some(near)) => format!("there is no :op {}; did you mean :{near}?", echo(op)),
            };
            return Err(RequestError::invalid(message, data));
        };
        let style = Style { notation, keys: Keys::Notated, choices: Choices::Exact, short_times: false };
        parse(&Arg::new(form, style).map(keys)?)
    }
}

/// The keys of `:session/open`.
const OPEN: &[&str] = &[
    "op",
    "id",
    "session-id",
    "session-config",
    "zone",
    "listens?",
    "or-attach?",
    "busy?",
    "address",
    "directory",
    "agent-profile",
];
/// The row of a request's operation.
fn known(
    form: &Value,
    notation: Notation,
) -> Option<&'static (&'static str, &'static [&'static str], Parse)> {
    let op = entry(form.as_map()?, "op", notation)?;
    let name = word(op)?;
    OPS.iter().find(|(known, ..)| *known == name)
}

fn word(value: &Value) -> Option<&str> {
    value.as_keyword().map(Keyword::as_str).or_else(|| value.as_str())
}

fn call(args: &Args<'_>) -> Result<StreamRequest, RequestError> {
    Ok(StreamRequest::Call {
        tool: text(args, "tool")?,
        args: args.get("args").map_or_else(|| Map::new().into(), |args| args.value().clone()),
        session: optional_session(args)?,
    })
}

fn open_session(args: &Args<'_>) -> Result<StreamRequest, RequestError> {
    let config =
        args.get("session-config").map(|config| session_config::parse(config.value(), args.notation()));
    let config =
        config.transpose().map_err(|error| RequestError::invalid(error.to_string(), error.data()))?;
    // A configuration in psi's words has no address: that is a field of the request.
    let config = Box::new(SessionConfig { address: address(args)?, ..config.unwrap_or_default() });
    let zone =
        args.opt("zone", |arg| arg.parse("the name of a time zone", |value| value.as_str().map(Box::from)))?;
    let asked = SessionRequest { config, zone };
    let flag = |key| args.opt(key, |arg| arg.parse("a boolean", Value::as_bool));
    let listens = flag("listens?")?.unwrap_or(false);
    let busy = flag("busy?")?.unwrap_or(false);
    if flag("or-attach?")?.unwrap_or(false) {
        return Ok(StreamRequest::OpenOrAttach { session: session(args)?, asked, busy });
    }
    if busy {
        // A session that is opened anew has no turn yet: its first one is reported as any other.
        let message = "busy? is for who comes back to a session: it needs or-attach?";
        return Err(RequestError::invalid(message, Map::new().with("field", Value::keyword("busy?"))));
    }
    Ok(StreamRequest::Host(HostRequest::Open { session: optional_session(args)?, asked, listens }))
}

fn close_session(args: &Args<'_>) -> Result<StreamRequest, RequestError> {
    Ok(StreamRequest::Host(HostRequest::Close { session: session(args)? }))
}

fn busy(args: &Args<'_>) -> Result<StreamRequest, RequestError> {
    let busy = read(args, "busy?", "a boolean", Value::as_bool)?;
    Ok(StreamRequest::Host(HostRequest::Busy { session: session(args)?, busy }))
}

fn user_message(args: &Args<'_>) -> Result<StreamRequest, RequestError> {
    Ok(StreamRequest::Host(HostRequest::UserMessage { session: session(args)?, text: text(args, "text")? }))
}

fn job_ready(args: &Args<'_>) -> Result<StreamRequest, RequestError> {
    let job = |value: &Value| JobId::new(value.as_str()?).ok();
    let job = read(args, "job-id", "a job's id: a string that is not blank", job)?;
    Ok(StreamRequest::Host(HostRequest::JobReady { session: session(args)?, job }))
}

fn attach(args: &Args<'_>) -> Result<StreamRequest, RequestError> {
    let ids = |value: &Value| value.as_items()?.iter().map(session_id).collect();
    let sessions = args.opt("sessions", |arg| arg.parse("a vector of session ids", ids))?;
    Ok(StreamRequest::Attach { sessions: sessions.unwrap_or_default() })
}

fn acknowledge(args: &Args<'_>) -> Result<StreamRequest, RequestError> {
    Ok(StreamRequest::Host(HostRequest::Acknowledge { run: run(args)? }))
}

fn refuse(args: &Args<'_>) -> Result<StreamRequest, RequestError> {
    // An error of any type is accepted, because it is only shown to people.
    let words = |error: &Value| error.as_str().map_or_else(|| error.to_string().into(), Box::from);
    let error = args.get("error").map(|error| words(error.value()));
    let error = error.unwrap_or("the harness gave no reason".into());
    let phase = args.opt("phase", |arg| arg.parse(PHASES, phase))?.unwrap_or(Phase::PromptSubmit);
    Ok(StreamRequest::Host(HostRequest::Refuse { run: run(args)?, phase, error }))
}

/// Reads a phase that a host may name. `:outside` is about channels.
fn phase(value: &Value) -> Option<Phase> {
    let name = value.as_keyword().map(Keyword::as_str).or_else(|| value.as_str())?;
    [Phase::CreateSession, Phase::PromptSubmit].into_iter().find(|phase| phase.name() == name)
}

fn subscribe(args: &Args<'_>) -> Result<StreamRequest, RequestError> {
    let cursor = |value: &Value| u64::try_from(value.as_int()?).ok();
    let after = args.opt("after", |arg| arg.parse("a cursor: an integer, 0 or more", cursor))?;
    Ok(StreamRequest::Subscribe { after: Cursor::new(after.unwrap_or(0)) })
}

fn query(args: &Args<'_>) -> Result<StreamRequest, RequestError> {
    // The stream's keys become those of the graph's boundary, which parses and checks them.
    let parts = [("pathom/eql", "query"), ("pathom/entity", "entity"), ("pathom/lenient-mode?", "lenient?")];
    let mut request = Map::new();
    for (name, key) in parts {
        if let Some(given) = args.get(key) {
            request = request.with(name, in_edn(key, given.value(), args.notation())?);
        }
    }
    let boundary = Boundary::read(&request.into())
        .map_err(|error| RequestError::invalid(error.to_string(), error.to_map()))?;
    Ok(StreamRequest::Query(Box::new(boundary)))
}

/// A query, or the entity that it is about. EQL has no form in JSON: there it is a string of EDN, as for the tools.
fn in_edn(key: &str, given: &Value, notation: Notation) -> Result<Value, RequestError> {
    let (Some(text), Notation::Json) = (given.as_str(), notation) else { return Ok(given.clone()) };
    edn::read_keeping_meta(text.as_bytes(), &REQUEST_CAPS).map_err(|error| {
        let offset = i64::try_from(error.offset()).unwrap_or(i64::MAX);
        let data = Map::new().with("field", Value::keyword(key)).with("offset", offset);
        RequestError::invalid(format!("{key} is no EDN: {error}"), data)
    })
}

fn text(args: &Args<'_>, key: &str) -> Result<Box<str>, ArgError> {
    read(args, key, "a string", |value| value.as_str().map(Box::from))
}

const PHASES: &str = ":create-session or :prompt-submit";
