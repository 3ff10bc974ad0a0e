//! The short hooks: what happened is told to the daemon, and at the end of a turn what is due is handed over.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::beside;
use super::binding::{agent_process, bind};
use super::input::{HookEvent, HookInput, stdin};
use super::link::{Link, request};
use super::qwen;
use super::schedules::tell_schedules;
use super::shown::{is_misplaced, tell_shown};
use super::waiter;
use super::words::{self, Prompt};
use crate::adapter::HOSTED;
use crate::app::config::environment::Environment;
use crate::app::config::{SOCKET, data_dir_of};
use crate::domain::{AgentName, BootTime, LiveDoor};
use crate::edn::{Map, Value};
use crate::limits;
use crate::surface::cli::HookArgs;
use crate::surface::json;

/// Runs a hook. It fails in silence: an agent shows what its hooks print, and may stop when one fails.
pub(in crate::app) fn hook(args: &HookArgs) -> io::Result<ExitCode> {
    let Some((agent, socket)) = whose(args) else { return Ok(ExitCode::SUCCESS) };
    // An agent that the daemon drives reports its turns over ACP.
    if Environment::value(HOSTED).is_some() {
        return Ok(ExitCode::SUCCESS);
    }
    let Some(mut input) = HookInput::read(&agent, stdin()) else { return Ok(ExitCode::SUCCESS) };
    input.process = agent_process(args, &agent);
    if args.wait {
        // A session without a window would never end for a waiter's sake, and nobody would see what it is woken for.
        let entry = Environment::value("CLAUDE_CODE_ENTRYPOINT");
        let has_window = entry.is_none_or(|entry| entry == "cli");
        let is_apart = args.agent_pid.is_some();
        return Ok(if has_window { waiter::wait(&socket, (&input, is_apart)) } else { ExitCode::SUCCESS });
    }
    // Without a daemon there is nothing to do.
    let told = tell(&socket, &input);
    if input.kind().live.is_beside() && told.is_ok_and(|needs_waiter| needs_waiter) {
        let _ = beside::start(args, &input);
    }
    Ok(ExitCode::SUCCESS)
}

/// The agent, and the socket of the daemon.
fn whose(args: &HookArgs) -> Option<(AgentName, PathBuf)> {
    let directory = data_dir_of(args.state.data_dir.clone(), &Environment::read()).ok()?;
    Some((AgentName::new(&args.agent).ok()?, directory.join(SOCKET)))
}

/// Tells the daemon what happened. Returns whether a waiter has to begin; one that is there waits on.
fn tell(socket: &Path, input: &HookInput) -> io::Result<bool> {
    let mut link = Link::open(socket)?;
    let until = link.after(limits::HOOK_MS.value);
    let session = input.address.to_string();
    if input.event == HookEvent::Ends {
        // Before anything else: what is due from here on must not go into the process's next conversation.
        let release = request("agent/release").with("session-id", session.as_str());
        let release = match &input.process {
            // Another window may have the conversation open as well.
            Some(process) => release.with("pid", i64::from(process.pid)).with("started", &*process.started),
            None => release,
        };
        let released = link.ask(release, until)?;
        released.map_err(|_| io::Error::other("refused"))?;
        idle(&mut link, input, until)?;
        return Ok(false);
    }
    bind(&mut link, input, until)?;
    match input.event {
        HookEvent::Begins => idle(&mut link, input, until).map(|_| true),
        HookEvent::Idles => idle(&mut link, input, until).map(|told| !is_so(&told, "awaited?")),
        HookEvent::Prompted => {
            if is_misplaced(&mut link, input, until)? {
                block("It is for another conversation, where it waits.")?;
                return Ok(false);
            }
            let is_ours = input.prompt.as_deref().is_some_and(words::is_ours);
            if !is_ours {
                // What the person wrote stays with the agent.
                let said = request("session/user-message").with("session-id", session.as_str());
                let _ = link.ask(said.with("text", NOT_KEPT), until)?;
            }
            busy(&mut link, &session, true, until)?;
            Ok(!is_ours)
        }
        HookEvent::TurnEnds => {
            // The waiter may not have seen yet what the turn was about.
            let shown = input.transcript.as_deref().map(qwen::shown).unwrap_or_default();
            for run in shown.iter().rev().take(SHOWN) {
                tell_shown(&mut link, (&session, run), until)?;
            }
            // Before the end of the turn, which shows everybody who follows the session what it has.
            tell_schedules(&mut link, &input.address, input.schedules.as_ref(), until)?;
            let told = idle(&mut link, input, until)?;
            if input.kind().takes_at_turn_end {
                hand_over(&mut link, (&session, is_so(&told, "coming?")), until)?;
            }
            Ok(!is_so(&told, "awaited?"))
        }
        HookEvent::Ends => Ok(false),
    }
}

fn busy(link: &mut Link, session: &str, busy: bool, until: BootTime) -> io::Result<()> {
    let report = request("session/busy").with("session-id", session).with("busy?", busy);
    link.ask(report, until).map(drop)
}

/// Tells that a turn has ended, and with it what it was begun for. Returns what the daemon says of the session then. What was
/// sent to a window may still be on its way to the model.
fn idle(link: &mut Link, input: &HookInput, until: BootTime) -> io::Result<Map> {
    let stays = input.kind().live == LiveDoor::Socket;
    let idle = request("agent/idle").with("session-id", input.address.to_string());
    Ok(link.ask(idle.with("unshown-stays?", stays), until)?.unwrap_or_default())
}

fn is_so(told: &Map, key: &str) -> bool {
    told.keyword(key).and_then(Value::as_bool) == Some(true)
}

/// Has the agent not do what it is about to do: end its turn, or take a prompt.
fn block(reason: &str) -> io::Result<()> {
    let decision = Map::new().with("decision", "block").with("reason", reason);
    let mut text = String::new();
    json::write(&decision.into(), &mut text);
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Takes what is due out of the inbox, and lets the agent go on with it.
fn hand_over(link: &mut Link, (session, is_coming): (&str, bool), until: BootTime) -> io::Result<()> {
    let mut prompts = take(link, session, until)?;
    // A durable run is left as soon as it is on disk. If that takes longer than a hook may, a waiter gets it.
    while prompts.is_empty() && is_coming {
        let _ = link.pushed(link.after(BETWEEN_MS));
        prompts = take(link, session, until)?;
    }
    if prompts.is_empty() {
        return Ok(());
    }
    block(&words::due(&prompts))?;
    // The turn goes on. What was taken may have come late.
    busy(link, session, true, link.after(limits::HOOK_MS.value))
}

/// Takes the first messages out of the inbox. They count as delivered once the daemon is asked for them, and its answer comes
/// when that is on disk, so a slow disk must not end the wait for it.
fn take(link: &mut Link, session: &str, until: BootTime) -> io::Result<Vec<Prompt>> {
    let call = request("call").with("tool", "inbox").with("session-id", session);
    let call = call.with("args", Map::new().with("first", MOST));
    let Ok(taken) = link.ask_to_the_end(call, (until, TAKEN_MS))? else { return Ok(Vec::new()) };
    let messages = taken.keyword("messages").and_then(Value::as_items).unwrap_or_default();
    Ok(messages.iter().filter_map(|message| Prompt::of_taken(message.as_map()?)).collect())
}

/// How long the answer is awaited with what was taken. Agents give up a hook that is no waiter after 5 s.
const TAKEN_MS: u64 = 4_000;
/// How long a hook waits before it looks into the inbox again.
const BETWEEN_MS: u64 = 10;
/// Messages that are handed over at once. The next turn's end has the others.
const MOST: i64 = 5;
/// Prompts that a turn's end tells of at once. A waiter sends one, and the next waiter another.
const SHOWN: usize = 2;
/// What the engine is told of a person's message.
const NOT_KEPT: &str = "(kept by the agent)";

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, ErrorKind, Read as _};
    use std::os::unix::net::UnixListener;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// A daemon that answers a question for the inbox only after the hook's time is over, as one does whose disk is slow.
    #[test]
    fn what_is_taken_is_awaited_beyond_the_time_of_a_hook() {
        let socket = std::env::temp_dir().join(format!("reveille-take-{}", std::process::id()));
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).unwrap();
        let daemon = thread::spawn(move || {
            let mut asked = BufReader::new(listener.accept().unwrap().0);
            let mut line = String::new();
            asked.read_line(&mut line).unwrap();
            // The hook says nothing more, so this is the wait.
            asked.get_ref().set_read_timeout(Some(Duration::from_millis(2 * TIME_MS))).unwrap();
            let said = asked.read(&mut [0; 8]).unwrap_err();
            assert!(matches!(said.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{said}");
            let answer = "{:id 1 :ok {:messages [{:run_id \"sch-1~1~x\" :text \"Look.\"}]}}\n";
            asked.get_mut().write_all(answer.as_bytes()).unwrap();
            asked.get_ref().set_read_timeout(None).unwrap();
            assert_eq!(asked.read_to_string(&mut line).unwrap(), 0, "nothing is asked after the deadline");
        });
        let mut link = Link::open(&socket).unwrap();
        let until = link.after(TIME_MS);
        assert_eq!(take(&mut link, "s", until).unwrap().len(), 1);
        let late = take(&mut link, "s", until).err().unwrap();
        assert_eq!(late.kind(), ErrorKind::TimedOut);
        drop(link);
        daemon.join().unwrap();
        std::fs::remove_file(&socket).unwrap();
    }

    const TIME_MS: u64 = 500;
}
