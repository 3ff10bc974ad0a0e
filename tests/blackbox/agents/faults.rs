//! What goes wrong with an agent: each fault has its reason within its deadline, and no prompt is sent twice.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::Duration;

use super::{PATIENCE, Scene};
use crate::harness::daemon::{now, pass, until};
use crate::harness::figures::rss;

/// The reasons of the row, and how often the agent got the prompt.
fn fails(name: &str, mode: &str, reason: &str, prompts: usize) -> Scene {
    let mut scene = Scene::new(name, mode, "");
    scene.open("s", "hello");
    let schedule = scene.create("s", "the prompt");
    scene.await_shown(&schedule, ":psi.scheduler/status :failed");
    let shown = scene.shown(&schedule);
    assert!(shown.contains(&format!(":reveille.run/reason :{reason}")), "{shown}");
    // Whatever comes later is not a second prompt.
    pass(Duration::from_millis(300));
    assert_eq!(scene.prompted("the prompt"), prompts, "{shown}");
    scene.await_processes_gone();
    scene
}

fn is_delivered_once(name: &str, mode: &str) -> Scene {
    let mut scene = Scene::new(name, mode, "");
    scene.open("s", "hello");
    let schedule = scene.create("s", "the prompt");
    scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    pass(Duration::from_millis(300));
    assert_eq!(scene.prompted("the prompt"), 1, "{}", scene.shown(&schedule));
    scene.await_processes_gone();
    scene
}

#[test]
fn an_agent_that_ends_before_it_answers_is_started_again() {
    let scene = is_delivered_once("crash-1", "once:crash-1");
    assert_eq!(scene.lines("starts").len(), 2);
}

#[test]
fn an_agent_that_ends_before_it_opens_the_conversation_is_started_again() {
    is_delivered_once("crash-2", "once:crash-2");
}

#[test]
fn an_agent_that_ends_while_it_opens_the_conversation_is_started_again() {
    is_delivered_once("crash-3", "once:crash-3");
}

#[test]
fn an_agent_that_ends_with_the_prompt_unrecorded_does_not_have_it() {
    fails("crash-4", "once:crash-4", "host-refused", 1);
}

#[test]
fn an_agent_that_ends_with_the_prompt_recorded_has_lost_the_turn() {
    fails("crash-5", "once:crash-5", "turn-lost", 1);
}

#[test]
fn an_agent_that_ends_after_a_sign_has_the_prompt() {
    is_delivered_once("crash-6", "once:crash-6");
}

#[test]
fn an_agent_that_ends_after_its_turn_has_the_prompt() {
    is_delivered_once("crash-7", "once:crash-7");
}

#[test]
fn an_agent_that_always_ends_is_broken_and_is_started_less_and_less() {
    let mut scene = Scene::new("broken", "crash-1", "");
    scene.open("s", "hello");
    let schedule = scene.create("s", "the prompt");
    scene.await_shown(&schedule, ":psi.scheduler/status :queued :psi.scheduler/reason :agent-broken");
    until("it was started thrice", PATIENCE, || scene.lines("starts").len() >= 3);
    pass(Duration::from_secs(2));
    // After 50, 100, 200, 400, 800 and 1600 ms, and not in between.
    let starts = scene.lines("starts").len();
    assert!((4..=7).contains(&starts), "{starts} starts");
    assert!(!scene.daemon.log().contains("sk-secret"), "{}", scene.daemon.log());
    let error = scene.session("s", ":psi.agent-session/away-error");
    assert!(error.contains("fake: crashed at 1, key …"), "{error}");
    scene.mode("");
    scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    assert_eq!(scene.prompted("the prompt"), 1);
    let error = scene.session("s", ":psi.agent-session/away-error");
    assert!(error.contains("away-error nil"), "{error}");
}

#[test]
fn an_opening_that_hangs_ends_in_time() {
    let began = now();
    fails("hang", "hang-load", "resume-failed", 0);
    assert!(began.elapsed_here() < Duration::from_secs(10), "{:?}", began.elapsed_here());
}

#[test]
fn an_opening_that_lies_is_not_believed() {
    let mut scene = Scene::new("lie", "lie-load", "");
    scene.open_at("s", "fake:not-there");
    let schedule = scene.create("s", "the prompt");
    scene.await_shown(&schedule, ":reveille.run/reason :resume-failed");
    assert_eq!(scene.prompted("the prompt"), 0);
}

#[test]
fn a_conversation_that_is_not_there_is_told_in_the_agents_words() {
    let mut scene = Scene::new("not-there", "", "");
    scene.open_at("s", "fake:not-there");
    let schedule = scene.create("s", "the prompt");
    scene.await_shown(&schedule, ":reveille.run/reason :resume-failed");
    assert!(scene.shown(&schedule).contains("no such session"), "{}", scene.shown(&schedule));
}

#[test]
fn an_agent_without_a_login_is_waited_for() {
    let mut scene = Scene::new("login", "login", "");
    scene.open("s", "hello");
    let schedule = scene.create("s", "the prompt");
    scene.await_shown(&schedule, ":psi.scheduler/status :queued :psi.scheduler/reason :not-authenticated");
    scene.mode("");
    scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    assert_eq!(scene.prompted("the prompt"), 1);
}

#[test]
fn a_login_that_is_missed_at_the_prompt_is_told() {
    fails("login-prompt", "login-prompt", "not-authenticated", 1);
}

#[test]
fn an_answer_that_is_an_error_is_told() {
    // The agent may have taken the prompt all the same.
    fails("error", "fail-prompt", "outcome-unknown", 1);
}

#[test]
fn silence_after_the_prompt_ends_in_time() {
    let scene = fails("silent", "silent", "agent-silent", 1);
    assert_eq!(scene.lines("cancels").len(), 1, "it was asked to stop first");
}

#[test]
fn silence_after_a_sign_ends_the_turn_and_not_the_run() {
    let mut scene = Scene::new("stuck", "once:stuck", "");
    scene.open("s", "hello");
    let first = scene.create("s", "the first");
    scene.await_shown(&first, ":psi.scheduler/status :delivered");
    let second = scene.create("s", "the second");
    scene.await_shown(&second, ":psi.scheduler/status :delivered");
    assert_eq!((scene.prompted("the first"), scene.prompted("the second")), (1, 1));
}

#[test]
fn noise_and_requests_that_nobody_knows_do_no_harm() {
    let scene = is_delivered_once("noise", "noise");
    let refused = scene.lines("lines").iter().filter(|line| line.contains("-32601")).count();
    assert_eq!(refused, 1);
}

#[test]
fn an_agent_that_is_not_there_is_waited_for() {
    let mut scene = Scene::new("missing", "", "");
    let program = scene.home.path().join("late");
    let file = scene.home.path().join("agents.toml");
    let text = fs::read_to_string(&file).expect("ours");
    let current = format!("{:?}", std::env::current_exe().expect("a program"));
    fs::write(&file, text.replace(&current, &format!("{program:?}"))).expect("ours");
    scene.open("s", "hello");
    let scene = scene.kill_and_start();
    // Known before anything is due, so that an answer can say it.
    until("the session is away", PATIENCE, || {
        scene.session("s", ":psi.agent-session/away").contains(":agent-missing")
    });
    let call = r#"{"when": "in 1 hour", "message": "later"}"#;
    let headers = ["Reveille-Session: s", "Content-Type: application/json"];
    let reply = scene.daemon.ask("POST /tools/create", &headers, call);
    assert!(reply.body.contains("the program of its session's agent is not installed"), "{}", reply.body);
    // A daemon that starts while it is missing looks for it too.
    let mut scene = scene.kill_and_start();
    let schedule = scene.create("s", "the prompt");
    scene.await_shown(&schedule, ":psi.scheduler/status :queued :psi.scheduler/reason :agent-missing");
    std::os::unix::fs::symlink(std::env::current_exe().expect("a program"), &program).expect("a link");
    scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
}

/// A conversation that somebody has in a window: nothing is started, until it is closed.
#[test]
fn nothing_is_resumed_into_a_conversation_that_somebody_holds() {
    let mut scene = Scene::new("held", "", "holders = [\"/bin/cat\", \"HELD\"]");
    let (file, held) = (scene.home.path().join("agents.toml"), scene.home.path().join("held.json"));
    let text = fs::read_to_string(&file).expect("ours");
    fs::write(
        &file,
        text.replace("HELD", held.to_str().expect("UTF-8")).replace("when-unknown", "when-free"),
    )
    .expect("ours");
    scene.open("s", "hello");
    let mut scene = scene.kill_and_start();
    let window = serde_json::json!([{ "sessionId": "old-s", "pid": 1, "status": "idle", "cwd": "/" }]);
    fs::write(&held, window.to_string()).expect("ours");
    let schedule = scene.create("s", "the prompt");
    scene.await_shown(&schedule, ":psi.scheduler/status :queued :psi.scheduler/reason :held-elsewhere");
    pass(Duration::from_millis(500));
    assert!(scene.lines("starts").is_empty(), "nothing was started");
    assert!(scene.session("s", ":psi.agent-session/away").contains(":held-elsewhere"));
    let holder = scene.session("s", ":psi.agent-session/holder");
    assert!(holder.contains("{:pid 1 :busy? false}"), "{holder}");
    let mut explain = scene.home.command(&["explain", &schedule, "--data-dir", "state"]);
    let explained = scene.home.run(&mut explain);
    assert!(explained.out.contains("holds the agent's conversation"), "{}{}", explained.out, explained.err);
    // Somebody who cannot be asked counts as a holder.
    fs::write(&held, "no list").expect("ours");
    pass(Duration::from_millis(500));
    assert!(scene.lines("starts").is_empty(), "nothing was started");
    let closed = now();
    fs::write(&held, "[]").expect("ours");
    scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    assert!(closed.elapsed_here() < Duration::from_secs(2), "{:?}", closed.elapsed_here());
    assert_eq!(scene.prompted("the prompt"), 1);
}

/// The end of the process that has a conversation open is noticed at once, not at the next time to ask.
#[test]
fn a_conversation_is_gone_on_with_as_soon_as_its_window_ends() {
    let scene =
        Scene::new("ends", "", "holders = [\"/bin/sh\", \"-c\", \"test -e PID && cat HELD || echo []\"]");
    let file = scene.home.path().join("agents.toml");
    let held = scene.home.path().join("held.json");
    let mut window = Command::new("/bin/sleep").arg("600").spawn().expect("it is there");
    let list = serde_json::json!([{ "sessionId": "old-s", "pid": window.id(), "status": "idle" }]);
    fs::write(&held, list.to_string()).expect("ours");
    let text = fs::read_to_string(&file).expect("ours").replace("when-unknown", "when-free");
    // As the agent's own list does, this one leaves out a process that has ended.
    let text = text.replace("PID", &format!("/proc/{}/exe", window.id()));
    let text =
        text.replace("HELD", held.to_str().expect("UTF-8")).replace("probe = \"100ms\"", "probe = \"10m\"");
    fs::write(&file, text).expect("ours");
    let mut scene = scene.kill_and_start();
    scene.open("s", "hello");
    let schedule = scene.create("s", "the prompt");
    scene.await_shown(&schedule, ":psi.scheduler/status :queued :psi.scheduler/reason :held-elsewhere");
    window.kill().expect("it runs");
    // Its parent has to see its end, as a terminal does.
    window.wait().expect("it has ended");
    scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    assert_eq!(scene.prompted("the prompt"), 1);
}

/// An agent that refuses to open a conversation for a second writer is asked again later, and its run is not failed.
#[test]
fn nothing_is_resumed_where_the_agent_refuses_a_second_writer() {
    let mut scene = Scene::new("writer", "second-writer", "profile = \"codex\"");
    scene.open("s", "hello");
    let schedule = scene.create("s", "the prompt");
    scene.await_shown(&schedule, ":psi.scheduler/status :queued :psi.scheduler/reason :held-elsewhere");
    pass(Duration::from_millis(700));
    assert_eq!(scene.prompted("the prompt"), 0);
    let starts = scene.lines("starts").len();
    assert!(starts <= 4, "each start takes a process: {starts}");
    scene.mode("");
    scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    assert_eq!(scene.prompted("the prompt"), 1);
}

/// What a window of the agent has open nobody can say: while one is in the directory of a conversation, that one waits, even if
/// we began it.
#[test]
fn nothing_is_resumed_beside_a_window_of_the_agent() {
    let scene = Scene::new("window", "", "");
    let file = scene.home.path().join("agents.toml");
    let text = fs::read_to_string(&file).expect("ours");
    fs::write(&file, text.replace("when-unknown", "when-free")).expect("ours");
    let mut scene = scene.kill_and_start();
    scene.open_at("s", "fake");
    let first = scene.create("s", "the first");
    scene.await_shown(&first, ":psi.scheduler/status :delivered");
    let mut window = Command::new("/bin/sleep");
    window.arg0("fake").arg("600").current_dir(scene.home.path().join("work"));
    let mut window = window.spawn().expect("it is there");
    let second = scene.create("s", "the second");
    scene.await_shown(&second, ":psi.scheduler/status :queued :psi.scheduler/reason :held-elsewhere");
    pass(Duration::from_millis(500));
    assert_eq!(scene.prompted("the second"), 0);
    window.kill().expect("it lives");
    window.wait().expect("it ends");
    let closed = now();
    scene.await_shown(&second, ":psi.scheduler/status :delivered");
    assert!(closed.elapsed_here() < Duration::from_secs(2), "{:?}", closed.elapsed_here());
    assert_eq!(scene.prompted("the second"), 1);
}

/// A second turn with these lines of configuration and this mode waits for the budget.
fn waits_after_one_turn(name: &str, mode: &str, lines: &str) {
    let mut scene = Scene::new(name, mode, lines);
    scene.open("s", "hello");
    let first = scene.create("s", "the first");
    scene.await_shown(&first, ":psi.scheduler/status :delivered");
    let second = scene.create("s", "the second");
    scene.await_shown(&second, ":psi.scheduler/status :queued :psi.scheduler/reason :over-budget");
    assert_eq!(scene.prompted("the second"), 0);
}

#[test]
fn turns_beyond_those_of_an_hour_wait() {
    waits_after_one_turn("budget", "", "turns-per-hour = 1");
}

/// One turn costs 0.75 here, and another one might cost as much.
#[test]
fn turns_beyond_what_a_day_may_cost_wait() {
    waits_after_one_turn("money", "dear", "cost-per-day = 1.0");
}

/// A quantile of the time that the agents waited for us between the start and the prompt.
fn waited(scene: &Scene, percent: usize) -> Duration {
    let mut all: Vec<u64> = scene.lines("waited-us").iter().map(|it| it.parse().expect("a number")).collect();
    all.sort_unstable();
    Duration::from_micros(all[(all.len() * percent).div_ceil(100) - 1])
}

#[test]
fn never_more_processes_than_are_configured_and_in_order() {
    let mut scene = Scene::new("hundred", "", "processes = 4");
    let sessions: Vec<String> = (0..100).map(|number| format!("s{number:03}")).collect();
    for session in &sessions {
        scene.open(session, "hello");
    }
    let due: Vec<String> = sessions
        .iter()
        .map(|session| {
            let rest = format!(":message \"prompt {session}.\" :durability :durable :delay-ms 2500");
            crate::harness::ask::create_in(&mut scene.stream, session, &rest).expect("it is created")
        })
        .collect();
    let began = now();
    let mut most = 0;
    until("all are delivered", Duration::from_secs(120), || {
        let starts = scene.lines("starts");
        let recent = starts.iter().rev().take(40).filter_map(|line| line.split(' ').next());
        most = most.max(recent.filter(|process| super::is_alive(process)).count());
        scene.lines("prompts").len() >= sessions.len()
    });
    let rss = rss(scene.daemon.id()) >> 10;
    println!(
        "100 sessions with four processes: {:?}, at most {most} at a time; RSS {rss} KiB; our own time of a turn, \
         from the agent's answers to our next lines: p50 {:?}, p99 {:?}",
        began.elapsed_here(),
        waited(&scene, 50),
        waited(&scene, 99),
    );
    assert!(rss < 50 << 10, "{rss} KiB");
    assert!((1..=4).contains(&most), "{most} at a time");
    let prompts = scene.lines("prompts");
    for (place, session) in sessions.iter().enumerate() {
        let found =
            prompts.iter().position(|prompt| prompt.contains(&format!("prompt {session}."))).expect("once");
        assert!(found.abs_diff(place) <= 8, "{session} came as number {found}");
    }
    assert_eq!(prompts.len(), 100);
    for schedule in due {
        scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    }
}
