//! `reveille tool`: one call, one answer.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use super::embedded::Embedded;
use crate::dialect::{Notation, REQUEST_CAPS, psi};
use crate::domain::{Cursor, DecisionKind, HostId, SessionConfig};
use crate::edn::{self, Value};
use crate::engine::State;
use crate::limits;
use crate::runtime::Handle;
use crate::surface::cli::ToolArgs;
use crate::surface::json;

/// The exit code of a call that could not be read.
const USAGE: u8 = 2;

pub(super) fn tool(args: &ToolArgs) -> io::Result<ExitCode> {
    let text = match args.args.as_deref() {
        None | Some("-") => read_stdin()?,
        Some(text) => text.as_bytes().to_vec(),
    };
    let (value, notation) = match parse(&text) {
        Ok(parsed) => parsed,
        Err(error) => return usage(&error),
    };
    let mut engine = Embedded::start()?;
    let handle = engine.handle().clone();
    let opened = handle.open_session(Some(args.session.clone()), HostId::LOCAL, SessionConfig::default());
    opened.map_err(io::Error::other)?;
    let Some(answer) = handle.call_tool(&args.name, Some(&args.session), &value, notation) else {
        return usage(&format!("no tool of the name {}; there is {}", args.name, psi::TOOL));
    };
    let mut output = io::stdout().lock();
    writeln!(output, "{}", print(&answer.value, notation))?;
    output.flush()?;
    if args.wait {
        wait(&handle, notation, &mut output)?;
    } else {
        // What is due at once is not called off.
        handle.turn();
    }
    let left = handle.view(State::live_count);
    engine.shut_down();
    if left > 0 {
        writeln!(
            io::stderr(),
            "reveille: no daemon keeps it: the schedule was called off; --wait stays for it"
        )?;
    }
    Ok(ExitCode::from(u8::from(answer.is_error)))
}

/// Reads no more than a request may have, and one byte, so that a longer one is refused and not cut.
fn read_stdin() -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    io::stdin().lock().take(limits::REQUEST_BYTES.value + 1).read_to_end(&mut text)?;
    Ok(text)
}

fn usage(error: &str) -> io::Result<ExitCode> {
    writeln!(io::stderr(), "reveille: {error}")?;
    Ok(ExitCode::from(USAGE))
}

/// JSON where the text can be nothing else, EDN otherwise.
fn parse(text: &[u8]) -> Result<(Value, Notation), String> {
    let mut bytes = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    let perhaps_json = bytes.next() == Some(&b'{') && bytes.next() == Some(&b'"');
    let edn = edn::read(text, &REQUEST_CAPS);
    match edn {
        Ok(value) => Ok((value, Notation::Edn)),
        Err(_) if perhaps_json => {
            let value = json::read(text, &REQUEST_CAPS)
                .map_err(|error| format!("the arguments are no JSON: {error}"))?;
            Ok((value, Notation::Json))
        }
        Err(error) => Err(format!("the arguments are no EDN: {error}")),
    }
}

fn print(value: &Value, notation: Notation) -> String {
    match notation {
        Notation::Edn => value.to_string(),
        Notation::Json => {
            let mut text = String::new();
            json::write(value, &mut text);
            text
        }
    }
}

/// Follows the decisions until nothing is left to happen, and prints each schedule as it ends.
fn wait(handle: &Handle, notation: Notation, output: &mut impl Write) -> io::Result<()> {
    let mut subscription = handle.subscribe(Cursor::START);
    while let Some(batch) = subscription.next_batch(64) {
        let ends = [DecisionKind::RunDelivered, DecisionKind::RunFailed, DecisionKind::ScheduleCancelled];
        let ended = batch.decisions.iter().filter(|decision| ends.contains(&decision.kind));
        for schedule in ended.filter_map(|decision| decision.schedule.as_ref()) {
            if let Some(summary) = handle.view(|state| state.schedule(schedule).map(psi::summary)) {
                writeln!(output, "{}", print(&summary, notation))?;
                output.flush()?;
            }
        }
        let (left, last) = handle.view(|state| (state.live_count(), state.cursor()));
        if left == 0 && subscription.cursor() == last {
            break;
        }
    }
    Ok(())
}
