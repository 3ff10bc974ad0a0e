//! Servers of the Model Context Protocol, whose tools are called: T15, and what else such a server can do to a daemon.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::agents::is_alive;
use crate::harness::command::{directory, reveille};
use crate::harness::daemon::{now, until};
use crate::primitives::fake::Fake;

/// A server is started before the port is taken, and is not left behind if somebody else has the port.
#[test]
fn a_start_that_fails_leaves_no_server_behind() {
    let home = directory("no-port");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let script = "echo $$ > pid; exec sleep 300";
    let configuration = format!("[mcp.s]\ncommand = [\"/bin/sh\", \"-c\", \"{script}\"]\ncwd = {home:?}\n");
    fs::write(home.join("mcp.toml"), configuration).expect("ours");
    let args = ["serve", "--listen", &address, "--data-dir", "state", "--config", "mcp.toml"];
    let ended = reveille(&args, &home).output().expect("the binary was built");
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(!ended.status.success() && told.contains("cannot listen on"), "{told}");
    let server = fs::read_to_string(home.join("pid")).expect("it was started");
    until("it is gone", Duration::from_secs(20), || !is_alive(server.trim()));
    fs::remove_dir_all(&home).expect("ours");
}

fn runs(id: &str) -> bool {
    Path::new("/proc").join(id).exists()
}

#[test]
fn tools_of_a_server_are_called_like_any_other() {
    let fake = Fake::new("happy", "noise child");
    table(&fake);
    // A server that ends by itself is not waited for, and nothing of it is left.
    let (server, child) = (fake.last("starts"), fake.last("children"));
    assert!(runs(&server) && runs(&child));
    assert_eq!(fake.scene.daemon.id().to_string(), parent(&server));
    let Fake { ref scene, .. } = fake;
    scene.daemon.signal("-TERM");
    until("all is gone", Duration::from_secs(20), || !runs(&server) && !runs(&child));
    assert_eq!(fake.lines("ends"), ["its input was closed"]);
}

/// What is so with a server over either kind of wire.
pub(super) fn table(fake: &Fake) {
    let kit = fake.kit();
    let shown: Vec<String> = kit
        .iter()
        .map(|tool| format!("{} {} {}", tool["name"], tool["executor"], tool["risk"]).replace('"', ""))
        .collect();
    let expected = [
        "s.taken operator change",
        "s.echo server read",
        "s.fail server change",
        "s.text server change",
        "s.slow server change",
        "s.die server change",
        "s.huge server change",
        "s.twice server change",
        "s.meet server change",
        "s.closed server change",
        "s.change server change",
    ];
    assert_eq!(shown, expected);
    assert_eq!(kit[1]["description"], "Says it again.");
    let log = fake.scene.daemon.log();
    assert!(log.contains("the tool s.taken is offered twice: A program that the operator"), "{log}");
    assert!(log.contains("no/name") && log.contains("is left out"), "{log}");
    // The whole answer, but for how long it took.
    let body = r#"{"actions":[{"name":"s.echo","params":{"x":[1,2.5],"_approved":true}},{"name":"s__text"},{"name":"s.fail"},
        {"name":"s.taken","params":{"y":1}}]}"#;
    let reply = fake.scene.call("run_parallel", body);
    let mut answer: Value = serde_json::from_str(&reply.body).expect("JSON");
    for result in answer["results"].as_array_mut().expect("results") {
        result.as_object_mut().expect("a result").remove("elapsed_ms");
    }
    answer.as_object_mut().expect("an answer").remove("elapsed_ms");
    assert_eq!(answer["results"], golden(), "{answer}");
    // Over HTTP the four calls arrive in any order.
    let is_first = |line: &String| line.contains("tools/call") && line.contains("\"name\":\"echo\"");
    let call = fake.lines("lines").into_iter().find(is_first).expect("a call");
    let call: Value = serde_json::from_str(&call).expect("JSON");
    let id = call["params"]["_meta"]["reveille/call-id"].as_str().unwrap_or_default();
    assert!(id.starts_with("par-") && id.ends_with("/0"), "{call}");
    let reply = fake.scene.call("run_parallel", r#"{"actions":[{"name":"s.closed"}]}"#);
    assert!(reply.status == 422 && reply.body.contains("blocked by security policy"), "{}", reply.body);
    // As a task, too. It is answered at once if it ends at once, which a slow stream of an answer does not.
    let mut told = fake.scene.call("background_run", r#"{"name":"s.text"}"#).body;
    let task: Value = serde_json::from_str(&told).expect("JSON");
    if let Some(id) = task["task_id"].as_str() {
        let wait = json!({"wait": true, "task_id": id, "timeout": 60}).to_string();
        told = fake.scene.call("background_run", &wait).body;
    }
    assert!(told.contains("all is well"), "{told}");
}

fn golden() -> Value {
    json!([
        {"index": 0, "success": true, "name": "s.echo", "data": {"x": [1, 2.5]}},
        {"index": 1, "success": true, "name": "s__text", "data": {"output": "all is well"}},
        {"index": 2, "success": false, "name": "s.fail", "error": "no such branch"},
        {"index": 3, "success": true, "name": "s.taken", "data": {"y": 1}},
    ])
}

fn parent(id: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap_or_default().trim().to_owned()
}

/// T15.
#[test]
fn a_server_that_dies_fails_its_calls_at_once_and_is_started_again() {
    let fake = Fake::new("dies", "child");
    let first = fake.last("children");
    let began = now();
    assert_eq!(fake.error("s.die"), "s: it ended with exit code 4: out of paper");
    assert!(began.elapsed_here() < Duration::from_secs(3), "at once");
    until("what it left is gone", Duration::from_secs(20), || !runs(&first));
    // The next use starts it again, after a second.
    let result = fake.scene.result("s.echo", "{\"x\":2}");
    assert_eq!(result["data"], json!({"x": 2}), "{result}");
    assert_eq!(fake.lines("starts").len(), 2);
    // A line without an end is a fault of the server, and no reason to wait.
    let huge = fake.error("s.huge");
    assert!(huge.starts_with("s: it sent a line of more than 4194304 bytes"), "{huge}");
    let twice = fake.error("s.twice");
    assert!(twice.starts_with("s: its answer is refused: duplicate key"), "{twice}");
    assert_eq!(fake.lines("starts").len(), 3, "what is refused ends nothing");
    let (status, id) = (fake.scene.daemon.id(), fake.lines("starts"));
    assert!(!zombie_below(status), "{id:?}");
}

/// Whether a process has a child that has ended and is not waited for.
fn zombie_below(parent_id: u32) -> bool {
    let entries = fs::read_dir("/proc").expect("processes").flatten();
    let ids = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    ids.filter(|id| parent(id) == parent_id.to_string()).any(|id| {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        status.lines().any(|line| line.starts_with("State:") && line.contains('Z'))
    })
}

/// T15.
#[test]
fn a_call_that_takes_too_long_is_called_off_and_not_heard_any_more() {
    let fake = Fake::new("slow", "");
    let began = now();
    assert!(fake.error("s.slow").contains("timed out after 1 s"));
    assert!(began.elapsed_here() < Duration::from_secs(3));
    // It reads that when it has ended its work; the late answer is nobody's.
    until("it is called off", Duration::from_secs(20), || {
        fake.lines("lines").iter().any(|line| line.contains("notifications/cancelled"))
    });
    assert_eq!(fake.scene.result("s.echo", "{\"x\":1}")["data"], json!({"x": 1}));
    assert_eq!(fake.lines("starts").len(), 1);
}

/// T12, T15, T22: a server answers calls after it was told that nobody waits for them, and answers each twice. What became of a
/// call stays, nobody is told of it again, and no answer is taken for that of a later call.
#[test]
fn an_answer_after_the_end_of_its_call_is_nobodys() {
    let mut fake = Fake::new("late", "late");
    let answered = |fake: &Fake, calls: usize| {
        until("the server answers", Duration::from_secs(20), || fake.lines("late").len() == calls);
        // The next call passes through the same pipe, behind the late answers.
        let sent = json!({ "x": calls });
        assert_eq!(fake.scene.result("s.echo", &sent.to_string())["data"], sent);
    };
    let launch = |fake: &Fake, tool: &str| {
        let launched = fake.scene.call("background_run", &format!("{{\"name\":{tool:?}}}")).body;
        let task: Value = serde_json::from_str(&launched).expect("JSON");
        task["task_id"].as_str().unwrap_or_else(|| unreachable!("{task}")).to_owned()
    };
    let ask = |fake: &Fake, id: &str, mode: &str| {
        fake.scene.call("background_run", &format!("{{\"task_id\":{id:?}{mode}}}")).body
    };
    assert!(fake.error("s.slow").contains("timed out after 1 s"));
    answered(&fake, 1);

    let timed = launch(&fake, "s.slow");
    let told = ask(&fake, &timed, ",\"wait\":true");
    assert!(told.contains("timed out"), "{told}");
    answered(&fake, 2);

    // The time of this tool is not up so soon.
    let cancelled = launch(&fake, "s.meet");
    let told = ask(&fake, &cancelled, ",\"cancel\":true");
    assert!(told.contains("\"stopped\""), "{told}");
    answered(&fake, 3);

    let late = fake.lines("late");
    assert!(late[0] != late[1] && late[1] != late[2], "each is another call: {late:?}");
    for (id, status) in [(&timed, "failed"), (&cancelled, "cancelled")] {
        let told = ask(&fake, id, "");
        assert!(told.contains(&format!("\"status\":\"{status}\"")) && !told.contains("too late"), "{told}");
    }
    assert_eq!(fake.lines("starts").len(), 1, "it goes on with the same process");
    fake.scene.host.ask("{:op :eql :query [:psi.scheduler/pending-count]}").expect("it lives");
    let heard = std::iter::from_fn(|| fake.scene.host.take_pushed()).map(|push| format!("{push:?}"));
    let heard: Vec<String> = heard.filter(|push| push.contains("too late")).collect();
    assert!(heard.is_empty(), "{heard:?}");
}

#[test]
fn tools_that_change_are_listed_again() {
    let fake = Fake::new("changes", "");
    assert!(!fake.has_tool("s.fresh"));
    assert_eq!(fake.scene.result("s.change", "{}")["success"], true);
    until("the new tool is there", Duration::from_secs(20), || fake.has_tool("s.fresh"));
}

/// T15.
#[test]
fn a_server_that_never_introduces_itself_holds_nothing_up_for_long() {
    let fake = Fake::new("mute", "once:mute child");
    // The daemon has started all the same, without its tools; after its time is up the server is killed.
    assert!(fake.kit().len() == 1, "only the program that has a name like its tools");
    let (server, child) = (fake.last("starts"), fake.last("children"));
    until("it is ended", Duration::from_secs(20), || !runs(&server) && !runs(&child));
    let log = fake.scene.daemon.log();
    assert!(log.contains("it did not introduce itself within 10000 ms"), "{log}");
}

/// T15.
#[test]
fn a_server_that_does_not_end_is_killed_with_its_children() {
    let fake = Fake::new("immortal", "immortal child");
    let (server, child) = (fake.last("starts"), fake.last("children"));
    let began = now();
    fake.scene.daemon.signal("-TERM");
    until("all is gone", Duration::from_secs(20), || !runs(&server) && !runs(&child));
    let took = began.elapsed_here();
    assert!(took > Duration::from_secs(2) && took < Duration::from_secs(8), "{took:?}");
    assert_eq!(fake.lines("ends"), ["its input was closed"]);
}

#[test]
fn a_server_that_cannot_start_is_named_with_its_own_words() {
    let fake = Fake::new("dead", "dead");
    until("it is told", Duration::from_secs(20), || {
        fake.scene.daemon.log().contains("it ended with exit code 3: no licence")
    });
    assert_eq!(fake.kit().len(), 1);
    assert_eq!(fake.scene.result("s.taken", "{\"y\":1}")["data"], json!({"y": 1}));
}
