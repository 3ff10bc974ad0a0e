//! Scheduled tasks on a whole engine: the tools of SEED-004 called, time passing, hosts answering, and the laws of the test
//! kit asked after every step. The scenes of the reminders of SEED-003 and of the delayed actions of
//! SEED-000 are played here, too.
//!
//! Expectations are tables in `fixtures/cron/`, `fixtures/reminder/` and `fixtures/session_action/`, which `UPDATE=1` writes
//! anew. `engine.txt` is played step by step; the others are whole products of policies, triggers and states, one row each.

mod bounds;
mod catching_up;
mod clocks;
mod edits;
mod events;
mod files;
mod guarding;
mod history;
mod lanes;
pub(crate) mod log;
mod matrices;
mod notices;
mod orders;
mod scene;
mod script;
mod words;

/// Compares a text with the file of expectations, or writes it.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "UPDATE=1 is how a person asks for the files to be written")]
fn check(path: &str, said: &str) {
    if std::env::var("UPDATE").is_ok() {
        std::fs::write(path, said).expect("the table is written");
        return;
    }
    let expected = std::fs::read_to_string(path).expect("the table");
    for (line, (expected, said)) in (1..).zip(expected.lines().zip(said.lines())) {
        assert_eq!(said, expected, "{path} line {line}");
    }
    assert_eq!(said.lines().count(), expected.lines().count(), "{path}");
}
