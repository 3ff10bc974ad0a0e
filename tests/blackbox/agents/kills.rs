//! The daemon is killed at each point of a turn: no prompt is sent twice, none vanishes, and what is not known is said.

use super::{PATIENCE, Scene};
use crate::harness::daemon::until;

/// What became of the prompt, as the daemon tells after its next start.
#[derive(Clone, Copy)]
enum Told {
    /// The run has failed for this reason.
    Failed(&'static str),
    /// The run was delivered before the kill, and still is.
    Delivered,
}

/// Kills the daemon where the agent stands still at this point of `fake.rs`, and starts it again.
fn killed_at(point: u8, prompts: usize, told: Told) {
    // The kill comes first, and not the end of our patience with a silent agent.
    let mut scene = Scene::new(&format!("kill-{point}"), "", "").patient();
    scene.open("s", "hello");
    scene.mode(&format!("halt-{point}"));
    let schedule = scene.create("s", "the prompt");
    until("the agent stands still", PATIENCE, || !scene.lines("halts").is_empty());
    if let Told::Delivered = told {
        scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    }
    scene.mode("");
    let mut scene = scene.kill_and_start();
    let expected = match told {
        Told::Failed(reason) => format!(":reveille.run/reason :{reason}"),
        Told::Delivered => ":psi.scheduler/status :delivered".to_owned(),
    };
    scene.await_shown(&schedule, &expected);
    // The conversation goes on.
    let next = scene.create("s", "the next");
    scene.await_shown(&next, ":psi.scheduler/status :delivered");
    assert_eq!((scene.prompted("the prompt"), scene.prompted("the next")), (prompts, 1));
}

#[test]
fn before_the_agent_answers_its_first_line() {
    killed_at(1, 0, Told::Failed("host-refused"));
}

#[test]
fn between_its_first_answer_and_the_opening() {
    killed_at(2, 0, Told::Failed("host-refused"));
}

#[test]
fn while_it_opens_the_conversation() {
    killed_at(3, 0, Told::Failed("host-refused"));
}

#[test]
fn with_the_prompt_that_the_conversation_does_not_have_yet() {
    killed_at(4, 1, Told::Failed("host-refused"));
}

#[test]
fn with_the_prompt_in_the_conversation_and_no_sign_of_it() {
    killed_at(5, 1, Told::Failed("turn-lost"));
}

#[test]
fn after_the_agent_has_begun_to_work() {
    killed_at(6, 1, Told::Delivered);
}

#[test]
fn after_the_turn_has_ended() {
    killed_at(7, 1, Told::Delivered);
}
