//! `reveille mcp`: serves the Model Context Protocol on stdin and stdout, for a daemon or for an
//! engine of its own.

pub(in crate::app) mod origin;
pub(in crate::app) mod processes;
pub(in crate::app) mod wait;

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};

use super::client::in_process;
use super::client::{Answered, Client};
use super::config::environment::Environment;
use super::config::{SOCKET, data_dir_of};
use super::fault::AppFault;
use super::serve::signals::on_stop;
use super::stdio::{end, tell};
use crate::app::exit::Exit;
use crate::dialect::Notation;
use crate::domain::SessionId;
use crate::engine::State;
use crate::service::Waiter;
use crate::surface::cli::McpArgs;
use crate::surface::mcp::{McpBegun, McpService, Origin, ProxiedMessage, Scheduler, serve, unanswered};
use origin::Callers;
use wait::Waits;

pub(super) fn mcp(args: McpArgs) -> io::Result<ExitCode> {
    // An engine of its own would take schedules that end with the agent's program.
    match Client::required(&args.daemon, None) {
        Ok(None) => serve_own(args),
        Ok(Some(client)) => relay(&client, args),
        Err(fault) => Ok(fault.tell()),
    }
}

/// Relays messages to the daemon one by one, and its answers back. A call that waits is asked again beside the others.
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
    let (waits, long) = (Waits::default(), AtomicUsize::new(0));
    let served = thread::scope(|scope| {
        let answer = |line: &[u8]| {
            if let Some(id) = Origin::cancels(line) {
                waits.cancel(&id);
            }
            let mut message = Message::of(line);
            if message.origin.may_take_long && long.load(Ordering::Relaxed) < LONG_CALLS {
                let session = match message.prepared(client, &mut callers) {
                    Ok(session) => session,
                    Err(fault) => return Some(unanswered(message.relayed.id.as_ref(), fault.to_string())),
                };
                let (long, path) = (&long, &path);
                long.fetch_add(1, Ordering::Relaxed);
                scope.spawn(move || {
                    let answer = match message.post(client, session.as_ref(), path) {
                        Ok(answered) => message.answer(&answered),
                        Err(fault) => Some(unanswered(message.relayed.id.as_ref(), fault.to_string())),
                    };
                    long.fetch_sub(1, Ordering::Relaxed);
                    answer.iter().for_each(|answer| write_line(answer));
                });
                return None;
            }
            let answered = match message.pass_on(client, &mut callers, &path) {
                Ok(answered) => answered,
                // A notification gets no answer, not even an error (JSON-RPC 2.0, section 4.1).
                Err(_) if message.relayed.is_remark => return None,
                Err(fault) => return Some(unanswered(message.relayed.id.as_ref(), fault.to_string())),
            };
            match (message.origin.wait_seconds, &message.relayed.id) {
                (Some(seconds), Some(id)) if Origin::is_empty_inbox(answered.text.as_bytes()) => {
                    let (wait, session, id) = (waits.begin(id, seconds), callers.last(), id.clone());
                    let (waits, path) = (&waits, &path);
                    scope.spawn(move || {
                        let again = || message.post(client, session.as_ref(), path);
                        let answer = wait.until(again).and_then(|answered| message.answer(&answered));
                        waits.cancel(&id);
                        answer.iter().for_each(|answer| write_line(answer));
                    });
                    None
                }
                _ => message.answer(&answered),
            }
        };
        let served = serve(io::stdin().lock(), io::stdout(), answer);
        waits.end();
        served
    });
    served.map(|()| Exit::Done.into())
}

/// Writes an answer in one piece, so that it goes between two other answers.
fn write_line(answer: &str) {
    // An agent that reads no more has no use for it.
    let _ = io::stdout().lock().write_all(format!("{answer}\n").as_bytes());
    let _ = io::stdout().flush();
}

/// A message on its way to the daemon.
struct Message {
    relayed: ProxiedMessage,
    origin: Origin,
    line: Vec<u8>,
}

impl Message {
    fn of(line: &[u8]) -> Message {
        let (relayed, origin) = (ProxiedMessage::of(line), Origin::of(line));
        // The wait is for this program to do.
        let unwaiting = origin.wait_seconds.and_then(|_| Origin::unwaiting(line));
        Message { relayed, origin, line: unwaiting.unwrap_or_else(|| line.to_vec()) }
    }

    /// Makes it ready to be passed on, and finds the session that it comes from.
    fn prepared(&mut self, client: &Client, callers: &mut Callers) -> Result<Option<SessionId>, AppFault> {
        if callers.is_marked(&self.origin)
            && let Some(line) = Origin::unmarked(&self.line)
        {
            self.line = line;
        }
        callers.session_of(client, &self.origin)
    }

    /// Passes it on for the session that it comes from.
    fn pass_on(&mut self, client: &Client, callers: &mut Callers, path: &str) -> Result<Answered, AppFault> {
        let session = self.prepared(client, callers)?;
        let answered = self.post(client, session.as_ref(), path)?;
        if answered.status.is_success() || !callers.forget() {
            return Ok(answered);
        }
        // A daemon without a store has forgotten the session with its last life.
        let session = callers.session_of(client, &self.origin)?;
        self.post(client, session.as_ref(), path)
    }

    fn post(&self, client: &Client, session: Option<&SessionId>, path: &str) -> Result<Answered, AppFault> {
        let mut headers = headers(&self.relayed);
        // An id that no header can hold is left out; the daemon then finds no session.
        let session = session.and_then(|session| HeaderValue::from_str(session.as_str()).ok());
        headers.extend(session.map(|session| (HeaderName::from_static("reveille-session"), session)));
        client.post_with(path, headers, self.line.clone())
    }

    /// The line for the agent.
    fn answer(&self, answered: &Answered) -> Option<String> {
        self.relayed.answer(&answered.text, || answered.complaint(Notation::Json))
    }
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
    let served = thread::scope(|scope| {
        // Answers that come later are written by a thread of their own, so that none of the engine's waits for the client.
        let (say, said) = mpsc::channel::<String>();
        scope.spawn(move || said.iter().for_each(|answer| write_line(&answer)));
        let mut waiters: Vec<Waiter> = Vec::new();
        serve(io::stdin().lock(), io::stdout(), |line| match service.begin(line, None) {
            McpBegun::Now(reply) => reply.body,
            McpBegun::Later(pending, later) => {
                let say = say.clone();
                waiters.retain(Waiter::is_waiting);
                waiters.push(pending.then(move |answer| {
                    // A writer that is gone has ended with the process.
                    let _ = later.reply(answer).body.map(|body| say.send(body));
                }));
                None
            }
        })
        .inspect(|()| waiters.drain(..).for_each(Waiter::wait))
    });
    // Counted before the shutdown, which cancels them.
    let left = handle.view(State::live_count);
    engine.shut_down();
    tell(left)?;
    served.map(|()| Exit::Done.into())
}

/// Calls that may take long, each on a thread of its own beside the others. Further ones hold up what comes after them.
const LONG_CALLS: usize = 16;
/// The session of an engine of its own, unless another is named.
const OWN_SESSION: &str = "mcp";
