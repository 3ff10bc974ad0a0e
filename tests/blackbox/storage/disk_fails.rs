//! A disk that fails under a living daemon (T13): flushes, writes, both, once and for a while. Degraded, not dead.
//!
//! The failures are played by a few lines of C in front of the C library, built here with `cc`.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use reveille::edn::Value;
use reveille_checker::Event;

use crate::faults::layer;
use crate::harness::ask::{assert_kept, create, middle};
use crate::harness::daemon::{Daemon, Ended, Home, PATIENCE, now, until};
use crate::harness::stream::{Harness, Stream};

/// A daemon whose disk fails as long as a file names the calls that fail, with a host and a caller.
struct Failing {
    /// The file that names the calls.
    flag: PathBuf,
    daemon: Daemon,
    harness: Harness,
    stream: Stream,
}

impl Failing {
    /// `None` where there is no C compiler.
    fn start(home: &Home) -> Option<Failing> {
        let library = layer::build(home, "disk_fails")?;
        let flag = home.path().join("calls");
        let mut serve = home.serve();
        serve.env("LD_PRELOAD", &library).env("DISK_FAILS", &flag);
        let daemon = Daemon::start_with(home, &mut serve);
        let harness = Harness::attach(&daemon.socket, &["main".to_owned()]).expect("it lives");
        let stream = Stream::connect(&daemon.socket).expect("it lives");
        Some(Failing { flag, daemon, harness, stream })
    }
}

#[test]
fn a_disk_that_fails_degrades_the_daemon_and_no_more() {
    let home = Home::new("fails");
    let Some(Failing { flag, daemon, harness, mut stream }) = Failing::start(&home) else { return };
    let far = ":durability :durable :delay-ms 3600000 :message \"m\"";
    let mut kept = vec![create(&mut stream, far).expect("the disk is well")];
    for calls in ["fsync", "pwrite", "fsync pwrite"] {
        // One that will be due while nothing can be kept: it waits, and is not lost.
        let waits =
            create(&mut stream, ":durability :durable :delay-ms 300 :message \"m\"").expect("it is well");
        let other = format!("{}-draft", flag.display());
        fs::write(&other, calls).expect("ours");
        fs::rename(&other, &flag).expect("ours");
        // What is durable stands still from here on.
        stream.diary.note(Event::Hold { at: stream.diary.now(), session: None });
        let refusal = create(&mut stream, far).expect_err("nothing can be kept");
        let (mut told, mut late) = (Vec::new(), Vec::new());
        until("it is known to be down", Duration::from_secs(5), || {
            daemon.metric("reveille_store_down") > 0.0
        });
        assert_told(&daemon, &home, &waits);
        for round in 0..5 {
            let began = now();
            assert_eq!(create(&mut stream, far), Err(refusal.clone()), "{calls}, round {round}");
            told.push(began.elapsed_here());
            let asked = now();
            let id = create(&mut stream, ":durability :volatile :delay-ms 200 :message \"m\"");
            let receipt = harness.next(PATIENCE).expect("it fires");
            assert_eq!(Ok(receipt.run.schedule.to_string()), id, "{calls}: what is durable stands still");
            late.push(asked.elapsed_here().saturating_sub(Duration::from_millis(200)));
        }
        let (told, late) = (middle(told), middle(late));
        assert!(
            told < Duration::from_secs(1) && late < Duration::from_millis(500),
            "{calls}: {told:?}, {late:?}"
        );
        // The same request again is not a promise either, while memory may know of what the disk does not.
        let keyed = format!("{far} :idempotency-key \"{calls}\"");
        assert_eq!(create(&mut stream, &keyed), Err(refusal.clone()));
        assert_eq!(create(&mut stream, &keyed), Err(refusal.clone()));
        stream.diary.note(Event::Release { at: stream.diary.now(), session: None });
        fs::remove_file(&flag).expect("it is there");
        let well = now();
        let receipt = harness.next(Duration::from_secs(5)).expect("what waited is delivered");
        assert_eq!(receipt.run.schedule.to_string(), waits, "{calls}");
        println!("{calls}: {refusal}; it went on {:?} after the disk was well", well.elapsed_here());
        assert_well(&daemon, &home, &waits);
        kept.extend([
            waits,
            create(&mut stream, far).expect("it is well"),
            create(&mut stream, &keyed).expect("it is"),
        ]);
        assert_kept(&daemon, &kept);
    }
    assert!(daemon.log().contains("the store failed"), "{}", daemon.log());
    daemon.kill();
    let daemon = Daemon::start(&home);
    assert_kept(&daemon, &kept);
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    home.assert_sound();
    home.assert_history();
}

/// A command for the daemon that serves the data directory.
fn run(home: &Home, args: &[&str]) -> Ended {
    home.run(home.command(args).env("REVEILLE_DATA_DIR", home.state()))
}

/// Wherever somebody may look: that the store cannot be written, since when, and what waits for it.
fn assert_told(daemon: &Daemon, home: &Home, waits: &str) {
    let soon = Duration::from_secs(5);
    until("it is not ready", soon, || daemon.ask("GET /readyz", &[], "").status == 503);
    let ready = daemon.ask("GET /readyz", &[], "").body;
    assert!(ready.contains("the store cannot be written since 20"), "{ready}");
    let status = run(home, &["status"]).out;
    assert!(status.contains("mode       store-failing\n"), "{status}");
    assert!(status.contains("\nstore      cannot be written since 20"), "{status}");
    let explained = run(home, &["explain", waits]).out;
    assert!(explained.contains("gets no run as long as the store cannot be written"), "{explained}");
    let listed = format!("[{{[:psi.scheduler/schedule-id {waits:?}] [:psi.scheduler/reason]}}]");
    let listed = Value::from(daemon.eql(&listed)).to_string();
    assert!(listed.contains(":psi.scheduler/reason :store-unavailable"), "{listed}");
    // The daemon may be opening the store anew just now.
    until("the doctor says so", soon, || {
        let doctor = run(home, &["doctor"]);
        doctor.code == Some(1) && doctor.out.contains("write-failure       since 20")
    });
}

/// All is as before, and what waited says why.
fn assert_well(daemon: &Daemon, home: &Home, waited: &str) {
    assert_eq!(daemon.metric("reveille_store_down"), 0.0);
    assert_eq!(daemon.ask("GET /readyz", &[], "").status, 200);
    let explained = run(home, &["explain", waited]).out;
    assert!(explained.contains("The store could not be written from "), "{explained}");
}

/// A repeat of a creation that failed must not be answered from what only memory knows: the disk comes back without it.
#[test]
fn a_creation_that_was_not_kept_is_not_acknowledged_to_its_repeat() {
    let home = Home::new("fails-once");
    let Some(Failing { flag, daemon, harness: _harness, mut stream }) = Failing::start(&home) else { return };
    let keyed = ":durability :durable :delay-ms 3600000 :message \"m\" :idempotency-key \"k\"";
    fs::write(&flag, "pwrite").expect("ours");
    // The one whose own write fails is taken back from memory.
    let first = create(&mut stream, keyed);
    let repeats: Vec<_> = (0..5).map(|_| create(&mut stream, keyed)).collect();
    fs::remove_file(&flag).expect("it is there");
    assert!(first.is_err() && repeats.iter().all(|again| *again == first), "{first:?}, then {repeats:?}");
    let mut made = None;
    until("durable work goes on", Duration::from_secs(5), || {
        made = create(&mut stream, keyed).ok();
        made.is_some()
    });
    assert_kept(&daemon, &made.into_iter().collect::<Vec<_>>());
}

/// A refusal says that nothing was changed, and so it is for all who look, before the disk works again and afterwards.
#[test]
fn nothing_that_was_refused_is_shown_while_the_disk_fails() {
    let home = Home::new("refused");
    let Some(Failing { flag, daemon, harness: _harness, mut stream }) = Failing::start(&home) else { return };
    let far = ":durability :durable :delay-ms 3600000 :message \"m\"";
    let kept = create(&mut stream, far).expect("the disk is well");
    let list = || {
        let asked = "[:psi.scheduler/pending-count \
                     {:psi.scheduler/schedules [:psi.scheduler/schedule-id :psi.scheduler/status]}]";
        Value::from(daemon.eql(asked)).to_string()
    };
    let before = list();
    assert!(before.contains(&kept), "{before}");
    let which = format!("{{:schedule-id {kept:?}}}");
    let refused = [
        format!("[(psi.scheduler/create {{:kind :message :session-id \"main\" {far}}})]"),
        format!("[(psi.scheduler/cancel {which})]"),
        format!("[(psi.scheduler/pause {which})]"),
    ];
    for command in refused {
        fs::write(&flag, "pwrite").expect("ours");
        let answer = stream.eql(&command).expect("it lives");
        assert!(answer.is_err(), "{command}: {answer:?}");
        // The answer may come just before the engine has heard of the failure.
        until("it is not shown", Duration::from_secs(5), || list() == before);
        assert!(daemon.metric("reveille_store_down") > 0.0, "{command}: the disk works again already");
        fs::remove_file(&flag).expect("it is there");
        until("the disk works", Duration::from_secs(5), || daemon.metric("reveille_store_down") == 0.0);
        assert_eq!(list(), before, "{command}");
    }
}

/// Whoever waited for the disk has time for the answer all the same, in every language.
#[test]
fn a_slow_disk_is_no_reason_to_leave_an_answer_out() {
    let home = Home::new("slow");
    let Some(library) = layer::build(&home, "disk_fails") else { return };
    let flag = home.path().join("calls");
    let mut serve = home.serve();
    serve.env("LD_PRELOAD", &library).env("DISK_FAILS", &flag);
    let daemon = Daemon::start_with(&home, &mut serve);
    daemon.eql("[(psi.agent-session/open {:session-id \"main\" :listens? true})]");
    let created = "[:psi.scheduler/schedule-id :psi.scheduler/created? :psi.scheduler/fire-at]";
    let ask = "(psi.scheduler/create {:kind :message :session-id \"main\" :message \"m\" :durability :durable :delay-ms 60000})";
    fs::write(&flag, "slow").expect("ours");
    let began = now();
    let answer = daemon.eql(&format!("[{{{ask} {created}}}]"));
    assert!(began.elapsed_here() > Duration::from_millis(800), "it was not slow");
    assert!(answer.keyword("reveille.error/why").is_none() && answer.len() == 1, "{answer:?}");
    let answer = daemon.graphql(
        "mutation { createSchedule(input: {originSessionId: \"main\", kind: MESSAGE, message: \"m\", delayMs: 60000, \
         durability: DURABLE}) { created schedule { scheduleId fireAt } } }",
    );
    assert_eq!(answer["data"]["createSchedule"]["created"], true, "{answer}");
    let _ = fs::remove_file(&flag);
}
