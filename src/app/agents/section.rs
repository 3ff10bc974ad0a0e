//! The part of the daemon's configuration that lets it go on with an agent's closed conversations: `[agents.NAME]`.
//!
//! Invariant: it names programs and variables, and never the value of a variable.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::detect::find;
use super::folder::strings;
use crate::adapter::make_directory;
use crate::app::config::environment::Environment;
use crate::app::config::{CONFIG, data_dir_of};
use crate::app::fault::AppFault;
use crate::domain::AgentKind;
use crate::surface::cli::StateArgs;
use crate::surface::json;

/// What is to be done about the section of an agent.
pub(super) enum Section {
    /// The file has one already.
    There,
    /// This text belongs at the end of the file.
    Missing(PathBuf, String),
    /// This program is not on the PATH. Without it the daemon cannot resume closed conversations.
    NoProgram(&'static str),
    /// The section has to be added by hand, for this reason.
    ByHand(String),
}

/// Looks for the section of an agent in the configuration of the data directory.
///
/// # Errors
/// [`AppFault`] if a path cannot be used: there is no home directory, or it is no UTF-8.
pub(super) fn section(kind: &AgentKind, state: &StateArgs) -> Result<Section, AppFault> {
    let path = data_dir_of(state.data_dir.clone(), &Environment::read())?.join(CONFIG);
    let path = std::path::absolute(&path).map_err(|error| AppFault::io("the data directory", error))?;
    let present = match read(&path) {
        Ok(present) => present,
        Err(why) => return Ok(Section::ByHand(format!("{}: {why}", path.display()))),
    };
    if has_section(&present, kind.name) {
        return Ok(Section::There);
    }
    let program = kind.resumed_by.unwrap_or(kind.name);
    let Some(command) = find(program) else { return Ok(Section::NoProgram(program)) };
    let command = words(&command, kind.resumed_with)?;
    // The agent's own program lists the holders, and not the one that speaks its protocol.
    let lister = kind.program.filter(|_| !kind.lister.is_empty()).and_then(find);
    let holders = lister.map(|program| words(&program, kind.lister)).transpose()?;
    let text = text(kind, &command, holders.as_deref());
    // The agents may stand in one line, to which no section can be added.
    if toml::from_str::<Table>(&format!("{present}\n{text}")).is_err() {
        return Ok(Section::ByHand(format!("{}: no section can be added to it", path.display())));
    }
    Ok(Section::Missing(path, text))
}

fn text(kind: &AgentKind, command: &[String], holders: Option<&[String]>) -> String {
    // By name: what a variable has in it may be a key, and is read when the daemon starts.
    let variables = ["PATH", "HOME"].into_iter().chain(kind.settings_variable);
    let variables = variables.chain(kind.login_variables.iter().copied()).map(str::to_owned);
    let environment = list(&variables.collect::<Vec<_>>());
    let holders = holders.map_or_else(String::new, |words| format!("holders = {}\n", list(words)));
    format!("[agents.{}]\ncommand = {}\nenvironment = {environment}\n{holders}", kind.name, list(command))
}

/// A list of strings, which TOML writes as JSON does.
fn list(words: &[String]) -> String {
    let mut text = String::new();
    json::write(&strings(words).into(), &mut text);
    text
}

/// What a file has, if it is there and TOML. The error is why it cannot be used.
fn read(path: &Path) -> Result<String, String> {
    match fs::read_to_string(path) {
        // The message of an error quotes the line, which may have a secret.
        Ok(text) if toml::from_str::<Table>(&text).is_err() => Err("it is no TOML".to_owned()),
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error.to_string()),
    }
}

fn has_section(present: &str, name: &str) -> bool {
    let agents = toml::from_str::<Table>(present).ok().and_then(|table| table.get("agents").cloned());
    agents.as_ref().and_then(Value::as_table).is_some_and(|agents| agents.contains_key(name))
}

/// A program and its arguments, as the configuration has them.
fn words(program: &Path, arguments: &[&str]) -> Result<Vec<String>, AppFault> {
    let program =
        std::path::absolute(program).map_err(|error| AppFault::io("the path of a program", error))?;
    let program = program.into_os_string().into_string();
    let program = program.map_err(|path| AppFault::usage(format!("{} is no UTF-8", path.display())))?;
    let arguments = arguments.iter().map(|argument| (*argument).to_owned());
    Ok(std::iter::once(program).chain(arguments).collect())
}

/// Adds a section at the end of a file. What is there stays, whatever becomes of this process.
///
/// # Errors
/// The operating system's.
pub(super) fn append(path: &Path, section: &str) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        make_directory(directory)?;
    }
    let mut file = fs::OpenOptions::new().append(true).create(true).mode(PRIVATE).open(path)?;
    let between = if file.metadata()?.len() == 0 { "" } else { "\n" };
    file.write_all(format!("{between}{section}").as_bytes())
}

/// The mode of a new file: it may get keys of channels later.
const PRIVATE: u32 = 0o600;

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written is read by the daemon as it was meant.
    #[test]
    fn the_section_is_of_the_configuration() {
        let kind = AgentKind::of("claude");
        let command = words(Path::new("/opt/a \"b\"/claude-agent-acp"), kind.resumed_with).unwrap();
        let holders = words(Path::new("/usr/bin/claude"), kind.lister).unwrap();
        let text = text(kind, &command, Some(&holders));
        let table: Table = toml::from_str(&text).expect(&text);
        let claude = &table["agents"]["claude"];
        assert_eq!(claude["command"][0].as_str(), Some("/opt/a \"b\"/claude-agent-acp"));
        assert_eq!(claude["holders"].as_array().map(Vec::len), Some(3));
        assert!(claude["environment"].as_array().unwrap().contains(&Value::from("CLAUDE_CONFIG_DIR")));
    }
}
