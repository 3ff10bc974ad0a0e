//! The house rules that a compiler does not keep: layers, purity, sizes, pages. One test per rule; each lists every
//! place that breaks it. What clippy can keep is in `clippy.toml`, not here.
//!
//! The rules read tokens, not lines: comments and literals are gone before a rule looks, and a `use` tree is
//! flattened into paths. The samples at the end hold the reader itself to account, in both directions.

mod faults;
mod files;
mod modules;
mod planted;
mod proof;
mod rust;
mod samples;

use std::path::Path;

use faults::{impurities, layer_faults, line_faults, ratchet, undocumented_numbers, waits};
use files::{each_file, entries, layer_of, rank, read, report, rooted, rust_files};
use modules::forgotten;
use planted::unplantable;
use proof::unknown_commands;
use rust::{functions, tokens};

/// Lowest first. A module imports from rows above its own; the halves of a row do not import each other.
const LAYERS: [&[&str]; 9] = [
    &["limits", "edn"],
    &["domain"],
    &["calendar"],
    &["engine"],
    &["graph", "port"],
    &["dialect"],
    &["runtime", "adapter"],
    &["surface", "testkit"],
    &["app"],
];

/// Rows that know no clock, randomness, I/O, async, thread, static or log: all up to `dialect`.
const PURE_ROWS: usize = 6;

/// Every directory with Rust in it.
const ALL: [&str; 5] = ["src", "tests", "benches", "examples", "fuzz"];

/// What a pure layer may not name from the standard library.
const IMPURE_MODULES: [&str; 8] = ["time", "thread", "fs", "net", "io", "env", "process", "os"];

/// What a pure layer may not say at all.
const IMPURE_WORDS: &str = "tokio tracing getrandom rustix static async await thread_local";

/// The tests that drive the real clock, and so may wait. Every other test steps a simulated one.
const REAL_CLOCK_TESTS: [&str; 6] = [
    // Another process lives by the real clock.
    "tests/blackbox/daemon.rs",
    "tests/blackbox/life.rs",
    "tests/blackbox/real_time.rs",
    "tests/blackbox/stalls.rs",
    "tests/blackbox/stream.rs",
    "tests/clients/ten_minutes.rs",
];

const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 500;
const LINE_CHARS_MAX: usize = 130;

/// Functions that may be longer than the limit: `("src/file.rs:function", lines)`. Entries only shrink.
const LONG_FUNCTIONS: &[(&str, usize)] = &[];

/// Files that may be longer than the limit: `("src/file.rs", lines)`. Entries only shrink.
const LONG_FILES: &[(&str, usize)] = &[];

#[test]
fn every_module_imports_lower_layers_only() {
    let faults = each_file(&["src"], |file| layer_faults(&file.path, &file.text));
    report("a module names strictly lower layers only", &faults);
}

#[test]
fn pure_layers_stay_pure() {
    let faults = each_file(&["src"], |file| match rank(layer_of(&file.path)) {
        Some(rank) if rank < PURE_ROWS => impurities(&file.text),
        _ => Vec::new(),
    });
    report("pass it in: dialect/ and below touch no world", &faults);
}

#[test]
fn every_source_file_says_what_lives_in_it() {
    let mut files = rust_files(&["src"]);
    files.retain(|file| !file.text.starts_with("//!"));
    let faults: Vec<_> = files.into_iter().map(|file| file.path).collect();
    report("a file starts with //!: what lives here, and why", &faults);
}

#[test]
fn lines_are_clean() {
    let faults = each_file(&ALL, |file| line_faults(&file.text));
    report("lines are short and clean, without open ends", &faults);
}

#[test]
fn functions_stay_short() {
    let mut lengths = Vec::new();
    for file in rust_files(&ALL) {
        for (name, lines) in functions(&tokens(&file.text)) {
            lengths.push((format!("{}:{name}", file.path), lines));
        }
    }
    let faults = ratchet(&lengths, FUNCTION_LINES_MAX, LONG_FUNCTIONS);
    report("a function is short, or in LONG_FUNCTIONS", &faults);
}

#[test]
fn files_stay_short() {
    let files = rust_files(&ALL);
    let lengths: Vec<_> = files.into_iter().map(|file| (file.path, file.text.lines().count())).collect();
    let faults = ratchet(&lengths, FILE_LINES_MAX, LONG_FILES);
    report("a file is short, or in LONG_FILES", &faults);
}

#[test]
fn only_named_tests_wait_for_the_real_clock() {
    let mut faults = each_file(&["tests", "src/testkit"], |file| {
        if REAL_CLOCK_TESTS.contains(&file.path.as_str()) { Vec::new() } else { waits(&file.text) }
    });
    // A stale entry would exempt a later file of that name.
    let missing = REAL_CLOCK_TESTS.iter().filter(|path| !Path::new(&rooted(path)).exists());
    faults
        .extend(missing.map(|path| format!("{path}: named in REAL_CLOCK_TESTS, but there is no such file")));
    report("tests step a clock, or are in REAL_CLOCK_TESTS", &faults);
}

#[test]
fn every_file_of_tests_is_compiled() {
    report("a file of tests is a module of a test program", &forgotten(&rust_files(&["tests"])));
}

#[test]
fn every_limit_says_why() {
    let faults = undocumented_numbers(&read("src/limits.rs"));
    report("a limit documents unit, reason and source", &faults);
}

#[test]
fn the_readme_is_short_and_opens_with_the_two_commands() {
    let readme = read("README.md");
    let head: String = readme.lines().take(40).map(|line| format!("{line}\n")).collect();
    let mut faults = Vec::new();
    for command in ["cargo run --release -- demo", "cargo test"] {
        if !head.contains(command) {
            faults.push(format!("README.md: `{command}` is not in the first 40 lines"));
        }
    }
    if readme.lines().count() > 150 {
        faults.push(format!("README.md: {} lines, at most 150", readme.lines().count()));
    }
    report("the README is one short page", &faults);
}

#[test]
fn the_architecture_page_is_short_and_names_every_room() {
    let page = read("docs/ARCHITECTURE.md");
    let mut faults = Vec::new();
    for name in entries("src") {
        let word = if name.ends_with(".rs") { name } else { format!("{name}/") };
        if !page.contains(&word) {
            faults.push(format!("docs/ARCHITECTURE.md: does not name `{word}`"));
        }
    }
    if page.lines().count() > 250 {
        faults.push(format!("docs/ARCHITECTURE.md: {} lines, at most 250", page.lines().count()));
    }
    report("the architecture page is the map of src/", &faults);
}

#[test]
fn every_planted_fault_can_be_planted() {
    let faults =
        unplantable(&read("fixtures/planted.txt"), |path| std::fs::read_to_string(rooted(path)).ok());
    report("a planted fault replaces a text that stands once in its file", &faults);
}

#[test]
fn the_commands_of_the_proof_are_there() {
    let exists = |path: &str| Path::new(&rooted(path)).exists();
    let faults = unknown_commands(&read("docs/PROOF.md"), &read("justfile"), exists);
    report("the page of proof names commands that there are", &faults);
}
