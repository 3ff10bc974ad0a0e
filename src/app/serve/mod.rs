//! `reveille serve`: the daemon, from its start to its orderly stop.

mod arenas;
pub(in crate::app) mod data_dir;
mod hosted_agents;
mod life;
pub(in crate::app) mod log;
mod lost_note;
pub(in crate::app) mod panics;
pub(in crate::app) mod signals;
pub(in crate::app) mod store;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use super::client::in_process;
use super::config::Config;
use super::config::environment::Environment;
use super::config::tools::{OpenTools, Tools};
use super::fault::AppFault;
use super::foreign_text::{self, visible};
use super::mcp::processes;
use crate::adapter::end_groups;
use crate::adapter::outbound::OutboundGuard;
use crate::app::exit::Exit;
use crate::domain::{Right, Scope, TokenName};
use crate::embed::Reveille;
use crate::engine::{Command, Input, State};
use crate::runtime::{Handle, Token};
use crate::service::Service;
use crate::surface::cli::ServeArgs;
use crate::surface::http::{self, Server, Socket};
use data_dir::{DataDir, HOST_TOKEN, OBSERVER_TOKEN, OPERATOR_TOKEN};
use hosted_agents::HostedAgents;
use log::Log;
use lost_note::Lost;
use signals::on_stop;
use store::attach_store;

pub(super) fn serve(args: ServeArgs) -> io::Result<ExitCode> {
    if !args.check {
        // Before anything is read or taken that the second start would read or take again.
        arenas::bound();
    }
    let does = if args.check { check } else { run };
    match Config::new(args, &Environment::read()).and_then(does) {
        Ok(()) => Ok(Exit::Done.into()),
        Err(fault) => Ok(fault.tell()),
    }
}

fn run(mut config: Config) -> Result<(), AppFault> {
    // Bound to a name, so that the log lives until the end of this function and writes its last lines.
    let _log = Log::start(&config.log, config.log_json)?;
    panics::end_the_process();
    config.log_source();
    // Installed first: a signal during the start stops the daemon right after it.
    let (stop, stopped) = sync_channel(1);
    let handled = on_stop(move || stop.send(()).unwrap_or_default());
    handled.map_err(|error| AppFault::io("signal handlers cannot be installed", error))?;
    let mut data_dir = config.data_dir.as_deref().map(DataDir::take).transpose()?;
    let socket = config.socket.as_deref().map(Socket::bind).transpose();
    let socket = socket.map_err(|error| AppFault::Taken(error.to_string()))?;
    let mut engine = in_process::start_in(config.zone.as_deref(), config.primitives)
        .map_err(|error| AppFault::io("the engine cannot start", error))?;
    let handle = engine.handle().clone();
    admit(&handle, config.token, &config.host_tokens, data_dir.as_ref())?;
    // Before the store is loaded: due runs may be for one of the channels.
    config.channels.open(engine.service())?;
    let started = Started::open(config.tools, &handle)?;
    // Also before: a loaded run that is due goes to the agent that is configured.
    engine.service().set_agent_probe(Box::new(processes::is_running));
    let agents = HostedAgents::start(config.agents, engine.service());
    let agents = agents.map_err(|error| AppFault::io("agents cannot be hosted", error))?;
    let store_dir = config.data_dir.as_deref().filter(|_| config.persists);
    let guard = config.guard.map(Arc::new);
    // Also before the store: a loaded run that is due asks the guard at once.
    if let Some(way) = config.outside {
        let outside =
            OutboundGuard::start(way).map_err(|error| AppFault::io("the guard cannot start", error))?;
        handle.outside().set_guard(Arc::new(outside));
    }
    let mut notes = store_dir.map(|dir| attach_store(&handle, dir, guard.clone())).transpose()?;
    // Without a store nothing has loaded the policy yet.
    if notes.is_none() {
        let by = Scope::Operator.into();
        let guarded = handle.submit(Input::Command(Command::SetGuard { policy: guard, by }));
        guarded.map_err(|refusal| AppFault::usage(refusal.to_string()))?;
    }
    agents.follow().map_err(|error| AppFault::io("agents cannot be hosted", error))?;
    let key = data_dir.as_ref().map(|dir| dir.calendar_key(|| fresh_token(&handle))).transpose()?;
    config.http.calendars = key.map(Arc::new);
    let mut server = listen(engine.service(), &config.http)?;
    let address = format!("http://{}", server.address());
    if let Some(data_dir) = &mut data_dir {
        // The port is known only now: `listen` may end in `:0`.
        data_dir.sign(&address).map_err(|error| AppFault::io("the lock file cannot be written", error))?;
    }
    if let Some(socket) = socket {
        let served = server.serve_socket(socket);
        served.map_err(|error| AppFault::io("the socket cannot be served", error))?;
    }
    // Last, because a supervisor may connect as soon as it has read the line.
    announce(&address, config.persists).map_err(|error| AppFault::io("stdout cannot be written", error))?;
    // A timeout is the tick; the sender lives in the signal handler as long as the process.
    while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(NOTE_EVERY) {
        if let Some((lost, life)) = &mut notes {
            lost.note(&handle);
            life.beat(handle.now().wall);
        }
    }
    if let Some(data_dir) = &mut data_dir {
        data_dir.unsign();
    }
    let last = stop_all(&mut server, &mut engine, started);
    if let Some((lost, life)) = notes {
        lost.end(&last, handle.view(State::volatile_left_count));
        life.end(handle.now().wall);
    }
    Ok(())
}

/// The programs that the daemon has started. They end with it, also if its start fails.
struct Started {
    tools: Option<OpenTools>,
}

impl Started {
    /// Starts what the configured tools need.
    ///
    /// # Errors
    /// As [`Tools::open`]; what was started until then has ended.
    fn open(tools: Tools, handle: &Handle) -> Result<Started, AppFault> {
        let mut started = Started { tools: None };
        started.tools = Some(tools.open(handle)?);
        Ok(started)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(tools) = &self.tools {
            tools.end();
        }
        end_groups();
    }
}

/// Registers the tokens of the operator, the observer and the hosts.
fn admit(
    handle: &Handle,
    token: Option<Token>,
    hosts: &[TokenName],
    data_dir: Option<&DataDir>,
) -> Result<(), AppFault> {
    let fresh = || fresh_token(handle);
    let name = |text: &str| TokenName::new(text).expect("a word is a name");
    let operator = match (token, data_dir) {
        (Some(token), _) => Some(token),
        (None, Some(data_dir)) => Some(data_dir.token(OPERATOR_TOKEN, fresh)?),
        (None, None) => None,
    };
    if let Some(operator) = operator {
        handle.tokens().admit_operator_as(name("operator"), &operator, Right::Change);
    }
    let Some(data_dir) = data_dir else { return Ok(()) };
    // These exist in every data directory, wherever the operator's token comes from.
    let observer = data_dir.token(OBSERVER_TOKEN, fresh)?;
    handle.tokens().admit_operator_as(name("observer"), &observer, Right::Read);
    handle.tokens().admit_host(name("host"), &data_dir.token(HOST_TOKEN, fresh)?);
    for host in hosts {
        let token = data_dir.token(&format!("host-{}.token", host.as_str()), fresh)?;
        handle.tokens().admit_host(host.clone(), &token);
    }
    Ok(())
}

fn listen(service: &Service, config: &http::Config) -> Result<Server, AppFault> {
    let listening = Server::start(service.clone(), config);
    listening.map_err(|error| AppFault::io(format!("cannot listen on {}", config.listen), error))
}

fn fresh_token(handle: &Handle) -> Token {
    Token::from_entropy(handle.random_bits(), handle.random_bits())
}

fn announce(address: &str, persists: bool) -> io::Result<()> {
    let kept = if persists { "durable schedules and sessions are on disk" } else { "nothing is persisted" };
    tracing::info!(target: "reveille", address, kept, "ready");
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "reveille ready {address}")?;
    stdout.flush()
}

/// Checks what only the start of a part finds wrong, and says where a daemon of this configuration would listen and persist.
fn check(config: Config) -> Result<(), AppFault> {
    let _log = Log::start(&config.log, config.log_json)?;
    in_process::start_in(config.zone.as_deref(), config.primitives)
        .map_err(|error| AppFault::io("the engine cannot start", error))?;
    let kept = config.data_dir.as_deref().filter(|_| config.persists);
    let kept = kept.map_or("nothing is persisted".to_owned(), |dir| format!("data in {}", dir.display()));
    let path = config.path.map_or_else(String::new, |path| format!("; read from {}", path.display()));
    let (listen, kept, path) = (config.http.listen, visible(&kept), visible(&path));
    let line = format!("the configuration is valid: listen on {listen}; {kept}{path}\n");
    foreign_text::print(&line).map_err(|error| AppFault::io("stdout cannot be written", error))
}

/// Stops in order: requests first, then the engine, while streams can still bring receipts, then
/// the streams. Returns what was in memory only.
fn stop_all(server: &mut Server, engine: &mut Reveille, started: Started) -> Lost {
    tracing::info!(target: "reveille", "stopping");
    // The server first: answers to requests under way need the engine.
    server.drain();
    let unfinished = engine.handle().view(State::live_count);
    let volatile = engine.handle().counters().1.volatile;
    let Lost { count, named } = Lost::now(engine.handle());
    engine.shut_down();
    let last = Lost { count, named: engine.handle().view(|state| state.cut_off(named)) };
    // Their runs have failed or wait for the next start, which would run the programs beside these.
    drop(started);
    server.stop();
    // Closed explicitly, because tasks of the server may hold the engine a little longer. From here
    // on the store's files can be copied.
    let store = engine.handle().read().store();
    if let Some(store) = store {
        store.close();
    }
    let durable = unfinished.saturating_sub(volatile);
    tracing::info!(
        target: "reveille",
        cancelled = volatile,
        durable,
        "stopped; volatile schedules were cancelled, durable ones continue at the next start"
    );
    last
}

/// How often the volatile schedules and the daemon's life are noted.
const NOTE_EVERY: Duration = Duration::from_secs(1);
