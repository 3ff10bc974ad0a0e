//! Reads the project's files for the rules.

use std::fs;

use crate::LAYERS;

pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

pub(crate) fn rooted(path: &str) -> String {
    format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(rooted(path)).expect(path)
}

/// The names in a directory, sorted; empty if it does not exist.
pub(crate) fn entries(directory: &str) -> Vec<String> {
    let found = fs::read_dir(rooted(directory)).into_iter().flatten().flatten();
    let mut names: Vec<_> = found.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

pub(crate) fn rust_files(directories: &[&str]) -> Vec<File> {
    let mut files = Vec::new();
    for directory in directories {
        for name in entries(directory) {
            let path = format!("{directory}/{name}");
            if name.ends_with(".rs") {
                files.push(File { text: read(&path), path });
            // Build output contains generated sources, which need not follow the rules.
            } else if name != "target" {
                files.extend(rust_files(&[&path]));
            }
        }
    }
    files
}

pub(crate) fn each_file(directories: &[&str], rule: impl Fn(&File) -> Vec<String>) -> Vec<String> {
    let mut faults = Vec::new();
    for file in rust_files(directories) {
        faults.extend(rule(&file).iter().map(|fault| format!("{}:{fault}", file.path)));
    }
    faults
}

pub(crate) fn report(rule: &str, faults: &[String]) {
    assert!(faults.is_empty(), "\n{rule}\n\n  {}\n", faults.join("\n  "));
}

/// The module path of a file: `src/engine/step/run/fire.rs` is `engine::step::run::fire`, and
/// `src/edn/mod.rs` is `edn`.
pub(crate) fn module_of(path: &str) -> Vec<String> {
    let inner = path.trim_start_matches("src/").trim_end_matches(".rs").trim_end_matches("/mod");
    inner.split('/').map(str::to_owned).collect()
}

pub(crate) fn layer_of(path: &str) -> &str {
    path.trim_start_matches("src/").split(['/', '.']).next().unwrap_or_default()
}

pub(crate) fn rank(layer: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&layer))
}
