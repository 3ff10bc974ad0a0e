//! Agents as the daemon meets them: hooks with the JSON that Claude Code 2.1.330 gives them, and waiters. The test's own process
//! stands for the agent: it is the parent of its hooks.

use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::daemon::{Daemon, Ended, Home, PATIENCE, eventually, now};

/// What Claude Code gives a hook, as recorded.
pub(super) fn recorded(event: &str, conversation: &str, more: &Value) -> String {
    let mut input = json!({
        "session_id": conversation,
        "transcript_path": format!("/home/ada/.claude/projects/-home-ada-work/{conversation}.jsonl"),
        "cwd": "/home/ada/work",
        "hook_event_name": event,
    });
    let (input, more) = (input.as_object_mut().expect("a map"), more.as_object().expect("a map"));
    input.extend(more.clone());
    json!(input).to_string()
}

fn spawn(home: &Home, args: &[&str], input: &str) -> Child {
    spawn_of(home.command(&[args, &["--data-dir", "state"]].concat()), input)
}

fn spawn_of(mut command: Command, input: &str) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary was built");
    // One that knows enough ends without reading on.
    if let Err(error) = child.stdin.take().expect("a pipe").write_all(input.as_bytes()) {
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    }
    child
}

pub(super) fn end(child: Child) -> Ended {
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let (out, err) = (text(output.stdout), text(output.stderr));
    Ended { code: output.status.code(), out, err, took: Duration::ZERO }
}

/// A short hook, which has to end with 0 and to say nothing unless there is something.
pub(super) fn hook(home: &Home, event: &str, conversation: &str, more: &Value) -> String {
    let ended = end(spawn(home, &["hook", "claude"], &recorded(event, conversation, more)));
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{event}: {}", ended.out);
    ended.out
}

pub(super) fn start(home: &Home, conversation: &str, source: &str) {
    assert_eq!(hook(home, "SessionStart", conversation, &json!({"source": source})), "");
}

/// A waiter that has its place in the daemon.
pub(super) fn waiter(home: &Home, conversation: &str, older: &mut Vec<Child>) {
    let host = host(home, conversation);
    older.push(spawn(home, &["hook", "claude", "--wait"], &recorded("Stop", conversation, &json!({}))));
    until(|| {
        let now = self::host(home, conversation);
        now != host && now.is_some()
    });
}

/// The host of a session while one is connected.
fn host(home: &Home, conversation: &str) -> Option<String> {
    let asked = ask(home, conversation, "[:psi.agent-session/reception :psi.agent-session/host]");
    asked.contains(":psi.agent-session/reception :host ").then_some(asked)
}

pub(super) fn reception(home: &Home, conversation: &str) -> String {
    let asked = ask(home, conversation, "[:psi.agent-session/reception]");
    asked
        .rsplit_once(":psi.agent-session/reception :")
        .map_or(asked.clone(), |(_, rest)| rest.trim_end().trim_end_matches('}').to_owned())
}

pub(super) fn ask(home: &Home, conversation: &str, attributes: &str) -> String {
    let query = format!("[{{[:psi.agent-session/session-id \"claude:{conversation}\"] {attributes}}}]");
    eql(home, &query)
}

pub(super) fn eql(home: &Home, query: &str) -> String {
    home.run(&mut home.command(&["eql", "--data-dir", "state", query])).out
}

/// A prompt into a session, due after so many milliseconds.
pub(super) fn schedule(home: &Home, conversation: &str, message: &str, ms: u64) {
    let query = format!(
        "[(psi.scheduler/create {{:kind :message :session-id \"claude:{conversation}\" :message {message:?} \
         :delay-ms {ms} :label \"news\"}})]"
    );
    let made = eql(home, &query);
    assert!(made.contains(":psi.scheduler/created? true"), "{made}");
}

/// The status of the schedules.
pub(super) fn status(home: &Home) -> String {
    eql(home, "[{:psi.scheduler/schedules [:psi.scheduler/status]}]")
}

/// Asks again until it is so.
#[track_caller]
pub(super) fn until(is_so: impl Fn() -> bool) {
    // By time, and not by looks: what is looked at may be looked at once a second.
    assert!(eventually(PATIENCE, is_so).is_some(), "it did not come to it");
}

/// What the hooks of a conversation do, one after the other.
#[test]
fn a_conversation_is_bound_busy_idle_and_handed_what_is_due() {
    let home = Home::new("agents-turns");
    let daemon = Daemon::start(&home);
    start(&home, "c1", "startup");
    let opened = ask(&home, "c1", "[:psi.agent-session/directory :psi.agent-session/address]");
    assert!(opened.contains("\"/home/ada/work\"") && opened.contains("\"claude:c1\""), "{opened}");
    assert_eq!(reception(&home, "c1"), "nobody");
    let busy = "[:psi.agent-session/busy?]";
    assert_eq!(hook(&home, "UserPromptSubmit", "c1", &json!({"prompt": "hello"})), "");
    assert!(ask(&home, "c1", busy).contains("busy? true"));
    schedule(&home, "c1", "Look at the build.", 1);
    until(|| status(&home).contains("status :queued"));
    // The end of the turn: what is due goes on in the same conversation, and counts as delivered.
    let stop = json!({"stop_hook_active": false, "session_crons": [], "background_tasks": []});
    let said = hook(&home, "Stop", "c1", &stop);
    let decision: Value = serde_json::from_str(&said).expect(&said);
    let reason = decision["reason"].as_str().expect("words");
    assert_eq!(decision["decision"], "block");
    assert!(
        reason.contains("not a message from the user") && reason.ends_with("\n\nLook at the build."),
        "{reason}"
    );
    assert!(reason.contains("[Reveille] run sch.") && reason.contains("label: news\n"), "{reason}");
    assert!(ask(&home, "c1", busy).contains("busy? true"), "the turn goes on");
    assert_eq!(hook(&home, "Stop", "c1", &json!({"stop_hook_active": true})), "", "once");
    assert!(ask(&home, "c1", busy).contains("busy? false"));
    assert!(status(&home).contains("status :delivered"), "{}", status(&home));
    daemon.end("-TERM");
}

/// A person's message cancels what is only for an idle user; a prompt of ours that comes back is none.
#[test]
fn a_prompt_of_ours_is_no_persons_activity() {
    let home = Home::new("agents-activity");
    let daemon = Daemon::start(&home);
    start(&home, "c1", "startup");
    let query = "[(psi.scheduler/create {:kind :message :session-id \"claude:c1\" :message \"m\" :delay-ms 3600000 \
                 :lifetime {:cancel-on-user-activity true}})]";
    let made = eql(&home, query);
    assert!(made.contains("created? true"), "{made}");
    let ours = "A schedule is due.\n\n[Reveille] run sch-1~1~x\n\nLook.";
    hook(&home, "UserPromptSubmit", "c1", &json!({"prompt": ours}));
    assert!(status(&home).contains("status :pending"), "{}", status(&home));
    hook(&home, "UserPromptSubmit", "c1", &json!({"prompt": "my secret plan"}));
    assert!(status(&home).contains("status :cancelled"), "{}", status(&home));
    // What the person wrote is not kept.
    let messages = ask(&home, "c1", "[{:psi.agent-session/messages [:reveille.message/text]}]");
    assert!(!messages.contains("secret"), "{messages}");
    daemon.end("-TERM");
}

#[test]
fn a_waiter_is_woken_and_what_the_agent_shows_is_the_receipt() {
    let home = Home::new("agents-woken");
    let daemon = Daemon::start(&home);
    start(&home, "c1", "startup");
    let mut waiters = Vec::new();
    waiter(&home, "c1", &mut waiters);
    schedule(&home, "c1", "Look at the build.", 1);
    let ended = end(waiters.remove(0));
    assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{}", ended.err);
    assert!(ended.err.ends_with("label: news\n\nLook at the build.\n"), "{}", ended.err);
    // Woken is not delivered: the agent has not shown it yet.
    assert!(!status(&home).contains("status :delivered"), "{}", status(&home));
    let prompt = format!("<task-notification>\n<system-reminder>\n{}\n</system-reminder>", ended.err);
    assert_eq!(hook(&home, "UserPromptSubmit", "c1", &json!({"prompt": prompt})), "");
    assert!(status(&home).contains("status :delivered"), "{}", status(&home));
    // The place of the waiter is kept until the turn ends, so that what the turn schedules is of the schedule's line.
    assert_eq!(reception(&home, "c1"), "host");
    assert_eq!(hook(&home, "Stop", "c1", &json!({})), "");
    assert_eq!(reception(&home, "c1"), "nobody");
    daemon.end("-TERM");
}

/// A window that was woken and showed nothing has not taken the prompt, whatever else it did.
#[test]
fn what_a_window_does_not_show_is_not_delivered() {
    let home = Home::new("agents-unshown");
    let daemon = Daemon::start(&home);
    let durable = |text: &str| {
        let made = format!(
            "[(psi.scheduler/create {{:kind :message :session-id \"claude:c1\" :message \"{text}\" :delay-ms 1 \
             :durability :durable}})]"
        );
        assert!(eql(&home, &made).contains("created? true"));
    };
    start(&home, "c1", "startup");
    let mut waiters = Vec::new();
    waiter(&home, "c1", &mut waiters);
    durable("Look at the build.");
    assert_eq!(end(waiters.remove(0)).code, Some(2));
    hook(&home, "Notification", "c1", &json!({"notification_type": "idle_prompt"}));
    until(|| ask(&home, "c1", "[:psi.agent-session/inbox-count]").contains("inbox-count 1"));
    assert!(!status(&home).contains("status :delivered"), "{}", status(&home));
    // It goes on at the end of the next turn, which a person has begun.
    hook(&home, "UserPromptSubmit", "c1", &json!({"prompt": "hello"}));
    let said = hook(&home, "Stop", "c1", &json!({}));
    assert!(said.contains("Look at the build."), "{said}");
    assert!(status(&home).contains("status :delivered"), "{}", status(&home));
    daemon.end("-TERM");
}

/// What wakes a window is a turn of its own conversation: a notice begins none, and a fresh session is another one.
#[test]
fn a_window_takes_no_notice_and_opens_no_other_conversation() {
    let home = Home::new("agents-unfit");
    let daemon = Daemon::start(&home);
    start(&home, "c1", "startup");
    let mut waiters = Vec::new();
    waiter(&home, "c1", &mut waiters);
    for (kind, phase) in [("notice", "prompt-submit"), ("session :session-config {}", "create-session")] {
        let made = format!(
            "[(psi.scheduler/create {{:kind :{kind} :session-id \"claude:c1\" :message \"m\" :delay-ms 1}})]"
        );
        assert!(eql(&home, &made).contains("created? true"));
        let told = || {
            eql(&home, "[{:psi.scheduler/schedules [:psi.scheduler/reason :psi.scheduler/delivery-phase]}]")
        };
        until(|| told().contains(&format!("/delivery-phase :{phase}")));
        assert!(told().contains("/reason :host-refused"), "{}", told());
    }
    schedule(&home, "c1", "Look at the build.", 1);
    let ended = end(waiters.remove(0));
    assert!(ended.code == Some(2) && ended.err.ends_with("Look at the build.\n"), "{ended:?}");
    daemon.end("-TERM");
}

/// Trap 2: an agent starts one waiter for each turn, and none of them ends by itself.
#[test]
fn trap_2_the_newest_waiter_takes_the_place_of_the_older_ones() {
    let home = Home::new("agents-trap-2");
    let daemon = Daemon::start(&home);
    start(&home, "c1", "startup");
    let mut waiters = Vec::new();
    for _ in 0..4 {
        waiter(&home, "c1", &mut waiters);
    }
    let newest = waiters.pop().expect("four");
    for older in waiters {
        let ended = end(older);
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    }
    schedule(&home, "c1", "once", 1);
    let ended = end(newest);
    assert!(ended.code == Some(2) && ended.err.ends_with("once\n"), "{ended:?}");
    daemon.end("-TERM");
}

/// Trap 3: after /clear the process goes on with another conversation, and the old waiter must not wake that one.
#[test]
fn trap_3_no_waiter_outlives_the_end_of_its_conversation() {
    let home = Home::new("agents-trap-3");
    let daemon = Daemon::start(&home);
    start(&home, "old", "startup");
    let mut waiters = Vec::new();
    waiter(&home, "old", &mut waiters);
    // A hook gives up after 200 ms, which a busy machine may take; it is said until it is heard.
    until(|| {
        assert_eq!(hook(&home, "SessionEnd", "old", &json!({"reason": "clear"})), "");
        host(&home, "old").is_none()
    });
    let ended = end(waiters.remove(0));
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    start(&home, "new", "clear");
    waiter(&home, "new", &mut waiters);
    schedule(&home, "old", "for the old one", 1);
    until(|| ask(&home, "old", "[:psi.agent-session/inbox-count]").contains("inbox-count 1"));
    schedule(&home, "new", "for the new one", 1);
    let ended = end(waiters.remove(0));
    assert!(ended.code == Some(2) && ended.err.ends_with("for the new one\n"), "{ended:?}");
    assert!(!ended.err.contains("for the old one"));
    hook(&home, "SessionEnd", "new", &json!({"reason": "resume"}));
    // A window that goes on with the old conversation gets what was left there.
    waiter(&home, "old", &mut waiters);
    let ended = end(waiters.remove(0));
    assert!(ended.code == Some(2) && ended.err.ends_with("for the old one\n"), "{ended:?}");
    daemon.end("-TERM");
}

/// Trap 3, the other half: the window was woken already, and goes on with another conversation before it shows the prompt.
#[test]
fn trap_3_a_prompt_on_its_way_into_the_next_conversation_is_called_back() {
    let home = Home::new("agents-trap-3-late");
    let daemon = Daemon::start(&home);
    start(&home, "old", "startup");
    let mut waiters = Vec::new();
    waiter(&home, "old", &mut waiters);
    let durable = "[(psi.scheduler/create {:kind :message :session-id \"claude:old\" :message \"for the old one\" \
                   :delay-ms 1 :durability :durable})]";
    assert!(eql(&home, durable).contains("created? true"));
    let woken = end(waiters.remove(0));
    assert_eq!(woken.code, Some(2));
    hook(&home, "SessionEnd", "old", &json!({"reason": "clear"}));
    start(&home, "new", "clear");
    let said = hook(&home, "UserPromptSubmit", "new", &json!({"prompt": woken.err}));
    let decision: Value = serde_json::from_str(&said).expect(&said);
    assert_eq!(decision["decision"], "block", "{said}");
    until(|| ask(&home, "old", "[:psi.agent-session/inbox-count]").contains("inbox-count 1"));
    // Where the old conversation goes on, it is shown, and that is its receipt.
    start(&home, "old", "resume");
    waiter(&home, "old", &mut waiters);
    let woken = end(waiters.remove(0));
    assert_eq!(woken.code, Some(2));
    assert_eq!(hook(&home, "UserPromptSubmit", "old", &json!({"prompt": woken.err})), "");
    assert!(status(&home).contains("status :delivered"), "{}", status(&home));
    // An agent with a queue of its own may have it twice, as it was called back before: the second one stays out.
    assert_eq!(hook(&home, "Stop", "old", &json!({})), "");
    let said = hook(&home, "UserPromptSubmit", "old", &json!({"prompt": woken.err}));
    assert!(said.contains("\"decision\":\"block\""), "{said}");
    daemon.end("-TERM");
}

/// What a window was woken for is not lost with the waiter, although nobody says that the conversation is over: its process goes
/// on with another one, or another window shows the prompt.
#[test]
fn what_was_called_back_waits_again() {
    for is_other_window in [false, true] {
        let home = Home::new(if is_other_window { "agents-back-shown" } else { "agents-back-left" });
        let daemon = Daemon::start(&home);
        start(&home, "old", "startup");
        let mut waiters = Vec::new();
        waiter(&home, "old", &mut waiters);
        // One that is lost with its host is not handed over again.
        let volatile = "[(psi.scheduler/create {:kind :message :session-id \"claude:old\" :message \"for the old one\" \
                        :delay-ms 1 :durability :volatile})]";
        assert!(eql(&home, volatile).contains("created? true"));
        let woken = end(waiters.remove(0));
        assert_eq!(woken.code, Some(2));
        let shown = json!({"prompt": woken.err});
        let said = if is_other_window {
            // A shell stands for the other window.
            let program = home.command(&[]).get_program().to_owned();
            let script = ["-c", "\"$0\" hook claude --data-dir state; :"];
            let mut shell = home.command_of(std::path::Path::new("/bin/sh"), &script);
            shell.arg(program);
            end(spawn_of(shell, &recorded("UserPromptSubmit", "new", &shown))).out
        } else {
            start(&home, "new", "clear");
            until(|| ask(&home, "old", "[:psi.agent-session/inbox-count]").contains("inbox-count 1"));
            hook(&home, "UserPromptSubmit", "new", &shown)
        };
        assert!(said.contains("\"decision\":\"block\""), "{said}");
        until(|| ask(&home, "old", "[:psi.agent-session/inbox-count]").contains("inbox-count 1"));
        start(&home, "old", "resume");
        waiter(&home, "old", &mut waiters);
        let woken = end(waiters.remove(0));
        assert_eq!(woken.code, Some(2));
        assert_eq!(hook(&home, "UserPromptSubmit", "old", &json!({"prompt": woken.err})), "");
        assert!(status(&home).contains("status :delivered"), "{}", status(&home));
        daemon.end("-TERM");
    }
}

/// A turn that was begun for a schedule ends with its agent: nobody is said to listen.
#[test]
fn an_agent_that_is_killed_in_its_turn_leaves_nobody_who_listens() {
    let home = Home::new("agents-killed");
    let daemon = Daemon::start(&home);
    // A shell stands for the agent.
    std::fs::write(home.path().join("start.json"), recorded("SessionStart", "c1", &json!({}))).expect("ours");
    let script = "\"$0\" hook claude --data-dir state < start.json; \
                  \"$0\" hook claude --wait --data-dir state < start.json; echo woken; read end";
    let program = home.command(&[]).get_program().to_owned();
    let mut shell = home.command_of(std::path::Path::new("/bin/sh"), &["-c", script]);
    shell.arg(program).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut shell = shell.spawn().expect("a shell");
    until(|| reception(&home, "c1") == "host");
    schedule(&home, "c1", "Look.", 1);
    let mut line = String::new();
    BufReader::new(shell.stdout.take().expect("a pipe")).read_line(&mut line).expect("it says so");
    assert_eq!(line, "woken\n");
    assert_eq!(reception(&home, "c1"), "host");
    shell.kill().expect("it runs");
    shell.wait().expect("it ends");
    until(|| reception(&home, "c1") == "nobody");
    daemon.end("-TERM");
}

/// Trap 4: a session without a window, such as `claude -p`, would never end for the sake of a waiter.
#[test]
fn trap_4_a_session_without_a_window_has_no_waiter() {
    let home = Home::new("agents-trap-4");
    let daemon = Daemon::start(&home);
    start(&home, "c1", "startup");
    let mut command = home.command(&["hook", "claude", "--wait", "--data-dir", "state"]);
    command.env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    let ended = end(spawn_of(command, &recorded("Stop", "c1", &json!({}))));
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (Some(0), "", ""));
    assert_eq!(reception(&home, "c1"), "nobody");
    daemon.end("-TERM");
}

/// Whatever is wrong, a hook ends with 0, in silence, and within its time limit.
#[test]
fn a_hook_breaks_no_session() {
    const LIMIT: Duration = Duration::from_millis(200);
    let home = Home::new("agents-broken");
    let events = ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd", "Notification", "PreToolUse"];
    // The first four of them tell the daemon something.
    let tells = 4;
    let inputs = events.map(|event| recorded(event, "c1", &json!({"prompt": "x"})));
    let odd = ["", "{", "[]", "\u{0}", r#"{"session_id":7,"hook_event_name":"Stop"}"#].map(str::to_owned);
    let inputs: Vec<String> = inputs.into_iter().chain(odd).collect();
    let check = || {
        let mut quickest = Duration::MAX;
        for (index, input) in inputs.iter().enumerate() {
            let begun = now();
            let ended = end(spawn(&home, &["hook", "claude"], input));
            if index < tells {
                quickest = quickest.min(begun.elapsed_here());
            }
            let told = (ended.code, ended.out.as_str(), ended.err.as_str());
            assert_eq!(told, (Some(0), "", ""), "{input}");
        }
        // The quickest: a shared machine makes others slower, and none quicker.
        assert!(quickest < 2 * LIMIT, "the quickest took {quickest:?}");
        let ended = end(spawn(&home, &["hook", "Not An Agent"], &inputs[0]));
        assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (Some(0), "", ""));
    };
    // There is no daemon; then one that does not answer.
    check();
    let daemon = Daemon::start(&home);
    daemon.signal("-STOP");
    check();
    daemon.signal("-CONT");
    daemon.end("-TERM");
}

/// A waiter outlasts a restart of the daemon, and a daemon that is killed.
#[test]
fn a_waiter_waits_for_the_next_daemon() {
    let home = Home::new("agents-restart");
    let daemon = Daemon::start(&home);
    start(&home, "c1", "startup");
    let mut waiters = Vec::new();
    waiter(&home, "c1", &mut waiters);
    daemon.end("-KILL");
    let daemon = Daemon::start(&home);
    until(|| reception(&home, "c1") == "host");
    schedule(&home, "c1", "after the restart", 1);
    let ended = end(waiters.remove(0));
    assert!(ended.code == Some(2) && ended.err.ends_with("after the restart\n"), "{ended:?}");
    daemon.end("-TERM");
}
