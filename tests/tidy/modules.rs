//! Which files the test programs compile: a file that no `mod` names holds tests that never run, and nobody sees it.

use std::collections::{BTreeMap, BTreeSet};

use crate::files::File;
use crate::rust::tokens;

/// The files below `tests/` that no test program reaches. Cargo builds `tests/NAME.rs` and `tests/NAME/main.rs`, nothing else.
pub(crate) fn forgotten(files: &[File]) -> Vec<String> {
    let texts: BTreeMap<&str, &str> =
        files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
    let mut ahead: Vec<String> =
        texts.keys().copied().filter(|path| is_root(path)).map(str::to_owned).collect();
    let mut reached = BTreeSet::new();
    while let Some(path) = ahead.pop() {
        let Some(text) = texts.get(path.as_str()) else { continue };
        for name in declared(text) {
            let home = home_of(&path);
            ahead.extend([format!("{home}/{name}.rs"), format!("{home}/{name}/mod.rs")]);
        }
        reached.insert(path);
    }
    let left = texts.keys().filter(|path| !reached.contains(**path));
    left.map(|path| format!("{path}: no test program has it as a module")).collect()
}

fn is_root(path: &str) -> bool {
    match path.matches('/').count() {
        1 => true,
        2 => path.ends_with("/main.rs"),
        _ => false,
    }
}

/// The directory in which a file's modules are.
fn home_of(path: &str) -> &str {
    let home = path.trim_end_matches(".rs");
    home.strip_suffix("/main").or_else(|| home.strip_suffix("/mod")).unwrap_or(home)
}

/// The modules of a file that are files of their own: `mod name;`.
fn declared(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let triples = tokens.windows(3).filter(|triple| triple[0].text == "mod" && triple[2].text == ";");
    triples.map(|triple| triple[1].text.clone()).collect()
}

/// File names in comments that lead nowhere. A name with a folder may be anywhere in the repository; a bare one is of
/// this file's folder or of its parent's, or stands directly in `src`.
pub(crate) fn dangling_names(files: &[File]) -> Vec<String> {
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let mut faults = Vec::new();
    for file in files {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let near = folder.rsplit_once('/').map_or(folder, |(parent, _)| parent);
        let leads = |name: &str, path: &str| {
            let is_suffix =
                path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
            is_suffix
                && (name.contains('/') || path.starts_with(near) || path.strip_prefix("src/") == Some(name))
        };
        for (number, line) in file.text.lines().enumerate() {
            let Some((_, comment)) = line.split_once("//") else { continue };
            for name in comment.split('`').skip(1).step_by(2).filter(|name| is_file_name(name)) {
                if !paths.iter().any(|path| leads(name, path)) {
                    faults.push(format!("{}:{}: there is no `{name}`", file.path, number + 1));
                }
            }
        }
    }
    faults
}

/// Whether a text in backticks is the name of a file; capitals stand for any name.
fn is_file_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_/.".contains(c);
    text.ends_with(".rs") && text.chars().all(is_plain)
}
