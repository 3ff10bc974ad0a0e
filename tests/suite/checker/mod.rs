//! The history checker: right histories of each kind are clean, wrong ones get their findings and nothing else.
//!
//! The histories lie in `fixtures/histories`: `# ` says what happens, `#! ` what the checker has to find, in any order.

#[path = "../../../checker/src/main.rs"]
#[expect(dead_code, reason = "the program's own entry")]
mod check_history;
mod mutations;
mod year;

use reveille_checker::{check, read, write};

fn histories() -> Vec<(String, String)> {
    let directory = format!("{}/fixtures/histories", env!("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(&directory).expect("the histories are there");
    let mut found: Vec<_> = entries
        .map(|entry| {
            let path = entry.expect("a directory that can be read").path();
            let text = std::fs::read_to_string(&path).expect("a text");
            (path.file_stem().expect("a name").to_string_lossy().into_owned(), text)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn every_history_gets_its_findings_and_nothing_else() {
    let (mut right, mut wrong, mut faults) = (0, 0, Vec::new());
    for (name, text) in histories() {
        let mut expected: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("#! ")).collect();
        expected.sort_unstable();
        let events = read(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut found: Vec<_> = check(&events).findings.iter().map(ToString::to_string).collect();
        found.sort_unstable();
        if found != expected {
            faults.push(format!("{name}\n  found    {found:#?}\n  expected {expected:#?}"));
        }
        *if name.starts_with("right-") { &mut right } else { &mut wrong } += 1;
        assert_eq!(name.starts_with("right-"), expected.is_empty(), "{name}: the name says it");
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(right >= 20 && wrong >= 12, "{right} right, {wrong} wrong");
}

#[test]
fn events_read_back_as_they_were_written() {
    for (name, text) in histories() {
        let events = read(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(read(&write(&events)).as_ref(), Ok(&events), "{name}");
    }
}

#[test]
fn a_line_that_is_no_event_is_an_error_with_its_number() {
    #[track_caller]
    fn check(line: &str, expected: &str) {
        let error = read(&format!("# first\n{line}\n")).expect_err(line);
        assert!(error.line == 2 && error.why.contains(expected), "{error}");
    }
    check("{", "EOF");
    check(r#"{"event":"down"}"#, "missing field `at`");
    check(r#"{"event":"down","at":"2026-04-22"}"#, "2026-04-22: not an ISO 8601 instant");
    check(r#"{"event":"down","at":"2026-04-22T10:00:00Z","why":"kill"}"#, "unknown field `why`");
    check(r#"{"event":"crash","at":"2026-04-22T10:00:00Z"}"#, "unknown variant `crash`");
}

#[test]
fn the_example_says_whether_a_history_is_clean() {
    #[track_caller]
    fn check(arguments: &str, expected: Result<bool, &str>, first: &str) {
        let mut output = Vec::new();
        let arguments = arguments.replace("DIR", concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/histories"));
        let arguments = arguments.split_whitespace().map(str::to_owned);
        let found = check_history::run(arguments, std::io::empty(), &mut output);
        let found = found.map_err(|error| error.to_string());
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
            (found, expected) => panic!("{found:?}, not {expected:?}"),
        }
        let output = String::from_utf8(output).expect("a text");
        assert!(output.starts_with(first), "{output}");
    }
    check(
        "DIR/right-gap.jsonl",
        Ok(true),
        "1 schedules, 3 slots: 3 received, 0 excused, 0 open, 0 findings\n",
    );
    check("DIR/wrong-gap-missing.jsonl", Ok(false), "missing: n 2026-03-08T07:00:00Z was never received\n");
    check("DIR/wrong-late.jsonl", Ok(false), "late: ");
    check("--prompt-ms 60000 DIR/wrong-late.jsonl", Ok(true), "1 schedules");
    check("-", Ok(true), "0 schedules");
    check("--prompt-ms", Err("usage"), "");
    check("DIR/none.jsonl", Err("none.jsonl"), "");
    check("DIR/../demo.edn", Err("line 1"), "");
}
