//! `reveille mcp`: serves the Model Context Protocol on stdin and stdout, for a daemon or for an
//! engine of its own.

use std::io;
use std::process::ExitCode;

use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};

use super::client::Client;
use super::fault::AppFault;
use super::in_process;
use super::signals::on_stop;
use super::stdio::{end, tell};
use crate::dialect::Notation;
use crate::domain::SessionId;
use crate::edn::{Map, Value};
use crate::engine::State;
use crate::surface::cli::McpArgs;
use crate::surface::mcp::{McpService, ProxiedMessage, Scheduler, ToolFilter, serve, unanswered};

pub(super) fn mcp(args: McpArgs) -> io::Result<ExitCode> {
    match connect(&args) {
        Ok(None) => serve_own(args),
        Ok(Some(client)) => relay(&client, &args.tools.unwrap_or_default()),
        Err(fault) => Ok(fault.tell()),
    }
}

/// Connects to the daemon, if there is one, and opens the session there.
fn connect(args: &McpArgs) -> Result<Option<Client>, AppFault> {
    // An engine of its own would take schedules that end with the agent's program.
    let client = Client::required(&args.daemon, args.session.as_ref())?;
    if let (Some(_), Some(session)) = (&client, &args.session)
        // Only an operator may open sessions; the session's own client comes afterwards.
        && let Some(operator) = Client::asked_for(&args.daemon, None)?
    {
        open(&operator, session)?;
    }
    Ok(client)
}

/// Opens the session unless it is open. If it is open already, or the token may not open it, the
/// answer is an error map; that is ignored, because the first call will report what is missing.
fn open(operator: &Client, session: &SessionId) -> Result<(), AppFault> {
    let params = Map::new().with("session-id", session.as_str());
    let request = format!("[(psi.agent-session/open {})]", Value::Map(params));
    let answered = operator.post("/eql", Notation::Edn, request.into_bytes())?;
    match answered.status.as_u16() {
        200 => Ok(()),
        _ => Err(AppFault::usage(answered.complaint(Notation::Edn))),
    }
}

/// Relays messages to the daemon one by one, and its answers back.
fn relay(client: &Client, offer: &ToolFilter) -> io::Result<ExitCode> {
    // The daemon keeps no session for us, so each request names the offered tools.
    let path = format!("/mcp?tools={}", offer.print());
    let answer = |line: &[u8]| {
        let relayed = ProxiedMessage::of(line);
        match client.post_with(&path, headers(&relayed), line.to_vec()) {
            Ok(answered) => relayed.answer(&answered.text, || answered.complaint(Notation::Json)),
            // A notification gets no answer, not even an error (JSON-RPC 2.0, section 4.1).
            Err(_) if relayed.is_remark => None,
            Err(fault) => Some(unanswered(relayed.id.as_ref(), fault.to_string())),
        }
    };
    serve(io::stdin().lock(), io::stdout().lock(), answer).map(|()| ExitCode::SUCCESS)
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
