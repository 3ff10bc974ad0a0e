//! The turn in the graph: what the agent did is told, and delivered is not completed.

use std::io::Read;
use std::net::{Ipv4Addr, TcpStream};

use super::{PATIENCE, Scene};
use crate::harness::daemon::until;
use crate::harness::sockets::{connect, say};
use reveille::edn::Value;

const TURN: &str = "{:psi.scheduler/runs [:reveille.run/state {:reveille.run/turn [:reveille.turn/outcome \
    :reveille.turn/stop-reason :reveille.turn/text :reveille.turn/usage :reveille.turn/permissions \
    :reveille.turn/address :reveille.turn/version]}]}";

fn turn(scene: &Scene, schedule: &str) -> String {
    let query = format!("[{{[:psi.scheduler/schedule-id {schedule:?}] [{TURN}]}}]");
    let shown = || Value::from(scene.daemon.eql(&query)).to_string();
    until("the turn is over", PATIENCE, || shown().contains(":reveille.turn/outcome :"));
    shown()
}

#[test]
fn what_the_agent_said_and_asked_is_told() {
    let mut scene = Scene::new("turn", "ask", "");
    scene.open("s", "hello");
    let schedule = scene.create("s", "the prompt");
    let shown = turn(&scene, &schedule);
    for part in [
        ":reveille.run/state :delivered",
        ":reveille.turn/outcome :completed",
        ":reveille.turn/stop-reason \"end_turn\"",
        ":reveille.turn/text \"Working. Done.\"",
        ":input-tokens 100 :output-tokens 7 :total-tokens 107",
        ":title \"rm -rf /\" :kind \"execute\" :details nil",
        ":answer :rejected",
        ":reveille.turn/address \"fake:old-s\"",
        ":reveille.turn/version \"fake 1\"",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let graphql = scene
        .daemon
        .graphql("{ schedules { nodes { runs { turn { outcome text permissions { answer } } } } } }");
    assert!(graphql.to_string().contains("\"outcome\":\"COMPLETED\""), "{graphql}");
}

/// Reads from a stream until this has come.
fn heard(stream: &mut TcpStream, part: &str) -> String {
    let (mut said, mut some) = (String::new(), [0; 1_024]);
    while !said.contains(part) {
        let length = stream.read(&mut some).expect("it goes on");
        assert!(length > 0, "it ended without {part}: {said}");
        said.push_str(std::str::from_utf8(&some[..length]).expect("UTF-8"));
    }
    said
}

/// Follows the turn of a run with this token.
fn followed(scene: &Scene, run: &str, token: &str) -> TcpStream {
    let query = format!("subscription {{ turn(runId: {run:?}) {{ text outcome receiptAt }} }}");
    let body = serde_json::json!({ "query": query }).to_string();
    let head = "Accept: text/event-stream\r\nContent-Type: application/json\r\n";
    let rest = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
    let mut stream = connect(&scene.daemon, Ipv4Addr::LOCALHOST).expect("it listens");
    say(&mut stream, &scene.daemon, "POST /graphql", token, &rest);
    stream
}

/// What the agent says is told while it says it, also to those who follow the turn; to another session there is no such run.
#[test]
fn a_turn_is_followed_while_it_goes_on() {
    let mut scene = Scene::new("follow", "gate", "").patient();
    scene.open("s", "hello");
    let schedule = scene.create("s", "the prompt");
    let shown = || {
        let runs = "{:psi.scheduler/runs [:reveille.run/id {:reveille.run/turn [:reveille.turn/text]}]}";
        let query = format!("[{{[:psi.scheduler/schedule-id {schedule:?}] [{runs}]}}]");
        Value::from(scene.daemon.eql(&query)).to_string()
    };
    until("all that it has said is told", PATIENCE, || shown().contains("Working. Still at it. "));
    let shown = shown();
    let run = shown.split_once(":reveille.run/id \"").and_then(|(_, rest)| rest.split('"').next());
    let run = run.expect("a run");
    let mut stream = followed(&scene, run, scene.daemon.token());
    let first = heard(&mut stream, "Still at it. ");
    assert!(first.contains("\"outcome\":null") && !first.contains("\"receiptAt\":null"), "{first}");
    scene.mode("");
    let rest = heard(&mut stream, "event: complete");
    assert!(rest.contains("Still at it. Done.\",\"outcome\":\"COMPLETED\""), "{rest}");
    // After the turn, it is told once.
    let whole = heard(&mut followed(&scene, run, scene.daemon.token()), "event: complete");
    assert_eq!(whole.matches("COMPLETED").count(), 1, "{whole}");
    let opened = scene.daemon.eql("[(psi.agent-session/open {:session-id \"other\"})]");
    let opened = Value::from(opened).to_string();
    let token = opened.split_once("token \"").and_then(|(_, rest)| rest.split('"').next()).expect("a token");
    let foreign = heard(&mut followed(&scene, run, token), "\"errors\"");
    let absent = heard(&mut followed(&scene, "sch-none~1~2026-04-22T13:00:00Z", token), "\"errors\"");
    let body = |answer: &str| answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
    assert_eq!(body(&foreign), body(&absent));
    assert!(foreign.contains("run not found"), "{foreign}");
}

#[test]
fn a_rule_allows_this_once() {
    let mut scene = Scene::new("allow", "ask", "allow = [{ kind = \"execute\", tool = \"rm *\" }]");
    scene.open("s", "hello");
    let schedule = scene.create("s", "the prompt");
    assert!(turn(&scene, &schedule).contains(":answer :allowed"));
    let answers = scene.lines("lines").join("\n");
    assert!(answers.contains("\"optionId\":\"a\"") && !answers.contains("a!"), "{answers}");
}

/// An agent whose model answers 429 ends its turn as usual, without a word: it has the prompt, and nobody may call that done.
#[test]
fn success_without_a_word_is_doubtful() {
    let mut scene = Scene::new("doubtful", "429", "");
    scene.open("s", "hello");
    let schedule = scene.create("s", "the prompt");
    let shown = turn(&scene, &schedule);
    assert!(
        shown.contains(":reveille.run/state :delivered") && shown.contains("outcome :doubtful"),
        "{shown}"
    );
}

/// Codex ends a turn whose model answers 429 as usual, with the error as its words, and without the tokens that it says
/// otherwise.
#[test]
fn an_error_in_the_agents_words_is_no_success() {
    for (profile, outcome) in [("codex", "doubtful"), ("claude", "completed")] {
        let lines = format!("profile = \"{profile}\"");
        let mut scene = Scene::new(&format!("error-in-words-{profile}"), "429-in-words", &lines);
        scene.open("s", "hello");
        let schedule = scene.create("s", "the prompt");
        let shown = turn(&scene, &schedule);
        assert!(shown.contains(&format!("outcome :{outcome}")), "{profile}: {shown}");
    }
}

#[test]
fn a_turn_that_is_cut_off_says_so() {
    for (mode, outcome) in
        [("once:crash-6", "crashed"), ("stuck", "silent"), ("silent", "silent"), ("fail-prompt", "error")]
    {
        let mut scene = Scene::new(&format!("cut-{mode}").replace(':', "-"), mode, "");
        scene.open("s", "hello");
        let schedule = scene.create("s", "the prompt");
        let shown = turn(&scene, &schedule);
        assert!(shown.contains(&format!(":reveille.turn/outcome :{outcome}")), "{mode}: {shown}");
    }
}
