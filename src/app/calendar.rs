//! `reveille calendar`: gets a link by which a calendar program shows the slots to come, or ends all links.

use std::io;
use std::process::ExitCode;

use super::client::{Client, typed_id};
use super::exit::Exit;
use super::fault::AppFault;
use super::foreign_text::print;
use crate::domain::SessionId;
use crate::edn::{Map, Value};
use crate::surface::cli::CalendarArgs;

pub(super) fn calendar(args: &CalendarArgs) -> io::Result<ExitCode> {
    match answer(args) {
        Ok(text) => print(&format!("{text}\n")).map(|()| Exit::Done.into()),
        Err(fault) => Ok(fault.tell()),
    }
}

/// Does what is asked for, and returns what to print.
fn answer(args: &CalendarArgs) -> Result<String, AppFault> {
    let client = Client::of_daemon(&args.daemon, None)?;
    if args.revoke {
        client.post_map("/calendar/revoke", &Map::new())?;
        return Ok("all links to calendars have ended".to_owned());
    }
    let mut of = Map::new();
    if let Some(typed) = &args.schedule {
        of = of.with("schedule-id", typed_id::schedule(&args.daemon, None, typed)?);
    }
    if let Some(session) = args.session.as_ref().map(SessionId::as_str) {
        of = of.with("session-id", session);
    }
    let made = client.post_map("/calendar", &of)?;
    let path = made.keyword("path").and_then(Value::as_str);
    let path = path.ok_or_else(|| AppFault::Taken("the daemon's answer has no link".to_owned()))?;
    Ok(format!("{}/{path}", client.url()))
}
