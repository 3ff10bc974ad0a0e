//! The waiter: a hook that blocks until something is due, prints it for the agent, and ends with code 2, which wakes the agent.
//!
//! Its receipt comes from another hook, to which the agent shows the prompt with the conversation that it is about to go into.
//! Invariants: this process ends with code 2 only after the daemon has said that the prompt is still to be handed over: a waiter
//! that was released meanwhile, because the conversation is over, wakes nobody. A waiter whose agent is gone ends.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::mem;
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use super::beside;
use super::binding::bind;
use super::input::{HookEvent, HookInput};
use super::link::{Link, request};
use super::qwen;
use super::shown::tell_shown;
use super::words::{self, Prompt};
use crate::app::mcp::processes;
use crate::edn::{Keyword, Map, Value};
use crate::limits;

/// Waits for one prompt, as a child of the agent or apart from it.
pub(super) fn wait(socket: &Path, (input, is_apart): (&HookInput, bool)) -> ExitCode {
    let parent = processes::parent();
    let is_alone = || match &input.process {
        Some(agent) if is_apart => !processes::is_running(agent),
        Some(_) | None => is_apart || processes::parent() != parent,
    };
    let is_prompted = input.event == HookEvent::Prompted;
    let mut is_first = true;
    loop {
        let was_first = mem::take(&mut is_first);
        // Whether a turn is under way. Later on the daemon knows it better, and also where a hook has told it before this waiter
        // was started: the next hook may have told something else meanwhile.
        let is_known = is_apart && input.event != HookEvent::Begins;
        let busy = (was_first && !is_known).then_some(is_prompted);
        match attempt(socket, (input, busy), &is_alone) {
            Ok(Wait::Woken) => return ExitCode::from(WAKE),
            Ok(Wait::HandedIn) => return ExitCode::SUCCESS,
            // The turn of a prompt of ours goes on, and at its end another waiter starts.
            Ok(Wait::Refused) if was_first && is_prompted => return ExitCode::SUCCESS,
            Ok(Wait::Released) => return ExitCode::SUCCESS,
            // The daemon is not there, or another host has the session: try again as long as the agent lives.
            Ok(Wait::Refused) | Err(_) if is_alone() => return ExitCode::SUCCESS,
            Ok(Wait::Refused) | Err(_) => pause(),
        }
    }
}

/// How an attempt to wait ended.
enum Wait {
    /// The prompt is printed, and the daemon knows.
    Woken,
    /// The prompt is with the agent.
    HandedIn,
    /// Another waiter has the place, the conversation is over, or the agent is gone.
    Released,
    /// The daemon refuses to let it wait.
    Refused,
}

fn attempt(
    socket: &Path,
    (input, busy): (&HookInput, Option<bool>),
    is_alone: &dyn Fn() -> bool,
) -> io::Result<Wait> {
    let mut link = Link::open(socket)?;
    let until = link.after(PATIENCE_MS);
    // Also here: a daemon that was started again knows no process.
    bind(&mut link, input, until)?;
    let session = input.address.to_string();
    let wait = request("agent/wait").with("session-id", session.as_str());
    let wait = wait.with_some("busy?", busy);
    match link.ask(wait, until)? {
        Ok(told) if told.keyword("waits?").and_then(Value::as_bool) == Some(false) => {
            return Ok(Wait::Released);
        }
        Ok(_) => {}
        Err(_) => return Ok(Wait::Refused),
    }
    loop {
        let pushed = match link.pushed(link.after(LOOK_MS)) {
            Ok(pushed) => pushed,
            Err(error) if error.kind() == ErrorKind::TimedOut && is_alone() => return Ok(Wait::Released),
            Err(error) if error.kind() == ErrorKind::TimedOut => continue,
            Err(error) => return Err(error),
        };
        match pushed.keyword("push").and_then(Value::as_keyword).map(Keyword::as_str) {
            Some("delivery") => match unfit(&session, &pushed) {
                Some(why) => refuse(&mut link, &pushed, why)?,
                None if input.kind().live.is_beside() => return hand_in(&mut link, input, &pushed),
                None => return deliver(&mut link, &session, &pushed),
            },
            Some("agent/released") => return Ok(Wait::Released),
            // A fresh session that was refused closes as well.
            Some("session/closed") if is_own(&session, &pushed) => return Ok(Wait::Released),
            Some(_) | None => {}
        }
    }
}

/// Why what was pushed cannot go into the window, with the phase in which that shows: whatever wakes a window is a prompt of its
/// own conversation.
fn unfit(session: &str, pushed: &Map) -> Option<(&'static str, &'static str)> {
    if !is_own(session, pushed) {
        return Some(("create-session", "the hooks of a window open no other conversation"));
    }
    let message = pushed.keyword("message").and_then(Value::as_map)?;
    let begins_turn = message.keyword("turn?").and_then(Value::as_bool);
    (begins_turn == Some(false))
        .then_some(("prompt-submit", "an agent's conversation takes prompts, and no notices"))
}

/// Whether what was pushed is about the waiter's own session.
fn is_own(session: &str, pushed: &Map) -> bool {
    pushed.keyword("session-id").and_then(Value::as_str) == Some(session)
}

/// Prints a prompt, and wakes the agent if the daemon still wants it to be woken.
fn deliver(link: &mut Link, session: &str, pushed: &Map) -> io::Result<Wait> {
    let Some(prompt) = Prompt::of_pushed(pushed) else { return Ok(Wait::Refused) };
    let mut out = io::stderr().lock();
    // Before the daemon is asked. If it no longer wants the prompt, the exit code is not `WAKE`, and the agent
    // ignores what was printed.
    writeln!(out, "{}", words::due(&[prompt]))?;
    out.flush()?;
    Ok(if hand(link, session, pushed)? { Wait::Woken } else { Wait::Released })
}

/// Hands a prompt to the agent from beside it, if the daemon still wants it to be woken.
fn hand_in(link: &mut Link, input: &HookInput, pushed: &Map) -> io::Result<Wait> {
    let Some(prompt) = Prompt::of_pushed(pushed) else { return Ok(Wait::Refused) };
    // Told first: what was handed in cannot be taken back.
    if !hand(link, &input.address.to_string(), pushed)? {
        return Ok(Wait::Released);
    }
    if let Err(error) = beside::hand_in(input, &words::due(&[prompt])) {
        refuse(link, pushed, ("prompt-submit", &error))?;
        return Ok(Wait::Refused);
    }
    let run = pushed.keyword("delivery-id").and_then(Value::as_str);
    match &input.transcript {
        Some(transcript) => see_shown(link, input, (transcript, run.unwrap_or_default())),
        None => Ok(Wait::HandedIn),
    }
}

/// Waits until the agent has written the prompt of a run down in the conversation, which is its receipt, or the turn that it
/// began is over already. Once the engine has given the receipt up, the place is free for what comes next.
fn see_shown(link: &mut Link, input: &HookInput, (transcript, run): (&Path, &str)) -> io::Result<Wait> {
    let session = input.address.to_string();
    let end = link.after(limits::RECEIPT_MS.value);
    let mut length = 0;
    while input.process.as_ref().is_some_and(processes::is_running) {
        // A conversation may be long, and its agent silent for a while.
        let now = fs::metadata(transcript).map_or(0, |file| file.len());
        if mem::replace(&mut length, now) != now && qwen::shown(transcript).iter().any(|shown| shown == run) {
            let until = link.after(PATIENCE_MS);
            tell_shown(link, (&session, run), until)?;
            return Ok(Wait::HandedIn);
        }
        if link.after(0) >= end {
            return Ok(Wait::Refused);
        }
        match link.pushed(link.after(SHOWN_MS)) {
            Ok(pushed) if is_push(&pushed, "agent/released") => return Ok(Wait::Released),
            // Nothing is delivered before the engine has given up the one before.
            Ok(pushed) if is_push(&pushed, "delivery") => return Ok(Wait::Refused),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::TimedOut => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Wait::Released)
}

fn is_push(pushed: &Map, kind: &str) -> bool {
    pushed.keyword("push").and_then(Value::as_keyword).map(Keyword::as_str) == Some(kind)
}

/// Tells the daemon that the prompt is on its way to the agent; returns whether it still wants that.
fn hand(link: &mut Link, session: &str, pushed: &Map) -> io::Result<bool> {
    let handed = request("agent/handed").with("session-id", session);
    let handed = handed.with("delivery-id", pushed.keyword("delivery-id").cloned());
    let until = link.after(PATIENCE_MS);
    Ok(link.ask(handed, until)?.is_ok())
}

/// Tells the daemon that the agent does not get the prompt.
fn refuse(link: &mut Link, pushed: &Map, (phase, error): (&str, &str)) -> io::Result<()> {
    let refused = request("delivery/nack").with("phase", Value::keyword(phase)).with("error", error);
    let refused = refused.with("delivery-id", pushed.keyword("delivery-id").cloned());
    // A receipt that is refused came too late.
    link.ask(refused, link.after(PATIENCE_MS)).map(drop)
}

/// Waits before the next attempt.
fn pause() {
    let (_held, never) = channel::<()>();
    // Nothing is ever sent, so this is the time-out.
    let _: Result<(), RecvTimeoutError> = never.recv_timeout(BETWEEN);
}

/// The exit code of a hook by which Claude Code wakes its model.
const WAKE: u8 = 2;
/// Time limit of an answer of the daemon.
const PATIENCE_MS: u64 = 10_000;
/// How often a waiter looks whether its agent is still there.
const LOOK_MS: u64 = 1_000;
/// How often a waiter looks whether the agent has written down what it was sent.
const SHOWN_MS: u64 = 50;
const BETWEEN: Duration = Duration::from_secs(1);
