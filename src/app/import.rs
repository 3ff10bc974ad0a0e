//! Imports the jobs of `jobs.jsonl` and `runs.jsonl`, and the schedules of `schedules.jsonl`, into an engine.
//!
//! What lives elsewhere: the contents of the files and their conversion (`dialect::cron::jsonl`, `service::export`).
//! Invariant: of an unreadable file, nothing is imported.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::dialect::cron::jsonl::{self, File, Replayed};
use crate::domain::{Refusal, ScheduleId, Scope, SessionId};
use crate::engine::{Command, Input, NewSchedule, Which};
use crate::runtime::Handle;
use crate::service::export::{Restored, SCHEDULES, ScheduleLog};

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The ids of the imported jobs and schedules.
    pub taken: Vec<ScheduleId>,
    /// The jobs and schedules that were left out, one line each.
    pub left_out: Vec<String>,
}

/// The files of a directory.
#[derive(Debug, Default)]
pub struct Files {
    /// The jobs of the first two files.
    pub replayed: Replayed,
    /// The schedules of the third.
    pub(crate) schedules: ScheduleLog,
}

impl Files {
    /// Returns what is odd about the files, one line each.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut said: Vec<String> = self.replayed.warnings.list.iter().map(ToString::to_string).collect();
        said.extend(self.schedules.warnings.list.iter().cloned());
        let left_off = self.replayed.warnings.left_off + self.schedules.warnings.left_off;
        if left_off > 0 {
            said.push(format!("and {left_off} more lines"));
        }
        let unended = self.replayed.unended.iter();
        said.extend(unended.map(|file| format!("{}: its last line is incomplete", file.name())));
        said
    }
}

/// Reads the files of a directory. Unusual lines become warnings. Any of the files may be missing, but not all.
///
/// # Errors
/// If all files are missing, one cannot be read, or one of the first two contains no valid event at all.
pub fn read(directory: &Path) -> io::Result<Files> {
    let names = [File::Jobs.name(), File::Runs.name(), SCHEDULES];
    let [jobs, runs, schedules] = names.map(|file| read_file(directory, file));
    let (jobs, runs, schedules) = (jobs?, runs?, schedules?);
    // No file: most likely the wrong directory.
    if jobs.is_none() && runs.is_none() && schedules.is_none() {
        let text = format!("{} contains none of {}", directory.display(), names.join(", "));
        return Err(io::Error::new(ErrorKind::NotFound, text));
    }
    let replayed = jsonl::replay(&jobs.unwrap_or_default(), &runs.unwrap_or_default());
    let replayed = replayed.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
    Ok(Files { replayed, schedules: ScheduleLog::read(&schedules.unwrap_or_default()) })
}

fn read_file(directory: &Path, file: &str) -> io::Result<Option<Vec<u8>>> {
    let path = directory.join(file);
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
        outcome.take(handle, imported.new, imported.paused.then_some(None));
    }
    outcome
}

/// Imports the schedules of our own file, under their own ids.
pub fn import_schedules(handle: &Handle, restored: Restored, outcome: &mut Outcome) {
    outcome.left_out.extend(restored.left_out);
    if restored.ended > 0 {
        outcome
            .left_out
            .push(format!("{SCHEDULES}: {} schedules have no slot to come and stay there", restored.ended));
    }
    for (new, paused) in restored.schedules {
        outcome.take(handle, new, paused);
    }
}

impl Outcome {
    fn take(&mut self, handle: &Handle, new: NewSchedule, paused: Option<Option<Box<str>>>) {
        let named = new.id.clone();
        match take(handle, new, paused) {
            Ok(id) => self.taken.push(id),
            Err(refusal) => {
                let name = named.map(|id| id.to_string()).unwrap_or_default();
                // The refusal's own hint is for a caller that chose the id.
                let why = if matches!(refusal, Refusal::ScheduleExists { .. }) {
                    "it exists already, and was not changed".to_owned()
                } else {
                    format!("{refusal}; {}", refusal.hint())
                };
                self.left_out.push(format!("{name}: {why}"));
            }
        }
    }
}

fn take(handle: &Handle, new: NewSchedule, paused: Option<Option<Box<str>>>) -> Result<ScheduleId, Refusal> {
    let id = handle.schedule(new)?;
    // No driver runs during an import, so nothing fires between these two steps.
    if let Some(reason) = paused {
        let which = Which::any(Scope::Operator, id.clone());
        handle.submit(Input::Command(Command::PauseSchedule { which, reason }))?;
    }
    Ok(id)
}
