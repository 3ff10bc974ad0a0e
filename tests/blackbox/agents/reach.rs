//! A run reaches the agent's own conversation: once, with a receipt, and with nothing of the daemon's in the agent's environment.

use super::{PATIENCE, Scene, is_alive};
use crate::harness::daemon::{text, until};
use crate::harness::stream::Stream;

#[test]
fn a_closed_conversation_is_gone_on_with() {
    let mut scene = Scene::new("resume", "", "");
    scene.open("s", "remember the word pineapple");
    let schedule = scene.create("s", "what was the word");
    scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    assert_eq!(scene.prompted("what was the word"), 1);
    let prompt = scene.lines("prompts").pop().expect("a prompt");
    assert!(prompt.contains("Run ") && prompt.contains("not typed by a person"), "{prompt}");
    let lines = scene.lines("lines").join("\n");
    assert!(lines.contains("\"session/load\"") && !lines.contains("\"session/new\""), "{lines}");
    until("the session is idle", PATIENCE, || {
        scene.session("s", ":psi.agent-session/busy?").contains("busy? false")
    });
    scene.await_processes_gone();
    scene.daemon.end("-TERM");
    scene.home.assert_sound();
}

#[test]
fn a_conversation_is_begun_and_gone_on_with_by_a_later_process() {
    let mut scene = Scene::new("begun", "", "");
    scene.open_at("s", "fake");
    let first = scene.create("s", "the first");
    scene.await_shown(&first, ":psi.scheduler/status :delivered");
    let address = scene.session("s", ":psi.agent-session/address");
    assert!(address.contains("\"fake:c-"), "{address}");
    scene.await_processes_gone();
    let mut scene = scene.kill_and_start();
    assert_eq!(scene.session("s", ":psi.agent-session/address"), address, "it is stored");
    let second = scene.create("s", "the second");
    scene.await_shown(&second, ":psi.scheduler/status :delivered");
    let lines = scene.lines("lines").join("\n");
    assert_eq!(lines.matches("\"session/new\"").count(), 1, "{lines}");
    assert_eq!((scene.prompted("the first"), scene.prompted("the second")), (1, 1));
}

/// The daemon has a secret and a token; the agent has what is listed.
#[test]
fn nothing_but_what_is_listed_is_in_an_agents_environment() {
    let mut scene = Scene::new("environment", "", "");
    scene.open("s", "hello");
    let schedule = scene.create("s", "look");
    scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    let starts = scene.lines("starts");
    let names = starts[0].split(' ').nth(1).expect("names");
    // Some systems' loaders add one of their own.
    let names: Vec<&str> = names.split(',').filter(|name| *name != "LC_CTYPE").collect();
    // The last one tells hooks of ours that the daemon drives the agent.
    assert_eq!(names, ["API_KEY", "FAKE_AGENT_HOME", "PATH", "REVEILLE_HOSTED"]);
    assert!(!scene.daemon.log().contains("sk-of-the-test"));
}

/// Where a token could be seen: in the arguments of any process while a turn goes on, in what the agent is sent, in the log, and
/// in the graph, of which every attribute is asked for that a session, a run, a turn, or the engine has.
#[test]
fn no_token_is_in_arguments_the_log_or_the_graph() {
    let mut scene = Scene::new("tokens", "gate", "tools = true");
    scene.open("s", "hello");
    let other = scene.stream.ask("{:op :session/open :session-id \"other\"}").expect("it lives");
    let mut tokens = vec![text(&other, &["ok", "token"]).expect("a token").to_owned()];
    for file in std::fs::read_dir(scene.home.state()).expect("ours").map(|file| file.expect("ours").path()) {
        if file.extension().is_some_and(|kind| kind == "token") {
            tokens.push(std::fs::read_to_string(file).expect("ours").trim().to_owned());
        }
    }
    assert!(tokens.len() >= 4 && tokens.iter().all(|token| token.len() >= 16), "{}", tokens.len());
    let schedule = scene.create("s", "look");
    until("its turn goes on", PATIENCE, || {
        scene.session("s", ":psi.agent-session/busy?").contains("busy? true")
    });
    let processes = std::fs::read_dir("/proc").expect("Linux").flatten();
    let arguments = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    let arguments: Vec<String> =
        arguments.map(|words| String::from_utf8_lossy(&words).replace('\0', " ")).collect();
    assert!(arguments.iter().any(|words| words.contains("agents::fake::serve")), "{arguments:?}");
    let sent = scene.lines("lines").join("\n");
    assert!(sent.contains("mcpServers") && sent.contains("--data-dir"), "{sent}");
    scene.mode("");
    scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    let attributes = scene.home.run(&mut scene.home.command(&["schema", "attributes"])).out;
    let names: std::collections::BTreeSet<&str> = attributes
        .split(|char: char| !(char.is_ascii_alphanumeric() || ":./-?".contains(char)))
        .filter(|word| word.starts_with(':') && word.contains('/'))
        .collect();
    let of = |prefix: &str| {
        let names: Vec<&str> = names.iter().copied().filter(|name| name.starts_with(prefix)).collect();
        assert!(names.len() > 5, "{prefix}: {names:?}");
        names.join(" ")
    };
    let query = format!(
        "[{{[:psi.agent-session/session-id \"s\"] [{session}]}} {{[:psi.agent-session/session-id \"other\"] [{session}]}} \
          {engine} {{[:psi.scheduler/schedule-id {schedule:?}] \
          [{{:psi.scheduler/runs [{run} {{:reveille.run/turn [{turn}]}}]}}]}}]",
        session = of(":psi.agent-session/"),
        engine = of(":reveille.engine/"),
        run = of(":reveille.run/"),
        turn = of(":reveille.turn/"),
    );
    let graph = reveille::edn::Value::from(scene.daemon.eql(&query)).to_string();
    assert!(
        graph.contains("psi.agent-session/address") && graph.contains("reveille.turn/outcome"),
        "{graph}"
    );
    for (place, seen) in
        [("arguments", arguments.join("\n")), ("sent", sent), ("log", scene.daemon.log()), ("graph", graph)]
    {
        assert!(!tokens.iter().any(|token| seen.contains(&**token)), "a token is in the {place}");
    }
}

#[test]
fn a_group_is_killed_as_one_when_the_daemon_ends() {
    let mut scene = Scene::new("group", "child stuck", "");
    scene.open("s", "hello");
    let _ = scene.create("s", "look");
    until("it is started", PATIENCE, || !scene.lines("children").is_empty());
    let child = scene.lines("children")[0].clone();
    assert!(is_alive(&child));
    let Scene { home, daemon, stream } = scene;
    drop(stream);
    daemon.end("-TERM");
    until("its child is gone", PATIENCE, || !is_alive(&child));
    drop(home);
}

/// A harness that asks for the session is the live door; when it has gone, the conversation is gone on with as before.
#[test]
fn a_harness_that_attaches_gets_what_is_due() {
    let mut scene = Scene::new("harness", "", "");
    scene.open("s", "hello");
    until("the agents have it", PATIENCE, || {
        scene.session("s", ":psi.agent-session/host").contains("\"agents\"")
    });
    let mut harness = Stream::connect(&scene.daemon.socket).expect("it lives");
    let attached = harness.ask("{:op :host/attach :sessions [\"s\"]}").expect("it lives");
    assert!(attached.keyword("ok").is_some(), "{attached:?}");
    let live = scene.create("s", "the live one");
    let pushes = std::iter::from_fn(|| harness.pushed());
    let id = pushes.into_iter().find_map(|pushed| Some(text(&pushed, &["delivery-id"])?.to_owned()));
    let id = id.expect("it is pushed");
    harness.ask(&format!("{{:op :delivery/ack :delivery-id {id:?}}}")).expect("it lives");
    scene.await_shown(&live, ":psi.scheduler/status :delivered");
    assert!(scene.lines("starts").is_empty(), "no agent was started");
    drop(harness);
    let closed = scene.create("s", "the closed one");
    scene.await_shown(&closed, ":psi.scheduler/status :delivered");
    assert_eq!((scene.prompted("the live one"), scene.prompted("the closed one")), (0, 1));
}
