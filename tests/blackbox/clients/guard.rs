//! The guard of a daemon, as an operator meets it: rules in a file, runs that wait, a word from each surface, a kill in between,
//! and a program that is asked.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use crate::harness::command::{directory, reveille};

/// A daemon with a home of its own; dropping it kills it.
struct Daemon {
    child: Child,
    url: String,
    home: PathBuf,
}

impl Daemon {
    fn start(home: &Path) -> Daemon {
        let config = home.join("reveille.toml");
        let args = ["serve", "--listen", "127.0.0.1:0", "--config", config.to_str().expect("UTF-8")];
        let mut child = reveille(&args, home).stderr(Stdio::null()).spawn().expect("the binary was built");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("UTF-8");
        let url = line.strip_prefix("reveille ready ").expect("it is ready").trim().to_owned();
        Daemon { child, url, home: home.to_owned() }
    }

    /// A command that asks it: exit code, and what it printed.
    fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        let mut args = args.to_vec();
        args.extend(["--url", &self.url]);
        let output = reveille(&args, &self.home).output().expect("the binary was built");
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).expect("UTF-8"))
    }

    #[track_caller]
    fn ok(&self, args: &[&str]) -> String {
        let (code, text) = self.run(args);
        assert_eq!(code, Some(0), "{args:?}: {text}");
        text
    }

    fn eql(&self, query: &str) -> String {
        self.ok(&["eql", query])
    }

    /// A schedule far ahead in the session `main`: its id.
    fn create(&self, message: &str) -> String {
        let created = self.eql(&format!(
            "[(psi.scheduler/create {{:kind \"message\" :session-id \"main\" :message \"{message}\" \
             :delay-ms 3600000 :durability \"durable\"}})]"
        ));
        between(&created, ":psi.scheduler/schedule-id \"", "\"")
    }

    /// A schedule that runs at once: its id.
    fn fire(&self, message: &str) -> String {
        let id = self.create(message);
        self.ok(&["run-now", &id]);
        id
    }

    fn runs(&self, schedule: &str) -> String {
        self.eql(&format!(
            "[{{[:psi.scheduler/schedule-id \"{schedule}\"] \
             [{{:psi.scheduler/runs [:reveille.run/state :reveille.run/reason :reveille.run/error]}}]}}]"
        ))
    }

    /// The schedule's run comes to this state: an answer need not wait for the receipt that follows it.
    #[track_caller]
    fn comes_to(&self, schedule: &str, state: &str) {
        let is_there = || self.runs(schedule).contains(&format!(":reveille.run/state :{state}"));
        // Each look is a process of its own: all of them together take longer than any receipt.
        assert!((0..500).any(|_| is_there()), "{}", self.runs(schedule));
    }

    /// The one run that waits: its id and its digest.
    fn held(&self) -> (String, String) {
        let text = self.ok(&["approvals"]);
        let run = text.lines().next().expect("a line").to_owned();
        (run, between(&text, "digest      ", "\n"))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn between(text: &str, before: &str, after: &str) -> String {
    let found = text.split_once(before).and_then(|(_, rest)| rest.split_once(after));
    assert!(found.is_some(), "no {before} in {text}");
    found.map(|(found, _)| found.to_owned()).unwrap_or_default()
}

fn configure(home: &Path, text: &str) {
    fs::File::create(home.join("reveille.toml"))
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .expect("the file is written");
}

const HOLD: &str = "[[guard.rules]]\nname = \"look\"\nthen = \"hold\"\nwhy = \"someone should look\"\n";

#[test]
fn a_run_that_is_held_outlives_a_kill_and_goes_by_a_word_from_each_surface() {
    let home = directory("guard-words");
    configure(&home, HOLD);
    let daemon = Daemon::start(&home);
    daemon.eql("[(psi.agent-session/open {:session-id \"main\" :listens? true})]");
    assert_eq!(daemon.ok(&["approvals"]), "Nothing waits for approval.\n");

    // The command line, over a kill.
    let first = daemon.fire("one");
    let shown = daemon.ok(&["approvals"]);
    assert!(shown.contains("rule        look\n") && shown.contains("message     one\n"), "{shown}");
    let before = daemon.held();
    drop(daemon);
    let daemon = Daemon::start(&home);
    let (run, digest) = daemon.held();
    assert_eq!((run.clone(), digest.clone()), before, "it waits as it did");
    assert!(daemon.runs(&first).contains(":reveille.run/reason :awaiting-approval"));
    let explained = daemon.ok(&["explain", &first]);
    assert!(explained.contains("rule look: someone should look"), "{explained}");
    let (code, text) = daemon.run(&["approve", &run, "--digest", &"0".repeat(64)]);
    assert!(code == Some(1) && text.contains("is not what was shown"), "{text}");
    daemon.ok(&["approve", &run, "--digest", &digest]);
    daemon.comes_to(&first, "delivered");
    let (code, text) = daemon.run(&["approve", &run, "--digest", &digest]);
    assert!(code == Some(1) && text.contains("does not wait for approval"), "{text}");

    // EQL.
    let second = daemon.fire("two");
    let (run, digest) = daemon.held();
    daemon.eql(&format!("[(reveille.run/approve {{:run-id \"{run}\" :digest \"{digest}\"}})]"));
    daemon.comes_to(&second, "delivered");

    // GraphQL: a yes, and a no.
    let third = daemon.fire("three");
    let (run, digest) = daemon.held();
    let approve =
        format!("mutation {{ approveRun(runId: \"{run}\", digest: \"{digest}\") {{ run {{ state }} }} }}");
    let approved = daemon.ok(&["graphql", &approve]);
    assert!(["IN_FLIGHT", "DELIVERED"].iter().any(|state| approved.contains(state)), "{approved}");
    daemon.comes_to(&third, "delivered");
    let fourth = daemon.fire("four");
    let (run, _) = daemon.held();
    let deny =
        format!("mutation {{ denyRun(runId: \"{run}\", reason: \"no\") {{ run {{ state reason }} }} }}");
    assert!(daemon.ok(&["graphql", &deny]).contains("APPROVAL_DENIED"));
    daemon.comes_to(&fourth, "failed");
    let fifth = daemon.fire("five");
    let (run, _) = daemon.held();
    daemon.ok(&["deny", &run, "--reason", "not today"]);
    let denied = daemon.runs(&fifth);
    assert!(denied.contains("denied by operator (token operator): not today"), "{denied}");

    // Who did all that.
    let decisions =
        daemon.eql("[{:reveille.engine/decisions [:reveille.decision/kind :reveille.decision/by]}]");
    for kind in ["run-approved", "run-denied"] {
        let told =
            format!(":reveille.decision/kind :{kind} :reveille.decision/by \"operator (token operator)\"");
        assert!(decisions.contains(&told), "{decisions}");
    }
}

#[test]
fn an_operator_controls_all_of_a_session_and_what_it_may_do() {
    let home = directory("guard-controls");
    configure(&home, "");
    let daemon = Daemon::start(&home);
    daemon.eql("[(psi.agent-session/open {:session-id \"main\" :listens? true})]");
    let first = daemon.create("one");
    daemon.create("two");
    assert_eq!(daemon.ok(&["pause", "--all-of", "main", "--reason", "lunch"]), "paused  2 schedules\n");
    assert!(daemon.ok(&["explain", &first]).contains("by operator (token operator)"));
    let log = daemon.ok(&["log", "--by", "operator", "--last", "1000"]);
    assert!(log.contains("by operator (token operator)"), "{log}");
    assert!(daemon.ok(&["log", "--by", "nobody"]).starts_with("no such decisions since the daemon started"));
    daemon.ok(&["resume", &first]);
    assert!(daemon.ok(&["resume", "--all-of", "main"]).contains("resumed  1 schedule\n"));
    daemon.ok(&["reschedule", &first, "--when", "in 2 hours", "--label", "later"]);
    assert!(daemon.ok(&["pause", "later"]).contains(&first), "a label stands for the id");
    daemon.ok(&["resume", "later"]);
    daemon.ok(&["hold-all", "--reason", "an incident"]);
    daemon.ok(&["release-all"]);
    let said = daemon.ok(&["grant", "main", "--right", "change", "--dialects", "psi"]);
    assert!(said.starts_with("granted  main\n") && said.contains("dialects     [:psi]"), "{said}");
    let (code, text) = daemon.run(&["list", "--status", "pendng"]);
    assert!(code == Some(2) && text.contains("'pending'"), "{text}");
    let (code, text) = daemon.run(&["inbox", "nope"]);
    assert!(code == Some(1) && text.contains("session not found: nope"), "{text}");
    let (code, text) = daemon.run(&["reschedule", &first]);
    assert!(code == Some(1) && text.contains("changes nothing"), "{text}");
    assert!(daemon.ok(&["forecast"]).contains("refused"), "the schedules are native's");
    let grant = daemon.eql("[{[:psi.agent-session/session-id \"main\"] [:psi.agent-session/grant]}]");
    assert!(
        grant.contains(":right :change, :dialects [:psi]")
            || grant.contains(":right :change :dialects [:psi]")
    );
    let (code, text) = daemon.run(&[
        "tool",
        "create",
        "{\"when\": \"in 2 hours\", \"message\": \"more\"}",
        "--session",
        "main",
    ]);
    assert!(code != Some(0) && text.contains("may not change anything"), "{text}");
    assert!(daemon.ok(&["cancel", "--all-of", "main"]).contains("cancelled  2 schedules\n"));
    let (code, text) = daemon.run(&["cancel", &first]);
    assert!(code == Some(1), "{text}");
}

#[test]
fn a_program_is_asked_and_whatever_goes_wrong_is_a_refusal() {
    let home = directory("guard-program");
    let program = home.join("guard");
    let ask = |script: &str| {
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("the file is written");
        fs::set_permissions(&program, Permissions::from_mode(0o700)).expect("the file is written");
        configure(
            &home,
            &format!("[guard]\ncommand = [{:?}]\ntimeout-ms = 2000\n", program.display().to_string()),
        );
        let daemon = Daemon::start(&home);
        // It opens the session only once.
        let _ = daemon.run(&["eql", "[(psi.agent-session/open {:session-id \"main\" :listens? true})]"]);
        let schedule = daemon.fire("a word to check");
        // The answer is on its way: the stream of decisions says when it is there.
        let subscribe = reveille(&["stdio", "--url", &daemon.url], &home).stdin(Stdio::piped()).spawn().map(
            |mut stream| {
                let mut input = stream.stdin.take().expect("a pipe");
                input.write_all(b"{:id 1 :op :subscribe :after 0}\n").expect("it reads");
                let lines = BufReader::new(stream.stdout.take().expect("a pipe")).lines();
                let ends = [":run-delivered", ":run-failed"];
                let is_end =
                    |line: &String| line.contains(&schedule) && ends.iter().any(|end| line.contains(end));
                let end = lines.map_while(Result::ok).find(is_end).expect("it ends");
                let _ = stream.kill();
                let _ = stream.wait();
                end
            },
        );
        subscribe.expect("the binary was built")
    };
    let told = home.join("told");
    let allow =
        format!("cat > {}; env >> {}; echo '{{\"decision\": \"allow\"}}'", told.display(), told.display());
    assert!(ask(&allow).contains(":run-delivered"));
    let text = fs::read_to_string(&told).expect("it was asked");
    assert!(text.contains("\"text\":\"a word to check\"") && text.contains("\"owner\":\"main\""), "{text}");
    assert!(!text.contains("HOME="), "its environment is empty: {text}");
    let refused = ask("echo '{\"decision\": \"refuse\", \"why\": \"looks bad\"}'");
    assert!(refused.contains(":refused-by-guard") && refused.contains("looks bad"), "{refused}");
    assert!(ask("echo allow").contains(":guard-failed"));
    assert!(ask("echo '{\"decision\": \"allow\"}'; exit 3").contains(":guard-failed"));
    assert!(ask("kill -9 $$").contains(":guard-failed"));
    let late = ask("exec sleep 600");
    assert!(late.contains(":guard-timed-out") || late.contains(":guard-failed"), "{late}");
    let nobody = {
        fs::remove_file(&program).expect("the file is written");
        let daemon = Daemon::start(&home);
        let schedule = daemon.fire("to nobody");
        daemon.runs(&schedule)
    };
    assert!(!nobody.contains(":delivered"), "{nobody}");
}
