//! A host with a token of its own: on every surface it reaches the sessions that it has opened, and nothing else.

use std::io::{BufRead, BufReader, Read, Write};

use reveille::domain::{Dialect, Grant, Primitives, Scope, SessionId};

use super::client::{EDITOR, OPERATOR, SHELL, Site, read_to_end};
use super::streams::{ask, upgrade};

const EDN: &str = "Content-Type: application/edn";
const JSON: &str = "Content-Type: application/json";

fn graphql(site: &Site, token: &str, headers: &[&str], query: &str) -> String {
    let body = serde_json::json!({ "query": query }).to_string();
    site.ask("POST /graphql", token, &[&[JSON], headers].concat(), &body).body
}

fn eql(site: &Site, token: &str, headers: &[&str], query: &str) -> String {
    site.ask("POST /eql", token, &[&[EDN], headers].concat(), query).body
}

/// Opens a session by a host's token.
fn open(site: &Site, token: &str, session: &str) {
    let opened = graphql(
        site,
        token,
        &[],
        &format!("mutation {{ openSession(sessionId: \"{session}\") {{ token }} }}"),
    );
    assert!(opened.contains("\"token\":\""), "{opened}");
}

fn close(site: &Site, session: &str) {
    site.handle().close_session(&SessionId::new(session).expect("an id")).expect("it is open");
}

/// What a host says of a session, over every surface: the words of hosts, and what it reads and changes for the session.
fn words(site: &Site, token: &str, session: &str) -> Vec<(String, String)> {
    let header = format!("Reveille-Session: {session}");
    let acting = [&*header];
    let mut said = Vec::new();
    let mut say =
        |what: &str, answer: String| said.push((what.to_owned(), answer.replace(session, "SESSION")));
    for word in [
        "setSessionBusy(sessionId: \"SESSION\", busy: true) { sessionId }",
        "setSessionBusy(sessionId: \"SESSION\", busy: false) { sessionId }",
        "sendUserMessage(sessionId: \"SESSION\", text: \"hi\") { sessionId }",
        "reportJobReady(sessionId: \"SESSION\", jobId: \"j\") { sessionId }",
        "pingSession(sessionId: \"SESSION\", name: \"backup\") { sessionId }",
    ] {
        let query = format!("mutation {{ {} }}", word.replace("SESSION", session));
        say(word, graphql(site, token, &[], &query));
        say(&format!("{word} for it"), graphql(site, token, &acting, &query));
    }
    for word in [
        "[(psi.agent-session/set-busy {:session-id \"SESSION\" :busy false})]",
        "[(psi.agent-session/send-user-message {:session-id \"SESSION\" :text \"hi\"})]",
    ] {
        say(word, eql(site, token, &[], &word.replace("SESSION", session)));
    }
    let ready = site.ask(&format!("POST /v1/sessions/{session}/jobs/j1/ready"), token, &[], "");
    say("jobs", format!("{} {}", ready.status, ready.body));
    let ping = site.ask(&format!("POST /v1/sessions/{session}/pings/backup"), token, &[], "");
    say("pings", format!("{} {}", ping.status, ping.body));
    let create = "[(psi.scheduler/create {:kind :message :message \"m\" :delay-ms 3600000 :label \"l\"})]";
    say("create", hide(&eql(site, token, &acting, create)));
    say("read", eql(site, token, &acting, "[{:psi.scheduler/schedules [:psi.scheduler/label]}]"));
    let list = r#"{:action "scheduler" :op "list"}"#;
    let tool = site.call(token, &acting, list);
    say("tool", format!("{} {}", tool.status, tool.body.matches("schedule-id ").count()));
    let call = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "list", "arguments": {}}});
    let mcp = [JSON, "Accept: application/json, text/event-stream", "MCP-Protocol-Version: 2025-06-18"];
    let mcp = site.ask("POST /mcp", token, &[&mcp[..], &acting].concat(), &call.to_string());
    say("mcp", format!("{} {}", mcp.status, mcp.body.contains("isError\":true")));
    let (_, mut stream) = upgrade(site, token, "");
    for word in [
        "{:op :session/busy :session-id \"SESSION\" :busy? false}",
        "{:op :session/user-message :session-id \"SESSION\" :text \"hi\"}",
        "{:op :session/job-ready :session-id \"SESSION\" :job-id \"j2\"}",
        "{:op :call :tool \"list\" :args {} :session-id \"SESSION\"}",
        "{:op :host/attach :sessions [\"SESSION\"]}",
        "{:op :session/close :session-id \"SESSION\"}",
    ] {
        let answer = ask(&mut stream, &word.replace("SESSION", session));
        say(word, answer.lines().next().unwrap_or_default().to_owned());
    }
    said
}

/// An answer without the id and the instants of a schedule that was made.
fn hide(answer: &str) -> String {
    let is_made = answer.contains(":psi.scheduler/created? true");
    if is_made { "made".to_owned() } else { answer.to_owned() }
}

fn is_refused(answer: &str) -> bool {
    // Not anywhere in it: the id of a schedule can have these digits.
    answer.starts_with("404")
        || ["NOT_FOUND", ":error", "\"errors\"", "is no session", "isError", "mcp true", "reveille.error/why"]
            .iter()
            .any(|sign| answer.contains(sign))
}

#[test]
fn a_host_runs_the_sessions_that_it_has_opened() {
    let site = Site::start();
    site.handle().tools().switch(Primitives::all());
    open(&site, EDITOR, "mine");
    for (what, answer) in words(&site, EDITOR, "mine") {
        assert!(!is_refused(&answer), "{what}: {answer}");
    }
    // By the other languages, too.
    let opened = eql(&site, EDITOR, &[], "[(psi.agent-session/open {:session-id \"second\"})]");
    assert!(opened.contains(":psi.agent-session/token"), "{opened}");
    let (_, mut stream) = upgrade(&site, EDITOR, "");
    assert!(ask(&mut stream, "{:op :session/open :session-id \"third\"}").contains(":token"));
    for session in ["second", "third"] {
        let acting = format!("Reveille-Session: {session}");
        let read =
            eql(&site, EDITOR, &[&acting], "[{:psi.agent-session/sessions [:psi.agent-session/session-id]}]");
        assert!(read.contains(session), "{read}");
    }
}

#[test]
fn what_a_host_has_not_opened_is_none_to_it_on_every_surface() {
    for subject in ["operators", "shells", "again", "closed"] {
        let site = Site::start();
        site.handle().tools().switch(Primitives::all());
        site.open("operators");
        open(&site, SHELL, "shells");
        for session in ["again", "closed"] {
            open(&site, EDITOR, session);
            close(&site, session);
        }
        // Opened again by an operator: it has the id, and not the host.
        site.open("again");
        let absent = words(&site, EDITOR, "absent");
        assert!(absent.iter().all(|(_, answer)| is_refused(answer)), "{absent:?}");
        assert_eq!(words(&site, EDITOR, subject), absent, "{subject}");
    }
}

#[test]
fn a_host_that_acts_for_no_session_sees_nothing() {
    let site = Site::start();
    site.open("theirs");
    open(&site, EDITOR, "mine");
    let create = "[(psi.scheduler/create {:kind :message :message \"m\" :delay-ms 3600000})]";
    for session in ["theirs", "mine"] {
        let acting = format!("Reveille-Session: {session}");
        assert!(eql(&site, OPERATOR, &[&acting], create).contains("sch-"));
    }
    let seen = eql(
        &site,
        EDITOR,
        &[],
        "[:psi.scheduler/pending-count {:psi.scheduler/schedules [:psi.scheduler/schedule-id]} \
         {:psi.agent-session/sessions [:psi.agent-session/session-id]} \
         {:reveille.engine/decisions [:reveille.decision/kind]} {:reveille.engine/held-runs [:reveille.run/id]}]",
    );
    for part in ["sch-", "mine", "theirs", ":reveille.decision/kind"] {
        assert!(!seen.contains(part), "{part}: {seen}");
    }
    assert!(seen.contains(":psi.scheduler/pending-count 0"), "{seen}");
    for (query, sign) in [
        ("mutation { holdAll { held { reason } } }", "FORBIDDEN"),
        ("mutation { setSessionGrant(sessionId: \"mine\", right: READ) { sessionId } }", "FORBIDDEN"),
        ("{ __schema { queryType { name } } }", "errors"),
        (
            "mutation { createSchedule(input: {kind: MESSAGE, message: \"m\", delayMs: 1000}) { schedule { status } } }",
            "errors",
        ),
        (
            "mutation { createSchedule(input: {kind: MESSAGE, message: \"m\", delayMs: 1, originSessionId: \"theirs\"}) \
             { schedule { status } } }",
            "errors",
        ),
    ] {
        let answer = graphql(&site, EDITOR, &[], query);
        assert!(answer.contains(sign) && !answer.contains("sch-"), "{query}: {answer}");
        let is_of_this_schema = query.contains("__schema") || !answer.contains("VALIDATION_FAILED");
        assert!(is_of_this_schema || sign == "FORBIDDEN", "{query}: {answer}");
    }
    assert_eq!(site.ask("GET /metrics", EDITOR, &[], "").status, 404);
    let by = eql(
        &site,
        OPERATOR,
        &[],
        "[{(:reveille.engine/decisions {:by \"editor\"}) [:reveille.decision/kind :reveille.decision/by]}]",
    );
    assert!(by.contains(":session-opened") && by.contains("\"host editor\""), "the log says who: {by}");
}

/// A fresh session that a schedule of a host's session opens is the host's as well.
#[test]
fn fresh_sessions_are_their_hosts() {
    let site = Site::start();
    open(&site, EDITOR, "mine");
    let fresh = "[(psi.scheduler/create {:kind :session :message \"m\" :delay-ms 1000})]";
    assert!(eql(&site, EDITOR, &["Reveille-Session: mine"], fresh).contains("sch-"));
    let child = loop {
        let found = site.handle().view(|state| {
            let sessions = state.sessions();
            let child = sessions.iter().find(|record| record.provenance().is_some());
            child.map(|record| record.id().as_str().to_owned())
        });
        if let Some(child) = found {
            break child;
        }
        std::thread::yield_now();
    };
    let read = |token: &str| {
        let acting = format!("Reveille-Session: {child}");
        eql(&site, token, &[&acting], "[{:psi.agent-session/sessions [:psi.agent-session/session-id]}]")
    };
    assert!(read(EDITOR).contains(&child), "{}", read(EDITOR));
    assert!(!read(SHELL).contains(&child), "{}", read(SHELL));
}

/// Who acts for a session on a connection that stays stops acting for it when the id goes to another opener.
#[test]
fn a_hosts_streams_end_with_its_session() {
    let site = Site::start();
    open(&site, EDITOR, "mine");
    let (answer, mut stream) = upgrade(&site, EDITOR, "Reveille-Session: mine\r\n");
    assert_eq!(answer.status, 101);
    let mut events = site.connect();
    let (port, body) = (site.port(), r#"{"query":"subscription { events { kind } }"}"#);
    write!(
        events,
        "POST /graphql HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {EDITOR}\r\nreveille-session: mine\r\n\
         accept: text/event-stream\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("sent");
    let mut first = [0; 64];
    assert!(events.read(&mut first).expect("it answers") > 0);
    close(&site, "mine");
    site.open("mine");
    assert!(
        eql(
            &site,
            OPERATOR,
            &["Reveille-Session: mine"],
            "[(psi.scheduler/create {:kind :message :message \"SECRET\" :delay-ms 3600000})]"
        )
        .contains("sch-")
    );
    let heard = String::from_utf8_lossy(&read_to_end(&mut stream)).into_owned();
    assert!(!heard.contains("SECRET"), "{heard}");
    let heard = String::from_utf8_lossy(&read_to_end(&mut events)).into_owned();
    assert!(!heard.contains("SCHEDULE_CREATED"), "{heard}");
}

/// What happened to an earlier session of an id is not shown to a stream that opens the id, whatever cursor it begins at.
#[test]
fn a_subscription_begins_with_the_session() {
    let site = Site::start();
    site.open("again");
    assert!(
        eql(
            &site,
            OPERATOR,
            &["Reveille-Session: again"],
            "[(psi.scheduler/create {:kind :message :message \"m\" :delay-ms 3600000 :label \"OLD\"})]"
        )
        .contains("sch-")
    );
    close(&site, "again");
    for (token, headers) in [(EDITOR, ""), (OPERATOR, "Reveille-Session: again\r\n")] {
        let (answer, mut stream) = upgrade(&site, token, headers);
        assert_eq!(answer.status, 101);
        if headers.is_empty() {
            assert!(ask(&mut stream, "{:op :session/open :session-id \"again\"}").contains(":token"));
        }
        assert!(ask(&mut stream, "{:op :subscribe :after 0}").contains(":ok"));
        writeln!(stream, "{{:op :session/busy :session-id \"again\" :busy? true}}").expect("it is open");
        let mut heard = String::new();
        let mut chunk = [0; 4_096];
        while !heard.contains(":session-busy") {
            let length = super::client::read_some(&mut stream, &mut chunk).expect("it says so");
            assert!(length > 0, "{heard}");
            heard.push_str(&String::from_utf8_lossy(&chunk[..length]));
        }
        assert!(!heard.contains("schedule-created") && !heard.contains("schedule-cancelled"), "{heard}");
        close(&site, "again");
    }
}

/// A host that names no session acts for none: none is opened for it, and a tool says what to name.
#[test]
fn a_host_without_a_session_opens_none() {
    let site = Site::start();
    let (_, mut stream) = upgrade(&site, EDITOR, "");
    let listed = ask(&mut stream, "{:id 1 :op :call :tool \"list\" :args {}}");
    assert!(listed.contains("speaks for none here"), "{listed}");
    assert_eq!(site.handle().view(|state| state.sessions().len()), 0, "{listed}");
    let mine = SessionId::new("mine").expect("an id");
    for tool in ["create", "psi-tool", "list", "CronCreate", "CronList"] {
        let reply = site.ask(&format!("POST /tools/{tool}"), EDITOR, &[EDN], "{}");
        assert!(reply.status == 400 && reply.body.contains("Reveille-Session"), "{tool}: {}", reply.body);
    }
    open(&site, EDITOR, "mine");
    assert!(site.handle().view(|state| state.session(&mine).is_some()));
    let create = "mutation { createSchedule(input: {originSessionId: \"mine\", kind: MESSAGE, message: \"m\", delayMs: 9000}) { \
                  created } }";
    let unnamed = graphql(&site, EDITOR, &[], create);
    assert!(unnamed.contains("session not found: mine") && unnamed.contains("Reveille-Session"), "{unnamed}");
    let named = graphql(&site, EDITOR, &["Reveille-Session: mine"], create);
    assert!(named.contains("\"created\":true"), "{named}");
}

/// A session that is taken over goes on as it was opened: what a request asks for beside that is named, and a zone is checked.
#[test]
fn what_a_take_over_asks_for_in_vain_is_named() {
    let site = Site::start();
    let (_, mut stream) = upgrade(&site, EDITOR, "");
    let mut lines = BufReader::new(stream.try_clone().expect("a second handle")).lines();
    let mut asked = |rest: &str| {
        writeln!(stream, "{{:id 1 :op :session/open :session-id \"mine\" :or-attach? true {rest}}}")
            .expect("it is open");
        // Behind the answer the session's configuration is pushed.
        let mut answers = lines.by_ref().map(|line| line.expect("it answers"));
        answers.find(|line| line.starts_with("{:id 1 ")).expect("it answers")
    };
    assert!(asked(":zone \"Europe/Berlin\"").contains(":opened? true"));
    for (rest, ignored) in [
        ("", ""),
        (":zone \"Europe/Berlin\"", ""),
        (":zone \"Asia/Tokyo\"", " :ignored [:zone]"),
        (":session-config {:session-name \"n\"}", " :ignored [:session-config]"),
    ] {
        let answer = asked(rest);
        assert!(answer.contains(&format!(":opened? false{ignored}}}")), "{rest}: {answer}");
    }
    let unknown = asked(":zone \"Nope/Nope\"");
    assert!(unknown.contains(":error") && unknown.contains("Nope/Nope"), "{unknown}");
}

/// An operation that does not exist is named, with the one that is meant; a value of the right type is not blamed for its type.
#[test]
fn requests_that_are_wrong_are_told_what_is() {
    let site = Site::start();
    let (_, mut stream) = upgrade(&site, EDITOR, "");
    let long = "x".repeat(129);
    for (request, said) in [
        ("{:op :host/attch}".to_owned(), "there is no :op :host/attch; did you mean :host/attach?"),
        ("{}".to_owned(), "a request has :op; a call of psi-tool has :action instead"),
        (
            format!("{{:op :session/close :session-id \"{long}\"}}"),
            "of at most 128 bytes and without control characters\"",
        ),
        ("{:op :session/close :session-id 7}".to_owned(), "without control characters, not integer\""),
        ("{:op :subscribe :after -1}".to_owned(), "an integer, 0 or more\""),
        (
            "{:op :delivery/ack :delivery-id \"nonsense\"}".to_owned(),
            "the id of a pushed delivery: a string\"",
        ),
    ] {
        let answer = ask(&mut stream, &request);
        assert!(answer.contains(said), "{request}: {answer}");
    }
}

/// A route asks for the grant that the mutation of its operation asks for (`tests/suite/admission/grants.rs`).
#[test]
fn a_route_needs_the_grant_of_its_operation_and_no_other() {
    let site = Site::start();
    site.handle().tools().switch(Primitives::all());
    let (token, own) = (site.open("own"), SessionId::new("own").expect("an id"));
    for (route, family) in [
        ("/v1/sessions/own/pings/backup", Dialect::Watch),
        ("/v1/sessions/own/jobs/job-1/ready", Dialect::SessionAction),
    ] {
        for given in Dialect::ALL {
            let grant = Grant { dialects: Some(vec![*given]), ..Grant::FULL };
            site.handle().sessions().grant(&own, grant, Scope::Operator).expect("it is open");
            let answer = site.ask(&format!("POST {route}"), token.reveal(), &[], "");
            let expected = if *given == family { 200 } else { 403 };
            assert_eq!(answer.status, expected, "{route}, granted {}: {}", given.name(), answer.body);
        }
    }
}
