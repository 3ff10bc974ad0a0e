//! The short hooks: what happened is told to the daemon, and at the end of a turn what is due is handed over.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::input::{HookEvent, HookInput, stdin};
use super::link::{Link, request};
use super::waiter;
use super::words::{self, Prompt};
use crate::app::config::{SOCKET, data_dir_of};
use crate::app::environment::Environment;
use crate::app::processes;
use crate::domain::{AgentName, BootTime};
use crate::edn::{Map, Value};
use crate::limits;
use crate::surface::cli::HookArgs;
use crate::surface::json;

/// Runs a hook. It fails in silence: an agent shows what its hooks print, and may stop when one fails.
pub(in crate::app) fn hook(args: &HookArgs) -> io::Result<ExitCode> {
    let Some((agent, socket)) = whose(args) else { return Ok(ExitCode::SUCCESS) };
    let Some(input) = HookInput::read(&agent, stdin()) else { return Ok(ExitCode::SUCCESS) };
    if args.wait {
        // A session without a window would never end for a waiter's sake, and nobody would see what it is woken for.
        let entry = Environment::value("CLAUDE_CODE_ENTRYPOINT");
        let has_window = entry.is_none_or(|entry| entry == "cli");
        return Ok(if has_window { waiter::wait(&socket, &input) } else { ExitCode::SUCCESS });
    }
    // Without a daemon there is nothing to do.
    let _ = tell(&socket, &input);
    Ok(ExitCode::SUCCESS)
}

/// The agent, and the socket of the daemon.
fn whose(args: &HookArgs) -> Option<(AgentName, PathBuf)> {
    let directory = data_dir_of(args.state.data_dir.clone(), &Environment::read()).ok()?;
    Some((AgentName::new(&args.agent).ok()?, directory.join(SOCKET)))
}

/// Tells the daemon what happened.
fn tell(socket: &Path, input: &HookInput) -> io::Result<()> {
    let mut link = Link::open(socket)?;
    let until = link.after(limits::HOOK_MS.value);
    let session = input.address.to_string();
    if input.event == HookEvent::Ends {
        // Before anything else: what is due from here on must not go into the process's next conversation.
        let released = link.ask(request("agent/release").with("session-id", session.as_str()), until)?;
        released.map_err(|_| io::Error::other("refused"))?;
        return busy(&mut link, &session, false, until);
    }
    bind(&mut link, input, until)?;
    match input.event {
        HookEvent::Begins | HookEvent::Idles => busy(&mut link, &session, false, until),
        HookEvent::Prompted => {
            if !input.prompt.as_deref().is_some_and(words::is_ours) {
                // What the person wrote stays with the agent.
                let said = request("session/user-message").with("session-id", session.as_str());
                let _ = link.ask(said.with("text", NOT_KEPT), until)?;
            }
            busy(&mut link, &session, true, until)
        }
        HookEvent::TurnEnds => {
            busy(&mut link, &session, false, until)?;
            // Others do not take a prompt from a hook.
            if input.address.agent().as_str() == CLAUDE {
                hand_over(&mut link, &session, until)
            } else {
                Ok(())
            }
        }
        HookEvent::Ends => Ok(()),
    }
}

/// Tells which conversation the agent's process is in.
pub(super) fn bind(link: &mut Link, input: &HookInput, until: BootTime) -> io::Result<()> {
    // Hooks are started by the agent itself. Where a shell is in between, the agent may say who it is.
    let named = Environment::value("CLAUDE_PID").and_then(|pid| pid.parse().ok());
    let Some(pid) = named.or_else(processes::parent) else { return Ok(()) };
    let Some(started) = processes::started(pid) else { return Ok(()) };
    let bound = request("agent/bind")
        .with("pid", i64::from(pid))
        .with("started", started)
        .with("address", input.address.to_string());
    let bound = match input.address.directory() {
        Some(directory) => bound.with("directory", directory),
        None => bound,
    };
    link.ask(bound, until)?.map(drop).map_err(|_| io::Error::other("refused"))
}

fn busy(link: &mut Link, session: &str, busy: bool, until: BootTime) -> io::Result<()> {
    let report = request("session/busy").with("session-id", session).with("busy?", busy);
    link.ask(report, until).map(drop)
}

/// Takes what is due out of the inbox, and lets the agent go on with it.
fn hand_over(link: &mut Link, session: &str, until: BootTime) -> io::Result<()> {
    let call = request("call").with("tool", "inbox").with("session-id", session);
    let Ok(taken) = link.ask(call.with("args", Map::new().with("first", MOST)), until)? else {
        return Ok(());
    };
    let messages = taken.keyword("messages").and_then(Value::as_items).unwrap_or_default();
    let prompts: Vec<Prompt> =
        messages.iter().filter_map(|message| Prompt::of_taken(message.as_map()?)).collect();
    if prompts.is_empty() {
        return Ok(());
    }
    let decision = Map::new().with("decision", "block").with("reason", words::due(&prompts));
    let mut text = String::new();
    json::write(&decision.into(), &mut text);
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()?;
    // The turn goes on.
    busy(link, session, true, until)
}

const CLAUDE: &str = "claude";
/// Messages that are handed over at once. The next turn's end has the others.
const MOST: i64 = 5;
/// What the engine is told of a person's message.
const NOT_KEPT: &str = "(kept by the agent)";
