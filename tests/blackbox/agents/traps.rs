//! The traps of agents that speak ACP, each by its name: what would cost a user a night.

use super::{PATIENCE, Scene};
use crate::harness::ask::create_in;
use crate::harness::daemon::{pass, text, until};
use crate::harness::stream::Stream;
use std::time::Duration;

/// Gemini: a conversation that is loaded in the clock minute of its beginning is wiped. With its profile, one that we began is
/// not loaded before it is old enough; the run waits.
#[test]
fn trap_1_a_conversation_is_not_loaded_in_the_minute_of_its_beginning() {
    let mut scene = Scene::new("trap-1", "", "profile = \"gemini\"");
    scene.open_at("s", "fake");
    let first = scene.create("s", "the first");
    scene.await_shown(&first, ":psi.scheduler/status :delivered");
    scene.await_processes_gone();
    let second = scene.create("s", "the second");
    scene.await_shown(&second, ":psi.scheduler/status :queued :psi.scheduler/reason :host-busy");
    let lines = scene.lines("lines").join("\n");
    assert!(!lines.contains("session/load") && !lines.contains("session/resume"), "{lines}");
    assert_eq!(scene.prompted("the second"), 0);
}

/// Gemini: a conversation that is loaded a second time is wiped. One that was loaded waits instead.
#[test]
fn trap_12_a_conversation_is_not_loaded_a_second_time() {
    let scene = Scene::new("trap-12", "no-resume", "profile = \"gemini\"");
    let file = scene.home.path().join("agents.toml");
    let text = std::fs::read_to_string(&file).expect("ours");
    std::fs::write(&file, text.replace("when-unknown", "when-free")).expect("ours");
    let mut scene = scene.kill_and_start();
    scene.open_at("s", "fake");
    let first = scene.create("s", "the first");
    scene.await_shown(&first, ":psi.scheduler/status :delivered");
    scene.await_processes_gone();
    // A later process does not know when it was begun, and loads it.
    let mut scene = scene.kill_and_start();
    let second = scene.create("s", "the second");
    scene.await_shown(&second, ":psi.scheduler/status :delivered");
    scene.await_processes_gone();
    let mut scene = scene.kill_and_start();
    let third = scene.create("s", "the third");
    scene.await_shown(&third, ":psi.scheduler/status :queued :psi.scheduler/reason :held-elsewhere");
    let loads = scene.lines("lines").iter().filter(|line| line.contains("session/load")).count();
    assert_eq!(loads, 1);
}

/// The tools of an agent are connected a little after the conversation is open: the first prompt waits.
#[test]
fn trap_5_the_first_prompt_waits_for_the_tools() {
    let mut scene = Scene::new("trap-5", "late-tools", "settle = \"700ms\"");
    scene.open("s", "hello");
    let schedule = scene.create("s", "the prompt");
    scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    let at = |file: &str| reveille::domain::Moment::parse(&scene.lines(file)[0]).expect("an instant");
    let wait = at("prompts-at").since(at("tools-at")).millis();
    assert!(wait >= 650, "{wait} ms");
}

/// Modes are permissive by default, and defaults change: the mode is set before each process' first prompt.
#[test]
fn trap_6_the_mode_is_set_and_never_inherited() {
    let mut scene = Scene::new("trap-6", "", "");
    scene.open("s", "hello");
    let schedule = scene.create("s", "the prompt");
    scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    assert_eq!(scene.lines("modes"), ["ask"]);
}

/// An agent that has modes, and none is configured: nothing is sent in a mode that nobody chose.
#[test]
fn trap_6_without_a_configured_mode_nothing_is_sent() {
    let mut scene = Scene::new("trap-6-none", "", "");
    let file = scene.home.path().join("agents.toml");
    let text = std::fs::read_to_string(&file).expect("ours");
    std::fs::write(&file, text.replace("mode = \"ask\"\n", "")).expect("ours");
    scene.open("s", "hello");
    let mut scene = scene.kill_and_start();
    let schedule = scene.create("s", "the prompt");
    scene.await_shown(&schedule, "none is configured");
    assert_eq!(scene.prompted("the prompt"), 0);
}

/// A crash in mid-turn leaves the prompt in the conversation: it is looked for, and not sent again, by a durable schedule that
/// is to be redelivered either.
#[test]
fn trap_7_a_crash_in_mid_turn_does_not_double_the_prompt() {
    let mut scene = Scene::new("trap-7", "once:crash-5", "");
    scene.open("s", "hello");
    let rest = ":message \"the prompt\" :durability :durable :delay-ms 1000 \
                :policy {:recovery :redeliver :backoff-ms [100 100]}";
    let schedule = create_in(&mut scene.stream, "s", rest).expect("it is created");
    scene.await_shown(&schedule, ":reveille.run/reason :turn-lost");
    pass(Duration::from_millis(1_000));
    let conversation = scene.lines("old-s.jsonl").join("\n");
    assert_eq!(conversation.matches("the prompt").count(), 1, "{conversation}");
}

/// One process for each conversation: what blocks one of them blocks no other, and a question is answered at once.
#[test]
fn trap_9_one_process_for_each_conversation() {
    let mut scene = Scene::new("trap-9", "once:silent ask", "");
    scene.open("a", "hello");
    scene.open("b", "hello");
    let stuck = scene.create("a", "the stuck one");
    until("it is silent", PATIENCE, || !scene.lines("silences").is_empty());
    let other = scene.create("b", "the other one");
    scene.await_shown(&other, ":psi.scheduler/status :delivered");
    scene.await_shown(&stuck, ":reveille.run/reason :agent-silent");
    assert_eq!(scene.lines("starts").len(), 2);
    let answers = scene.lines("lines").join("\n");
    assert!(answers.contains("\"optionId\":\"r\""), "refused, this once: {answers}");
    assert!(!answers.contains("\"optionId\":\"a"), "and never allowed: {answers}");
}

/// opencode says nothing of a conversation in which a turn is about to begin. What is not said is not idle: the next prompt waits
/// for the turn of the first one, of which the agent has said nothing yet.
#[test]
fn trap_10_a_conversation_of_which_nothing_is_said_is_not_idle() {
    let mut scene = Scene::new("trap-10", "", "");
    scene.open("s", "hello");
    let mut harness = Stream::connect(&scene.daemon.socket).expect("it lives");
    let attached = harness.ask("{:op :host/attach :sessions [\"s\"]}").expect("it lives");
    assert!(attached.keyword("ok").is_some(), "{attached:?}");
    let (first, second) = (scene.create("s", "the first"), scene.create("s", "the second"));
    let take = |harness: &mut Stream| {
        let id = std::iter::from_fn(|| harness.pushed())
            .find_map(|pushed| Some(text(&pushed, &["delivery-id"])?.to_owned()))
            .expect("it is pushed");
        harness.ask(&format!("{{:op :delivery/ack :delivery-id {id:?}}}")).expect("it lives");
    };
    take(&mut harness);
    scene.await_shown(&first, ":psi.scheduler/status :delivered");
    pass(Duration::from_millis(500));
    scene.await_shown(&second, ":psi.scheduler/status :queued");
    for busy in [true, false] {
        harness.ask(&format!("{{:op :session/busy :session-id \"s\" :busy? {busy}}}")).expect("it lives");
    }
    take(&mut harness);
    scene.await_shown(&second, ":psi.scheduler/status :delivered");
}
