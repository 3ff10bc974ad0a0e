//! `reveille setup`: what an agent needs, shown first, and done if the user agrees.
//!
//! Invariant: without --yes nothing is written but the plugin's own folder.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use super::folder::{Program, codex_hooks, json, name, opencode, put, qwen_hooks, shell, write};
use super::section::{Section, append, section};
use crate::app::config::environment::Environment;
use crate::app::config::{CONFIG, data_dir_of};
use crate::app::exit::Exit;
use crate::app::fault::AppFault;
use crate::app::foreign_text::print;
use crate::app::serve::data_dir::holder_of;
use crate::dialect::REQUEST_CAPS;
use crate::domain::AgentKind;
use crate::edn::{Map, Value};
use crate::surface::cli::{PluginAgent, SetupArgs};
use crate::surface::json as text;

/// One thing to do.
enum Step {
    /// Run a program.
    Run(Vec<String>),
    /// Write a file.
    Write(PathBuf, String),
    /// Write this at the end of a file, whose other parts are not shown.
    Append(PathBuf, String),
    /// What the user has to know.
    Note(String),
}

pub(in crate::app) fn setup(args: &SetupArgs) -> io::Result<ExitCode> {
    let done = steps(args).and_then(|steps| {
        show_and_apply(&steps, args.yes)?;
        let is_read_later = args.yes && steps.iter().any(|step| matches!(step, Step::Append(..)));
        say_what_comes_next(args, is_read_later)
    });
    Ok(done.map_or_else(|fault| fault.tell(), |()| Exit::Done.into()))
}

/// Prints the next step: start the daemon if none serves the data directory, or restart it if its configuration was extended.
fn say_what_comes_next(args: &SetupArgs, is_read_later: bool) -> Result<(), AppFault> {
    let directory = data_dir_of(args.state.data_dir.clone(), &Environment::read())?;
    let is_served = holder_of(&directory).is_ok_and(|holder| holder.is_some());
    let next = match (is_served, is_read_later) {
        (false, _) => format!("no daemon serves {}; start one with `reveille serve`\n", directory.display()),
        (true, true) => {
            format!(
                "the daemon reads {CONFIG} when it is started again, unless --config names another file\n"
            )
        }
        (true, false) => return Ok(()),
    };
    print(&next).map_err(|error| AppFault::io("stdout cannot be written", error))
}

/// What the agent needs for its windows, and what the daemon needs to go on with its closed conversations.
fn steps(args: &SetupArgs) -> Result<Vec<Step>, AppFault> {
    let mut steps = steps_of_agent(args)?;
    match section(AgentKind::of(name(args.agent)), &args.state)? {
        Section::There => {}
        Section::Missing(path, text) => steps.push(Step::Append(path, text)),
        Section::ByHand(why) => {
            steps.push(Step::Note(format!("{why}; docs/AGENTS.md has the section for you to add")));
        }
        Section::NoProgram(program) => steps.push(Step::Note(format!(
            "{program} is not on the PATH: install it and run this command again, so that the daemon can resume closed \
             conversations"
        ))),
    }
    Ok(steps)
}

fn steps_of_agent(args: &SetupArgs) -> Result<Vec<Step>, AppFault> {
    let plugin = |agent: PluginAgent| {
        let path = write(agent, None, &args.state)?;
        path.into_os_string().into_string().map_err(|_| AppFault::usage("the plugin's path is no UTF-8"))
    };
    let run = |call: &[&str]| Step::Run(call.iter().map(|word| (*word).to_owned()).collect());
    Ok(match args.agent {
        PluginAgent::Claude => {
            let market = plugin(PluginAgent::Claude)?;
            vec![
                run(&["claude", "plugin", "marketplace", "add", &market]),
                run(&["claude", "plugin", "install", "reveille@reveille"]),
            ]
        }
        PluginAgent::Codex => {
            let server = Program::this(&args.state)?.call(&["mcp"]);
            let call = ["codex", "mcp", "add", "reveille", "--"].map(str::to_owned);
            let hooks = directory("CODEX_HOME", ".codex")?.join("hooks.json");
            let whole =
                with_hooks(present(&hooks)?, &codex_hooks(&Program::this(&args.state)?), " hook codex");
            vec![
                Step::Run(call.into_iter().chain(server).collect()),
                Step::Write(hooks, json(&whole)),
                Step::Note("Codex asks once whether it may run these hooks".to_owned()),
            ]
        }
        PluginAgent::Gemini => {
            let extension = plugin(PluginAgent::Gemini)?;
            // Otherwise it asks for this agreement, which a user gives with --yes.
            vec![run(&["gemini", "extensions", "install", &extension, "--consent"])]
        }
        PluginAgent::Qwen => {
            let (program, settings) =
                (Program::this(&args.state)?, directory("QWEN_HOME", ".qwen")?.join("settings.json"));
            let whole = with_hooks(present(&settings)?, &qwen_hooks(&program), " hook qwen");
            vec![Step::Write(settings, json(&with_server(whole, "mcpServers", program.server())))]
        }
        PluginAgent::Opencode => {
            let folder = plugin(PluginAgent::Opencode)?;
            let config =
                Environment::config_dir().ok_or_else(|| AppFault::usage("there is no home directory"))?;
            let config = config.join(name(PluginAgent::Opencode));
            let script = fs::read_to_string(Path::new(&folder).join("reveille.js"))
                .map_err(|error| AppFault::io("the plugin", error))?;
            let (entry, file) = (opencode(&Program::this(&args.state)?), config.join("opencode.json"));
            let whole = with_server(present(&file)?, "mcp", entry);
            vec![Step::Write(config.join("plugin/reveille.js"), script), Step::Write(file, json(&whole))]
        }
    })
}

/// The directory of an agent's settings: what a variable says, or one of the user's.
fn directory(variable: &str, name: &str) -> Result<PathBuf, AppFault> {
    let said = Environment::value(variable).map(PathBuf::from);
    let said = said.or_else(|| Some(PathBuf::from(Environment::value("HOME")?).join(name)));
    said.ok_or_else(|| AppFault::usage("there is no home directory"))
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

/// The agent's hooks with ours, in the place of ours from an earlier time, which have a mark in their calls, and everything else
/// as it is.
fn with_hooks(mut whole: Map, ours: &Map, mark: &str) -> Map {
    let mut events = whole.text("hooks").and_then(Value::as_map).cloned().unwrap_or_default();
    for (event, ours) in ours.keyword("hooks").and_then(Value::as_map).into_iter().flatten() {
        let theirs = events.get(event).and_then(Value::as_items).unwrap_or_default();
        let theirs = theirs.iter().filter(|group| !group.to_string().contains(mark)).cloned();
        let listed: Vec<Value> = theirs.chain(ours.as_items().unwrap_or_default().iter().cloned()).collect();
        events.insert(event.clone(), listed.into());
    }
    whole.insert("hooks".into(), events.into());
    whole
}

/// The agent's configuration with our tool server among its others, and everything else as it is.
fn with_server(mut whole: Map, servers: &str, entry: Map) -> Map {
    let mut listed = whole.text(servers).and_then(Value::as_map).cloned().unwrap_or_default();
    listed.insert("reveille".into(), entry.into());
    whole.insert(servers.into(), listed.into());
    whole
}

/// Shows the steps, and applies them if the user agrees.
fn show_and_apply(steps: &[Step], agreed: bool) -> Result<(), AppFault> {
    let mut out = io::stdout().lock();
    let told = |error| AppFault::io("stdout cannot be written", error);
    for step in steps {
        match step {
            Step::Run(call) => writeln!(out, "run    {}", shell(call)).map_err(told)?,
            Step::Write(path, text) => {
                writeln!(out, "write  {}\n{text}", path.display()).map_err(told)?;
            }
            Step::Append(path, text) => {
                writeln!(out, "append {}\n{text}", path.display()).map_err(told)?;
            }
            Step::Note(text) => writeln!(out, "note   {text}").map_err(told)?,
        }
        if agreed {
            apply(step)?;
        }
    }
    if !agreed {
        writeln!(out, "the agent's settings were not changed; run this again with --yes to apply the steps")
            .map_err(told)?;
    }
    Ok(())
}

fn apply(step: &Step) -> Result<(), AppFault> {
    match step {
        Step::Note(_) => Ok(()),
        Step::Write(path, text) => {
            put(path, text).map_err(|error| AppFault::io(path.display().to_string(), error))
        }
        Step::Append(path, text) => {
            append(path, text).map_err(|error| AppFault::io(path.display().to_string(), error))
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
            text = json(&with_hooks(whole.as_map().unwrap().clone(), &codex_hooks(&program), " hook codex"));
            assert_eq!(text.matches("./done.sh").count(), 1, "{text}");
            assert_eq!(text.matches(" hook codex").count(), 3, "{text}");
            assert!(text.contains(r#""description":"mine""#), "{text}");
        }
    }
}
