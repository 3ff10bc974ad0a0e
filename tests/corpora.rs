//! Every file that the fuzzer has kept, played again: what must hold for any bytes holds for these.
//!
//! Lives here: the playing, and that no target goes without. Does not live here: what must hold, see `fuzz/src/`.

#[path = "../fuzz/src/lib.rs"]
mod targets;

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use targets::TARGETS;

/// What the fuzzer has found interesting, and what has failed once: the first is minimised, the second stays for ever.
const CORPUS: &str = "fuzz/corpus";
const FOUND: &str = "fuzz/found";

/// So that a clone stays small and this stays fast.
const FILES_MAX: usize = 300;
const BYTES_MAX: u64 = 500_000;

macro_rules! played {
    ($($name:ident)+) => {
        $(#[test]
        fn $name() {
            play(stringify!($name));
        })+

        const PLAYED: &[&str] = &[$(stringify!($name)),+];
    };
}

played! { cron edn eql facts graphql json jsonl mcp rows stream tools webhook when }

#[track_caller]
fn play(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target of that name");
    let corpus = files(CORPUS, name);
    assert!(!corpus.is_empty(), "{CORPUS}/{name} holds nothing");
    let failed: Vec<String> = corpus
        .into_iter()
        .chain(files(FOUND, name))
        .filter(|path| {
            let bytes = fs::read(path).expect("a file of ours");
            catch_unwind(|| (target.run)(&bytes)).is_err()
        })
        .map(|path| path.display().to_string())
        .collect();
    assert!(failed.is_empty(), "fails on\n  {}", failed.join("\n  "));
}

#[test]
fn every_target_is_listed_played_and_small() {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names, PLAYED, "each has a test here");
    let manifest = fs::read_to_string(rooted("fuzz/Cargo.toml")).expect("the fuzzer's manifest");
    let binaries: Vec<&str> = manifest
        .split("[[bin]]")
        .skip(1)
        .filter_map(|section| section.split("name = \"").nth(1)?.split('"').next())
        .collect();
    assert_eq!(names, binaries, "each has a binary in fuzz/Cargo.toml");
    let known = |folder: &str| {
        let entries = entries(&rooted(folder));
        let foreign: Vec<_> =
            entries.iter().filter(|path| !names.iter().any(|name| path.ends_with(name))).collect();
        assert!(foreign.is_empty(), "{foreign:?} belong to no target");
    };
    known(CORPUS);
    known(FOUND);
    for name in names {
        let files = files(CORPUS, name);
        let bytes: u64 = files.iter().map(|path| fs::metadata(path).expect("a file of ours").len()).sum();
        assert!(
            files.len() <= FILES_MAX && bytes <= BYTES_MAX,
            "{name}: {} files, {bytes} bytes",
            files.len()
        );
        assert!(rooted(&format!("fuzz/dictionaries/{name}.dict")).exists(), "{name} has no dictionary");
    }
}

fn files(folder: &str, name: &str) -> Vec<PathBuf> {
    entries(&rooted(folder).join(name))
}

/// In order; nothing if there is no such folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = found.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn rooted(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
