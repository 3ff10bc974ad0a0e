//! The turn in the graph: what the agent did is told, and delivered is not completed.

use super::{PATIENCE, Scene};
use crate::harness::daemon::until;
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
        "{:title \"rm -rf /\" :kind \"execute\" :answer :rejected}",
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
