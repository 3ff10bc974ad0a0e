//! Claude Code's own schedules, as it names them to its hook at the end of a turn, `session_crons`, in the shape of 2.1.330.

use std::process::Stdio;

use serde_json::{Value, json};

use super::agents::{ask, hook, recorded, start, until};
use crate::harness::daemon::{Daemon, Home};

const UNKNOWN: &str = "agent-schedules nil";

fn shown(home: &Home, conversation: &str) -> String {
    ask(home, conversation, "[:reveille.session/agent-schedules :reveille.session/agent-schedule-count]")
}

/// The end of a turn.
fn stop(crons: &Value) -> Value {
    json!({"stop_hook_active": false, "background_tasks": [], "session_crons": crons})
}

fn cron(id: &str, prompt: &str) -> Value {
    json!({"id": id, "schedule": "*/5 * * * *", "recurring": true, "prompt": prompt, "new_in_the_next_version": [1]})
}

/// Ends a turn again and again until this is shown: a hook gives up after 200 ms, which a busy machine may take.
#[track_caller]
fn end_turn(home: &Home, conversation: &str, crons: &Value, expected: &str) {
    until(|| {
        assert_eq!(hook(home, "Stop", conversation, &stop(crons)), "");
        shown(home, conversation).contains(expected)
    });
}

#[test]
fn they_are_shown_as_they_were_said_until_the_conversation_ends() {
    let home = Home::new("agents-own");
    let daemon = Daemon::start(&home);
    start(&home, "old", "startup");
    assert!(shown(&home, "old").contains(UNKNOWN), "{}", shown(&home, "old"));
    end_turn(&home, "old", &json!([cron("3f9a0b1c", "Look at CI.")]), "\"Look at CI.\"");
    let one = shown(&home, "old");
    for part in ["\"3f9a0b1c\"", "\"*/5 * * * *\"", ":recurring? true", ":truncated? false", "count 1"] {
        assert!(one.contains(part), "{part}: {one}");
    }
    // What has another shape is ignored whole, and the turn ends all the same.
    hook(&home, "UserPromptSubmit", "old", &json!({"prompt": "hello"}));
    until(|| {
        hook(&home, "Stop", "old", &stop(&json!([cron("2", "new"), {"id": 3}])));
        ask(&home, "old", "[:psi.agent-session/busy?]").contains("busy? false")
    });
    assert_eq!(shown(&home, "old"), one);
    end_turn(&home, "old", &json!([]), "agent-schedules []");
    // Prompts with every character that is written long, and more of them than are shown.
    let many: Vec<Value> = (0..70).map(|at| cron(&at.to_string(), &"\u{1}".repeat(1_000))).collect();
    end_turn(&home, "old", &json!(many), "count 70");
    assert!(shown(&home, "old").contains(":truncated? true"));
    until(|| {
        assert_eq!(hook(&home, "SessionEnd", "old", &json!({"reason": "clear"})), "");
        shown(&home, "old").contains(UNKNOWN)
    });
    start(&home, "new", "clear");
    assert!(shown(&home, "new").contains(UNKNOWN), "{}", shown(&home, "new"));
    // What another program held is not known after a restart.
    end_turn(&home, "new", &json!([cron("3f9a0b1c", "Look at CI.")]), "\"Look at CI.\"");
    daemon.end("-TERM");
    let daemon = Daemon::start(&home);
    assert!(shown(&home, "new").contains(UNKNOWN), "{}", shown(&home, "new"));
    daemon.end("-TERM");
}

/// Nobody says so when a window is killed. Its waiter sees it.
#[test]
fn an_agent_that_is_killed_holds_no_schedules_any_more() {
    let home = Home::new("agents-own-killed");
    let daemon = Daemon::start(&home);
    // A shell stands for the agent.
    let write = |name: &str, input: String| std::fs::write(home.path().join(name), input).expect("ours");
    write("start.json", recorded("SessionStart", "c1", &json!({})));
    write("stop.json", recorded("Stop", "c1", &stop(&json!([cron("1", "Look at CI.")]))));
    let script = "\"$0\" hook claude --data-dir state < start.json; \
                  for turn in 1 2 3 4 5; do \"$0\" hook claude --data-dir state < stop.json; done; \
                  \"$0\" hook claude --wait --data-dir state < stop.json; read end";
    let program = home.command(&[]).get_program().to_owned();
    let mut shell = home.command_of(std::path::Path::new("/bin/sh"), &["-c", script]);
    shell.arg(program).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut shell = shell.spawn().expect("a shell");
    until(|| ask(&home, "c1", "[:psi.agent-session/reception]").contains("reception :host"));
    assert!(shown(&home, "c1").contains("\"Look at CI.\""), "{}", shown(&home, "c1"));
    shell.kill().expect("it runs");
    shell.wait().expect("it ends");
    until(|| shown(&home, "c1").contains(UNKNOWN));
    daemon.end("-TERM");
}
