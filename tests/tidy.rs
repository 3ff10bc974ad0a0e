//! The house rules that a compiler does not keep: layers, purity, sizes, pages. One test per rule; each lists every
//! place that breaks it. What clippy can keep is in `clippy.toml`, not here.
//!
//! The rules read tokens, not lines: comments and literals are gone before a rule looks, and a `use` tree is
//! flattened into paths. The samples at the end hold the reader itself to account, in both directions.

use std::fs;
use std::path::Path;

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
const REAL_CLOCK_TESTS: [&str; 1] = ["tests/real_clock.rs"];

const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 500;
const LINE_CHARS_MAX: usize = 130;

/// Functions that may be longer than the limit: `("src/file.rs:function", lines)`. Entries only shrink.
const LONG_FUNCTIONS: &[(&str, usize)] = &[];

/// Files that may be longer than the limit: `("src/file.rs", lines)`. Entries only shrink.
///
/// This file: one test binary keeps every rule, and half of it is the reader and its samples.
const LONG_FILES: &[(&str, usize)] = &[("tests/tidy.rs", 844)];

// ── The rules ──────────────────────────────────────────────────────────────────────────────────────────────────

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
    let missing = REAL_CLOCK_TESTS.iter().filter(|path| !Path::new(&rooted(path)).exists());
    faults
        .extend(missing.map(|path| format!("{path}: named in REAL_CLOCK_TESTS, but there is no such file")));
    report("tests step a clock, or are in REAL_CLOCK_TESTS", &faults);
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

// ── What each rule looks for ───────────────────────────────────────────────────────────────────────────────────

/// Imports of `path` that go up or sideways. `lib.rs` declares the layers and `main.rs` wires them: both may name any.
fn layer_faults(path: &str, text: &str) -> Vec<String> {
    let module = module_of(path);
    let own = module[0].as_str();
    if module.len() == 1 && ["lib", "main"].contains(&own) {
        return Vec::new();
    }
    let Some(own_rank) = rank(own) else {
        return vec![format!("1: `{own}` is no layer; give it a row in LAYERS")];
    };
    let mut faults = Vec::new();
    for Named { segments, line } in paths(&module, &tokens(text)) {
        if segments[0] != "crate" {
            continue;
        }
        let name = segments.get(1).map_or("*", String::as_str);
        let fault = match rank(name) {
            _ if name == "*" => "names the crate root; name the module that is meant".to_owned(),
            Some(_) if name == own => match other_room(&module, &segments) {
                Some(room) => format!("one adapter names another, `{room}`"),
                None => continue,
            },
            Some(rank) if rank < own_rank => continue,
            Some(_) => format!("`{own}` may not name `{name}`"),
            None => format!("`crate::{name}` is no layer; name the module that it lives in"),
        };
        faults.push(format!("{line}: {fault}"));
    }
    faults
}

/// The adapter that a file of a different adapter names: each is a room of its own.
fn other_room<'a>(module: &[String], named: &'a [String]) -> Option<&'a str> {
    let own = module.get(1).filter(|_| module[0] == "adapter")?;
    let other = named.get(2).map_or("*", String::as_str);
    (other != own).then_some(other)
}

fn impurities(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let mut faults = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let printed = ["println", "eprintln", "print", "eprint"].contains(&token.text.as_str())
            && tokens.get(i + 1).is_some_and(|next| next.text == "!");
        if printed || IMPURE_WORDS.split(' ').any(|word| word == token.text) {
            faults.push(format!("{}: `{}`", token.line, token.text));
        }
    }
    for Named { segments, line } in paths(&["here".to_owned()], &tokens) {
        let second = segments.get(1).map_or("", String::as_str);
        let outer = ["std", "core", "alloc"].contains(&segments[0].as_str());
        if segments[0] == "rand" || outer && (second == "*" || IMPURE_MODULES.contains(&second)) {
            faults.push(format!("{line}: `{}`", segments.join("::")));
        }
    }
    faults
}

fn line_faults(text: &str) -> Vec<String> {
    let todo = concat!("TO", "DO");
    let mut faults = Vec::new();
    for (number, line) in text.lines().enumerate().map(|(i, line)| (i + 1, line)) {
        let open_end = line.split(todo).skip(1).any(|rest| !has_issue_number(rest));
        let checks = [
            (line.ends_with([' ', '\t', '\r']), "trailing blank"),
            (line.contains('\t'), "tab"),
            (line.chars().count() > LINE_CHARS_MAX, "more than 130 characters"),
            (open_end, "open end without an issue number, as in (#12)"),
        ];
        let broken = checks.into_iter().filter(|(broken, _)| *broken);
        faults.extend(broken.map(|(_, fault)| format!("{number}: {fault}")));
    }
    let tokens = tokens(text);
    for window in tokens.windows(3) {
        match [0, 1, 2].map(|i| window[i].text.as_str()) {
            ["#", "[", "ignore"] => {
                faults.push(format!("{}: ignored test; assert what holds today", window[0].line));
            }
            ["dbg", "!", _] => faults.push(format!("{}: dbg!", window[0].line)),
            _ => {}
        }
    }
    faults
}

fn has_issue_number(rest: &str) -> bool {
    rest.strip_prefix("(#").is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

fn waits(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let mut faults = Vec::new();
    for Named { segments, line } in paths(&["here".to_owned()], &tokens) {
        if segments
            .windows(2)
            .any(|pair| ["thread", "time"].contains(&pair[0].as_str()) && pair[1] == "sleep")
        {
            faults.push(format!("{line}: `{}`", segments.join("::")));
        }
    }
    let timeouts = tokens.iter().filter(|token| token.text == "recv_timeout");
    faults.extend(timeouts.map(|token| format!("{}: `recv_timeout`", token.line)));
    faults
}

/// Public constants of a number type whose item has no `///` above it (attributes may stand between).
fn undocumented_numbers(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut documented = false;
    for (number, line) in text.lines().enumerate().map(|(i, line)| (i + 1, line.trim())) {
        if line.starts_with("///") {
            documented = true;
        } else if !line.starts_with("#[") {
            let item = line.strip_prefix("pub const ").and_then(|rest| rest.split_once(':'));
            let kind = item.map_or("", |(_, rest)| rest.trim());
            let is_number = kind.starts_with(['u', 'i', 'f'])
                && kind[1..].starts_with(|c: char| c.is_ascii_digit())
                || kind.starts_with("usize")
                || kind.starts_with("isize");
            if is_number && !documented {
                faults.push(format!("src/limits.rs:{number}: {line}"));
            }
            documented = false;
        }
    }
    faults
}

/// Lengths over `max` that no entry allows, and entries that no longer match: they only shrink, and then go.
fn ratchet(lengths: &[(String, usize)], max: usize, allowed: &[(&str, usize)]) -> Vec<String> {
    let mut faults = Vec::new();
    for (place, lines) in lengths.iter().filter(|(_, lines)| *lines > max) {
        match allowed.iter().find(|(name, _)| name == place) {
            None => faults.push(format!("{place}: {lines} lines, at most {max}")),
            Some((_, was)) if lines > was => {
                faults.push(format!("{place}: grew from {was} to {lines} lines"));
            }
            Some((_, was)) if lines < was => {
                faults.push(format!("{place}: now {lines} lines; lower its entry"));
            }
            Some(_) => {}
        }
    }
    for (name, _) in allowed {
        if !lengths.iter().any(|(place, lines)| place == name && *lines > max) {
            faults.push(format!("{name}: no longer over {max} lines; remove its entry"));
        }
    }
    faults
}

// ── Reading files ──────────────────────────────────────────────────────────────────────────────────────────────

struct File {
    path: String,
    text: String,
}

fn rooted(path: &str) -> String {
    format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(rooted(path)).expect(path)
}

/// Names in a directory, sorted; nothing if there is no such directory.
fn entries(directory: &str) -> Vec<String> {
    let found = fs::read_dir(rooted(directory)).into_iter().flatten().flatten();
    let mut names: Vec<_> = found.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn rust_files(directories: &[&str]) -> Vec<File> {
    let mut files = Vec::new();
    for directory in directories {
        for name in entries(directory) {
            let path = format!("{directory}/{name}");
            if name.ends_with(".rs") {
                files.push(File { text: read(&path), path });
            } else if name != "target" {
                files.extend(rust_files(&[&path]));
            }
        }
    }
    files
}

fn each_file(directories: &[&str], rule: impl Fn(&File) -> Vec<String>) -> Vec<String> {
    let mut faults = Vec::new();
    for file in rust_files(directories) {
        faults.extend(rule(&file).iter().map(|fault| format!("{}:{fault}", file.path)));
    }
    faults
}

fn report(rule: &str, faults: &[String]) {
    assert!(faults.is_empty(), "\n{rule}\n\n  {}\n", faults.join("\n  "));
}

/// `src/engine/step/claim.rs` is the module `engine::step::claim`, and `src/edn/mod.rs` is `edn`.
fn module_of(path: &str) -> Vec<String> {
    let inner = path.trim_start_matches("src/").trim_end_matches(".rs").trim_end_matches("/mod");
    inner.split('/').map(str::to_owned).collect()
}

fn layer_of(path: &str) -> &str {
    path.trim_start_matches("src/").split(['/', '.']).next().unwrap_or_default()
}

fn rank(layer: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&layer))
}

// ── Reading Rust ───────────────────────────────────────────────────────────────────────────────────────────────

/// One word or sign of the source; `::` is one, a comment or literal none (a number is a word).
struct Token {
    text: String,
    line: usize,
}

fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let is = |at: usize, c: char| chars.get(at) == Some(&c);
    let (mut tokens, mut at, mut line) = (Vec::new(), 0, 1);
    while at < chars.len() {
        let start = at;
        let word = word_end(&chars, at);
        let quote = word + chars[word..].iter().take_while(|c| **c == '#').count();
        let prefix: String = chars[at..word].iter().collect();
        if is(at, '/') && is(at + 1, '/') {
            at += chars[at..].iter().take_while(|c| **c != '\n').count();
        } else if is(at, '/') && is(at + 1, '*') {
            at = comment_end(&chars, at);
        } else if ["r", "br", "cr"].contains(&prefix.as_str()) && is(quote, '"') {
            at = raw_string_end(&chars, quote, quote - word);
        } else if ["", "b", "c"].contains(&prefix.as_str()) && is(word, '"') {
            at = quoted_end(&chars, word);
        } else if ["", "b"].contains(&prefix.as_str()) && is(word, '\'') {
            let is_char = is(word + 1, '\\') || is(word + 2, '\'');
            at = if is_char { quoted_end(&chars, word) } else { word_end(&chars, word + 1) };
        } else if prefix == "r" && is(word, '#') {
            at = word + 1;
        } else if !chars[at].is_whitespace() {
            let is_path = is(at, ':') && is(at + 1, ':');
            at = if word > at { word } else { at + 1 + usize::from(is_path) };
            tokens.push(Token { text: chars[start..at].iter().collect(), line });
        } else {
            at += 1;
        }
        line += chars[start..at].iter().filter(|c| **c == '\n').count();
    }
    tokens
}

fn word_end(chars: &[char], at: usize) -> usize {
    at + chars[at..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').count()
}

/// Just after the comment that opens at `at`; comments nest.
fn comment_end(chars: &[char], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while at < chars.len() {
        match chars[at..].get(..2) {
            Some(['/', '*']) => (depth, at) = (depth + 1, at + 2),
            Some(['*', '/']) if depth == 1 => return at + 2,
            Some(['*', '/']) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    at
}

/// Just after the quote that closes the one at `at`.
fn quoted_end(chars: &[char], at: usize) -> usize {
    let mut end = at + 1;
    while end < chars.len() && chars[end] != chars[at] {
        end += if chars[end] == '\\' { 2 } else { 1 };
    }
    chars.len().min(end + 1)
}

/// Just after the quote at or after `at` that as many hashes follow as stood before the opening one.
fn raw_string_end(chars: &[char], at: usize, hashes: usize) -> usize {
    let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let body = &chars[at + 1..];
    let length = body.windows(close.len()).position(|window| window == close);
    length.map_or(chars.len(), |length| at + 1 + length + close.len())
}

/// A path as code names it, counted from the crate's root where it leads there: `crate::engine::State`.
struct Named {
    segments: Vec<String>,
    line: usize,
}

/// All paths of two words or more. Trees are flattened, `self` and `super` resolved, inline modules counted.
fn paths(module: &[String], tokens: &[Token]) -> Vec<Named> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let mut here: Vec<String> = std::iter::once("crate".to_owned()).chain(module.iter().cloned()).collect();
    let (mut named, mut opened, mut depth, mut at) = (Vec::new(), Vec::new(), 0_usize, 0);
    while at < tokens.len() {
        let continues = at >= 2 && text(at - 1) == "::" && is_segment(text(at - 2));
        match text(at) {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                if opened.last() == Some(&depth) {
                    opened.pop();
                    here.pop();
                }
            }
            "mod" if text(at + 2) == "{" => {
                opened.push(depth);
                here.push(text(at + 1).to_owned());
            }
            "crate" if text(at + 1) == "as" => flatten(tokens, at, &here, &[], &mut named),
            word if is_segment(word) && is_word(word) && text(at + 1) == "::" && !continues => {
                flatten(tokens, at, &here, &[], &mut named);
                at = tree_end(tokens, at);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    named
}

/// Adds the paths of the tree that starts at `at`, below the `base` already read.
fn flatten(tokens: &[Token], at: usize, here: &[String], base: &[String], named: &mut Vec<Named>) {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let mut path = base.to_vec();
    match text(at) {
        "{" => {
            let mut branch = at + 1;
            while branch < tokens.len() && text(branch) != "}" {
                if text(branch) != "," {
                    flatten(tokens, branch, here, base, named);
                }
                branch = if text(branch) == "," { branch + 1 } else { branch_end(tokens, branch) };
            }
            return;
        }
        "self" if base.is_empty() => path = here.to_vec(),
        "self" => {}
        "super" if base.is_empty() => path = here[..here.len() - 1].to_vec(),
        "super" => drop(path.pop()),
        "reveille" if base.is_empty() => path.push("crate".to_owned()),
        word => path.push(word.to_owned()),
    }
    let follows = text(at + 1) == "::" && (is_word(text(at + 2)) || ["{", "*"].contains(&text(at + 2)));
    if follows {
        flatten(tokens, at + 2, here, &path, named);
    } else if !path.is_empty() {
        named.push(Named { segments: path, line: tokens[at].line });
    }
}

/// Just after a path that starts at `at`, with its tree.
fn tree_end(tokens: &[Token], mut at: usize) -> usize {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    while text(at + 1) == "::" && (is_word(text(at + 2)) || text(at + 2) == "*") {
        at += 2;
    }
    if text(at + 1) != "::" || text(at + 2) != "{" {
        return at + 1;
    }
    at += 3;
    while at < tokens.len() && text(at) != "}" {
        at = branch_end(tokens, at) + usize::from(text(branch_end(tokens, at)) == ",");
    }
    at + 1
}

/// At the comma or brace that ends the branch of a tree.
fn branch_end(tokens: &[Token], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            "," | "}" if depth == 0 => break,
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    at
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Whether a `::` after this word continues a path; after `use` or a sign it starts one.
fn is_segment(text: &str) -> bool {
    let opens = ["use", "as", "in", "dyn", "impl", "for", "mut", "return", "where"];
    text == ">" || is_word(text) && !opens.contains(&text)
}

/// Name and length in lines of every function with a body.
fn functions(tokens: &[Token]) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        if pair[0].text != "fn" || !is_word(&pair[1].text) {
            continue;
        }
        let mut depth = 0_usize;
        for token in &tokens[at..] {
            match token.text.as_str() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" => depth = depth.saturating_sub(1),
                "}" if depth == 1 => {
                    found.push((pair[1].text.clone(), token.line + 1 - pair[0].line));
                    break;
                }
                "}" => depth = depth.saturating_sub(1),
                ";" if depth == 0 => break,
                _ => {}
            }
        }
    }
    found
}

// ── The reader and the rules, held to samples ──────────────────────────────────────────────────────────────────

/// What the rule says of a sample, one line per fault.
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
            "use std::{fmt, collections::BTreeMap};\nfn f(now: &'static str) { \"std::io println!\"; }",
        ),
        &[],
    );
    let text = "use std::{fmt, time::X};\nstatic A: u8 = 0;\nasync fn f() { println!(); rand::random() }\nuse ::std::fs::read;";
    check(
        &impurities(text),
        &[
            "2: `static`",
            "3: `async`",
            "3: `println`",
            "1: `std::time::X`",
            "3: `rand::random`",
            "4: `std::fs::read`",
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
fn sample_limits() {
    check(
        &undocumented_numbers("/// Why.\n#[rustfmt::skip]\npub const A: u32 = 1;\npub const B: &str = \"\";"),
        &[],
    );
    check(
        &undocumented_numbers("/// Why.\npub const A: u32 = 1;\npub const B: usize = 1;"),
        &["src/limits.rs:3: pub const B: usize = 1;"],
    );
}
