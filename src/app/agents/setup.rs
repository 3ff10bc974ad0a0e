//! `reveille setup`: what an agent needs, shown first, and done if the user agrees.
//!
//! Invariant: without --yes nothing is written but the plugin's own folder.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use super::folder::{Program, codex_hooks, json, name, opencode, put, shell, write};
use crate::app::config::data_dir_of;
use crate::app::config::environment::Environment;
use crate::app::fault::AppFault;
use crate::app::foreign_text::print;
use crate::app::serve::data_dir::holder_of;
use crate::dialect::REQUEST_CAPS;
use crate::edn::{Map, Value};
use crate::surface::cli::{KnownAgent, PluginAgent, SetupArgs};
use crate::surface::json as text;

/// One thing to do.
enum Step {
    /// Run a program.
    Run(Vec<String>),
    /// Write a file.
    Write(PathBuf, String),
    /// What the user has to know.
    Note(&'static str),
}

pub(in crate::app) fn setup(args: &SetupArgs) -> io::Result<ExitCode> {
    let done = steps(args).and_then(|steps| take(&steps, args.yes)).and_then(|()| say_if_none_runs(args));
    Ok(done.map_or_else(|fault| fault.tell(), |()| ExitCode::SUCCESS))
}

/// An agent that is set up for a daemon that nobody has started schedules nothing.
fn say_if_none_runs(args: &SetupArgs) -> Result<(), AppFault> {
    let directory = data_dir_of(args.state.data_dir.clone(), &Environment::read())?;
    if holder_of(&directory).is_ok_and(|holder| holder.is_some()) {
        return Ok(());
    }
    print(&format!("no daemon serves {}; start one with `reveille serve`\n", directory.display()))
        .map_err(|error| AppFault::io("stdout cannot be written", error))
}

fn steps(args: &SetupArgs) -> Result<Vec<Step>, AppFault> {
    let plugin = |agent: PluginAgent| {
        let path = write(agent, None, &args.state)?;
        path.into_os_string().into_string().map_err(|_| AppFault::usage("the plugin's path is no UTF-8"))
    };
    let run = |call: &[&str]| Step::Run(call.iter().map(|word| (*word).to_owned()).collect());
    Ok(match args.agent {
        KnownAgent::Claude => {
            let market = plugin(PluginAgent::Claude)?;
            vec![
                run(&["claude", "plugin", "marketplace", "add", &market]),
                run(&["claude", "plugin", "install", "reveille@reveille"]),
            ]
        }
        KnownAgent::Codex => {
            let server = Program::this(&args.state)?.call(&["mcp"]);
            let call = ["codex", "mcp", "add", "reveille", "--"].map(str::to_owned);
            let home = Environment::value("CODEX_HOME").map(PathBuf::from);
            let home = home.or_else(|| Some(PathBuf::from(Environment::value("HOME")?).join(".codex")));
            let home = home.ok_or_else(|| AppFault::usage("there is no home directory"))?;
            let hooks = home.join("hooks.json");
            let present = present(&hooks)?;
            vec![
                Step::Run(call.into_iter().chain(server).collect()),
                Step::Write(hooks, json(&with_hooks(present, &Program::this(&args.state)?))),
                Step::Note("Codex asks once whether it may run these hooks"),
            ]
        }
        KnownAgent::Gemini => {
            let extension = plugin(PluginAgent::Gemini)?;
            vec![run(&["gemini", "extensions", "install", &extension])]
        }
        KnownAgent::Opencode => {
            let folder = plugin(PluginAgent::Opencode)?;
            let config =
                Environment::config_dir().ok_or_else(|| AppFault::usage("there is no home directory"))?;
            let config = config.join(name(PluginAgent::Opencode));
            let script = fs::read_to_string(Path::new(&folder).join("reveille.js"))
                .map_err(|error| AppFault::io("the plugin", error))?;
            let entry = opencode(&Program::this(&args.state)?);
            vec![
                Step::Write(config.join("plugin/reveille.js"), script),
                with_server(config.join("opencode.json"), entry)?,
            ]
        }
    })
}

/// What a file of the agent's has now; nothing if it is not there.
fn present(path: &Path) -> Result<Map, AppFault> {
    let unreadable =
        |why: String| AppFault::usage(format!("{}: {why}; add the entry by hand", path.display()));
    let config = match fs::read(path) {
        Ok(bytes) => text::read(&bytes, &REQUEST_CAPS).map_err(|error| unreadable(error.to_string()))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Map::new().into(),
        Err(error) => return Err(unreadable(error.to_string())),
    };
    config.as_map().cloned().ok_or_else(|| unreadable("it is no object".to_owned()))
}

/// The hooks of Codex with ours, in the place of ours from an earlier time, and everything else as it is.
fn with_hooks(mut whole: Map, program: &Program) -> Map {
    let mut events = whole.text("hooks").and_then(Value::as_map).cloned().unwrap_or_default();
    for (event, ours) in codex_hooks(program).keyword("hooks").and_then(Value::as_map).into_iter().flatten() {
        let theirs = events.get(event).and_then(Value::as_items).unwrap_or_default();
        let theirs = theirs.iter().filter(|group| !group.to_string().contains(OUR_HOOK)).cloned();
        let listed: Vec<Value> = theirs.chain(ours.as_items().unwrap_or_default().iter().cloned()).collect();
        events.insert(event.clone(), listed.into());
    }
    whole.insert("hooks".into(), events.into());
    whole
}

/// The configuration of opencode with our tool server, and everything else as it is.
fn with_server(path: PathBuf, entry: Map) -> Result<Step, AppFault> {
    let config = present(&path)?;
    let mut servers = config.text("mcp").and_then(Value::as_map).cloned().unwrap_or_default();
    servers.insert("reveille".into(), entry.into());
    let mut whole = config;
    whole.insert("mcp".into(), servers.into());
    Ok(Step::Write(path, json(&whole)))
}

/// Shows the steps, and takes them if the user agrees.
fn take(steps: &[Step], agreed: bool) -> Result<(), AppFault> {
    let mut out = io::stdout().lock();
    let told = |error| AppFault::io("stdout cannot be written", error);
    for step in steps {
        match step {
            Step::Run(call) => writeln!(out, "run    {}", shell(call)).map_err(told)?,
            Step::Write(path, text) => {
                writeln!(out, "write  {}\n{text}", path.display()).map_err(told)?;
            }
            Step::Note(text) => writeln!(out, "note   {text}").map_err(told)?,
        }
        if agreed {
            carry_out(step)?;
        }
    }
    if !agreed {
        writeln!(out, "nothing of the agent's was changed; --yes does this").map_err(told)?;
    }
    Ok(())
}

fn carry_out(step: &Step) -> Result<(), AppFault> {
    match step {
        Step::Note(_) => Ok(()),
        Step::Write(path, text) => {
            put(path, text).map_err(|error| AppFault::io(path.display().to_string(), error))
        }
        Step::Run(call) => {
            let Some((program, args)) = call.split_first() else { return Ok(()) };
            let ended = Command::new(program).args(args).status();
            let ended = ended.map_err(|error| AppFault::io(format!("{program} cannot be started"), error))?;
            if ended.success() {
                Ok(())
            } else {
                Err(AppFault::Taken(format!("{program} has failed: {ended}")))
            }
        }
    }
}

/// What is in each call of a hook of ours by Codex, and in nobody else's.
const OUR_HOOK: &str = " hook codex";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::cli::StateArgs;

    #[test]
    fn hooks_of_the_users_own_stay_and_ours_are_there_once() {
        let own = r#"{"description":"mine","hooks":{"Stop":[{"hooks":[{"type":"command","command":"./done.sh"}]}]}}"#;
        let mut text = own.to_owned();
        let program = Program::this(&StateArgs { data_dir: Some("/d".into()) }).unwrap();
        for _ in 0..2 {
            let whole = text::read(text.as_bytes(), &REQUEST_CAPS).unwrap();
            text = json(&with_hooks(whole.as_map().unwrap().clone(), &program));
            assert_eq!(text.matches("./done.sh").count(), 1, "{text}");
            assert_eq!(text.matches(OUR_HOOK).count(), 3, "{text}");
            assert!(text.contains(r#""description":"mine""#), "{text}");
        }
    }
}
