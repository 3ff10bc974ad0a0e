//! Tests the reader and the rules with samples, each with violations and without.

use crate::faults::*;
use crate::files::File;
use crate::modules::{dangling_names, forgotten};
use crate::planted::unplantable;
use crate::proof::unknown_commands;
use crate::rows::unshown;
use crate::rust::{functions, tokens};

/// Compares the violations that a rule found in a sample with the expected ones.
fn check(faults: &[String], expected: &[&str]) {
    assert_eq!(faults, expected);
}

#[test]
fn sample_layers_downwards() {
    check(&layer_faults("src/engine/step/claim.rs", SAMPLE_DOWN), &[]);
    check(&layer_faults("src/main.rs", "use reveille::app;\nuse reveille::edn;"), &[]);
    check(
        &layer_faults("src/adapter/host_local/mod.rs", "use crate::port::Host;\nuse self::queue::Queue;"),
        &[],
    );
}

#[test]
fn sample_layers_upwards_and_sideways() {
    check(&layer_faults("src/engine/step/claim.rs", SAMPLE_UP), &SAMPLE_UP_FAULTS);
    check(&layer_faults("src/edn/read.rs", "use crate::limits::DEPTH;"), &["1: `edn` may not name `limits`"]);
    check(
        &layer_faults("src/port/clock.rs", "fn f(g: crate::graph::Plan) {}"),
        &["1: `port` may not name `graph`"],
    );
    check(&layer_faults("src/util.rs", ""), &["1: `util` is no layer; give it a row in LAYERS"]);
}

#[test]
fn sample_adapters_are_rooms() {
    let text = "use super::host_local::Local;\nuse super::{super::adapter::entropy_os as e};\nuse super::*;";
    check(
        &layer_faults(
            "src/adapter/host_local/queue.rs",
            "use super::State;\nuse crate::adapter::host_local::A;",
        ),
        &[],
    );
    check(
        &layer_faults("src/adapter/clock_os.rs", text),
        &[
            "1: one adapter names another, `host_local`",
            "2: one adapter names another, `entropy_os`",
            "3: one adapter names another, `*`",
        ],
    );
}

#[test]
fn sample_work_under_the_lock() {
    let text = "use crate::engine::{State, condition::judge};\nfn f(reading: &Reading) { super::super::super::reading::read(x) }";
    check(
        &work_under_the_lock("src/engine/step/run/returned.rs", text),
        &["1: `crate::engine::condition::judge`", "2: `crate::engine::reading::read`"],
    );
    let text = "use crate::engine::watching::verdict;\nuse crate::domain::Condition;\nfn f() { report.reading.digest() }";
    check(&work_under_the_lock("src/engine/step/run/returned.rs", text), &[]);
}

#[test]
fn sample_planted_faults() {
    let read = |path: &str| (path == "a.rs").then(|| "let a = b + b;\nlet c = b;\n".to_owned());
    check(&unplantable(SAMPLE_PLANTED, read), &[]);
    check(
        &unplantable(SAMPLE_UNPLANTABLE, read),
        &[
            "often: its text does not stand exactly once in a.rs",
            "elsewhere: its text does not stand exactly once in b.rs",
            "same: nothing is replaced by something else",
            "one: two faults have this name",
            "crossing: there are no tests called none",
            "crossing: it replaces what one replaces",
        ],
    );
}

const SAMPLE_DOWN: &str = r##"//! Names crate::surface in a comment /* and crate::app */
use crate::{domain::{self, run::{Run, RunId}}, limits, edn as text};
use super::super::{state::State, super::domain::Reason};
pub(crate) fn f<'a>(x: &'a str) -> crate::engine::Step { let _ = ("crate::app", r#"crate::"app"#, '"', b'\''); }
/* nested /* crate::runtime */ crate::runtime */
mod tests { use super::*; use super::super::super::domain::Slot; fn surface() -> std::io::Result<()> { x.surface() } }
"##;

const SAMPLE_UP: &str = r##"use crate::surface;
use crate::{
    domain::{Run, Slot}, graph::Plan,
    {runtime::{Handle, shutdown}},
};
fn f() -> crate::app::Config { let c = '"'; let s: &'static str = "\""; crate::port::f::<crate::dialect::X>() }
use super::super::super::adapter;
mod tests { mod inner { use super::super::super::super::super::testkit; } use super::super::super::super::calendar; }
use super::super::super::calendar;
use crate::Engine;
use crate::*;
use crate::{self as root};
use crate as root;
use ::reveille::app;
"##;

const SAMPLE_UP_FAULTS: [&str; 14] = [
    "1: `engine` may not name `surface`",
    "3: `engine` may not name `graph`",
    "4: `engine` may not name `runtime`",
    "4: `engine` may not name `runtime`",
    "6: `engine` may not name `app`",
    "6: `engine` may not name `port`",
    "6: `engine` may not name `dialect`",
    "7: `engine` may not name `adapter`",
    "8: `engine` may not name `testkit`",
    "10: `crate::Engine` is no layer; name the module that it lives in",
    "11: names the crate root; name the module that is meant",
    "12: names the crate root; name the module that is meant",
    "13: names the crate root; name the module that is meant",
    "14: `engine` may not name `app`",
];

#[test]
fn sample_purity() {
    check(
        &impurities(
            "use std::{fmt, collections::BTreeMap};\nfn f(now: &'static str) { \"std::io println!\"; }\n\
             use std::time::{Duration, SystemTime};",
        ),
        &[],
    );
    let text = "use std::{fmt, time::X};\nstatic A: u8 = 0;\nasync fn f() { println!(); rand::random() }\n\
                use ::std::fs::read;\nuse std::time;\nstd::time::SystemTime::now();";
    check(
        &impurities(text),
        &[
            "2: `static`",
            "3: `async`",
            "3: `println`",
            "1: `std::time::X`",
            "3: `rand::random`",
            "4: `std::fs::read`",
            "5: `std::time`",
            "6: `std::time::SystemTime::now`",
        ],
    );
}

#[test]
fn sample_lines() {
    let todo = concat!("// TO", "DO");
    check(&line_faults(&format!("{todo}(#12): later\nlet s = \"#[ignore] dbg!\";\n")), &[]);
    let text = format!(
        "{todo}: later\nlet a = 1; \n#[ignore = \"slow\"]\nfn f() {{\tdbg!(1); }}\n{}\n",
        "x".repeat(131)
    );
    let expected = [
        "1: open end without an issue number, as in (#12)",
        "2: trailing blank",
        "4: tab",
        "5: more than 130 characters",
        "3: ignored test; assert what holds today",
        "4: dbg!",
    ];
    check(&line_faults(&text), &expected);
}

#[test]
fn sample_waits() {
    check(&waits("// thread::sleep\nclock.sleep(span); thread::spawn(f); use std::time::Duration;"), &[]);
    let text = "use std::thread::{sleep, spawn};\nstd::thread::sleep(d);\ntokio::time::sleep(d);\nrx.recv_timeout(d);";
    check(
        &waits(text),
        &[
            "1: `std::thread::sleep`",
            "2: `std::thread::sleep`",
            "3: `tokio::time::sleep`",
            "4: `recv_timeout`",
        ],
    );
}

#[test]
fn sample_functions() {
    let text = "trait T { fn a(x: [u8; 4]); }\nfn b(f: fn(u8) -> u8)\nwhere\n    u8: Copy,\n{\n    if x { \"}\" }\n}\nfn c() {}";
    let expected = [("b".to_owned(), 6), ("c".to_owned(), 1)];
    assert_eq!(functions(&tokens(text)), expected);
}

#[test]
fn sample_ratchet() {
    let lengths =
        [("a:f".to_owned(), 80), ("a:g".to_owned(), 75), ("a:h".to_owned(), 70), ("a:i".to_owned(), 71)];
    check(&ratchet(&lengths, 70, &[("a:f", 80), ("a:g", 75), ("a:i", 71)]), &[]);
    check(
        &ratchet(&lengths, 70, &[("a:f", 79), ("a:g", 76), ("a:h", 72)]),
        &[
            "a:f: grew from 79 to 80 lines",
            "a:g: now 75 lines; lower its entry",
            "a:i: 71 lines, at most 70",
            "a:h: no longer over 70 lines; remove its entry",
        ],
    );
}

#[test]
fn sample_proof() {
    let page = "`just sim SEEDS=1` `cargo test --test tidy` `just no` `FILE` `cargo test` \
        `cargo test --test none --test tidy rust:: no::`";
    let exists = |path: &str| ["tests/tidy/main.rs", "tests/tidy/rust.rs"].contains(&path);
    check(
        &unknown_commands(page, "# no: a remark\nsim SEEDS=\"1\":\n    no it is\n", exists),
        &[
            "docs/PROOF.md: `just no`: there is no recipe no",
            "docs/PROOF.md: `cargo test --test none --test tidy rust:: no::`: there are no tests called none",
            "docs/PROOF.md: `cargo test --test none --test tidy rust:: no::`: there are no tests called no::",
        ],
    );
}

#[test]
fn sample_rows() {
    let text = "//! T1: of a file.\n    /// T2 and T4, T9: five, T5.\n/// This is T3.\n/// T6.\n/// Time 7";
    let file = File { path: "tests/a.rs".to_owned(), text: text.to_owned() };
    let missing = [1, 3, 5, 7].map(|row| format!("T{row}: no test names it"));
    let beyond = "T9: there is no such row".to_owned();
    assert_eq!(unshown(&[file], 7), [&missing[..], &[beyond]].concat());
}

#[test]
fn sample_names_that_dangle() {
    // `@` stands for a backtick, so that this file does not break the rule itself.
    let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.replace('@', "`") };
    let files = [
        file(
            "src/a/b/c.rs",
            "// @d.rs@, @b/d.rs@, @lib.rs@, @NAME.rs@\n//! @e.rs@ and @a/d.rs@\nlet x = \"@f.rs@\";",
        ),
        file("src/a/b/d.rs", ""),
        file("src/lib.rs", ""),
        file("src/z/e.rs", ""),
    ];
    let expected = ["src/a/b/c.rs:2: there is no `e.rs`", "src/a/b/c.rs:2: there is no `a/d.rs`"];
    check(&dangling_names(&files), &expected);
}

#[test]
fn sample_forgotten() {
    let file = |(path, text): (&str, &str)| File { path: path.to_owned(), text: text.to_owned() };
    let files = [
        ("tests/alone.rs", "mod inner {}"),
        (
            "tests/many/main.rs",
            "mod one; // mod four;\npub(crate) mod two;\n#[path = \"../x.rs\"] mod three;",
        ),
        ("tests/many/one.rs", "mod inner;"),
        ("tests/many/one/inner.rs", ""),
        ("tests/many/two/mod.rs", "mod inner;"),
        ("tests/many/two/inner.rs", ""),
        ("tests/many/four.rs", ""),
        ("tests/none/mod.rs", ""),
    ];
    check(
        &forgotten(&files.map(file)),
        &[
            "tests/many/four.rs: no test program has it as a module",
            "tests/none/mod.rs: no test program has it as a module",
        ],
    );
}

const SAMPLE_PLANTED: &str = "; A remark
# one
It adds up.
a.rs
- a = «b + b»;
+ b

# two
Two lines.
a.rs
- b;
- «let c = b;»
+
";

const SAMPLE_UNPLANTABLE: &str = "
# often
a.rs has it twice.
a.rs
- = b
+ 1
# elsewhere
No such file.
b.rs
- = b
+ 1
# same
It stays as it is.
a.rs
- c = «b»;
+ b
# one
The first.
a.rs
- b + b
+ b
# one
The second.
a.rs
- let a
+ let b
# crossing
Into the first.
a.rs
? lib none
- «a = b» + b
+ b
";

#[test]
fn a_surface_that_goes_past_the_service_is_found() {
    assert_eq!(past_the_service("fn f() { handle.submit(input); }"), ["1: `submit`"]);
    assert_eq!(
        past_the_service("fn f() {\n app.service.handle().open_session(id); }"),
        ["2: `open_session`"]
    );
    assert!(past_the_service("fn submit() { service.call_tool(name); let submit = 1; }").is_empty());
}
