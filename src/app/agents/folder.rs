//! `reveille plugin`: the folders that agents install, written from the program itself, so that they fit it.
//!
//! Invariant: hooks name the program and its arguments apart from each other, so that no shell stands between the agent and
//! the hook, which knows the agent by its parent.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::adapter::make_directory;
use crate::app::config::data_dir_of;
use crate::app::config::environment::Environment;
use crate::app::exit::Exit;
use crate::app::fault::AppFault;
use crate::edn::{Map, Value};
use crate::surface::cli::{PluginAgent, PluginArgs, StateArgs};
use crate::surface::json;

pub(in crate::app) fn plugin(args: &PluginArgs) -> io::Result<ExitCode> {
    match write(args.agent, args.to.clone(), &args.state) {
        Ok(path) => {
            writeln!(io::stdout(), "{}", path.display())?;
            Ok(Exit::Done.into())
        }
        Err(fault) => Ok(fault.tell()),
    }
}

/// Writes the plugin of an agent, and returns where it is.
///
/// # Errors
/// [`AppFault::Io`]
pub(super) fn write(agent: PluginAgent, to: Option<PathBuf>, state: &StateArgs) -> Result<PathBuf, AppFault> {
    let program = Program::this(state)?;
    let to = match to {
        Some(to) => {
            std::path::absolute(&to).map_err(|error| AppFault::io(to.display().to_string(), error))?
        }
        None => data_dir_of(state.data_dir.clone(), &Environment::read())?.join("plugins").join(name(agent)),
    };
    for (path, text) in files(agent, &program) {
        put(&to.join(path), &text)
            .map_err(|error| AppFault::io(format!("the plugin in {}", to.display()), error))?;
    }
    Ok(to)
}

/// How this program is called by an agent.
pub(super) struct Program {
    path: String,
    /// The data directory, if it is not the default.
    data_dir: Option<String>,
}

impl Program {
    /// This program, for a data directory.
    ///
    /// # Errors
    /// [`AppFault`], if its path or the data directory's cannot be written in JSON.
    pub(super) fn this(state: &StateArgs) -> Result<Program, AppFault> {
        let text = |path: PathBuf| {
            let text = path.into_os_string().into_string();
            text.map_err(|path| AppFault::usage(format!("{} is no UTF-8", path.display())))
        };
        let own = std::env::current_exe().map_err(|error| AppFault::io("the path of this program", error))?;
        let data_dir = state.data_dir.as_ref().map(std::path::absolute).transpose();
        let data_dir = data_dir.map_err(|error| AppFault::io("the data directory", error))?;
        Ok(Program { path: text(own)?, data_dir: data_dir.map(text).transpose()? })
    }

    /// The program and its arguments.
    pub(super) fn call(&self, args: &[&str]) -> Vec<String> {
        let directory = self.data_dir.iter().flat_map(|path| ["--data-dir", path]);
        let args = args.iter().copied().chain(directory);
        std::iter::once(&*self.path).chain(args).map(str::to_owned).collect()
    }

    /// An entry for a tool server.
    pub(super) fn server(&self) -> Map {
        command(&self.call(&["mcp"]))
    }
}

/// A command as agents write it: the program, and its arguments as a list.
fn command(call: &[String]) -> Map {
    let (program, args) = call.split_first().map_or(("", &[][..]), |(program, args)| (program, args));
    Map::new().with("command", program).with("args", strings(args))
}

pub(super) fn strings(texts: &[String]) -> Vec<Value> {
    texts.iter().map(|text| Value::from(text.as_str())).collect()
}

pub(super) const fn name(agent: PluginAgent) -> &'static str {
    match agent {
        PluginAgent::Claude => "claude",
        PluginAgent::Codex => "codex",
        PluginAgent::Opencode => "opencode",
        PluginAgent::Gemini => "gemini",
        PluginAgent::Qwen => "qwen",
    }
}

/// The files of a plugin, below its folder.
fn files(agent: PluginAgent, program: &Program) -> Vec<(&'static str, String)> {
    let servers = Map::new().with("reveille", program.server());
    let about = || Map::new().with("name", "reveille").with("version", env!("CARGO_PKG_VERSION"));
    match agent {
        PluginAgent::Claude => {
            let listed = Map::new().with("name", "reveille").with("source", "./reveille");
            let market = Map::new()
                .with("name", "reveille")
                .with("owner", Map::new().with("name", "Reveille"))
                .with("plugins", vec![Value::from(listed.with("description", ABOUT))]);
            let plugin = about().with("description", ABOUT).with("mcpServers", servers);
            let hooks = hooks(program, "claude", CLAUDE_HOOKS);
            vec![
                (".claude-plugin/marketplace.json", json(&market)),
                ("reveille/.claude-plugin/plugin.json", json(&plugin)),
                ("reveille/hooks/hooks.json", json(&hooks)),
            ]
        }
        PluginAgent::Codex => vec![("hooks.json", json(&codex_hooks(program)))],
        PluginAgent::Gemini => {
            let extension = about().with("description", ABOUT).with("mcpServers", servers);
            let hooks = hooks(program, "gemini", GEMINI_HOOKS);
            vec![("gemini-extension.json", json(&extension)), ("hooks/hooks.json", json(&hooks))]
        }
        PluginAgent::Qwen => vec![("settings.json", json(&qwen_hooks(program).with("mcpServers", servers)))],
        PluginAgent::Opencode => vec![
            ("reveille.js", opencode_plugin(program)),
            ("opencode.json", json(&Map::new().with("mcp", Map::new().with("reveille", opencode(program))))),
        ],
    }
}

/// Codex's hooks.
pub(super) fn codex_hooks(program: &Program) -> Map {
    hooks(program, "codex", CODEX_HOOKS)
}

/// Qwen Code's hooks.
pub(super) fn qwen_hooks(program: &Program) -> Map {
    hooks(program, "qwen", QWEN_HOOKS)
}

/// opencode's plugin, which calls this program.
fn opencode_plugin(program: &Program) -> String {
    let mut call = String::new();
    json::write(&Value::from(strings(&program.call(&["hook", "opencode"]))), &mut call);
    OPENCODE_PLUGIN.replacen(OPENCODE_HOOK, &call, 1)
}

/// The entry of the tool server in opencode's configuration.
pub(super) fn opencode(program: &Program) -> Map {
    Map::new()
        .with("type", "local")
        .with("command", strings(&program.call(&["mcp"])))
        // Only an agent whose plugin says for whom each call is may say so.
        .with("environment", Map::new().with("REVEILLE_AGENT", "opencode"))
        .with("enabled", true)
}

/// An event, what it is limited to, and whether a waiter starts with it.
type HookRow = (&'static str, Option<&'static str>, bool);

const CLAUDE_HOOKS: &[HookRow] = &[
    // A compaction is in the middle of a turn.
    ("SessionStart", Some("startup|resume|clear"), true),
    ("UserPromptSubmit", None, false),
    ("Stop", None, true),
    ("Notification", Some("idle_prompt"), false),
    ("SessionEnd", None, false),
];

// A conversation begins with its first prompt.
const CODEX_HOOKS: &[HookRow] =
    &[("UserPromptSubmit", None, false), ("Stop", None, false), ("SessionEnd", None, false)];

const GEMINI_HOOKS: &[HookRow] = &[
    ("SessionStart", None, false),
    ("BeforeAgent", None, false),
    ("AfterAgent", None, false),
    ("SessionEnd", None, false),
];

// Its hooks end before a turn goes on, so they start a waiter beside it.
const QWEN_HOOKS: &[HookRow] = &[
    ("SessionStart", Some("startup|resume|clear"), false),
    ("UserPromptSubmit", None, false),
    ("Stop", None, false),
    ("Notification", Some("idle_prompt"), false),
    ("SessionEnd", None, false),
];

fn hooks(program: &Program, agent: &str, rows: &[HookRow]) -> Map {
    let hook = |args: &[&str], seconds: i64| {
        // Others have one text for a shell where Claude Code has a program and its arguments.
        let call = program.call(args);
        let of = if agent == "claude" { command(&call) } else { Map::new().with("command", shell(&call)) };
        // Gemini CLI counts in milliseconds, the others in seconds.
        let timeout = if agent == "gemini" { seconds * 1_000 } else { seconds };
        Map::new().with("type", "command").into_iter().chain(of).collect::<Map>().with("timeout", timeout)
    };
    let rows = rows.iter().map(|(event, matcher, waits)| {
        let mut listed = vec![Value::from(hook(&["hook", agent], SHORT_S))];
        if *waits {
            // Claude Code runs it beside the conversation, and wakes its model if it ends with exit code 2.
            listed.push(hook(&["hook", agent, "--wait"], DAY_S).with("asyncRewake", true).into());
        }
        let group = Map::new().with("hooks", listed);
        let group = group.with_some("matcher", *matcher);
        (Value::from(*event), Value::from(vec![Value::from(group)]))
    });
    Map::new().with("hooks", rows.collect::<Map>())
}

/// A call in a shell's words.
pub(super) fn shell(call: &[String]) -> String {
    let is_plain = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./=:@".contains(&byte))
    };
    let word = |text: &String| {
        if is_plain(text) { text.clone() } else { format!("'{}'", text.replace('\'', r"'\''")) }
    };
    call.iter().map(word).collect::<Vec<_>>().join(" ")
}

pub(super) fn json(map: &Map) -> String {
    let mut text = String::new();
    json::write(&Value::Map(map.clone()), &mut text);
    text + "\n"
}

/// Replaces a file, which may be the user's own. A process that is killed meanwhile leaves the old content or the new, and no
/// part of either. The file has the mode that it had; of a link, what it leads to is replaced.
pub(super) fn put(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        make_directory(parent)?;
    }
    // A link may lead to a file that is not there yet.
    let linked = || fs::read_link(path).map(|to| path.parent().unwrap_or(Path::new("")).join(to));
    let path = fs::canonicalize(path).or_else(|_| linked()).unwrap_or_else(|_| path.to_owned());
    let draft = path.with_added_extension("reveille-draft");
    let put = draw_up(&draft, &path, text).and_then(|()| fs::rename(&draft, &path));
    if put.is_err() {
        // The error is told; a draft that cannot be removed either is replaced by the next one.
        let _ = fs::remove_file(&draft);
    }
    put
}

/// Writes what is to take the place of a file.
fn draw_up(draft: &Path, path: &Path, text: &str) -> io::Result<()> {
    // A leftover of a process that was killed.
    let _ = fs::remove_file(draft);
    // Not through a link that somebody else has put there.
    let mut file = File::create_new(draft)?;
    if let Ok(found) = fs::metadata(path) {
        file.set_permissions(found.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    // Before the rename, which could otherwise become durable first and leave an empty file.
    file.sync_all()
}

const ABOUT: &str = "Schedules prompts for this conversation, and wakes it when they are due.";
/// Seconds until an agent gives a hook up that is no waiter. The hook itself gives up far earlier.
const SHORT_S: i64 = 5;
const DAY_S: i64 = 86_400;

/// opencode's plugin, with the program's name in one line of it.
const OPENCODE_PLUGIN: &str = include_str!("opencode.js");
const OPENCODE_HOOK: &str = r#"["reveille", "hook", "opencode"]"#;

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_shell_reads_a_call_back() {
        let call = ["/a b/reveille", "hook", "it's", ""].map(str::to_owned);
        assert_eq!(shell(&call), r"'/a b/reveille' hook 'it'\''s' ''");
    }

    #[test]
    fn a_file_is_replaced_and_never_overwritten() {
        let home = std::env::temp_dir().join(format!("reveille-put-{}", std::process::id()));
        let _ = fs::remove_dir_all(&home);
        let [real, link, before, next] =
            ["real.json", "link.json", "before.json", "next.json"].map(|name| home.join(name));
        put(&real, "old").expect("ours");
        fs::set_permissions(&real, Permissions::from_mode(0o640)).expect("ours");
        symlink("real.json", &link).expect("ours");
        fs::hard_link(&real, &before).expect("ours");
        put(&link, "new").expect("ours");
        let read = |path: &Path| fs::read_to_string(path).expect("it is there");
        assert_eq!((read(&real), read(&before)), ("new".to_owned(), "old".to_owned()));
        assert!(link.is_symlink(), "the user's link stays");
        assert_eq!(fs::metadata(&real).expect("it is there").permissions().mode() & 0o777, 0o640);
        // A link to a file that is not there yet.
        fs::remove_file(&link).expect("ours");
        symlink("next.json", &link).expect("ours");
        put(&link, "next").expect("ours");
        assert!(link.is_symlink() && read(&next) == "next");
        assert_eq!(fs::read_dir(&home).expect("ours").count(), 4, "no draft is left");
        fs::remove_dir_all(&home).expect("ours");
    }

    #[test]
    fn hooks_name_program_and_arguments_apart() {
        let program = Program { path: "/bin/reveille".to_owned(), data_dir: Some("/d".to_owned()) };
        let files = files(PluginAgent::Claude, &program);
        let hooks = &files[2].1;
        for part in [
            r#""command":"/bin/reveille","args":["hook","claude","--wait","--data-dir","/d"]"#,
            r#""timeout":86400,"asyncRewake":true"#,
            r#""matcher":"idle_prompt""#,
            r#""SessionEnd":[{"hooks":[{"type":"command","command":"/bin/reveille","args":["hook","claude","#,
        ] {
            assert!(hooks.contains(part), "{part}\n{hooks}");
        }
    }
}
