//! `reveille tool`: calls one tool, at a daemon or in an engine of its own, and prints the answer.

use std::io::{self, Read};
use std::process::ExitCode;

use super::client::Client;
use super::client::in_process;
use super::exit::Exit;
use super::fault::AppFault;
use super::foreign_text::{self, complain};
use crate::dialect::{Notation, REQUEST_CAPS, psi};
use crate::domain::{Caller, Cursor, DecisionKind, HostId, SessionConfig, SessionId};
use crate::edn::{self, Value};
use crate::engine::State;
use crate::limits;
use crate::runtime::Handle;
use crate::surface::cli::ToolArgs;
use crate::surface::json;

/// The session of an engine of its own, unless another is named.
const OWN_SESSION: &str = "cli";

pub(super) fn tool(args: &ToolArgs) -> io::Result<ExitCode> {
    let text = match args.args.as_deref() {
        None | Some("-") => read_stdin()?,
        Some(text) => text.as_bytes().to_vec(),
    };
    let (value, notation) = match parse(&text) {
        Ok(parsed) => parsed,
        Err(error) => return usage(&error),
    };
    if args.wait && args.daemon.url.as_deref().is_some_and(|url| !url.is_empty()) {
        return usage("--wait needs an in-process engine; to follow a daemon, use `reveille stdio`");
    }
    // Only an engine of its own can be waited for, whether or not there is a daemon.
    if args.wait {
        return call_own(args, &value, notation);
    }
    match Client::required(&args.daemon, args.session.as_ref()) {
        Ok(None) => call_own(args, &value, notation),
        Ok(Some(client)) => call_daemon(&client, &args.name, notation, text),
        Err(fault) => Ok(fault.tell()),
    }
}

/// Calls the daemon and prints its answer unchanged.
fn call_daemon(client: &Client, name: &str, notation: Notation, text: Vec<u8>) -> io::Result<ExitCode> {
    let path = format!("/tools/{}", escaped(name));
    let answer = match client.post(&path, notation, text) {
        Ok(answer) => answer,
        Err(fault) => return Ok(fault.tell()),
    };
    match answer.status.as_u16() {
        // A refusal is data as well; after 429 and 503 the same call may be made again.
        status @ (200 | 422 | 429 | 503) => {
            foreign_text::print(&answer.text)?;
            Ok(Exit::of_answer(status != 200).into())
        }
        _ => Ok(answer.fault(notation).tell()),
    }
}

/// Percent-encodes a name as one segment of a path.
fn escaped(name: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let escape = |byte: u8| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(escape).collect()
}

/// Calls the tool in an engine that exists only for this call.
fn call_own(args: &ToolArgs, value: &Value, notation: Notation) -> io::Result<ExitCode> {
    if args.session.is_some() {
        complain("this call has an engine of its own, and nothing of the daemon's sessions");
    }
    let mut engine = in_process::start()?;
    let handle = engine.handle().clone();
    let session =
        args.session.clone().map_or_else(|| SessionId::new(OWN_SESSION), Ok).map_err(io::Error::other)?;
    let opened = handle.open_session(Some(session.clone()), HostId::LOCAL, SessionConfig::default());
    opened.map_err(io::Error::other)?;
    let called = engine.service().call_tool(&args.name, &Caller::session(session.clone()), value, notation);
    let Some(answer) = called.map_err(io::Error::other)? else {
        let absent = engine.service().no_tool(&Caller::session(session.clone()), &args.name);
        let message = absent.message();
        let hint = absent.hint.unwrap_or_else(|| format!("the tools are {}", absent.tools.join(", ")));
        return usage(&format!("{message}; {hint}"));
    };
    print(&answer.value, notation)?;
    if args.wait {
        wait(&handle, notation)?;
    } else {
        // Deliver what is due at once, before the shutdown cancels the rest.
        handle.run_due();
    }
    let left = handle.view(State::live_count);
    engine.shut_down();
    if left > 0 {
        complain(
            "the engine of this call has ended, so the schedule was cancelled; use --wait to wait for it",
        );
    }
    Ok(Exit::of_answer(answer.is_error).into())
}

/// Reads one byte more than a request may have, so that a longer one is refused instead of cut.
fn read_stdin() -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    io::stdin().lock().take(limits::REQUEST_BYTES.value + 1).read_to_end(&mut text)?;
    Ok(text)
}

fn usage(error: &str) -> io::Result<ExitCode> {
    Ok(AppFault::usage(error).tell())
}

/// Parses JSON if the text begins like a JSON object and is one, else EDN.
fn parse(text: &[u8]) -> Result<(Value, Notation), String> {
    let mut bytes = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    let perhaps_json = bytes.next() == Some(&b'{') && bytes.next() == Some(&b'"');
    // JSON first: `{"delay-ms":5000}` is also EDN, in which `:5000` is a keyword.
    let json = perhaps_json.then(|| json::read(text, &REQUEST_CAPS));
    if let Some(Ok(value)) = json {
        return Ok((value, Notation::Json));
    }
    // A colon right behind a key is JSON's, and what is not JSON is no EDN by accident.
    let is_json = perhaps_json
        && text.splitn(3, |byte| *byte == b'"').nth(2).is_some_and(|rest| rest.starts_with(b":"));
    match (edn::read(text, &REQUEST_CAPS), json) {
        (_, Some(Err(error))) if is_json => Err(format!("the arguments are not JSON: {error}")),
        (Ok(value), _) => Ok((value, Notation::Edn)),
        (Err(_), Some(Err(error))) => Err(format!("the arguments are not JSON: {error}")),
        (Err(error), _) => Err(format!("the arguments are not EDN: {error}")),
    }
}

fn print(value: &Value, notation: Notation) -> io::Result<()> {
    let mut text = String::new();
    match notation {
        Notation::Edn => edn::write(value, &mut text),
        Notation::Json => json::write(value, &mut text),
    }
    text.push('\n');
    foreign_text::print(&text)
}

/// Prints each schedule as it ends, until no live schedule is left.
fn wait(handle: &Handle, notation: Notation) -> io::Result<()> {
    // From the start, because a run may have been delivered before this line.
    let mut subscription = handle.subscribe(Cursor::START);
    // The end of a schedule may be a decision that the feed does not show, so the state says when there is no more to wait for.
    while let Some(batch) = subscription.next_while(64, |state| state.live_count() > 0) {
        // After these decisions a schedule's summary shows a new outcome.
        let ends = [DecisionKind::RunDelivered, DecisionKind::RunFailed, DecisionKind::ScheduleCancelled];
        let ended = batch.decisions.iter().filter(|decision| ends.contains(&decision.kind));
        for schedule in ended.filter_map(|decision| decision.schedule()) {
            let summary = |state: &State| state.schedule(schedule).map(|record| psi::summary(state, record));
            if let Some(summary) = handle.view(summary) {
                print(&summary, notation)?;
            }
        }
    }
    Ok(())
}
