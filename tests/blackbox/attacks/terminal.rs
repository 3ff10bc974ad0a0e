//! What commands print: a terminal shows all of what agents wrote and acts on none of it, and programs read the same values.

use std::fs;

use reveille::edn::{Caps, Value, read};

use crate::attacks::agent::Agent;
use crate::harness::daemon::{Daemon, Home, PATIENCE, until};

/// Controls, marks of direction, characters without width, separators of lines, and tags.
const RANGES: [(u32, u32); 12] = [
    (0x01, 0x1f),
    (0x7f, 0x9f),
    (0xad, 0xad),
    (0x61c, 0x61c),
    (0x180e, 0x180e),
    (0x200b, 0x200f),
    (0x2028, 0x202e),
    (0x2060, 0x206f),
    (0xfeff, 0xfeff),
    (0xfff9, 0xfffb),
    (0xe0001, 0xe0001),
    (0xe0020, 0xe007f),
];

fn all() -> String {
    RANGES.iter().flat_map(|(first, last)| (*first..=*last).filter_map(char::from_u32)).collect()
}

/// What a terminal would act on or hide. Line breaks are layout.
#[track_caller]
fn assert_shown(text: &str, what: &str) {
    let raw = |found: &char| *found != '\n' && all().contains(*found);
    assert_eq!(text.chars().find(raw), None, "{what}: {text:?}");
}

const CAPS: Caps = Caps { bytes_max: 1 << 24, ..Caps::DEFAULT };

#[test]
fn answers_of_all_commands_are_shown_and_read_back() {
    let home = Home::new("terminal");
    let daemon = Daemon::start(&home);
    // A label is one line, and has no controls.
    let said = format!("say {} once", all());
    let label = said.replace(char::is_control, "");
    daemon.eql("[(psi.agent-session/open {:session-id \"main\"})]");
    let [message, named] = [&said, &label].map(|text| Value::string(text.as_str()));
    let created = daemon.eql(&format!(
        "[(psi.scheduler/create {{:kind :message :session-id \"main\" :message {message} :label {named} :delay-ms 60000}})]"
    ));
    let made = Value::from(created).to_string();
    let id = made.split('"').find(|part| part.starts_with("sch-")).expect("an id");
    let url = format!("http://{}", daemon.address());
    let of = ["--url", &url, "--token-file", "state/operator.token"];
    let run = |args: &[&str]| {
        let ended = home.run(&mut home.command(&[args, &of].concat()));
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{args:?}: {}", ended.out);
        assert_shown(&ended.out, &format!("{args:?}"));
        ended.out
    };
    let edn = |args: &[&str], texts: &[&String]| {
        let value = read(run(args).as_bytes(), &CAPS).expect("it is EDN");
        texts.iter().for_each(|text| assert!(has(&value, text), "{args:?}: {value}"));
    };
    let json = |args: &[&str], texts: &[&String]| {
        let value: serde_json::Value = serde_json::from_str(&run(args)).expect("it is JSON");
        texts.iter().for_each(|text| assert!(has_json(&value, text), "{args:?}: {value}"));
    };
    let list = "[{:psi.scheduler/schedules [:psi.scheduler/label :psi.scheduler/message]}]";
    edn(&["eql", list], &[&said, &label]);
    json(&["graphql", "{ schedules { nodes { label message } } }"], &[&said, &label]);
    let call = "{:action \"scheduler\" :op \"list\"}";
    edn(&["tool", "--session", "main", "psi-tool", call], &[&label]);
    let call = "{\"action\": \"scheduler\", \"op\": \"list\"}";
    json(&["tool", "--session", "main", "psi-tool", call], &[&label]);
    edn(&["forecast", "--edn"], &[&label]);
    json(&["forecast", "--json"], &[&label]);
    assert!(run(&["forecast"]).contains("\\u{202e}"));
    run(&["explain", id]);
    run(&["explain", "--edn", id]);
    // A refusal repeats what it was asked.
    let asked = format!("sch-\u{202e}{}", '\u{9b}');
    let refused = home.run(&mut home.command(&[&["cancel", &*asked], &of[..]].concat()));
    assert_ne!(refused.code, Some(0));
    assert_shown(&refused.err, "a refusal");
    assert!(daemon.end("-TERM").success());
}

const HELD: &str = "[[guard.rules]]\nname = \"look\"\nthen = \"hold\"\nsessions = [\"held\"]\n";

/// Every text that an agent can set, with lines, columns and escapes that pretend to be ours, through every command that prints.
#[test]
fn no_text_is_a_line_of_ours() {
    let home = Home::new("terminal-lines");
    fs::write(home.path().join("reveille.toml"), HELD).expect("ours");
    let daemon = Daemon::start_with(&home, home.serve().args(["--config", "reveille.toml"]));
    let said = format!("x\nFORGED  rule  safe\r\nFORGED  until  never{}  FORGED", all());
    let named = format!("x  FORGED{}\u{2028}FORGED", all().replace(char::is_control, ""));
    let [text, name] = [&said, &named].map(|text| Value::string(text.as_str()));
    let (held, left) = (Agent::open(&daemon, "held"), Agent::open(&daemon, "left"));
    let config = format!(
        "{{:session-name {text} :system-prompt {text} :developer-prompt {text} :tool-ids [{text}] \
         :model {{:provider {text} :id {text} :reasoning true}} \
         :skills [{{:name {text} :description {text} :source :user}}] \
         :preloaded-messages [{{:role \"user\" :content [{{:type :text :text {text}}}]}}]}}"
    );
    let texts = format!(":label {name} :description {text} :message {text} :idempotency-key");
    held.create(&format!(":kind :session {texts} \"one\" :delay-ms 1 :session-config {config}"));
    held.create(&format!(":kind :notice {texts} \"two\" :delay-ms 1"));
    left.create(&format!(":kind :message {texts} \"three\" :delay-ms 1"));
    let paused = left.create(&format!(":kind :message {texts} \"four\" :delay-ms 3600000"));
    let pause = left.eql(&format!("[(psi.scheduler/pause {{:schedule-id {paused:?} :reason {text}}})]"));
    assert!(!pause.body.contains("reveille.error"), "{}", pause.body);
    left.eql(&format!("[(psi.scheduler/cancel {{:schedule-id {text}}})]"));
    until("both runs wait, and a message is left", PATIENCE, || {
        let now = daemon.eql(
            "[{:reveille.engine/held-runs [:reveille.run/id]} \
             {[:psi.agent-session/session-id \"left\"] [:psi.agent-session/inbox-count]}]",
        );
        let now = Value::from(now).to_string();
        now.matches("reveille.run/id").count() == 2 && !now.contains("inbox-count 0")
    });
    let url = format!("http://{}", daemon.address());
    let of = ["--url", &url, "--token-file", "state/operator.token"];
    for args in [
        &["approvals"][..],
        &["forecast"],
        &["explain", &paused],
        &["log", "--last", "100"],
        &["inbox", "left"],
        &["tool", "--session", "left", "list", "{}"],
        &["tool", "--session", "left", "psi-tool", "{\"action\": \"scheduler\", \"op\": \"list\"}"],
        &["tool", "--session", "left", "cron_list", "{}"],
        &["eql", "[{:psi.scheduler/schedules [:psi.scheduler/label :psi.scheduler/description]}]"],
        &["graphql", "{ schedules { nodes { label message pause { reason } } } }"],
        &["approvals", "--json"],
        &["log", "--edn"],
        &["inbox", "--take", "left"],
    ] {
        let ended = home.run(&mut home.command(&[args, &of].concat()));
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{args:?}: {}", ended.out);
        assert_shown(&ended.out, &format!("{args:?}"));
        let forged = ended.out.lines().find(|line| line.trim_start().starts_with("FORGED"));
        assert_eq!(forged, None, "{args:?}: {}", ended.out);
        // A text stands in quotes where it has blanks like those between columns.
        let is_quoted = |line: &str| line.split("FORGED").next().is_none_or(|before| before.contains('"'));
        let bare = ended.out.lines().find(|line| line.contains("FORGED") && !is_quoted(line));
        assert_eq!(bare, None, "{args:?}: {}", ended.out);
    }
    assert!(daemon.end("-TERM").success());
}

#[test]
fn exported_files_are_shown_and_read_back() {
    let home = Home::new("terminal-export");
    let daemon = Daemon::start(&home);
    daemon.eql("[(psi.agent-session/open {:session-id \"main\"})]");
    let hidden = all().replace(char::is_control, "");
    let prompt = format!("say {hidden} once");
    let call = serde_json::json!({
        "name": "watch", "prompt": prompt, "schedule": {"kind": "once", "at": "2999-01-01T00:00:00Z"},
        "target": {"kind": "session", "session_id": "main"},
    });
    let json = "Content-Type: application/json";
    let made = daemon.ask("POST /tools/cron_create", &[json, "Reveille-Session: main"], &call.to_string());
    assert_eq!(made.status, 200, "{}", made.body);
    let ended = home.run(&mut home.command(&["export", "--data-dir", "state", "tasks"]));
    let left_out = "reveille: left out, because the files have no place for them: sessions (1)\n";
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), left_out));
    let jobs = fs::read_to_string(home.path().join("tasks/jobs.jsonl")).expect("it is written");
    assert_shown(&jobs, "jobs.jsonl");
    let value: serde_json::Value = serde_json::from_str(jobs.trim()).expect("one line of JSON");
    assert!(has_json(&value, &prompt), "{value}");
    assert!(daemon.end("-TERM").success());
}

fn has(value: &Value, text: &str) -> bool {
    value.as_str() == Some(text)
        || value.as_items().is_some_and(|items| items.iter().any(|item| has(item, text)))
        || value.as_map().is_some_and(|map| map.iter().any(|(_, item)| has(item, text)))
}

fn has_json(value: &serde_json::Value, text: &str) -> bool {
    value.as_str() == Some(text)
        || value.as_array().is_some_and(|items| items.iter().any(|item| has_json(item, text)))
        || value.as_object().is_some_and(|map| map.values().any(|item| has_json(item, text)))
}
