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
mod rows;
mod rust;
mod samples;

use std::path::Path;

use faults::{impurities, layer_faults, line_faults, past_the_service, ratchet, waits, work_under_the_lock};
use files::{each_file, entries, layer_of, rank, read, report, rooted, rust_files};
use modules::{dangling_names, forgotten};
use planted::unplantable;
use proof::unknown_commands;
use rows::unshown;
use rust::{functions, tokens};

/// Lowest first. A module imports from rows above its own; the halves of a row do not import each other.
const LAYERS: [&[&str]; 10] = [
    &["limits", "edn"],
    &["domain"],
    &["calendar"],
    &["engine"],
    &["graph", "port"],
    &["dialect"],
    &["runtime", "adapter"],
    &["service"],
    &["surface", "testkit", "embed"],
    &["app", "prelude"],
];

/// Rows that know no clock, randomness, I/O, async, thread, static or log: all up to `dialect`.
const PURE_ROWS: usize = 6;

/// Every directory with Rust in it.
const ALL: [&str; 6] = ["src", "checker", "tests", "benches", "examples", "fuzz"];

/// The crate that judges histories: all but its program knows no clock, I/O, thread or static either.
const CHECKER: &str = "checker/src";

/// What a pure layer may not name from the standard library.
const IMPURE_MODULES: [&str; 8] = ["time", "thread", "fs", "net", "io", "env", "process", "os"];

/// Types of `std::time` that are data, which a pure layer may name; `SystemTime::now` is banned in `clippy.toml`.
const TIME_TYPES: [&str; 3] = ["Duration", "SystemTime", "UNIX_EPOCH"];

/// What a pure layer may not say at all.
const IMPURE_WORDS: &str = "tokio tracing getrandom rustix static async await thread_local";

/// The tests that drive the real clock, and so may wait. Every other test steps a simulated one.
const REAL_CLOCK_TESTS: [&str; 6] = [
    // Another process lives by the real clock.
    "tests/blackbox/harness/daemon.rs",
    "tests/blackbox/harness/life.rs",
    "tests/blackbox/time/real_time.rs",
    "tests/blackbox/harness/stalls.rs",
    "tests/blackbox/harness/stream.rs",
    "tests/clients/ten_minutes.rs",
];

const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 500;
const LINE_CHARS_MAX: usize = 130;
/// Each feature doubles what can be built, and a user has to understand them all.
const FEATURES_MAX: usize = 12;

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
fn surfaces_ask_the_service() {
    let faults = each_file(&["src/surface"], |file| past_the_service(&file.text));
    report("who may ask for what is the service's: a surface does not change or follow the engine", &faults);
}

#[test]
fn transitions_do_no_work_on_results() {
    let faults = each_file(&["src/engine/step"], |file| work_under_the_lock(&file.path, &file.text));
    report("a transition is short: results are walked before the lock is taken", &faults);
}

#[test]
fn pure_layers_stay_pure() {
    let is_pure = |path: &str| match path.strip_prefix(CHECKER) {
        Some(name) => name != "/main.rs",
        None => rank(layer_of(path)).is_some_and(|rank| rank < PURE_ROWS),
    };
    let faults =
        each_file(
            &["src", CHECKER],
            |file| {
                if is_pure(&file.path) { impurities(&file.text) } else { Vec::new() }
            },
        );
    report("pass it in: dialect/ and below, and the checker, touch no world", &faults);
}

#[test]
fn the_checker_depends_on_nothing_of_ours() {
    let manifest = read("checker/Cargo.toml");
    let sections = manifest.split("dependencies]").skip(1).filter_map(|rest| rest.split("\n[").next());
    let is_ours = |line: &&str| line.contains("reveille") || line.contains("path =");
    let faults: Vec<_> = sections.flat_map(str::lines).filter(is_ours).map(str::to_owned).collect();
    report("what judges the scheduler cannot call it", &faults);
}

#[test]
fn every_source_file_says_what_lives_in_it() {
    let mut files = rust_files(&["src", CHECKER]);
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
    let mut faults = each_file(&["tests", "src/testkit", CHECKER], |file| {
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
fn comments_name_files_that_exist() {
    report("a comment names a file that is there", &dangling_names(&rust_files(&ALL)));
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
fn features_are_few_and_in_the_readme() {
    let (manifest, readme) = (read("Cargo.toml"), read("README.md"));
    let section = manifest.split("[features]").nth(1).and_then(|rest| rest.split("\n[").next());
    let features: Vec<_> = section
        .into_iter()
        .flat_map(str::lines)
        .filter_map(|line| line.split_once(" = [").map(|(name, _)| name))
        .filter(|name| *name != "default")
        .collect();
    let table: String = readme.lines().filter(|line| line.starts_with("| `")).collect();
    let mut faults: Vec<_> = features
        .iter()
        .filter(|name| !table.contains(&format!("`{name}`")))
        .map(|name| format!("README.md: the table does not name the feature `{name}`"))
        .collect();
    if features.len() > FEATURES_MAX {
        faults.push(format!("Cargo.toml: {} features, at most {FEATURES_MAX}", features.len()));
    }
    report("few features, each in the README's table", &faults);
}

/// A count that wraps is a lie that nobody notices. Tests are built with the checks, so none of them would tell.
#[test]
fn releases_check_their_arithmetic() {
    let manifest = read("Cargo.toml");
    let release = manifest.split("\n[").find(|section| section.starts_with("profile.release]"));
    let checks = |section: &str| section.lines().any(|line| line == "overflow-checks = true");
    assert!(release.is_some_and(checks), "Cargo.toml: profile.release needs overflow-checks = true");
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

/// T76.
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

#[test]
fn every_row_of_the_primitives_is_shown_by_a_test() {
    report("a test names the rows T1 to T76 that it shows", &unshown(&rust_files(&["tests"]), 76));
}
