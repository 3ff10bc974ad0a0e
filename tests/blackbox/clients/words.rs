//! What commands say to a person: that there is no daemon, that a schedule is unknown, and what has changed.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use reveille::edn::{Caps, Map, Value, read};

use crate::harness::command::program;
use crate::harness::daemon::{Daemon, Ended, Home, pass, until};

const CREATE: &str = "[(psi.scheduler/create {:session-id \"main\" :kind :message :message \"m\" :label \"rotate\" \
                      :delay-ms 3600000 :durability :durable})]";

/// A command without a daemon, or for the one that serves the data directory.
fn run(home: &Home, args: &[&str]) -> Ended {
    home.run(home.command(args).env("REVEILLE_DATA_DIR", home.state()))
}

/// A daemon that is down must not look like a quiet night.
#[test]
fn without_a_daemon_questions_and_calls_say_so() {
    let home = Home::new("no-daemon");
    let list = "{:action \"scheduler\" :op \"list\"}";
    for args in [
        &["eql", "[:psi.scheduler/pending-count]"][..],
        &["graphql", "{ pendingCount }"],
        &["forecast"],
        &["explain", "sch-nope"],
        &["log"],
        &["tool", "psi-tool", list],
        &["pause", "sch-nope"],
        &["approvals"],
        &["watch"],
        &["tasks"],
        &["channels"],
        &["mcp", "--session", "main"],
    ] {
        let ended = run(&home, args);
        assert_eq!(ended.code, Some(2), "{args:?}: {}{}", ended.out, ended.err);
        assert!(
            ended.err.contains("there is no daemon to ask; start one with `reveille serve`"),
            "{}",
            ended.err
        );
        assert!(ended.out.is_empty(), "{args:?}: {}", ended.out);
    }
    // What makes no sense in an empty engine does not advise one.
    for args in [&["pause", "sch-nope"][..], &["approvals"], &["hold-all"], &["dashboard"], &["calendar"]] {
        let ended = run(&home, args);
        assert!(ended.err.contains("there is no daemon to ask"), "{args:?}: {}", ended.err);
        assert!(!ended.err.contains("embedded"), "{args:?}: {}", ended.err);
        let ended = run(&home, &[args, &["--embedded"]].concat());
        assert_eq!(ended.code, Some(2), "{args:?}: {}{}", ended.out, ended.err);
        assert!(ended.err.contains("leave out --embedded"), "{args:?}: {}", ended.err);
    }
    for args in [
        &["eql", "--embedded", "[:psi.scheduler/pending-count]"][..],
        &["graphql", "--embedded", "{ pendingCount }"],
        &["forecast", "--embedded"],
        &["tool", "--embedded", "psi-tool", list],
        &["mcp", "--embedded"],
    ] {
        let ended = run(&home, args);
        assert_eq!(ended.code, Some(0), "{args:?}: {}{}", ended.out, ended.err);
    }
}

/// A script tells a daemon that is down from an answer, also where it names the daemon itself.
#[test]
fn a_daemon_that_does_not_answer_is_exit_code_2() {
    let home = Home::new("unanswered");
    let list = "{:action \"scheduler\" :op \"list\"}";
    // Nothing listens on this port.
    let url = "http://127.0.0.1:1";
    for args in [
        &["eql", "[:psi.scheduler/pending-count]"][..],
        &["graphql", "{ pendingCount }"],
        &["tool", "psi-tool", list],
        &["list"],
        &["forecast"],
        &["status"],
        &["explain", "sch-nope"],
        &["pause", "sch-nope"],
        &["log"],
        &["approvals"],
        &["dashboard", "--print"],
        &["stdio"],
        &["mcp", "--session", "main"],
    ] {
        let by_flag = [args, &["--url", url]].concat();
        for ended in [
            home.run(home.command(&by_flag).env("REVEILLE_TOKEN", "t")),
            home.run(home.command(args).env("REVEILLE_TOKEN", "t").env("REVEILLE_URL", url)),
            // Without a token: no daemon serves the directory that would have one.
            run(&home, &by_flag),
        ] {
            assert_eq!((ended.code, &*ended.out), (Some(2), ""), "{args:?}: {}", ended.err);
            assert!(ended.err.contains(url), "{args:?}: {}", ended.err);
        }
    }
}

/// What does not exist is exit code 1 for every command, as it is no fault of the call.
#[test]
fn what_does_not_exist_is_exit_code_1() {
    let home = Home::new("absent");
    let _daemon = Daemon::start(&home);
    let digest = "0".repeat(64);
    for args in [
        &["show", "sch-nope"][..],
        &["explain", "sch-nope"],
        &["pause", "sch-nope"],
        &["cancel", "sch-nope"],
        &["inbox", "nope"],
        &["list", "--session", "nope"],
        &["deny", "nope"],
        &["approve", "nope", "--digest", &digest],
    ] {
        let ended = run(&home, args);
        assert_eq!(ended.code, Some(1), "{args:?}: {}{}", ended.out, ended.err);
    }
    // For EQL a session that nobody knows has nothing; a person who misspelt it is told so.
    let nobody = run(&home, &["eql", "--session", "nope", "[:psi.scheduler/pending-count]"]);
    assert_eq!((nobody.code, nobody.out.trim()), (Some(0), "{:psi.scheduler/pending-count 0}"));
    assert!(nobody.err.contains("session not found: nope"), "{}", nobody.err);
    let empty = run(&home, &["deny", ""]);
    assert_eq!(empty.code, Some(2), "{}", empty.err);
    assert!(empty.err.contains("the id is empty"), "{}", empty.err);
}

/// A harness tells the end of its daemon from the end of its own input.
#[test]
fn a_stream_whose_daemon_dies_is_no_orderly_end() {
    for signal in ["-KILL", "-TERM"] {
        let home = Home::new("stream-dies");
        let daemon = Daemon::start(&home);
        let mut command = home.command(&["stdio"]);
        command.env("REVEILLE_DATA_DIR", home.state()).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut input = child.stdin.take().expect("a pipe");
        writeln!(input, "{{:id 1 :op :session/open :session-id \"main\"}}").expect("it reads");
        let mut answer = String::new();
        let out = child.stdout.as_mut().expect("a pipe");
        BufReader::new(out).read_line(&mut answer).expect("it answers");
        assert!(answer.starts_with("{:id 1 :ok "), "{answer}");
        daemon.end(signal);
        // Its input is still open: only the daemon's end can have ended it.
        let ended = child.wait_with_output().expect("it ends");
        drop(input);
        let err = String::from_utf8(ended.stderr).expect("UTF-8");
        assert_eq!(ended.status.code(), Some(2), "{signal}: {err}");
        assert!(err.contains("lost the daemon at http://127.0.0.1:"), "{signal}: {err}");
    }
}

#[test]
fn changes_are_told_by_label() {
    let home = Home::new("told");
    // The test itself may run under nohup, and a daemon would inherit that.
    let mut command = home.command_of(Path::new("env"), &["--default-signal=HUP"]);
    let daemon = Daemon::start_with(&home, command.arg(program()).args(home.serve().get_args()));
    let ok = |args: &[&str]| {
        let ended = run(&home, args);
        assert_eq!(ended.code, Some(0), "{args:?}: {}{}", ended.out, ended.err);
        ended.out
    };
    ok(&["eql", "[(psi.agent-session/open {:session-id \"main\"})]"]);
    let id = |made: &str| made.split('"').find(|part| part.starts_with("sch-")).expect(made).to_owned();
    let once = id(&ok(&["eql", CREATE]));
    let paused = ok(&["pause", &once]);
    assert_eq!(paused, format!("paused  {once}  rotate\n  no run until it is resumed\n"));
    // An unset variable of a script names nothing, and nothing is not the beginning of an id.
    for command in ["cancel", "pause", "run-now", "explain"] {
        let empty = run(&home, &[command, ""]);
        assert_eq!(empty.code, Some(2), "{command}: {}{}", empty.out, empty.err);
        assert!(empty.err.contains("the id is empty"), "{}", empty.err);
    }
    let comma = run(&home, &["tool", "list", "{\"all\":true,}"]);
    assert!(comma.code == Some(2) && comma.err.contains("not JSON"), "{}{}", comma.out, comma.err);
    let resumed = ok(&["resume", &once]);
    assert!(resumed.starts_with(&format!("resumed  {once}  rotate\n  next slot  ")), "{resumed}");
    let ran = ok(&["run-now", &once]);
    // Nobody listens. The answer may be given before it is in the inbox.
    let verb = if ran.starts_with("left") { "left in the inbox" } else { "on its way" };
    assert_eq!(ran, format!("{verb}  {once}  rotate\n  no further slot after this run\n"));
    let again = id(&ok(&["eql", &CREATE.replace(":delay-ms", ":every-ms")]));
    let ran = ok(&["run-now", &again]);
    assert!(ran.contains(&format!("  {again}  rotate\n  next slot  ")), "{ran}");
    let kept = id(&ok(&["eql", CREATE]));
    let ran = ok(&["run-now", "--keep-slot", &kept]);
    assert!(ran.contains("next slot"), "{ran}");
    assert_eq!(ok(&["pause", "--all-of", "main"]), "paused  2 schedules\n");
    assert_eq!(ok(&["resume", "--all-of", "main"]), "resumed  2 schedules\n");
    assert_eq!(ok(&["hold-all"]), "held  everything, until `reveille release-all`\n");
    assert_eq!(ok(&["release-all"]), "released  what is paused by itself stays paused\n");
    let cancelled = ok(&["cancel", &again]);
    assert_eq!(cancelled, format!("cancelled  {again}  rotate\n  no further slot\n"));
    // What is unknown is an answer in words, and a failure for a script.
    let unknown = run(&home, &["explain", "sch-nope"]);
    assert_eq!(unknown.code, Some(1), "{}", unknown.err);
    assert!(unknown.out.starts_with("Nothing is known of a schedule sch-nope."), "{}", unknown.out);
    assert_eq!(run(&home, &["explain", &kept]).code, Some(0));
    // README's call waits for an engine of its own, beside a daemon too.
    let wait = "{:action \"scheduler\" :op \"create\" :kind \"message\" :message \"m\" :delay-ms 1000}";
    assert!(ok(&["tool", "psi-tool", "--wait", wait]).contains("delivered"));
    // A terminal that is closed stops the daemon in good order.
    assert_eq!(daemon.end("-HUP").code(), Some(0));
    home.assert_sound();
}

/// `nohup reveille serve` outlives its terminal. Its last line counts what ends with it apart from what goes on.
#[test]
fn a_daemon_under_nohup_outlives_its_terminal() {
    let home = Home::new("nohup");
    // As nohup does, without its redirections.
    let mut command = home.command_of(Path::new("sh"), &["-c", "trap '' HUP; exec \"$0\" \"$@\""]);
    command.arg(program()).args(home.serve().get_args());
    let daemon = Daemon::start_with(&home, &mut command);
    daemon.signal("-HUP");
    let ok = |args: &[&str]| {
        let ended = run(&home, args);
        assert_eq!(ended.code, Some(0), "{args:?}: {}{}", ended.out, ended.err);
    };
    ok(&["eql", "[(psi.agent-session/open {:session-id \"main\"})]"]);
    for durability in [":durable", ":durable", ":volatile"] {
        ok(&["eql", &CREATE.replace(":durability :durable", &format!(":durability {durability}"))]);
    }
    let ignored = fs::read_to_string(format!("/proc/{}/status", daemon.id())).expect("it runs");
    let ignored = ignored.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
    assert!(
        ignored.ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f']),
        "SIGHUP is the lowest bit: {ignored}"
    );
    let log = daemon.log_file().to_owned();
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    let log = fs::read_to_string(log).expect("it is there");
    let last = log.lines().last().expect("it has logged");
    assert!(last.contains("cancelled=1 durable=2"), "{last}");
}

/// Nobody types a whole id.
#[test]
fn the_beginning_of_an_id_is_enough() {
    let home = Home::new("typed-id");
    let _daemon = Daemon::start(&home);
    assert_eq!(run(&home, &["eql", "[(psi.agent-session/open {:session-id \"main\"})]"]).code, Some(0));
    let create = |label: &str| {
        let made = run(&home, &["eql", &CREATE.replace("rotate", label)]).out;
        made.split('"').find(|part| part.starts_with("sch-")).expect(&made).to_owned()
    };
    let (one, two) = (create("one"), create("two"));
    let common = one.chars().zip(two.chars()).take_while(|(a, b)| a == b).count();
    let paused = run(&home, &["pause", &one[..=common]]);
    assert!(paused.out.starts_with(&format!("paused  {one}  one\n")), "{}{}", paused.out, paused.err);
    let explained = run(&home, &["explain", &two[..=common]]);
    assert_eq!(explained.code, Some(0), "{}{}", explained.out, explained.err);
    for args in [&["cancel", &one[..common]][..], &["explain", "sch-"], &["log", "--schedule", "sch-"]] {
        let several = run(&home, args);
        assert_eq!((several.code, several.out.as_str()), (Some(2), ""), "{}", several.err);
        assert!(several.err.contains("is the beginning of several ids: sch-"), "{}", several.err);
        for (id, label) in [(&one, "one"), (&two, "two")] {
            assert!(several.err.contains(&format!("{id} ({label})")), "{}", several.err);
        }
    }
}

/// A daemon that was killed wrote nothing about its end, and the next one says all the same that nobody was there.
#[test]
fn an_explanation_says_that_the_daemon_was_down() {
    let home = Home::new("down");
    let daemon = Daemon::start(&home);
    assert_eq!(run(&home, &["eql", "[(psi.agent-session/open {:session-id \"main\"})]"]).code, Some(0));
    let made = run(&home, &["eql", &CREATE.replace("3600000", "400")]).out;
    let id = made.split('"').find(|part| part.starts_with("sch-")).expect(&made).to_owned();
    daemon.kill();
    pass(Duration::from_millis(500));
    let daemon = Daemon::start(&home);
    let explained = || run(&home, &["explain", &id]).out;
    until("it has run", Duration::from_secs(5), || !explained().contains("will"));
    let told = explained();
    assert!(told.contains("The process was down until 20"), "{told}");
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    home.assert_sound();
}

/// What a person does with a daemon from its start: check the configuration, create, look at it, and follow what happens.
#[test]
fn a_person_creates_shows_and_follows() {
    let home = Home::new("person");
    let ok = |args: &[&str]| {
        let ended = run(&home, args);
        assert_eq!(ended.code, Some(0), "{args:?}: {}{}", ended.out, ended.err);
        ended.out
    };
    let checked = ok(&["serve", "--check"]);
    assert!(checked.starts_with("the configuration is valid: listen on 127.0.0.1:"), "{checked}");
    assert!(!home.state().join("store").exists(), "a check starts nothing");
    let wrong = run(&home, &["serve", "--check", "--log", "a=b=c"]);
    assert_eq!((wrong.code, &*wrong.out), (Some(2), ""), "{}", wrong.err);
    let daemon = Daemon::start(&home);
    let nowhere = run(&home, &["create", "main", "in 10m", "look at the build"]);
    assert_eq!(nowhere.code, Some(1), "{}", nowhere.out);
    assert!(nowhere.err.contains("session not found: main"), "{}", nowhere.err);
    ok(&["eql", "[(psi.agent-session/open {:session-id \"main\"})]"]);
    let mut log = home.command(&["log", "--follow", "--kind", "schedule-created", "--json"]);
    log.env("REVEILLE_DATA_DIR", home.state()).stdout(Stdio::piped());
    let mut log = log.spawn().expect("it starts");
    let created = ok(&["create", "main", "in 10m", "look at the build", "--label", "build"]);
    let id = created.split_whitespace().nth(1).expect("an id").to_owned();
    assert!(created.starts_with(&format!("created  {id}  build\n  next slot  20")), "{created}");
    assert!(created.contains("\n  once, in 10 minutes"), "{created}");
    let mut lines = BufReader::new(log.stdout.take().expect("a pipe")).lines();
    let mut followed = || lines.next().expect("it goes on").expect("it is text");
    let seen = followed();
    assert!(seen.starts_with('{') && seen.contains(&id), "{seen}");
    // The first is told before the second is made, so each comes with a question of its own.
    for (label, when) in [("again", "every 1m"), ("late", "in 6h")] {
        let created = ok(&["create", "main", when, "look again", "--label", label]);
        let id = created.split_whitespace().nth(1).expect("an id").to_owned();
        let seen = followed();
        assert!(seen.contains(&id), "{seen}");
    }
    log.kill().and_then(|()| log.wait()).expect("it ends");
    let shown = ok(&["show", "build"]);
    assert!(
        shown.starts_with(&format!("schedule-id         {id}\nlabel               build\nstatus ")),
        "{shown}"
    );
    assert!(shown.contains("\nmessage             look at the build\n\nThe slot of 20"), "{shown}");
    let absent =
        "reveille: schedule not found: sch-nope; `reveille explain sch-nope` says what is known of it\n";
    assert_eq!(run(&home, &["show", "sch-nope"]).err, absent);
    let shown = edn(&ok(&["show", &id, "--edn"]));
    assert_eq!(shown.keyword("psi.scheduler/message").and_then(Value::as_str), Some("look at the build"));
    ok(&["run-now", &id]);
    let shown = ok(&["show", &id]);
    assert!(shown.contains("\nSLOT ") && shown.contains("nobody-listens"), "{shown}");
    // The same request under its key, after its schedule was cancelled.
    let keyed = ["create", "main", "in 7h", "water", "--idempotency-key", "k"];
    let id = ok(&keyed).split_whitespace().nth(1).expect("an id").to_owned();
    ok(&["cancel", &id]);
    let again = ok(&keyed);
    assert!(
        again.starts_with(&format!("nothing created: the key belongs to {id}, whose status is cancelled")),
        "{again}"
    );
    // One that fires every minute does not hide the other.
    ok(&["create", "main", "in 5h", "tea"]);
    let foreseen = ok(&["forecast"]);
    assert!(foreseen.lines().count() < 15 && foreseen.contains("1 schedule has more"), "{foreseen}");
    assert!(ok(&["doctor", "--json"]).starts_with("{\"sound\":true,"));
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    home.assert_sound();
}

fn edn(text: &str) -> Map {
    let caps = Caps { bytes_max: 1 << 20, depth_max: 64, digits_max: 1_000, forms_max: 100_000 };
    read(text.as_bytes(), &caps).expect("it is EDN").as_map().cloned().expect("it is a map")
}
