//! The binary as people and scripts call it: help, exit codes, notations. `UPDATE=1 cargo test --test blackbox cli::`
//! rewrites the snapshots in `fixtures/cli/`. Nothing here waits for a schedule; that is `real_time.rs`.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use reveille::edn::{Caps, Map, Value, read, read_all};

use crate::harness::command::program;

const CAPS: Caps = Caps { bytes_max: 1 << 20, depth_max: 64, digits_max: 1_000, forms_max: 100_000 };

/// What a call came to.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

/// Runs the binary to its end with this on its stdin.
fn run(args: &[&str], input: &str) -> Ran {
    let mut command = Command::new(program());
    command
        .args(args)
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .env("REVEILLE_URL", "")
        .current_dir(env!("CARGO_TARGET_TMPDIR"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary was built");
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    let bytes = input.as_bytes().to_vec();
    // On a thread of its own: neither side may wait for the other to read. A child that reads nothing is no fault.
    let writer = std::thread::spawn(move || stdin.write_all(&bytes).is_ok());
    let output = child.wait_with_output().expect("the child ends");
    writer.join().expect("the writer ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("what is printed is UTF-8");
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn edn(text: &str) -> Map {
    let value = read(text.as_bytes(), &CAPS).expect("an answer is EDN");
    value.as_map().cloned().expect("an answer is a map")
}

#[track_caller]
#[expect(clippy::disallowed_methods, reason = "UPDATE=1 is how a person asks for the files to be written")]
fn check_snapshot(name: &str, args: &[&str]) {
    let ran = run(args, "");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{args:?}");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cli").join(name);
    if std::env::var("UPDATE").is_ok() {
        fs::write(&file, &ran.out).expect("the snapshot can be written");
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(ran.out, found, "{name} is out of date: UPDATE=1 cargo test --test blackbox cli::");
}

const COMMANDS: [&str; 20] = [
    "demo", "serve", "doctor", "export", "import", "stdio", "mcp", "tool", "eql", "graphql", "create",
    "show", "forecast", "explain", "log", "schema", "hook", "plugin", "agents", "setup",
];

#[test]
fn help_is_as_in_the_snapshots() {
    check_snapshot("help.txt", &["--help"]);
    check_snapshot("help-short.txt", &["-h"]);
    for command in COMMANDS {
        check_snapshot(&format!("{command}.txt"), &[command, "--help"]);
    }
}

#[test]
fn help_has_examples_and_the_version_is_the_packages() {
    for command in COMMANDS {
        let help = run(&[command, "--help"], "").out;
        assert!(help.contains("Example"), "{command}");
        assert_eq!(run(&["help", command], "").out, help, "{command}");
    }
    assert_eq!(run(&["--version"], "").out, format!("reveille {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn what_cannot_be_read_as_a_command_is_a_usage_error() {
    let rows: &[&[&str]] = &[
        &[],
        &["no-such-command"],
        &["--no-such-option"],
        &["demo", "extra"],
        &["demo", "--fast"],
        &["tool"],
        &["tool", "psi-tool", "{}", "more"],
        &["tool", "psi-tool", "--session", "", "{}"],
        &["tool", "psi-tool", "--session", "a\nb", "{}"],
        &["tool", "psi-tool", "--wait=yes", "{}"],
        &["stdio", "--session"],
        &["stdio", "--session", " "],
        &["stdio", "surplus"],
        &["\u{1F600}"],
    ];
    for args in rows {
        let ran = run(args, "");
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert_eq!(ran.out, "", "{args:?}: stdout holds answers only");
        assert!(!ran.err.is_empty() && !ran.err.contains("panicked"), "{args:?}: {}", ran.err);
    }
}

/// A variable that is set is no argument that is missing, and an error of several lines stays one.
#[test]
fn an_error_of_usage_shows_what_is_wrong_alone() {
    // `run` sets REVEILLE_URL.
    let missing = run(&["tool"], "");
    assert!(missing.err.contains("<NAME>") && !missing.err.contains("--url"), "{}", missing.err);
    for args in [&["stdio", "--session", "a\nb"][..], &["stdio", "--session=a\nb"]] {
        let ran = run(args, "");
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.starts_with("error: invalid value 'a\\nb' for"), "{args:?}: {}", ran.err);
        assert!(ran.err.lines().count() > 1 && !ran.err.contains("\\n\\n"), "{args:?}: {}", ran.err);
    }
}

#[test]
fn a_tool_call_in_edn_is_answered_in_edn() {
    let create = r#"{:action "scheduler" :op "create" :kind "message" :message "m" :delay-ms 60000}"#;
    let ran = run(&["tool", "psi-tool", "--session", "mine", create], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let answer = edn(&ran.out);
    assert_eq!(answer.keyword("psi-tool/overall-status"), Some(&Value::keyword("ok")));
    let done = answer.keyword("psi-tool/scheduler").and_then(Value::as_map);
    let schedule =
        done.and_then(|done| done.keyword("schedule")).and_then(Value::as_map).expect("a schedule");
    assert_eq!(schedule.keyword("origin-session-id").and_then(Value::as_str), Some("mine"));
    assert_eq!(ran.out.lines().count(), 1);
    assert!(
        ran.err.contains("--wait"),
        "a schedule that nothing persists is cancelled with a message: {}",
        ran.err
    );
}

#[test]
fn a_tool_call_in_json_is_answered_in_json() {
    let create =
        r#"{"action": "scheduler", "op": "create", "kind": "message", "message": "m", "delay-ms": 60000}"#;
    let ran = run(&["tool", "psi-tool", create], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).expect("the answer is JSON");
    assert_eq!(answer["psi-tool/overall-status"], "ok");
    assert_eq!(answer["psi-tool/scheduler"]["schedule"]["origin-session-id"], "cli");
    assert_eq!(answer["psi-tool/scheduler"]["schedule"]["label"], serde_json::Value::Null);
    assert_eq!(
        run(&["tool", "psi-tool", &create.replace(' ', "")], "").code,
        Some(0),
        "compact JSON is JSON too"
    );
    // Without a string among its values this is EDN too, in which `:true` is a keyword.
    let listed = run(&["tool", "list", r#"{"all":true}"#], "");
    assert_eq!(listed.code, Some(0), "{} {}", listed.out, listed.err);
    assert!(serde_json::from_str::<serde_json::Value>(&listed.out).is_ok(), "{}", listed.out);
    let refused = run(&["tool", "psi-tool", &create.replace("60000", "10")], "");
    assert_eq!(refused.code, Some(1));
    let answer: serde_json::Value = serde_json::from_str(&refused.out).expect("a refusal is JSON too");
    assert_eq!(answer["psi-tool/error"]["data"], serde_json::json!({"delay-ms": 10, "minimum": 1000}));
}

#[test]
fn arguments_come_from_stdin_too() {
    let list = r#"{:action "scheduler" :op "list"}"#;
    for args in [&["tool", "psi-tool", "-"][..], &["tool", "psi-tool"]] {
        let ran = run(args, list);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{args:?}");
        let answer = edn(&ran.out);
        let done = answer.keyword("psi-tool/scheduler").map(ToString::to_string);
        assert_eq!(done.as_deref(), Some("{:schedule-count 0 :schedules []}"));
    }
    let ran = run(&["tool", "psi-tool"], r#"{"action": "scheduler", "op": "list"}"#);
    assert_eq!(ran.code, Some(0));
    assert!(ran.out.contains("schedule"), "{}", ran.out);
}

#[test]
fn a_refused_call_is_exit_code_1_and_its_answer_is_on_stdout() {
    let rows = [
        r#"{:action "scheduler"}"#,
        r#"{:action "scheduler" :op "cancel" :schedule-id "sch-unknown"}"#,
        r#"{:action "scheduler" :op "create" :kind "message" :message "m" :delay-ms 1.5}"#,
        "[1 2]",
        "nil",
        "[[[]]]",
    ];
    for args in rows {
        let ran = run(&["tool", "psi-tool", args], "");
        assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{args}");
        let answer = edn(&ran.out);
        assert_eq!(answer.keyword("psi-tool/overall-status"), Some(&Value::keyword("error")), "{args}");
    }
    // psi's own words, which are no map.
    let ran = run(&["tool", "psi-tool", "{}"], "");
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
    assert!(ran.out.contains("EQL query error: unknown action: nil"), "{}", ran.out);
}

#[test]
fn a_call_that_cannot_be_read_is_exit_code_2() {
    let (deep, long) = ("[".repeat(100_000), format!("{{:op \"{}\"}}", "x".repeat(262_144)));
    let rows = [
        ("{:a", "not EDN"),
        ("", "not EDN"),
        ("{:a 1 :a 2}", "not EDN"),
        ("{} {}", "not EDN"),
        (r#"{"action": "scheduler""#, "not JSON"),
        (r#"{"a": 1, "a": 2}"#, "duplicate key"),
        (r#"{"a": }"#, "not JSON"),
        (deep.as_str(), "64 levels"),
        (long.as_str(), "262144 bytes"),
    ];
    for (input, words) in rows {
        let ran = run(&["tool", "psi-tool", "-"], input);
        let head = input.get(..30).unwrap_or(input);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{head}");
        assert!(ran.err.starts_with("reveille: ") && ran.err.contains(words), "{head}: {}", ran.err);
    }
    let ran = run(&["tool", "cron", "{}"], "");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("cron") && ran.err.contains("psi-tool"), "{}", ran.err);
}

#[test]
fn stdio_answers_a_script_and_ends_with_its_input() {
    let script = "{:id 1 :op :session/open :session-id \"main\"}\n{:a 1 :a 2}\n{:id 2 :op :call :tool \"psi-tool\" \
                  :session-id \"main\" :args {:action \"scheduler\" :op \"list\"}}";
    let ran = run(&["stdio"], script);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let answers = read_all(ran.out.as_bytes(), &CAPS).expect("answers are EDN");
    assert_eq!((answers.len(), ran.out.lines().count()), (3, 3), "one line per answer");
    let ids: Vec<_> =
        answers.iter().map(|answer| answer.as_map().and_then(|map| map.keyword("id"))).collect();
    assert_eq!(ids, [Some(&Value::Int(1)), None, Some(&Value::Int(2))]);
}

#[test]
fn stdio_speaks_for_the_session_it_is_given() {
    let script = r#"{:action "scheduler" :op "create" :kind "message" :message "m" :delay-ms 60000}
                    {:action "scheduler" :op "list"} {:id 1 :op :session/close :session-id "other"}"#;
    let ran = run(&["stdio", "--session", "mine"], script);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].contains(":origin-session-id \"mine\""), "{}", lines[0]);
    assert!(lines[1].contains(":schedule-count 1"), "{}", lines[1]);
    assert!(lines[2].contains("session not found: other"), "{}", lines[2]);
    assert!(ran.err.contains("1 unfinished schedule was cancelled"), "{}", ran.err);
}

#[test]
fn stdio_ends_orderly_over_the_limits_and_with_no_input() {
    let ran = run(&["stdio"], "");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
    let ran = run(&["stdio"], &"[".repeat(100_000));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.out.lines().count(), 1);
    assert!(ran.out.contains("64 levels of nesting"), "{}", ran.out);
}

#[test]
fn stdio_ends_orderly_when_it_is_told_to() {
    for signal in ["-TERM", "-INT"] {
        let mut child = Command::new(program())
            .args(["stdio", "--session", "mine"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary was built");
        let mut input = child.stdin.take().expect("it was piped");
        let call = r#"{:action "scheduler" :op "create" :kind "message" :delay-ms 60000 :message "m"}"#;
        writeln!(input, "{call}").expect("it reads");
        let mut answer = String::new();
        BufReader::new(child.stdout.take().expect("it was piped"))
            .read_line(&mut answer)
            .expect("it answers");
        assert!(answer.contains(":status :pending"), "{answer}");
        let kill =
            Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill exists");
        assert!(kill.success());
        // Its input is still open: only the signal can have ended it.
        let ended = child.wait_with_output().expect("it ends");
        drop(input);
        assert_eq!(ended.status.code(), Some(0), "{signal}");
        let told = String::from_utf8(ended.stderr).expect("UTF-8");
        assert!(told.contains("1 unfinished schedule was cancelled"), "{told}");
    }
}

#[test]
fn a_query_is_answered_or_says_why_not() {
    #[track_caller]
    fn check(args: &[&str], code: i32, expected: &str) {
        let ran = run(&[&["eql"], args].concat(), "");
        assert_eq!((ran.code, ran.out.trim_end()), (Some(code), expected), "{}", ran.err);
    }
    check(&["[:psi.scheduler/pending-count]"], 0, "{:psi.scheduler/pending-count 0}");
    let own = ["[:psi.agent-session/session-id :psi.agent-session/busy?]", "--session", "main"];
    check(&own, 0, "{:psi.agent-session/session-id \"main\" :psi.agent-session/busy? false}");
    let by_name = ["[:reveille.limit/unit]", "--entity", "{:reveille.limit/name \"receipt-ms\"}"];
    check(&by_name, 0, "{:reveille.limit/unit \"ms\"}");
    let failed = run(&["eql", "[:no/such]"], "");
    assert_eq!(failed.code, Some(1));
    assert!(failed.out.contains(":cause :attribute-unreachable"), "{}", failed.out);
    check(&["[", "--lenient"], 2, "");
    check(&["[7]"], 2, "");
    check(&["[]", "--entity", "[]"], 2, "");
}

#[test]
fn graphql_is_answered_or_says_why_not() {
    #[track_caller]
    fn check(args: &[&str], code: i32, expected: &str) {
        let ran = run(&[&["graphql"], args].concat(), "");
        assert_eq!((ran.code, ran.out.trim_end()), (Some(code), expected), "{}", ran.err);
    }
    check(&["{ pendingCount }"], 0, r#"{"data":{"pendingCount":0}}"#);
    let absent = "query($id: ID!) { schedule(scheduleId: $id) { label } }";
    check(&[absent, "--variables", r#"{"id": "sch-x"}"#], 0, r#"{"data":{"schedule":null}}"#);
    let own = ["{ session(sessionId: \"main\") { sessionId } }", "--session", "main"];
    check(&own, 0, r#"{"data":{"session":{"sessionId":"main"}}}"#);
    assert_eq!(run(&["graphql", "{ nothing }"], "").code, Some(1));
    check(&["{ pendingCount }", "--variables", "{"], 2, "");
}

#[test]
fn the_schemas_are_those_of_the_repository() {
    for (kind, file) in [
        ("graphql", "reveille.graphql"),
        ("attributes", "attributes.edn"),
        ("tools", "tools.json"),
        ("errors", "errors.edn"),
    ] {
        let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(file);
        assert_eq!(run(&["schema", kind], "").out, fs::read_to_string(committed).expect("committed"));
    }
}
