//! What is explained of a scheduled call: how the call went, and beside it whether its session was told (T53, T57).

use reveille::domain::{Caller, Span};
use reveille::testkit::CallAnswer;

use crate::simulated::ask;
use crate::watching::{Scene, failed, fine};

fn explained(scene: &Scene) -> String {
    let shown = "[:reveille.explanation/verdict :reveille.explanation/reason :reveille.explanation/sentence]";
    let query = format!("[{{(:reveille/explain {{:schedule-id \"cron_default_x\"}}) {shown}}}]");
    ask(scene.handle(), &Caller::OPERATOR, &query, false)
}

#[track_caller]
fn check(scene: &Scene, verdict: &str, words: &[&str]) {
    let told = explained(scene);
    assert!(told.contains(&format!(":reveille.explanation/verdict :{verdict}")), "{told}");
    for words in words {
        assert!(told.contains(words), "{words:?}: {told}");
    }
}

const SOON: &str = r#"{"when" "in 1s" "action" "http.get" "name" "x"}"#;

#[test]
fn a_call_that_failed_is_not_explained_as_delivered() {
    let scene = Scene::new();
    scene.script(&[failed("down")]);
    scene.busy(true);
    scene.call("schedule", SOON);
    scene.pass(3);
    check(&scene, "failed", &["down", " What it came to waits to be told to the session: session-busy."]);
    scene.busy(false);
    scene.rest();
    check(&scene, "failed", &["down", " What it came to was told to the session at 20"]);
}

#[test]
fn a_call_that_went_well_is_explained_by_itself() {
    let scene = Scene::new();
    scene.script(&[fine("1")]);
    scene.busy(true);
    scene.call("schedule", SOON);
    scene.pass(30);
    scene.busy(false);
    scene.rest();
    check(&scene, "delivered", &["was delivered at 20", " What it came to was told to the session at 20"]);
}

/// Asked about the moment at which the session was told, it is the slot before that is explained.
#[test]
fn what_is_told_is_no_slot_of_the_job() {
    let scene = Scene::new();
    scene.executor.script(CallAnswer::After(Span::from_millis(20_000), failed("down")));
    scene.call("schedule", SOON);
    scene.pass(25);
    scene.rest();
    let at = scene.handle().now().wall;
    let shown = "[:reveille.explanation/verdict]";
    let query = format!("[{{(:reveille/explain {{:schedule-id \"cron_default_x\" :at \"{at}\"}}) {shown}}}]");
    let told = ask(scene.handle(), &Caller::OPERATOR, &query, false);
    assert!(told.contains(":reveille.explanation/verdict :failed"), "{told}");
}
