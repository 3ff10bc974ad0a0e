//! What a session remembers, in a real daemon: across a kill, as of an instant, and by every way of asking.

use std::fs;

use crate::harness::daemon::{Daemon, Home};

const CONFIGURATION: &str = "[primitives]\nmemory = true\n";

const ALL: &str = "[{[:psi.agent-session/session-id \"main\"] [:psi.agent-session/memory-block \
                   {:psi.agent-session/memory [:reveille.memory/goal :reveille.memory/facts \
                   {:reveille.memory/tasks [:reveille.task-note/id :reveille.task-note/subject \
                   :reveille.task-note/status :reveille.task-note/created-at :reveille.task-note/changed-at]}]}]}]";

/// T70.
#[test]
fn everything_remembered_is_there_after_a_kill() {
    let home = Home::new("memory");
    fs::write(home.path().join("memory.toml"), CONFIGURATION).expect("ours");
    let start = || Daemon::start_with(&home, home.serve().args(["--config", "memory.toml"]));
    let daemon = start();
    let opened = daemon.eql("[(psi.agent-session/open {:session-id \"main\" :listens? true})]");
    let token = token_of(&format!("{opened:?}"));
    let call = |daemon: &Daemon, tool: &str, body: &str| {
        let request = format!("POST /tools/{tool}");
        let reply = daemon.ask_by(&token, &request, &["Content-Type: application/json"], body);
        assert_eq!(reply.status, 200, "{tool}: {}", reply.body);
        reply.body
    };
    for number in 1..=20 {
        call(&daemon, "memory.remember", &format!("{{\"content\":\"fact {number}\"}}"));
    }
    call(&daemon, "memory.set_goal", "{\"goal\":\"Ship it\"}");
    call(&daemon, "TaskCreate", "{\"subject\":\"Sign\"}");
    let then = now(&daemon);
    call(&daemon, "TaskUpdate", "{\"taskId\":\"t1\",\"status\":\"completed\"}");
    call(&daemon, "memory.remember", "{\"content\":\"the last word\"}");
    let before = daemon.eql(ALL);
    daemon.kill();
    let daemon = start();
    assert_eq!(daemon.eql(ALL), before);
    let shown = format!("{before:?}");
    assert!(shown.contains("the last word") && shown.contains("fact 20"), "{shown}");
    // As it was before the last two.
    let past = format!("{:?}", daemon.eql(&format!("{{:pathom/eql {ALL} :reveille/as-of {then:?}}}")));
    assert!(
        past.contains("fact 20") && past.contains(":pending") && !past.contains("the last word"),
        "{past}"
    );
    let by_graphql = daemon.graphql(
        "{ session(sessionId: \"main\") { memoryBlock memory { goal factCount tasks { subject status } } } }",
    );
    let session = &by_graphql["data"]["session"];
    assert_eq!(session["memory"]["factCount"], 21, "{by_graphql}");
    assert_eq!(session["memory"]["tasks"][0]["status"], "DONE", "{by_graphql}");
    let block = session["memoryBlock"].as_str().expect("a text").to_owned();
    assert!(block.contains("- f21: the last word") && block.contains("- [x] t1: Sign"), "{block}");
    let resource = daemon.ask_by(
        &token,
        "POST /mcp",
        &["Content-Type: application/json"],
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\
         \"params\":{\"uri\":\"reveille://memory/main\"}}",
    );
    assert!(resource.body.contains("- f21: the last word"), "{}", resource.body);
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    home.assert_history();
}

/// The token in the answer that opens a session.
fn token_of(opened: &str) -> String {
    let token = opened.split(":psi.agent-session/token \"").nth(1).and_then(|rest| rest.split('"').next());
    token.unwrap_or_else(|| panic!("no token: {opened}")).to_owned()
}

/// The daemon's clock, by a decision of its own.
fn now(daemon: &Daemon) -> String {
    let query = "[{(:reveille.engine/decisions {:last 1}) [:reveille.decision/at]}]";
    let answer = format!("{:?}", daemon.eql(query));
    let at = answer.split("#inst \"").nth(1).and_then(|rest| rest.split('"').next());
    at.unwrap_or_else(|| panic!("no instant: {answer}")).to_owned()
}

/// T60.
#[test]
fn a_scheduler_without_watchers_does_not_start() {
    let home = Home::new("switches");
    fs::write(home.path().join("off.toml"), "[primitives]\nscheduler = true\n").expect("ours");
    let ended = home.run(home.serve().args(["--config", "off.toml"]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("scheduler = true") && ended.err.contains("watchers = true"), "{ended:?}");
}

/// What is switched off is not listed and not called; an operator is told the switch.
#[test]
fn tools_that_are_switched_off_do_not_exist() {
    let home = Home::new("gates");
    let daemon = Daemon::start(&home);
    let listed = daemon.ask("GET /tools", &[], "").body;
    assert!(listed.contains("\"create\"") && !listed.contains("memory.remember"), "{listed}");
    let call = |token: &str| {
        let body = "{\"content\":\"c\"}";
        daemon.ask_by(token, "POST /tools/memory.remember", &["Content-Type: application/json"], body)
    };
    let refused = call(daemon.token());
    assert_eq!(refused.status, 404, "{}", refused.body);
    assert!(refused.body.contains("memory = true under [primitives]"), "{}", refused.body);
    let opened = daemon.eql("[(psi.agent-session/open {:session-id \"main\"})]");
    let token = &token_of(&format!("{opened:?}"));
    let refused = call(token);
    assert!(refused.status == 404 && !refused.body.contains("[primitives]"), "{}", refused.body);
    let listed = daemon.ask_by(
        token,
        "POST /mcp?tools=native,memory",
        &["Content-Type: application/json"],
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
    );
    assert!(
        listed.body.contains("\"create\"") && !listed.body.contains("memory_remember"),
        "{}",
        listed.body
    );
    assert_eq!(daemon.end("-TERM").code(), Some(0));
}
