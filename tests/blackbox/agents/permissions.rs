//! What an agent asks permission for waits for an operator: all of it is shown, it is answered once and never for always, and the
//! turn goes on in any case.

use reveille::edn::Value;

use super::{PATIENCE, Scene};
use crate::harness::daemon::{Ended, Reply, until};

const ASK: &str = "ask = [{ kind = \"execute\" }]";
const SHOWN: &str = "{:psi.scheduler/runs [:reveille.run/id {:reveille.run/turn [:reveille.turn/outcome :reveille.turn/text \
    :reveille.turn/permissions]}]}";

/// A turn in which the agent has asked, and waits.
struct Asked {
    scene: Scene,
    schedule: String,
}

impl Asked {
    fn new(name: &str, lines: &str) -> Asked {
        Asked::telling(name, "ask wait", lines)
    }

    fn telling(name: &str, mode: &str, lines: &str) -> Asked {
        let mut scene = Scene::new(name, mode, lines);
        scene.open("s", "hello");
        let schedule = scene.create("s", "the prompt");
        let asked = Asked { scene, schedule };
        until("it asks", PATIENCE, || asked.open_questions().contains(":digest"));
        asked
    }

    fn open_questions(&self) -> String {
        Value::from(self.scene.daemon.eql("[:reveille.engine/open-questions]")).to_string()
    }

    fn turn(&self) -> String {
        let schedule = &self.schedule;
        let query = format!("[{{[:psi.scheduler/schedule-id {schedule:?}] [{SHOWN}]}}]");
        Value::from(self.scene.daemon.eql(&query)).to_string()
    }

    fn ends(&self) -> String {
        until("the turn is over", PATIENCE, || self.turn().contains(":reveille.turn/outcome :"));
        self.turn()
    }

    /// The run and the digest, as `reveille approvals` prints them.
    fn listed(&self) -> (String, String) {
        let text = self.command(&["approvals"]).out;
        let digest = text.split_once("  digest      ").and_then(|(_, rest)| rest.lines().next());
        let run = text.lines().next().expect("a run");
        (run.to_owned(), digest.unwrap_or_else(|| panic!("a digest: {text}")).to_owned())
    }

    fn command(&self, arguments: &[&str]) -> Ended {
        let Scene { home, daemon, .. } = &self.scene;
        let url = format!("http://{}", daemon.address());
        home.run(home.command(arguments).args(["--url", &url, "--token-file", "state/operator.token"]))
    }
}

#[test]
fn an_operator_allows_it_once() {
    let asked = Asked::new("asked", ASK);
    let text = asked.command(&["approvals"]).out;
    for part in ["its agent asks in the turn", "title       rm -rf /", "kind        execute", "fake:old-s"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains(r#"details     {"rawInput":{"command":"rm -rf /"}}"#), "{text}");
    assert!(asked.command(&["status"]).out.contains("approvals  1 waiting"));
    let (run, digest) = asked.listed();
    // Neither something else than what is shown, nor by a session.
    let other = asked.command(&["approve", &run, "--digest", &"0".repeat(64)]);
    assert_eq!(other.code, Some(1), "{}", other.err);
    let own = answer_as_session(&asked, &run, &digest);
    assert!(own.body.contains("\"FORBIDDEN\""), "{}", own.body);
    assert!(asked.open_questions().contains(&digest), "it still waits");
    let done = asked.command(&["approve", &run, "--digest", &digest]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let turn = asked.ends();
    assert!(
        turn.contains(":reveille.turn/text \"Working. a\"") && turn.contains(":answer :allowed"),
        "{turn}"
    );
    assert!(turn.contains(":by \""), "{turn}");
    let again = asked.command(&["approve", &run, "--digest", &digest]);
    assert_eq!(again.code, Some(1), "once is enough: {}", again.err);
    assert_eq!(asked.command(&["approvals"]).out, "Nothing waits for approval.\n");
    let log = asked.command(&["log"]).out;
    assert!(log.contains("question-answered") && log.contains("allowed: rm -rf /"), "{log}");
}

/// Answers as a session.
fn answer_as_session(asked: &Asked, run: &str, digest: &str) -> Reply {
    let daemon = &asked.scene.daemon;
    let opened = daemon.eql("[(psi.agent-session/open {:session-id \"other\"})]");
    let opened = Value::from(opened).to_string();
    let token = opened.split_once("token \"").and_then(|(_, rest)| rest.split('"').next()).expect("a token");
    let approve = format!("[(reveille.run/approve {{:run-id {run:?} :digest {digest:?}}})]");
    daemon.ask_by(token, "POST /eql", &["Content-Type: application/edn"], &approve)
}

#[test]
fn an_operator_denies_it() {
    let asked = Asked::new("denied", ASK);
    let (run, digest) = asked.listed();
    let done = asked.command(&["deny", &run, "--digest", &digest, "--reason", "not that one"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let turn = asked.ends();
    assert!(
        turn.contains(":reveille.turn/text \"Working. r\"") && turn.contains(":answer :rejected"),
        "{turn}"
    );
    let log = asked.command(&["log"]).out;
    assert!(log.contains("denied (not that one): rm -rf /"), "{log}");
}

/// An agent that waits for an operator longer than it may be silent is not silent.
#[test]
fn nobody_answers_in_time() {
    let asked = Asked::new("expired", &format!("{ASK}\nanswer = \"2s\""));
    let turn = asked.ends();
    assert!(
        turn.contains(":reveille.turn/text \"Working. r\"") && turn.contains(":answer :expired"),
        "{turn}"
    );
    assert!(turn.contains(":reveille.turn/outcome :completed"), "{turn}");
}

#[test]
fn the_turn_is_stopped_before_anybody_answers() {
    let asked = Asked::new("withdrawn", ASK);
    let turn = asked.ends();
    assert!(
        turn.contains(":reveille.turn/outcome :timed-out") && turn.contains(":answer :cancelled"),
        "{turn}"
    );
    let lines = asked.scene.lines("lines").join("\n");
    assert!(lines.contains(r#""outcome":{"outcome":"cancelled"}"#), "the agent is told: {lines}");
    assert_eq!(asked.open_questions(), "{:reveille.engine/open-questions []}");
}

/// What the agent told of the call before it asks is shown, as long as somebody has to decide by it.
#[test]
fn what_was_told_before_is_shown() {
    let asked = Asked::telling("told", "before ask wait", ASK);
    let text = asked.command(&["approvals"]).out;
    for part in ["title       rm -rf /", r#"details     {"rawInput":{"command":"rm -rf /"}}"#] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (run, digest) = asked.listed();
    assert_eq!(asked.command(&["approve", &run, "--digest", &digest]).code, Some(0));
    let turn = asked.ends();
    assert!(turn.contains(":details nil :answer :allowed"), "{turn}");
}

/// Nobody is asked about what cannot be shown whole.
#[test]
fn what_is_too_long_is_refused() {
    // What it says after a call is a new message.
    for (name, mode, text) in
        [("too-long", "ask wait long", "Working. r"), ("too-long-before", "before ask wait long", "r")]
    {
        let mut scene = Scene::new(name, mode, ASK);
        scene.open("s", "hello");
        let schedule = scene.create("s", "the prompt");
        let asked = Asked { scene, schedule };
        let turn = asked.ends();
        let said = format!(":reveille.turn/text {text:?}");
        assert!(turn.contains(&said) && turn.contains(":answer :rejected"), "{turn}");
    }
}
