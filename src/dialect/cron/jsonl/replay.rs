//! Replays the two files as a whole.
//!
//! Invariant: a file with lines but without a single event is an error, never an empty profile. Starting with an
//! empty one would overwrite what can still be saved.

use super::event::{JobLine, RunLine};
use super::fold::Profile;
use super::line::{JsonlLine, lines};
use super::read;
use super::warning::{BoundedWarnings, File, LineWarning, Oddity};

/// The result of replaying the two files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// The existing jobs, and the tombstones.
    pub profile: Profile,
    /// The warnings, in the order of the files and their lines.
    pub warnings: BoundedWarnings<LineWarning>,
    /// Files whose last line has no line break. The next append has to begin with one, or it would be lost with that
    /// line.
    pub unended: Vec<File>,
}

/// A file without a single event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} holds {lines} lines, none of them an event; keep it, and look at it first: {first}", first.file.name())]
pub struct Unreadable {
    /// The number of lines.
    pub lines: u64,
    /// The warning about the first line.
    pub(crate) first: LineWarning,
}

/// Replays both files, jobs first. An absent file is an empty text.
///
/// # Errors
/// [`Unreadable`] for the first file that has lines, but no event.
pub fn replay(jobs: &[u8], runs: &[u8]) -> Result<Replayed, Unreadable> {
    let mut replayed = Replayed::default();
    // Jobs first: a run whose job is not known yet would be ignored.
    replayed.add(File::Jobs, jobs, |line, profile| {
        read::job_line(line).map(|line: JobLine| profile.add_job_event(&line))
    })?;
    replayed.add(File::Runs, runs, |line, profile| {
        read::run_line(line).map(|line: RunLine| profile.add_run_event(&line))
    })?;
    Ok(replayed)
}

impl Replayed {
    /// Adds the lines of one file. `add_line` fails with the warning about a line that is not an event.
    fn add(
        &mut self,
        file: File,
        text: &[u8],
        add_line: impl Fn(&JsonlLine<'_>, &mut Profile) -> Result<Option<Oddity>, Oddity>,
    ) -> Result<(), Unreadable> {
        let (mut count, mut events, mut first) = (0, 0_u64, None);
        for line in lines(text) {
            count += 1;
            // A readable event can be odd as well; only unreadable lines fail.
            let oddity = match add_line(&line, &mut self.profile) {
                Ok(oddity) => {
                    events += 1;
                    oddity
                }
                Err(oddity) => Some(oddity),
            };
            if let Some(oddity) = oddity {
                let warning = LineWarning { file, line: line.number, oddity };
                first.get_or_insert_with(|| warning.clone());
                self.warnings.add(warning);
            }
        }
        if !text.is_empty() && !text.ends_with(b"\n") {
            self.unended.push(file);
        }
        // A file without lines, or with blank ones only, has no warning and is not an error.
        match first {
            Some(first) if events == 0 => Err(Unreadable { lines: count, first }),
            Some(_) | None => Ok(()),
        }
    }
}
