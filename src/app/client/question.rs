//! Questions of commands: one query in EQL to the daemon, or to an empty engine of this process.

use std::io;

use super::in_process;
use crate::app::client::Client;
use crate::app::fault::AppFault;
use crate::dialect::{Notation, REQUEST_CAPS};
use crate::domain::{Code, SessionId};
use crate::edn::{self, Caps, Map, Value};
use crate::graph::eql::Boundary;
use crate::service::reply;
use crate::surface::cli::{AskingArgs, DaemonArgs};

/// A query with one join with parameters.
pub(in crate::app) fn query(attribute: &str, params: Map, shape: &str) -> String {
    format!("[{{(:{attribute} {}) {shape}}}]", Value::Map(params))
}

/// Sends a query to the daemon, or to an empty engine of this process if the user asks for that.
pub(in crate::app) fn ask(
    daemon: &DaemonArgs,
    session: Option<&SessionId>,
    query: &str,
) -> Result<Map, AppFault> {
    let wrong = |error: String| AppFault::usage(format!("the query could not be read: {error}"));
    // The query is built here, but the user's values in it may exceed a cap.
    let form = edn::read(query.as_bytes(), &REQUEST_CAPS).map_err(|error| wrong(error.to_string()))?;
    let request = Value::from(Map::new().with("pathom/eql", form));
    let answer = if let Some(client) = Client::required(daemon, session)? {
        let answered = client.post("/eql", Notation::Edn, request.to_string().into_bytes())?;
        if answered.status.as_u16() != 200 {
            return Err(answered.fault(Notation::Edn));
        }
        let read = edn::read(answered.text.as_bytes(), &ANSWER_CAPS).ok();
        read.and_then(|value| value.as_map().cloned()).unwrap_or_default()
    } else {
        let boundary = Boundary::read(&request).map_err(|error| wrong(error.to_string()))?;
        let failed = |error: io::Error| AppFault::io("the in-process engine", error);
        let engine = in_process::start().map_err(failed)?;
        let caller = in_process::caller(&engine, session).map_err(failed)?;
        let answered = engine.service().query(&caller, &boundary, false);
        reply(&boundary, answered.map_err(|refusal| AppFault::usage(refusal.to_string()))?)
    };
    let why = answer.keyword("reveille.error/why").and_then(Value::as_map);
    let part = |name| why.and_then(|why| why.keyword(name)).and_then(Value::as_str);
    match (part("message"), part("code")) {
        (Some(message), Some(code)) if code == Code::NotFound.name() => {
            Err(AppFault::Absent(message.to_owned()))
        }
        (Some(message), Some(code)) if code == Code::Validation.name() => Err(AppFault::usage(message)),
        (Some(message), _) => Err(AppFault::Taken(message.to_owned())),
        (None, _) => Ok(answer),
    }
}

impl AskingArgs {
    /// Sends a query, as [`ask`] does.
    pub(in crate::app) fn ask(&self, query: &str) -> Result<Map, AppFault> {
        ask(&self.caller.daemon, self.caller.session.as_ref(), query)
    }
}

/// Checks what a question with an empty answer was about: a misspelt id must not look like a quiet night.
///
/// # Errors
/// [`AppFault::Absent`] if there is no such session or schedule.
pub(in crate::app) fn check_named(
    daemon: &DaemonArgs,
    session: Option<&str>,
    schedule: Option<&str>,
) -> Result<(), AppFault> {
    for (what, id, key, seen) in [
        ("session", session, "psi.agent-session/session-id", "psi.agent-session/hosted?"),
        ("schedule", schedule, "psi.scheduler/schedule-id", "psi.scheduler/status"),
    ] {
        let Some(id) = id else { continue };
        let query = format!("[{{[:{key} {}] [:{seen}]}}]", Value::from(id));
        match ask(daemon, None, &query) {
            Ok(_) => {}
            Err(AppFault::Absent(_)) => return Err(AppFault::Absent(format!("{what} not found: {id}"))),
            Err(fault) => return Err(fault),
        }
    }
    Ok(())
}

/// Answers may be far longer than the requests for which `REQUEST_CAPS` is meant.
const ANSWER_CAPS: Caps = Caps { bytes_max: 1 << 28, forms_max: u32::MAX, ..REQUEST_CAPS };
