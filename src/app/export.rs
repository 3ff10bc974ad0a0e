//! Writes the jobs and runs of an engine as `jobs.jsonl` and `runs.jsonl`, for another scheduler of
//! this kind.
//!
//! What lives elsewhere: the contents of the files (`dialect::cron::jsonl`). Invariant: existing
//! files are never overwritten.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::data_dir::create_private;
use super::foreign_text::escaped;
use crate::dialect::cron::jsonl;
use crate::runtime::Handle;

/// Writes both files into a directory, which is created if needed. Returns one line for everything
/// that the format cannot express.
///
/// # Errors
/// If one of the files exists already, or cannot be written.
pub fn export(handle: &Handle, directory: &Path) -> io::Result<Vec<String>> {
    let now = handle.now().wall;
    let files = handle.view(|state| jsonl::export(state, now, || handle.random_bits()));
    fs::create_dir_all(directory)?;
    for (file, text) in [(jsonl::File::Jobs, &files.jobs), (jsonl::File::Runs, &files.runs)] {
        let path = directory.join(file.name());
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        // Prompts are nobody else's to read. An existing file is refused atomically.
        let mut file = create_private(&path).map_err(named)?;
        // A person may print the file.
        let text = escaped(text);
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(named)?;
    }
    Ok(files.left_out)
}
