//! Servers of the Model Context Protocol over HTTP: what is so with programs, and what only HTTP can go wrong with.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::daemon::{now, until};
use crate::primitives::fake::Fake;
use crate::primitives::scene::Scene;
use crate::primitives::servers::table;

#[test]
fn tools_of_a_server_over_http_are_called_like_any_other() {
    for mode in ["", "noise events", "events resume"] {
        let fake = Fake::over_http(&format!("http-{}", mode.replace(' ', "-")), mode);
        table(&fake);
        assert_eq!(fake.sent("initialize").len(), 1, "one session for all");
        let asked = fake.lines("requests").pop().unwrap_or_default();
        assert!(asked.contains("\"x-team\": \"core\"") && asked.contains("session-1"), "{asked}");
        if mode.contains("resume") {
            assert!(fake.lines("requests").iter().any(|line| line.contains("last-event-id")));
        }
        fake.scene.daemon.signal("-TERM");
        assert_eq!(fake.last("ends"), "the session was ended");
        let log = fake.scene.daemon.log();
        assert!(!log.contains("t0ken"), "{log}");
    }
}

#[test]
fn a_fault_of_one_call_over_http_is_no_fault_of_others() {
    for mode in ["", "events"] {
        let fake = Fake::over_http(&format!("http-dies-{mode}"), mode);
        let began = now();
        let died = fake.error("s.die");
        assert!(died.starts_with("s: http://127.0.0.1:") && died.contains("did not answer"), "{died}");
        let huge = fake.error("s.huge");
        assert!(huge.starts_with("s: it sent a message of more than 4194304 bytes"), "{huge}");
        let twice = fake.error("s.twice");
        assert!(twice.starts_with("s: its answer is refused: duplicate key"), "{twice}");
        assert!(began.elapsed_here() < Duration::from_secs(5), "at once");
        assert_eq!(fake.scene.result("s.echo", "{\"x\":2}")["data"], json!({"x": 2}));
        fake.tell("wrong");
        assert_eq!(fake.error("s.echo"), "s: it answered with the status 202");
        fake.tell("moved");
        assert_eq!(
            fake.error("s.echo"),
            "s: it answered with the status 307 (redirects are not followed): go away"
        );
        fake.tell("closed");
        assert_eq!(fake.error("s.echo"), "s: it answered with the status 401 (look at its token): go away");
        assert_eq!(fake.sent("initialize").len(), 1);
    }
}

#[test]
fn a_call_over_http_that_takes_too_long_is_called_off() {
    for mode in ["", "events"] {
        let fake = Fake::over_http(&format!("http-slow-{mode}"), mode);
        let began = now();
        assert!(fake.error("s.slow").contains("timed out after 1 s"));
        assert!(began.elapsed_here() < Duration::from_secs(3));
        until("it is called off", Duration::from_secs(20), || {
            !fake.sent("notifications/cancelled").is_empty()
        });
        let called = fake.sent("tools/call").pop().unwrap_or_default();
        let called: Value = serde_json::from_str(&called).expect("JSON");
        let off = fake.sent("notifications/cancelled").pop().unwrap_or_default();
        let off: Value = serde_json::from_str(&off).expect("JSON");
        assert_eq!(off["params"]["requestId"], called["id"]);
        assert_eq!(fake.scene.result("s.echo", "{\"x\":1}")["data"], json!({"x": 1}));
    }
}

#[test]
fn tools_that_change_are_listed_again_over_http() {
    // The server says it in the stream of an answer, or in one of its own.
    for mode in ["events", "stream"] {
        let fake = Fake::over_http(&format!("http-changes-{mode}"), mode);
        assert!(!fake.has_tool("s.fresh"));
        if mode == "stream" {
            let listens = || fake.lines("requests").iter().any(|line| line.starts_with("GET"));
            until("the daemon listens", Duration::from_secs(20), listens);
        }
        assert_eq!(fake.scene.result("s.change", "{}")["success"], true);
        until("the new tool is there", Duration::from_secs(20), || fake.has_tool("s.fresh"));
    }
}

#[test]
fn a_session_that_the_server_has_forgotten_is_begun_again_and_its_call_made_once() {
    let fake = Fake::over_http("http-forgets", "");
    assert_eq!(fake.scene.result("s.echo", "{\"x\":1}")["data"], json!({"x": 1}));
    fake.tell("once:forget");
    assert_eq!(fake.scene.result("s.echo", "{\"x\":2}")["data"], json!({"x": 2}));
    assert_eq!(fake.sent("initialize").len(), 2);
    let taken = fake.sent("tools/call").into_iter().filter(|line| line.contains("{\"x\":2}")).count();
    assert_eq!(taken, 1, "a request of a forgotten session is not taken");
    // One that never knows a session is no reason to ask for ever.
    fake.tell("forget");
    assert_eq!(fake.error("s.echo"), "s: it has ended the session");
}

#[test]
fn a_server_over_http_that_goes_away_is_found_again_when_it_is_back() {
    let mut fake = Fake::over_http("http-away", "");
    assert_eq!(fake.scene.result("s.echo", "{\"x\":1}")["data"], json!({"x": 1}));
    let address = fake.leave();
    // The first call may still go into the connection that is being cut.
    let unreached = format!("s: http://{address} cannot be reached");
    until("nobody is there", Duration::from_secs(10), || fake.error("s.echo").contains(&unreached));
    fake.come(address);
    until("it is found again", Duration::from_secs(30), || {
        fake.scene.result("s.echo", "{\"x\":3}")["data"] == json!({"x": 3})
    });
}

#[test]
fn a_server_over_http_that_never_introduces_itself_holds_nothing_up_for_long() {
    let fake = Fake::over_http("http-mute", "mute");
    assert!(fake.kit().len() == 1, "only the program that has a name like its tools");
    until("it is given up", Duration::from_secs(20), || {
        fake.scene.daemon.log().contains("it did not introduce itself within 10000 ms")
    });
}

#[test]
fn only_endpoints_that_posts_may_go_to_are_connected_to() {
    let scene = Scene::new(
        "server-http-reach",
        "[mcp.metadata]\nurl = \"https://169.254.169.254/mcp\"\n[mcp.clear]\nurl = \"http://10.0.0.1/mcp\"\n\
         [mcp.private]\nurl = \"https://10.0.0.1/mcp\"\n",
    );
    for told in [
        "169.254.169.254, which is link-local",
        "https://10.0.0.1 has the address 10.0.0.1, which is private",
    ] {
        until(told, Duration::from_secs(20), || scene.daemon.log().contains(told));
    }
    until("all are given up", Duration::from_secs(20), || {
        scene.daemon.log().matches("a server of tools is gone").count() >= 3
    });
}
