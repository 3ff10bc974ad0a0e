//! `reveille dashboard`: gets a one-time code from a daemon, and opens its dashboard with it.
//!
//! Invariant: no token is in the address. The code in it is behind `#`, so that a browser sends it to nobody by itself.

use std::io::{self, IsTerminal as _};
use std::process::{Command, ExitCode, Stdio};

use super::client::Client;
use super::exit::Exit;
use super::fault::AppFault;
use super::foreign_text::{complain, print};
use crate::edn::{Map, Value};
use crate::surface::cli::DashboardArgs;

pub(super) fn dashboard(args: &DashboardArgs) -> io::Result<ExitCode> {
    match answer(args) {
        Ok(text) => print(&format!("{text}\n")).map(|()| Exit::Done.into()),
        Err(fault) => Ok(fault.tell()),
    }
}

/// Does what is asked for, and returns what to print.
fn answer(args: &DashboardArgs) -> Result<String, AppFault> {
    let client = Client::of_daemon(&args.daemon, None)?;
    if args.revoke {
        let ended = client.post_map("/dashboard/revoke", &Map::new())?;
        let count = ended.keyword("logged-out").map_or_else(|| "0".to_owned(), Value::to_string);
        return Ok(format!("browsers logged out: {count}"));
    }
    let offered = client.post_map("/dashboard/code", &Map::new().with("read-only", args.read_only))?;
    let code = offered.keyword("code").and_then(Value::as_str);
    let code = code.ok_or_else(|| AppFault::Taken("the daemon's answer has no code".to_owned()))?;
    let address = format!("{}/enter#{code}", client.url());
    // In a script nobody expects a window.
    if !args.print && io::stdout().is_terminal() {
        open(&address);
    }
    Ok(address)
}

/// Opens a browser, which goes on by itself.
fn open(address: &str) {
    let mut command = Command::new("xdg-open");
    let started =
        command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if started.is_err() {
        complain("no browser was opened, because there is no xdg-open; open the address yourself");
    }
}
