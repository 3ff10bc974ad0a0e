//! `reveille graphql`: sends one GraphQL query or mutation and prints the JSON answer.

use std::io;
use std::process::ExitCode;

use super::client::Client;
use super::client::in_process;
use super::exit::Exit;
use super::fault::AppFault;
use super::foreign_text::print;
use crate::dialect::{Notation, REQUEST_CAPS};
use crate::edn::{Map, Value};
use crate::surface::cli::GraphqlArgs;
use crate::surface::graphql::{GraphqlRequest, GraphqlService};
use crate::surface::json;

pub(super) fn graphql(args: &GraphqlArgs) -> io::Result<ExitCode> {
    let answer = match request(args).and_then(|request| answer(args, &request)) {
        Ok(answer) => answer,
        Err(fault) => return Ok(fault.tell()),
    };
    print(&format!("{}\n", answer.trim_end()))?;
    // GraphQL reports errors with status 200 as well, so the exit code depends on the body.
    let has_errors = json::read(answer.as_bytes(), &ANSWER_CAPS)
        .is_ok_and(|answer| answer.as_map().is_some_and(|map| map.text("errors").is_some()));
    Ok(Exit::of_answer(has_errors).into())
}

/// Builds the request as an object with string keys, as in JSON.
fn request(args: &GraphqlArgs) -> Result<Value, AppFault> {
    let mut request = Map::new();
    request.insert("query".into(), args.query.as_str().into());
    if let Some(variables) = &args.variables {
        let variables = json::read(variables.as_bytes(), &REQUEST_CAPS)
            .map_err(|error| AppFault::usage(format!("the variables are not JSON: {error}")))?;
        request.insert("variables".into(), variables);
    }
    if let Some(at) = args.as_of {
        let mut extensions = Map::new();
        extensions.insert("asOf".into(), at.to_string().into());
        request.insert("extensions".into(), extensions.into());
    }
    Ok(request.into())
}

fn answer(args: &GraphqlArgs, request: &Value) -> Result<String, AppFault> {
    let Some(client) = Client::required(&args.caller.daemon, args.caller.session.as_ref())? else {
        return own(args, request);
    };
    let mut text = String::new();
    json::write(request, &mut text);
    let answered = client.post("/graphql", Notation::Json, text.into_bytes())?;
    // 400 means an invalid request: its body has GraphQL's own errors, so print it like any answer.
    match answered.status.as_u16() {
        200 | 400 => Ok(answered.text),
        _ => Err(answered.fault(Notation::Json)),
    }
}

/// Answers from an engine that exists only for this query: it contains nothing but the schema.
fn own(args: &GraphqlArgs, request: &Value) -> Result<String, AppFault> {
    let failed = |error: io::Error| AppFault::io("the in-process engine", error);
    let request = GraphqlRequest::from_value(request).map_err(|error| AppFault::usage(error.message))?;
    let engine = in_process::start().map_err(failed)?;
    let caller = in_process::caller(&engine, args.caller.session.as_ref()).map_err(failed)?;
    let service = GraphqlService::new(engine.service())
        .map_err(|faults| failed(io::Error::other(format!("the schema has faults: {faults:?}"))))?;
    Ok(service.answer(&caller, &request, false).body)
}

/// Answers may be far longer than the requests for which `REQUEST_CAPS` is meant.
const ANSWER_CAPS: crate::edn::Caps =
    crate::edn::Caps { bytes_max: 1 << 28, forms_max: u32::MAX, ..REQUEST_CAPS };
