//! `reveille agents`: which agents are on this machine, and how each can be woken.
//!
//! Invariant: a program is asked for its version only, without a shell, and is ended if it does not answer.

use std::env;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use super::folder::json;
use crate::adapter::bounded_run;
use crate::app::exit::Exit;
use crate::domain::{AgentKind, KNOWN_AGENTS};
use crate::edn::{Map, Value};
use crate::surface::cli::AgentsArgs;

pub(in crate::app) fn list(args: &AgentsArgs) -> io::Result<ExitCode> {
    let found: Vec<Map> = KNOWN_AGENTS.iter().map(look).collect();
    let mut out = io::stdout().lock();
    if args.json {
        let rows: Vec<Value> = found.into_iter().map(Value::from).collect();
        write!(out, "{}", json(&Map::new().with("agents", rows)))?;
        return Ok(Exit::Done.into());
    }
    for agent in &found {
        let part = |name: &str| agent.keyword(name).and_then(Value::as_str).unwrap_or("-");
        let (name, version, program) = (part("name"), part("version"), part("program"));
        let (open, closed, login) = (part("open"), part("closed"), part("login"));
        writeln!(
            out,
            "{name:9} {version:12} {program:40} open: {open:6} login: {login:24} closed: {closed}"
        )?;
    }
    Ok(Exit::Done.into())
}

/// What there is of an agent. Nothing is said of a program that is not there.
fn look(known: &AgentKind) -> Map {
    let text = |path: PathBuf| path.display().to_string();
    let Some(program) = known.program.and_then(find) else { return Map::new().with("name", known.name) };
    let version = version(&program);
    Map::new()
        .with("name", known.name)
        .with("program", text(program))
        .with("open", known.live.as_str())
        .with_some("version", version)
        .with_some("login", login(known))
        .with_some("closed", known.resumed_by.and_then(find).map(text))
}

/// Where a login of the agent was found: the name of a variable, or a file. Whether it is valid only the agent can say, and one
/// in the keys of the operating system is not found.
fn login(known: &AgentKind) -> Option<String> {
    let is_set = |name: &&&str| env::var_os(name).is_some_and(|value| !value.is_empty());
    if let Some(variable) = known.login_variables.iter().find(is_set) {
        return Some((*variable).to_owned());
    }
    let home = PathBuf::from(env::var_os("HOME")?);
    let file = known.login_files.iter().find(|file| home.join(file).is_file())?;
    Some(format!("~/{file}"))
}

/// The program of this name on the path of searches.
pub(super) fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|directory| directory.join(program)).find(|path| path.is_file())
}

/// The first line that a program prints about its version.
fn version(program: &PathBuf) -> Option<String> {
    let (printed, _) = bounded_run(Command::new(program).arg("--version"), VERSION_BYTES, PATIENCE)?;
    let printed = String::from_utf8(printed).ok()?;
    let line = printed.lines().next()?.trim();
    let number = line.split_whitespace().find(|word| word.starts_with(|char: char| char.is_ascii_digit()));
    number.map(str::to_owned)
}

const PATIENCE: Duration = Duration::from_secs(10);
/// More than any program prints about its version.
const VERSION_BYTES: u64 = 65_536;
