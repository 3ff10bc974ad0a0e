//! `reveille agents test`: one line for each step, and a failed step says why.

use super::Scene;
use crate::harness::daemon::Ended;

fn tested(scene: &Scene, agent: &str) -> Ended {
    let (state, work) = (scene.home.state(), scene.home.path().join("work"));
    let mut command = scene.home.command(&["agents", "test", agent, "--patience", "10"]);
    scene.home.run(command.arg("--data-dir").arg(state).arg("--directory").arg(work))
}

#[test]
fn an_agent_that_is_woken_in_its_own_conversation_passes() {
    let scene = Scene::new("trial", "", "");
    let ended = tested(&scene, "fake");
    let steps: Vec<&str> = ended.out.lines().map(|line| line.get(..13).unwrap_or(line).trim()).collect();
    let all = ["ok    agent", "ok    begin", "ok    kill", "ok    resume", "ok    same"];
    assert_eq!((steps, ended.err.as_str(), ended.code), (all.to_vec(), "", Some(0)), "{}", ended.out);
    assert_eq!((scene.prompted("Remember the word"), scene.prompted("Which word")), (1, 1));
    let sessions = scene.daemon.eql("[{:psi.agent-session/sessions [:psi.agent-session/address]}]");
    assert!(!reveille::edn::Value::from(sessions).to_string().contains("fake"), "its session is closed");
}

#[test]
fn a_step_that_fails_says_why() {
    let scene = Scene::new("trial-fails", "", "");
    let ended = tested(&scene, "nonesuch");
    assert!(ended.err.contains("no [agents.nonesuch]"), "{}", ended.err);
    assert_eq!((ended.out.as_str(), ended.code), ("", Some(1)));
    scene.mode("fail-prompt");
    let ended = tested(&scene, "fake");
    assert!(ended.err.contains("begin: ") && ended.err.contains("the model is not there"), "{}", ended.err);
    assert_eq!(ended.code, Some(1));
    scene.mode("crash-1");
    let ended = tested(&scene, "fake");
    assert!(ended.err.contains("cannot be reached: :agent-broken (fake: crashed at 1"), "{}", ended.err);
    // It forgets what it was told, as an agent does that begins another conversation.
    scene.mode("forget");
    let ended = tested(&scene, "fake");
    assert!(ended.err.contains("same: the conversation goes on, and its answer lacks"), "{}", ended.err);
}
