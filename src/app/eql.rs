//! `reveille eql`: sends one EQL query to a daemon, or answers it from an empty engine.

use std::io;
use std::process::ExitCode;

use super::client::Client;
use super::client::in_process;
use super::client::question::check_named;
use super::exit::Exit;
use super::fault::AppFault;
use super::foreign_text::{complain, print};
use crate::dialect::{Notation, REQUEST_CAPS};
use crate::domain::SessionId;
use crate::edn::{Map, Value, read_keeping_meta};
use crate::graph::eql::{Boundary, QueryAnswer};
use crate::service::reply;
use crate::surface::cli::EqlArgs;

pub(super) fn eql(args: &EqlArgs) -> io::Result<ExitCode> {
    let request = match request(args) {
        Ok(request) => request,
        Err(fault) => return Ok(fault.tell()),
    };
    match Client::required(&args.caller.daemon, args.caller.session.as_ref()) {
        Ok(Some(client)) => ask_daemon(&client, &request).inspect(|_| warn_of_nobody(args)),
        Ok(None) => ask_own(args, &request),
        Err(fault) => Ok(fault.tell()),
    }
}

/// Builds Pathom's request map from the query and its entity.
fn request(args: &EqlArgs) -> Result<Value, AppFault> {
    let form = |name: &str, text: &str| {
        let read = read_keeping_meta(text.as_bytes(), &REQUEST_CAPS);
        read.map_err(|error| AppFault::usage(format!("the {name} is not EDN: {error}")))
    };
    let query = form("query", &args.query)?;
    // Also for a bare query: the request map carries the options along.
    let request = Map::new().with("pathom/eql", query).with("pathom/lenient-mode?", args.lenient);
    let request = request.with_some("reveille/as-of", args.as_of.as_ref().map(ToString::to_string));
    let entity = args.entity.as_deref().map(|entity| form("entity", entity)).transpose()?;
    Ok(request.with_some("pathom/entity", entity).into())
}

fn ask_daemon(client: &Client, request: &Value) -> io::Result<ExitCode> {
    let answer = match client.post("/eql", Notation::Edn, request.to_string().into_bytes()) {
        Ok(answer) => answer,
        Err(fault) => return Ok(fault.tell()),
    };
    if answer.status.as_u16() != 200 {
        return Ok(answer.fault(Notation::Edn).tell());
    }
    print(&answer.text)?;
    // The body is passed on unparsed; a failed query is recognised by its first key.
    Ok(Exit::of_answer(answer.text.starts_with("{:com.wsscode.pathom3.error/error-message")).into())
}

/// Says on stderr that the session is not there. As psi says, a session that nobody knows has nothing, so the answer alone
/// looks like a quiet one; and one that was closed may have schedules still, so it is no error.
fn warn_of_nobody(args: &EqlArgs) {
    let session = args.caller.session.as_ref().map(SessionId::as_str);
    if let Err(AppFault::Absent(fault)) = check_named(&args.caller.daemon, session, None) {
        complain(format!("{fault}; the answer is that of a session without anything"));
    }
}

/// Answers from an engine that exists only for this query: it contains nothing but the graph.
fn ask_own(args: &EqlArgs, request: &Value) -> io::Result<ExitCode> {
    let boundary = match Boundary::read(request) {
        Ok(boundary) => boundary,
        Err(error) => return Ok(AppFault::usage(error.to_string()).tell()),
    };
    let engine = in_process::start()?;
    let caller = in_process::caller(&engine, args.caller.session.as_ref())?;
    let answer = match engine.service().query(&caller, &boundary, false) {
        Ok(answer) => answer,
        Err(refusal) => return Ok(AppFault::usage(refusal.to_string()).tell()),
    };
    let failed = matches!(answer, QueryAnswer::Failed(_));
    print(&format!("{}\n", Value::Map(reply(&boundary, answer))))?;
    Ok(Exit::of_answer(failed).into())
}
