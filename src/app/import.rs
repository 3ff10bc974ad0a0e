//! Imports the jobs of `jobs.jsonl` and `runs.jsonl` into an engine.
//!
//! What lives elsewhere: the contents of the files and their conversion (`dialect::cron::jsonl`).
//! Invariant: of an unreadable file, nothing is imported.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::dialect::cron::jsonl::{self, File, Replayed};
use crate::domain::{Refusal, ScheduleId, Scope, SessionId};
use crate::engine::{Command, Input, Which};
use crate::runtime::Handle;

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The ids of the imported jobs.
    pub taken: Vec<ScheduleId>,
    /// The jobs that were left out, one line each.
    pub left_out: Vec<String>,
}

/// Reads both files of a directory. Unusual lines become warnings. One of the files may be missing.
///
/// # Errors
/// If both files are missing, one cannot be read, or one contains no valid event at all.
pub fn read(directory: &Path) -> io::Result<Replayed> {
    let [jobs, runs] = [File::Jobs, File::Runs].map(|file| read_file(directory, file));
    let (jobs, runs) = (jobs?, runs?);
    // Neither file: most likely the wrong directory.
    if jobs.is_none() && runs.is_none() {
        let text = format!(
            "{} contains neither {} nor {}",
            directory.display(),
            File::Jobs.name(),
            File::Runs.name()
        );
        return Err(io::Error::new(ErrorKind::NotFound, text));
    }
    let replayed = jsonl::replay(&jobs.unwrap_or_default(), &runs.unwrap_or_default());
    replayed.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

fn read_file(directory: &Path, file: File) -> io::Result<Option<Vec<u8>>> {
    let path = directory.join(file.name());
    match fs::read(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
    }
}

/// Imports the jobs under their own ids; jobs for a channel get `owner`.
pub fn import(handle: &Handle, replayed: &Replayed, owner: Option<&SessionId>) -> Outcome {
    let plan = jsonl::import(&replayed.profile, owner, handle.now().wall);
    let mut outcome = Outcome { taken: Vec::new(), left_out: plan.left_out };
    for imported in plan.schedules {
        let named = imported.new.id.clone();
        match take(handle, imported) {
            Ok(id) => outcome.taken.push(id),
            Err(refusal) => {
                let name = named.map(|id| id.to_string()).unwrap_or_default();
                outcome.left_out.push(format!("{name}: {refusal}; {}", refusal.hint()));
            }
        }
    }
    outcome
}

fn take(handle: &Handle, imported: jsonl::Imported) -> Result<ScheduleId, Refusal> {
    let id = handle.schedule(imported.new)?;
    // No driver runs during an import, so nothing fires between these two steps.
    if imported.paused {
        let which = Which::any(Scope::Operator, id.clone());
        handle.submit(Input::Command(Command::PauseSchedule { which, reason: None }))?;
    }
    Ok(id)
}
