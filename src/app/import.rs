//! Jobs from `jobs.jsonl` and `runs.jsonl`, taken over into an engine.
//!
//! What lives elsewhere: what the files say and what becomes of it (`dialect::cron::jsonl`). Invariant: of a file that
//! cannot be understood at all, nothing is taken over.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::dialect::cron::jsonl::{self, File, Replayed};
use crate::domain::{Refusal, ScheduleId, Scope, SessionId};
use crate::engine::{Command, Input, Which};
use crate::runtime::Handle;

/// What was taken over, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The jobs that are there now.
    pub taken: Vec<ScheduleId>,
    /// The others, one line each.
    pub left_out: Vec<String>,
}

/// Reads both files of a directory. Odd lines are in the warnings; a file that is not there is empty, if the other is.
///
/// # Errors
/// If there is neither, one cannot be read, or one holds lines of which none is an event.
pub fn read(directory: &Path) -> io::Result<Replayed> {
    let [jobs, runs] = [File::Jobs, File::Runs].map(|file| read_file(directory, file));
    let (jobs, runs) = (jobs?, runs?);
    if jobs.is_none() && runs.is_none() {
        let text =
            format!("{} holds neither {} nor {}", directory.display(), File::Jobs.name(), File::Runs.name());
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

/// Takes the jobs over, each under the id that it had; those for a channel belong to `owner`.
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
    if imported.paused {
        let which = Which::any(Scope::Operator, id.clone());
        handle.submit(Input::Command(Command::PauseSchedule { which, reason: None }))?;
    }
    Ok(id)
}
