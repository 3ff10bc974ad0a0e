//! What commands print: a terminal shows all of what agents wrote and acts on none of it, and programs read the same values.
//!
//! What lives elsewhere: every command there is, over every text (`commands.rs`).

use std::fs;

use reveille::edn::{Caps, Value, read};

use crate::harness::daemon::{Daemon, Home};

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

pub(super) fn all() -> String {
    RANGES.iter().flat_map(|(first, last)| (*first..=*last).filter_map(char::from_u32)).collect()
}

/// What a terminal would act on or hide. Line breaks are layout.
#[track_caller]
pub(super) fn assert_shown(text: &str, what: &str) {
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
