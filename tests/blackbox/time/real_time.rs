//! The tests that wait on real time: the only ones that may. Together they take less than six seconds.
//!
//! What is shown here is the wiring of clocks, driver and binary; the rules are shown in simulated time.

use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use reveille::adapter::{ClockOs, EntropyOs, HostLocal};
use reveille::domain::{BootTime, HostId, ScheduleId, SessionConfig, SessionId, Span, Status, When};
use reveille::edn::{Caps, Value, read};
use reveille::embed::Reveille;
use reveille::engine::{NewSchedule, ScheduleRecord, State};
use reveille::port::Clock;
use reveille::runtime::{Handle, Parts, Runtime};

use crate::harness::command::program;

const CAPS: Caps = Caps { bytes_max: 1 << 20, depth_max: 64, digits_max: 1_000, forms_max: 100_000 };

fn boot() -> BootTime {
    ClockOs.now().boot
}

fn open(handle: &Handle, name: &str) -> SessionId {
    let id = SessionId::new(name).expect("a good id");
    handle.open_session(Some(id), HostId::LOCAL, SessionConfig::default()).expect("a fresh engine has room").0
}

fn in_millis(handle: &Handle, session: &SessionId, millis: u64, text: &str) -> ScheduleId {
    let when = When::After(Span::from_millis(millis));
    handle.schedule(NewSchedule::message(session.clone(), when, text)).expect("the session is open")
}

/// The answers that the demo printed. One that is too wide for a line goes on in indented ones.
fn answers(text: &str) -> Vec<String> {
    let mut answers: Vec<String> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("=> "), answers.last_mut()) {
            (Some(first), _) => answers.push(first.to_owned()),
            (None, Some(answer)) if line.starts_with("    ") => *answer += line,
            (None, _) => {}
        }
    }
    answers
}

/// The id of a schedule that an answer of the demo shows, by its label.
fn created(answer: &str) -> Option<(String, String)> {
    let answer = read(answer.as_bytes(), &CAPS).ok()?;
    let schedule =
        answer.as_map()?.keyword("psi-tool/scheduler")?.as_map()?.keyword("schedule")?.as_map()?.clone();
    let text = |key: &str| schedule.keyword(key).and_then(Value::as_str).map(str::to_owned);
    Some((text("label")?, text("schedule-id")?))
}

/// A delivery that the demo printed: the label and the lateness in milliseconds.
fn delivery(line: &str) -> Option<(String, f64)> {
    let (_, rest) = line.split_once("run-delivered \"")?;
    let (label, rest) = rest.split_once("\", ")?;
    Some((label.to_owned(), rest.strip_suffix(" ms late")?.parse().ok()?))
}

/// Runs the demo; one that has not ended after ten seconds is killed, and what it printed is shown.
fn demo() -> (ExitStatus, String) {
    let mut command = Command::new(program());
    let mut child = command.arg("demo").stdout(Stdio::piped()).spawn().expect("the binary was built");
    let mut stdout = child.stdout.take().expect("stdout is a pipe");
    let (sender, text) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.read_to_string(&mut text);
        // Nobody listens any more when the test has failed meanwhile.
        let _ = sender.send(read.map(|_| text));
    });
    let in_time = text.recv_timeout(Duration::from_secs(10));
    if in_time.is_err() {
        child.kill().expect("the demo is ours to end");
    }
    let status = child.wait().expect("the demo is our child");
    let said = in_time.or_else(|_| text.recv().map_err(|_| mpsc::RecvTimeoutError::Disconnected));
    (status, said.expect("the reader lives as long as the demo").expect("the demo prints UTF-8"))
}

#[test]
fn the_demo_shows_the_main_job() {
    let start = boot();
    let (status, text) = demo();
    let took = boot().since(start);
    assert!(status.success(), "{status} after {took:?}\n{text}");
    assert!(took < Span::from_millis(10_000), "{took:?}");

    let deliveries: Vec<(String, f64)> = text.lines().filter_map(delivery).collect();
    let labels: Vec<&str> = deliveries.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels, ["check-build", "morning-review", "when-idle"], "{text}");
    assert!(deliveries.iter().all(|(_, late)| *late >= 0.0));
    assert!(deliveries[..2].iter().all(|(_, late)| *late < 1_000.0), "{deliveries:?}");

    assert!(text.contains("schedule-cancelled \"never\", because cancelled"), "{text}");
    assert!(text.contains("schedule is not cancellable"), "the second cancel is refused\n{text}");
    assert!(text.contains("run-queued \"when-idle\", because session-busy"), "{text}");
    let created: Vec<(String, String)> = answers(&text).iter().filter_map(|it| created(it)).collect();
    let review = &created.iter().find(|(label, _)| label == "morning-review").expect("it was created").1;
    assert!(
        text.contains(&format!("opened by {review} of session demo, label \"morning-review\"")),
        "{text}"
    );
    let (context, prompt) = ("Context: review the last merged PR first.", "Review the overnight changes");
    let place = |words: &str| text.rfind(words).expect("the transcript shows it");
    assert!(place(context) < place(prompt), "context comes before the prompt\n{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 220), "only sentences are long\n{text}");
    let (done, ahead) = (&text[place(";; What was done")..], &text[place(";; And what will be done")..]);
    assert!(done.contains("never: ") && done.contains("was called off"), "it explains\n{text}");
    assert!(
        ahead.contains("Stand-up") && ahead.contains(":reveille.slot/will :fires"),
        "it foresees\n{text}"
    );
    let transcripts = &text[place(";; The transcripts")..];
    assert!(!transcripts.contains("Nobody will read this"), "{text}");
    assert!(
        text.contains(
            "expected 4 = delivered 3 + left 0 + skipped 0 + cancelled 1 + failed 0 + lost 0 + pending 0"
        ),
        "{text}"
    );
}

#[test]
fn a_driver_delivers_on_time_and_never_early() {
    let (sender, inbox) = mpsc::channel();
    let engine = Reveille::builder().on_delivery(move |_, message| {
        // The receiver lives as long as the test.
        let _ = sender.send((boot(), message.text()));
    });
    let mut engine = engine.start().expect("the system has a thread");
    let handle = engine.handle().clone();
    let session = open(&handle, "s1");
    let mut expected = Vec::new();
    // Not in the order in which they are due, so that the driver is roused for an earlier one than it sleeps for.
    for millis in [400, 200, 300, 100] {
        let before = boot();
        in_millis(&handle, &session, millis, &format!("{millis}"));
        expected.push((format!("{millis}"), before.after(Span::from_millis(millis))));
    }
    let cancelled = in_millis(&handle, &session, 250, "cancelled");
    handle.cancel(reveille::domain::Scope::Session(session), cancelled).expect("it waits");
    let arrived: Vec<(BootTime, String)> = inbox.iter().take(4).collect();
    let texts: Vec<&str> = arrived.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["100", "200", "300", "400"]);
    for (at, text) in &arrived {
        let due = expected.iter().find(|(known, _)| known == text).expect("what arrives was asked for").1;
        assert!(*at >= due, "{text} came {:?} early", due.since(*at));
        assert!(at.since(due) < Span::from_millis(1_000), "{text} came {:?} late", at.since(due));
    }
    engine.shut_down();
    assert!(inbox.try_recv().is_err(), "the cancelled one never comes");
}

#[test]
fn tool_with_wait_stays_for_the_delivery() {
    let start = boot();
    let args =
        r#"{:action "scheduler" :op "create" :kind "message" :delay-ms 1000 :message "Stretch your legs."}"#;
    let output = Command::new(program())
        .args(["tool", "psi-tool", "--wait", args])
        .stdin(Stdio::null())
        .output()
        .expect("the binary was built");
    let took = boot().since(start);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[1].contains("Stretch your legs.") && lines[1].contains(":status :delivered"), "{text}");
    assert!(took >= Span::from_millis(1_000), "{took:?}");
    assert!(took < Span::from_millis(4_000), "{took:?}");
}

#[test]
fn a_shutdown_with_pending_work_is_prompt() {
    let parts = Parts {
        clock: Arc::new(ClockOs),
        entropy: Arc::new(EntropyOs::new().expect("the system has randomness")),
        local: Arc::new(HostLocal::new()),
        zones: Arc::default(),
        without_store: reveille::runtime::WithoutStore::Reject,
        journal: None,
    };
    let mut runtime = Runtime::start(parts).expect("the system has a thread");
    let handle = runtime.handle().clone();
    let ids: Vec<ScheduleId> = (0..100)
        .flat_map(|number| {
            let session = open(&handle, &format!("s{number}"));
            (0..10).map(|_| in_millis(&handle, &session, 60_000, "never")).collect::<Vec<_>>()
        })
        .collect();
    let start = boot();
    runtime.shut_down();
    runtime.shut_down();
    let took = boot().since(start);
    assert!(took < Span::from_millis(1_500), "{took:?}");
    let status = |state: &State, id: &ScheduleId| state.schedule(id).map(ScheduleRecord::status);
    let all = handle.view(|state| ids.iter().all(|id| status(state, id) == Some(Status::Cancelled)));
    assert!(all, "what waited is called off");
    assert!(
        handle.open_session(None, HostId::LOCAL, SessionConfig::default()).is_err(),
        "nothing new is taken"
    );
}
