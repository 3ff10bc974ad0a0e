//! Writes the history of a store as files: `jobs.jsonl` and `runs.jsonl` for another scheduler of this kind, and
//! `schedules.jsonl` for everything that those two have no words for.
//!
//! What lives elsewhere: the contents of the files (`service::export`). Invariant: existing files are never overwritten.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::foreign_text::escaped;
use super::serve::data_dir::create_private;
use crate::dialect::cron::jsonl;
use crate::service::export::{self, ExportError, SCHEDULES, Stored};

/// Writes the files into a directory, which is created if needed. Returns one line for everything that was pruned or is
/// left out.
///
/// # Errors
/// If one of the files exists already or cannot be written, or if the store cannot be read.
pub fn export(stored: &Stored<'_>, directory: &Path) -> Result<Vec<String>, ExportError> {
    fs::create_dir_all(directory)?;
    let mut files = Vec::new();
    for name in [jsonl::File::Jobs.name(), jsonl::File::Runs.name(), SCHEDULES] {
        // Prompts are nobody else's to read. An existing file is refused atomically.
        let file = create_private(&directory.join(name)).map_err(|error| named(directory, name, &error))?;
        files.push((name, BufWriter::new(file)));
    }
    let said = export::export(stored, &mut |name, text| {
        let file = files.iter_mut().find(|(file, _)| *file == name);
        // A person may print the file.
        let written = file.map_or(Ok(()), |(_, file)| file.write_all(escaped(text).as_bytes()));
        written.map_err(|error| named(directory, name, &error))
    })?;
    for (name, file) in files {
        let synced =
            file.into_inner().map_err(io::IntoInnerError::into_error).and_then(|file: File| file.sync_all());
        synced.map_err(|error| named(directory, name, &error))?;
    }
    Ok(said)
}

fn named(directory: &Path, name: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", directory.join(name).display()))
}
