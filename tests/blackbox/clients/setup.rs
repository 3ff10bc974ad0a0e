//! `reveille setup` and `reveille agents` with programs that stand for an agent's: what is shown first, what is done, and what
//! the daemon makes of it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::harness::daemon::{Daemon, Ended, Home};

/// A user's machine with Claude Code, and what speaks ACP for it.
fn machine(name: &str) -> Home {
    let home = Home::new(name);
    fs::create_dir_all(home.path().join("bin")).expect("a directory");
    fs::create_dir_all(home.path().join("state")).expect("a directory");
    fs::set_permissions(home.path().join("state"), fs::Permissions::from_mode(0o700)).expect("ours");
    for program in ["claude", "claude-agent-acp"] {
        let script = "#!/bin/sh\ncase $1 in --version) echo '2.1.330 (Claude Code)';; *) echo \"$@\" >> \"$HOME/ran\";; esac\n";
        let path = home.path().join("bin").join(program);
        fs::write(&path, script).expect("ours");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
    }
    home
}

fn command(home: &Home, arguments: &[&str]) -> Command {
    let mut command = home.command(arguments);
    command
        .env("HOME", home.path())
        .env("PATH", format!("{}:/usr/bin:/bin", home.path().join("bin").display()));
    command
}

fn run(home: &Home, arguments: &[&str]) -> Ended {
    let ended = home.run(&mut command(home, arguments));
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    ended
}

#[test]
fn an_agent_is_set_up_whole_and_the_next_daemon_goes_on_with_its_conversations() {
    let home = machine("setup");
    let config = home.path().join("state/reveille.toml");
    let before = "zone = \"Europe/Berlin\"\n# key = \"of-somebody-else\"\n";
    fs::write(&config, before).expect("ours");
    let shown = run(&home, &["setup", "claude", "--data-dir", "state"]).out;
    let acp = home.path().join("bin/claude-agent-acp");
    for part in
        ["run    claude plugin marketplace add ", "append ", "[agents.claude]", "holders = [", "--yes"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(shown.contains(&format!("command = [{:?}]", acp.display().to_string())), "{shown}");
    assert!(!shown.contains("of-somebody-else"), "what is there is not shown: {shown}");
    assert_eq!(fs::read_to_string(&config).expect("ours"), before, "nothing was changed");
    assert!(!home.path().join("ran").exists(), "nothing was run");
    run(&home, &["setup", "claude", "--yes", "--data-dir", "state"]);
    let ran = fs::read_to_string(home.path().join("ran")).expect("it was run");
    assert!(
        ran.starts_with("plugin marketplace add ") && ran.contains("\nplugin install reveille@reveille\n"),
        "{ran}"
    );
    let after = fs::read_to_string(&config).expect("ours");
    assert!(after.starts_with(before), "{after}");
    // Again, as one does after an update: the section stays as it is.
    let again = run(&home, &["setup", "claude", "--yes", "--data-dir", "state"]).out;
    assert!(!again.contains("append"), "{again}");
    assert_eq!(fs::read_to_string(&config).expect("ours"), after);
    let daemon = Daemon::start_with(&home, &mut home.serve());
    assert!(
        daemon.log().contains("agent configured") && daemon.log().contains("configuration read"),
        "{}",
        daemon.log()
    );
    daemon.end("-TERM");
    // A file of the user's own is read in its place.
    fs::write(home.path().join("other.toml"), "").expect("ours");
    let daemon = Daemon::start_with(&home, home.serve().args(["--config", "other.toml"]));
    assert!(!daemon.log().contains("agent configured"), "{}", daemon.log());
    daemon.end("-TERM");
}

#[test]
fn what_is_missing_of_an_agent_is_said() {
    let home = machine("setup-missing");
    fs::remove_file(home.path().join("bin/claude-agent-acp")).expect("ours");
    let shown = run(&home, &["setup", "claude", "--data-dir", "state"]).out;
    assert!(shown.contains("note   claude-agent-acp is not on the PATH"), "{shown}");
    // A file that cannot have the section stops nothing else, and what is in it is not shown.
    fs::write(home.path().join("bin/claude-agent-acp"), "").expect("ours");
    for (text, why) in [
        ("key = \"sk-secret\nx\n", "it is no TOML"),
        ("agents = { codex = { command = [\"/sk-secret\"] } }\n", "no section can be added to it"),
    ] {
        fs::write(home.path().join("state/reveille.toml"), text).expect("ours");
        let shown = run(&home, &["setup", "claude", "--data-dir", "state"]).out;
        assert!(shown.contains("run    claude plugin") && shown.contains(why), "{shown}");
        assert!(!shown.contains("sk-secret") && !shown.contains("append"), "{shown}");
    }
    fs::write(home.path().join("state/reveille.toml"), "data-dir = \"elsewhere\"\n").expect("ours");
    let ended =
        home.run(command(&home, &["serve", "--check", "--data-dir", "state"]).env_remove("REVEILLE_TOKEN"));
    assert!(ended.err.contains("names no other") && ended.code != Some(0), "{}{}", ended.out, ended.err);
}

#[test]
fn a_login_is_named_and_not_shown() {
    let home = machine("agents-login");
    let agents = |key: Option<&str>| {
        let mut command = command(&home, &["agents", "--json"]);
        command.env_remove("ANTHROPIC_API_KEY");
        if let Some(key) = key {
            command.env("ANTHROPIC_API_KEY", key);
        }
        let ended = home.run(&mut command);
        let listed: serde_json::Value = serde_json::from_str(&ended.out).expect(&ended.out);
        assert!(!ended.out.contains("sk-secret"), "{}", ended.out);
        listed["agents"][0].clone()
    };
    let claude = agents(None);
    assert_eq!((&claude["name"], &claude["version"]), (&"claude".into(), &"2.1.330".into()));
    assert!(claude["login"].is_null() && claude["closed"].is_string(), "{claude}");
    assert_eq!(agents(Some("sk-secret"))["login"], "ANTHROPIC_API_KEY");
    fs::create_dir_all(home.path().join(".claude")).expect("a directory");
    fs::write(home.path().join(".claude/.credentials.json"), "{}").expect("ours");
    assert_eq!(agents(None)["login"], "~/.claude/.credentials.json");
}
