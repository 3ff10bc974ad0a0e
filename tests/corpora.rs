//! Every input that the fuzzer has kept, played again: what must hold for any bytes holds for these.
//!
//! Lives here: the playing, and that no target goes without. Does not live here: what must hold, see `fuzz/src/`. This is a
//! program of its own, because the published package leaves it out together with `fuzz/`.

#[path = "../fuzz/src/lib.rs"]
mod targets;

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use targets::TARGETS;

/// What the fuzzer has found interesting: packed, one file for each target, and minimised.
const CORPUS: &str = "fuzz/corpus";
/// What has failed once: a directory for each target, and its inputs stay for ever under their names.
const FOUND: &str = "fuzz/found";

/// So that a clone stays small and this stays fast.
const INPUTS_MAX: usize = 300;
const BYTES_MAX: usize = 500_000;

/// Bytes, and where they are kept.
struct Input {
    place: String,
    bytes: Vec<u8>,
}

macro_rules! played {
    ($($name:ident)+) => {
        $(#[test]
        fn $name() {
            play(stringify!($name));
        })+

        const PLAYED: &[&str] = &[$(stringify!($name)),+];
    };
}

played! { condition cron edn eql facts graphql inbound json jsonl mcp rows shape stream tools webhook when }

#[track_caller]
fn play(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target of that name");
    let corpus = corpus(name);
    assert!(!corpus.is_empty(), "{CORPUS}/{name}.txt holds nothing");
    let failed: Vec<String> = corpus
        .into_iter()
        .chain(found(name))
        .filter(|input| catch_unwind(|| (target.run)(&input.bytes)).is_err())
        .map(|input| input.place)
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
    let files: Vec<String> = names.iter().map(|name| format!("{name}.txt")).collect();
    assert_eq!(files, listed(CORPUS), "each has a corpus");
    let found = listed(FOUND);
    let foreign: Vec<_> = found.iter().filter(|name| !names.contains(&name.as_str())).collect();
    assert!(foreign.is_empty(), "{foreign:?} belong to no target");
    for name in names {
        let inputs = corpus(name);
        let bytes: usize = inputs.iter().map(|input| input.bytes.len()).sum();
        assert!(
            inputs.len() <= INPUTS_MAX && bytes <= BYTES_MAX,
            "{name}: {} inputs, {bytes} bytes",
            inputs.len()
        );
        assert!(
            inputs.is_sorted_by(|one, next| one.bytes < next.bytes),
            "{name}: as `fuzz/corpus.py` packs it"
        );
        assert!(rooted(&format!("fuzz/dictionaries/{name}.dict")).exists(), "{name} has no dictionary");
    }
}

/// The inputs of a packed corpus, one a line; `fuzz/corpus.py` packs it and describes the format.
fn corpus(name: &str) -> Vec<Input> {
    let path = format!("{CORPUS}/{name}.txt");
    let text = fs::read_to_string(rooted(&path)).expect("a packed corpus");
    let input = |(number, line)| {
        let place = format!("{path}:{number}");
        Input { bytes: unescaped(line).expect(&place), place }
    };
    (1..).zip(text.split_terminator('\n')).map(input).collect()
}

/// The bytes of a line; `None` where it has an escape that there is not.
fn unescaped(line: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut rest) = (Vec::new(), line.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let (byte, after) = match (first, after) {
            (b'\\', [b'\\', after @ ..]) => (b'\\', after),
            (b'\\', [b'n', after @ ..]) => (b'\n', after),
            (b'\\', [b'r', after @ ..]) => (b'\r', after),
            (b'\\', [b't', after @ ..]) => (b'\t', after),
            (b'\\', [b'x', high, low, after @ ..]) => (digit(*high)? << 4 | digit(*low)?, after),
            (b' '..=b'~', after) if *first != b'\\' => (*first, after),
            _ => return None,
        };
        bytes.push(byte);
        rest = after;
    }
    Some(bytes)
}

fn digit(character: u8) -> Option<u8> {
    char::from(character).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[test]
fn lines_of_a_corpus_are_read() {
    for (line, bytes) in [
        ("", Some(&b""[..])),
        (r#"a "b" ~"#, Some(b"a \"b\" ~")),
        (r"\\n\n\r\t\x00\xff", Some(b"\\n\n\r\t\x00\xff")),
        (r"\\x41", Some(b"\\x41")),
        (r"\", None),
        (r"\q", None),
        (r"\x4", None),
        (r"\x4g", None),
        ("é", None),
        ("\t", None),
    ] {
        assert_eq!(unescaped(line).as_deref(), bytes, "{line}");
    }
}

/// What has failed once; nothing if there is no such directory.
fn found(name: &str) -> Vec<Input> {
    let folder = format!("{FOUND}/{name}");
    let paths = listed(&folder).into_iter().map(|name| format!("{folder}/{name}"));
    paths.map(|place| Input { bytes: fs::read(rooted(&place)).expect("a file of ours"), place }).collect()
}

/// Names in order; nothing if there is no such folder.
fn listed(folder: &str) -> Vec<String> {
    let found = fs::read_dir(rooted(folder)).into_iter().flatten();
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
    let mut names: Vec<String> = found.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn rooted(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
