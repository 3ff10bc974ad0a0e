//! Every command of the program over texts that pretend to be its lines: no text is a line of ours, and none reaches the terminal
//! as more than text.
//!
//! The commands, their arguments and their flags come from the program's own table. So a command that is added is run at once,
//! in each way in which it prints, and an argument for which there is no sample fails by its name.

use std::collections::BTreeSet;
use std::fs;

use clap::{Arg, ArgAction, Command, CommandFactory};
use reveille::edn::Value;
use reveille::surface::cli::Cli;

use crate::attacks::agent::Agent;
use crate::attacks::terminal::{all, assert_shown};
use crate::harness::daemon::{Daemon, Home, PATIENCE, until};

/// Commands that print no text of a daemon's agents, and why.
const APART: [(&str, &str); 9] = [
    ("demo", "an engine of its own, in which nobody else writes"),
    ("serve", "the daemon itself; its log has no text of agents"),
    ("stdio", "a protocol for programs"),
    ("mcp", "a protocol for programs"),
    ("hook", "what an agent reads"),
    ("plugin", "writes files of ours"),
    ("agents", "the programs of this machine"),
    ("setup", "files of ours"),
    ("schema", "generated texts"),
];

/// Flags that say whom to ask, or for which there is no end.
const ASIDE: [&str; 4] = ["insecure", "embedded", "wait", "follow"];

/// Commands that must have shown the texts, so that nothing is compared with nothing.
const TELLING: [&str; 7] = ["eql", "graphql", "inbox", "list", "show", "approvals", "tool"];

const HELD: &str = "[[guard.rules]]\nname = \"look\"\nthen = \"hold\"\nsessions = [\"held\"]\n";

/// A daemon in which every text that an agent can set has lines, columns and escapes that pretend to be ours.
struct Scene {
    home: Home,
    daemon: Daemon,
    /// The text.
    said: String,
    /// A schedule that is paused.
    schedule: String,
    /// A run that waits for an approval.
    run: String,
}

impl Scene {
    fn new() -> Scene {
        let home = Home::new("terminal-commands");
        fs::write(home.path().join("reveille.toml"), HELD).expect("ours");
        let daemon = Daemon::start_with(&home, home.serve().args(["--config", "reveille.toml"]));
        let said = format!("x\nFORGED  rule  safe\r\nFORGED  until  never{}  FORGED", all());
        let named = format!("x  FORGED{}\u{2028}FORGED", all().replace(char::is_control, ""));
        let [text, name] = [&said, &named].map(|text| Value::string(text.as_str()));
        let (held, left) = (Agent::open(&daemon, "held"), Agent::open(&daemon, "left"));
        let config = format!(
            "{{:session-name {text} :system-prompt {text} :developer-prompt {text} :tool-ids [{text}] \
             :model {{:provider {text} :id {text} :reasoning true}} \
             :skills [{{:name {text} :description {text} :source :user}}] \
             :preloaded-messages [{{:role \"user\" :content [{{:type :text :text {text}}}]}}]}}"
        );
        let texts = format!(":label {name} :description {text} :message {text} :idempotency-key");
        held.create(&format!(":kind :session {texts} \"one\" :delay-ms 1 :session-config {config}"));
        held.create(&format!(":kind :notice {texts} \"two\" :delay-ms 1"));
        left.create(&format!(":kind :message {texts} \"three\" :delay-ms 1"));
        let schedule = left.create(&format!(":kind :message {texts} \"four\" :delay-ms 3600000"));
        let pause =
            left.eql(&format!("[(psi.scheduler/pause {{:schedule-id {schedule:?} :reason {text}}})]"));
        assert!(!pause.body.contains("reveille.error"), "{}", pause.body);
        left.eql(&format!("[(psi.scheduler/cancel {{:schedule-id {text}}})]"));
        let mut run = String::new();
        until("both runs wait, and a message is left", PATIENCE, || {
            let now = daemon.eql(
                "[{:reveille.engine/held-runs [:reveille.run/id]} \
                 {[:psi.agent-session/session-id \"left\"] [:psi.agent-session/inbox-count]}]",
            );
            let now = Value::from(now).to_string();
            run = now.split('"').find(|part| part.starts_with("sch-")).unwrap_or_default().to_owned();
            now.matches("reveille.run/id").count() == 2 && !now.contains("inbox-count 0")
        });
        Scene { home, daemon, said, schedule, run }
    }

    /// A value for an argument of a command, by the name that its help gives it.
    fn sample(&self, command: &str, name: &str) -> String {
        let query = "[{:psi.scheduler/schedules [:psi.scheduler/label :psi.scheduler/description]}]";
        match (command, name) {
            ("eql", "QUERY") => query.to_owned(),
            ("graphql", "QUERY") => "{ schedules { nodes { label message pause { reason } } } }".to_owned(),
            ("tool", "NAME") => "list".to_owned(),
            ("tool", "ARGS") => "{}".to_owned(),
            (_, "SCHEDULE-ID" | "WATCH-ID") => self.schedule.clone(),
            (_, "SESSION-ID") => "left".to_owned(),
            (_, "RUN-ID") => self.run.clone(),
            (_, "DIGEST") => "0".repeat(64),
            (_, "WHEN") => "in 10m".to_owned(),
            (_, "MESSAGE") => self.said.clone(),
            ("backup" | "restore", "FILE") => "copy.db".to_owned(),
            ("export" | "import", "OUT-DIR" | "PATH") => "tasks".to_owned(),
            (command, name) => panic!("reveille {command} {name}: there is no sample of such an argument"),
        }
    }

    /// The daemon, in the words of the command.
    fn of_daemon(&self, command: &Command) -> Vec<String> {
        let has = |id: &str| command.get_arguments().any(|arg| arg.get_id() == id);
        let url = format!("http://{}", self.daemon.address());
        let words: Vec<&str> = match (has("url"), has("data_dir")) {
            (true, _) => vec!["--url", &url, "--token-file", "state/operator.token"],
            (false, true) => vec!["--data-dir", "state"],
            (false, false) => panic!("reveille {} asks no daemon: is it apart?", command.get_name()),
        };
        words.into_iter().map(str::to_owned).collect()
    }

    /// The arguments of a command: those that it needs, or all that have a place.
    fn arguments(&self, command: &Command, all: bool) -> Vec<String> {
        let mut words = vec![command.get_name().to_owned()];
        for arg in command.get_arguments().filter(|arg| arg.is_required_set() || all && arg.is_positional()) {
            words.extend(arg.get_long().map(|long| format!("--{long}")));
            // Of words, the first is as good as any.
            let word = arg.get_possible_values().first().map(|value| value.get_name().to_owned());
            words.push(word.unwrap_or_else(|| self.sample(command.get_name(), &value_name(arg))));
        }
        words
    }

    /// Runs a command; whether it came so far that it did something or was refused, and whether it has shown a text.
    fn run(&self, words: &[String]) -> (bool, bool) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ended = self.home.run(&mut self.home.command(&words));
        let told = format!("{words:?}: {ended:?}");
        for printed in [&ended.out, &ended.err] {
            assert_shown(printed, &told);
            let forged = printed.lines().find(|line| line.trim_start().starts_with("FORGED"));
            assert_eq!(forged, None, "{told}");
        }
        // A text stands in quotes where it has blanks like those between columns.
        let is_quoted = |line: &str| line.split("FORGED").next().is_none_or(|before| before.contains('"'));
        let bare = ended.out.lines().find(|line| line.contains("FORGED") && !is_quoted(line));
        assert_eq!(bare, None, "{told}");
        assert!(ended.code.is_some_and(|code| code <= 2), "{told}");
        (ended.code != Some(2), ended.out.contains("FORGED"))
    }
}

/// The name that the help of a command gives to the value of an argument.
fn value_name(arg: &Arg) -> String {
    let name = arg.get_value_names().and_then(|names| names.first());
    name.map_or_else(|| arg.get_id().as_str().to_uppercase(), ToString::to_string)
}

/// The flags of a command that have no value, and no flag.
fn flags(command: &Command) -> Vec<Option<String>> {
    let is_flag = |arg: &&Arg| matches!(arg.get_action(), ArgAction::SetTrue);
    let flags = command.get_arguments().filter(is_flag).filter_map(Arg::get_long);
    let flags = flags.filter(|flag| !ASIDE.contains(flag)).map(|flag| Some(format!("--{flag}")));
    [None].into_iter().chain(flags).collect()
}

#[test]
fn no_text_is_a_line_of_ours() {
    let scene = Scene::new();
    let program = Cli::command();
    let commands: Vec<&Command> = program.get_subcommands().collect();
    for (name, why) in APART {
        assert!(commands.iter().any(|command| command.get_name() == name), "{name}, {why}, is no command");
    }
    let (mut told, mut never_ran) = (BTreeSet::new(), Vec::new());
    for command in commands {
        let name = command.get_name();
        if APART.iter().any(|(apart, _)| *apart == name) {
            continue;
        }
        let of_daemon = scene.of_daemon(command);
        let mut ways = vec![scene.arguments(command, true), scene.arguments(command, false)];
        ways.dedup();
        let mut has_run = false;
        // What takes away comes last: the flags of a command stand behind those of its notation.
        for flag in flags(command) {
            for way in &ways {
                let words = [way.as_slice(), &of_daemon, flag.as_slice()].concat();
                let (did, has_told) = scene.run(&words);
                has_run |= did;
                if has_told {
                    told.insert(name.to_owned());
                }
            }
        }
        if !has_run {
            never_ran.push(name.to_owned());
        }
        refuse_texts(&scene, command, &of_daemon);
        if name == "tool" {
            told.extend(more_tools(&scene, &of_daemon).then(|| name.to_owned()));
        }
    }
    assert_eq!(never_ran, [""; 0], "their arguments are not as they want them");
    let silent: Vec<&str> = TELLING.into_iter().filter(|name| !told.contains(*name)).collect();
    assert_eq!(silent, [""; 0], "no text was there to be shown");
    assert!(scene.daemon.end("-TERM").success());
}

/// A refusal repeats what it was asked.
fn refuse_texts(scene: &Scene, command: &Command, of_daemon: &[String]) {
    for arg in command.get_positionals().filter(|arg| value_name(arg).ends_with("-ID")) {
        let name = command.get_name();
        let others = command.get_positionals().filter(|other| other.is_required_set());
        let others = others.map(|other| match other.get_id() == arg.get_id() {
            true => scene.said.clone(),
            false => scene.sample(name, &value_name(other)),
        });
        let mut words = vec![name.to_owned()];
        words.extend(others);
        if !arg.is_required_set() {
            words.push(scene.said.clone());
        }
        words.extend_from_slice(of_daemon);
        scene.run(&words);
    }
}

/// Tools of several families as a session calls them; whether one of them has shown a text.
fn more_tools(scene: &Scene, of_daemon: &[String]) -> bool {
    let calls = [
        ("list", "{}"),
        ("psi-tool", "{\"action\": \"scheduler\", \"op\": \"list\"}"),
        ("psi-tool", "{:action \"scheduler\" :op \"list\"}"),
        ("cron_list", "{}"),
    ];
    let words = |(tool, args): (&str, &str)| {
        let words = ["tool", "--session", "left", tool, args].map(str::to_owned);
        [&words[..], of_daemon].concat()
    };
    let told: Vec<bool> = calls.into_iter().map(|call| scene.run(&words(call)).1).collect();
    told.contains(&true)
}
