//! What leaves the process, against receivers on the loopback and programs of the system. Tables are in `fixtures/outside/`.
//!
//! Nothing here waits for a time to pass: where a time-out is tested, it is short, and what is awaited is its effect.

mod channels;
mod endpoints;
mod guards;
mod mails;
mod posts;
mod programs;
mod reading;
mod receiver;
mod shapes;
mod signatures;

use std::fs;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/outside").join(name)
}

/// The rows of a table, each with its number of the line and its columns.
fn rows(name: &str) -> Vec<(usize, Vec<String>)> {
    let text = fs::read_to_string(fixture(name)).expect("the table is there");
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines.map(|(i, line)| (i + 1, line.split('|').map(|column| column.trim().to_owned()).collect())).collect()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(future)
}
