//! What a client may ask, parsed: raw EDN ends here.

use super::error::RequestError;
use crate::dialect::psi::session_config;
use crate::dialect::{Notation, echo};
use crate::domain::{Cursor, JobId, RunId, SessionConfig, SessionId};
use crate::edn::{Map, Value};
use crate::graph::eql::Boundary;

/// One request.
pub(super) enum Request {
    Call { tool: Box<str>, args: Value, session: Option<SessionId> },
    OpenSession { session: Option<SessionId>, config: Box<SessionConfig> },
    CloseSession { session: SessionId },
    Busy { session: SessionId, busy: bool },
    UserMessage { session: SessionId, text: Box<str> },
    JobReady { session: SessionId, job: JobId },
    Attach { sessions: Vec<SessionId> },
    Acknowledge { run: RunId },
    Refuse { run: RunId, error: Box<str> },
    Subscribe { after: Cursor },
    Query(Box<Boundary>),
}

type Parse = fn(&Map) -> Result<Request, RequestError>;

/// Every operation, by name.
const OPS: &[(&str, Parse)] = &[
    ("call", call),
    ("session/open", open_session),
    ("session/close", close_session),
    ("session/busy", busy),
    ("session/user-message", user_message),
    ("session/job-ready", job_ready),
    ("host/attach", attach),
    ("delivery/ack", acknowledge),
    ("delivery/nack", refuse),
    ("subscribe", subscribe),
    ("eql", query),
];

impl Request {
    /// Whether only a host or an operator may say it. Tools, and mutations in queries, check their callers themselves.
    pub(super) fn is_of_hosts(&self) -> bool {
        match self {
            Request::Call { .. } | Request::Subscribe { .. } | Request::Query(_) => false,
            Request::OpenSession { .. }
            | Request::CloseSession { .. }
            | Request::Busy { .. }
            | Request::UserMessage { .. }
            | Request::JobReady { .. }
            | Request::Attach { .. }
            | Request::Acknowledge { .. }
            | Request::Refuse { .. } => true,
        }
    }

    /// Reads a map with `:op`.
    pub(super) fn parse(map: &Map) -> Result<Request, RequestError> {
        let op = map.keyword("op");
        let name = op.and_then(|op| op.as_keyword().map(crate::edn::Keyword::as_str).or_else(|| op.as_str()));
        let known = OPS.iter().find(|(known, _)| Some(*known) == name);
        let Some((_, parse)) = known else {
            let supported: Vec<Value> = OPS.iter().map(|(name, _)| Value::keyword(name)).collect();
            let data = Map::new().with("op", op.map_or(Value::Nil, echo)).with("supported-ops", supported);
            return Err(RequestError::invalid("unknown :op; a psi-tool call needs :action instead", data));
        };
        parse(map)
    }
}

fn call(map: &Map) -> Result<Request, RequestError> {
    Ok(Request::Call {
        tool: text(map, "tool")?,
        args: map.keyword("args").cloned().unwrap_or_else(|| Map::new().into()),
        session: optional_session(map)?,
    })
}

fn open_session(map: &Map) -> Result<Request, RequestError> {
    let config = match map.keyword("session-config") {
        None | Some(Value::Nil) => SessionConfig::default(),
        Some(value) => session_config::parse(value, Notation::Edn)
            .map_err(|error| RequestError::invalid(error.to_string(), error.data()))?,
    };
    Ok(Request::OpenSession { session: optional_session(map)?, config: Box::new(config) })
}

fn close_session(map: &Map) -> Result<Request, RequestError> {
    Ok(Request::CloseSession { session: session(map)? })
}

fn busy(map: &Map) -> Result<Request, RequestError> {
    let value = map.keyword("busy?");
    let busy = value.and_then(Value::as_bool);
    let busy = busy.ok_or_else(|| RequestError::wrong_type("busy?", "a boolean", value))?;
    Ok(Request::Busy { session: session(map)?, busy })
}

fn user_message(map: &Map) -> Result<Request, RequestError> {
    Ok(Request::UserMessage { session: session(map)?, text: text(map, "text")? })
}

fn job_ready(map: &Map) -> Result<Request, RequestError> {
    let value = map.keyword("job-id");
    let job = value.and_then(Value::as_str).and_then(|text| JobId::new(text).ok());
    let job = job
        .ok_or_else(|| RequestError::wrong_type("job-id", "a job's id: a string that is not blank", value))?;
    Ok(Request::JobReady { session: session(map)?, job })
}

fn attach(map: &Map) -> Result<Request, RequestError> {
    let value = map.keyword("sessions");
    let wrong = || RequestError::wrong_type("sessions", "a vector of session ids", value);
    let items = match value {
        None | Some(Value::Nil) => &[],
        Some(value) => value.as_items().ok_or_else(wrong)?,
    };
    let id = |item: &Value| item.as_str().and_then(|text| SessionId::new(text).ok());
    let sessions = items.iter().map(id).collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
    Ok(Request::Attach { sessions })
}

fn acknowledge(map: &Map) -> Result<Request, RequestError> {
    Ok(Request::Acknowledge { run: run(map)? })
}

fn refuse(map: &Map) -> Result<Request, RequestError> {
    let error = map.keyword("error").map_or("the harness gave no reason".into(), |error| {
        error.as_str().map_or_else(|| error.to_string().into(), Box::from)
    });
    Ok(Request::Refuse { run: run(map)?, error })
}

fn subscribe(map: &Map) -> Result<Request, RequestError> {
    let value = map.keyword("after");
    let after = match value {
        None | Some(Value::Nil) => Some(0),
        Some(value) => value.as_int().and_then(|number| u64::try_from(number).ok()),
    };
    let after =
        after.ok_or_else(|| RequestError::wrong_type("after", "a cursor: an integer, 0 or more", value))?;
    Ok(Request::Subscribe { after: Cursor::new(after) })
}

fn query(map: &Map) -> Result<Request, RequestError> {
    let parts = [("pathom/eql", "query"), ("pathom/entity", "entity"), ("pathom/lenient-mode?", "lenient?")];
    let given = |(name, key): (&str, &str)| Some((Value::keyword(name), map.keyword(key)?.clone()));
    let request: Map = parts.into_iter().filter_map(given).collect();
    let boundary = Boundary::read(&request.into())
        .map_err(|error| RequestError::invalid(error.to_string(), error.to_map()))?;
    Ok(Request::Query(Box::new(boundary)))
}

fn text(map: &Map, key: &str) -> Result<Box<str>, RequestError> {
    let value = map.keyword(key);
    value
        .and_then(Value::as_str)
        .map(Box::from)
        .ok_or_else(|| RequestError::wrong_type(key, "a string", value))
}

fn session(map: &Map) -> Result<SessionId, RequestError> {
    optional_session(map)?.ok_or_else(|| RequestError::wrong_type("session-id", "a session's id", None))
}

fn optional_session(map: &Map) -> Result<Option<SessionId>, RequestError> {
    let value = map.keyword("session-id");
    let wrong =
        || RequestError::wrong_type("session-id", "a session's id: a string that is not blank", value);
    match value {
        None | Some(Value::Nil) => Ok(None),
        Some(value) => {
            let text = value.as_str().ok_or_else(wrong)?;
            SessionId::new(text).map(Some).map_err(|_| wrong())
        }
    }
}

fn run(map: &Map) -> Result<RunId, RequestError> {
    let value = map.keyword("delivery-id");
    let run = value.and_then(Value::as_str).and_then(RunId::parse);
    run.ok_or_else(|| RequestError::wrong_type("delivery-id", "the id of a pushed delivery", value))
}
