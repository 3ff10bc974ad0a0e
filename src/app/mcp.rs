//! `reveille mcp`: serves the Model Context Protocol on stdin and stdout, for a daemon or for an
//! engine of its own.

use std::io;
use std::process::ExitCode;

use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};

use super::client::{Answered, Client};
use super::config::{SOCKET, data_dir_of};
use super::environment::Environment;
use super::fault::AppFault;
use super::in_process;
use super::origin::Callers;
use super::signals::on_stop;
use super::stdio::{end, tell};
use crate::dialect::Notation;
use crate::domain::SessionId;
use crate::engine::State;
use crate::surface::cli::McpArgs;
use crate::surface::mcp::{McpService, Origin, ProxiedMessage, Scheduler, serve, unanswered};

pub(super) fn mcp(args: McpArgs) -> io::Result<ExitCode> {
    // An engine of its own would take schedules that end with the agent's program.
    match Client::required(&args.daemon, None) {
        Ok(None) => serve_own(args),
        Ok(Some(client)) => relay(&client, args),
        Err(fault) => Ok(fault.tell()),
    }
}

/// Relays messages to the daemon one by one, and its answers back.
fn relay(client: &Client, args: McpArgs) -> io::Result<ExitCode> {
    // The hooks on this machine speak to the daemon of the data directory, which another address need not be.
    let directory = data_dir_of(args.daemon.data_dir.clone(), &Environment::read()).ok();
    let socket = directory.filter(|_| args.daemon.url.is_none()).map(|path| path.join(SOCKET));
    let mut callers = Callers::new(args.session, args.operator, socket);
    // At once, so that the session is there before its agent says anything.
    if let Err(fault) = callers.begin(client) {
        return Ok(fault.tell());
    }
    // The daemon keeps no session for us, so each request names the offered tools.
    let path = format!("/mcp?tools={}", args.tools.unwrap_or_default().print());
    let answer = |line: &[u8]| {
        let relayed = ProxiedMessage::of(line);
        match pass_on(client, &mut callers, &path, &relayed, line) {
            Ok(answered) => relayed.answer(&answered.text, || answered.complaint(Notation::Json)),
            // A notification gets no answer, not even an error (JSON-RPC 2.0, section 4.1).
            Err(_) if relayed.is_remark => None,
            Err(fault) => Some(unanswered(relayed.id.as_ref(), fault.to_string())),
        }
    };
    serve(io::stdin().lock(), io::stdout().lock(), answer).map(|()| ExitCode::SUCCESS)
}

/// Passes a message on for the session that it comes from.
fn pass_on(
    client: &Client,
    callers: &mut Callers,
    path: &str,
    relayed: &ProxiedMessage,
    line: &[u8],
) -> Result<Answered, AppFault> {
    let origin = Origin::of(line);
    let is_marked = callers.is_marked(&origin);
    let line = if is_marked { Origin::unmarked(line) } else { None }.unwrap_or_else(|| line.to_vec());
    let post = |callers: &mut Callers| {
        let mut headers = headers(relayed);
        let session = callers.session_of(client, &origin)?;
        // An id that no header can hold is left out; the daemon then finds no session.
        let session = session.and_then(|session| HeaderValue::from_str(session.as_str()).ok());
        headers.extend(session.map(|session| (HeaderName::from_static("reveille-session"), session)));
        client.post_with(path, headers, line.clone())
    };
    let answered = post(callers)?;
    if answered.status.is_success() || !callers.forget() {
        return Ok(answered);
    }
    // A daemon without a store has forgotten the session with its last life.
    post(callers)
}

fn headers(relayed: &ProxiedMessage) -> Vec<(HeaderName, HeaderValue)> {
    let accept = HeaderValue::from_static("application/json, text/event-stream");
    let mut headers = vec![(CONTENT_TYPE, HeaderValue::from_static("application/json")), (ACCEPT, accept)];
    for &(name, ref value) in &relayed.headers {
        // Values that no header can hold are encoded before. If one is missing all the same, the
        // daemon reports it.
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.push((HeaderName::from_static(name), value));
        }
    }
    headers
}

/// Serves an engine that exists until the end of the input.
fn serve_own(args: McpArgs) -> io::Result<ExitCode> {
    let mut engine = in_process::start()?;
    let handle = engine.handle().clone();
    let session = args.session.map_or_else(|| SessionId::new(OWN_SESSION), Ok).map_err(io::Error::other)?;
    let (caller, offer) = (in_process::caller(&engine, Some(&session))?, args.tools.unwrap_or_default());
    let stopped = handle.clone();
    // Reading stdin blocks this thread, so the handler ends the process itself.
    on_stop(move || end(&stopped))?;
    let scheduler = Scheduler { service: engine.service(), caller: &caller, offer: &offer };
    let service = McpService { features: &scheduler };
    let served = serve(io::stdin().lock(), io::stdout().lock(), |line| service.answer(line, None).body);
    // Counted before the shutdown, which cancels them.
    let left = handle.view(State::live_count);
    engine.shut_down();
    tell(left)?;
    served.map(|()| ExitCode::SUCCESS)
}

/// The session of an engine of its own, unless another is named.
const OWN_SESSION: &str = "mcp";
