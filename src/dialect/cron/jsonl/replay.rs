//! What the two files say, as a whole.
//!
//! Invariant: a file that holds something and says nothing is an error, never a profile without jobs: whoever started
//! with that would write over what can still be saved.

use super::event::{JobLine, RunLine};
use super::fold::Profile;
use super::line::{Line, lines};
use super::read;
use super::warning::{File, LineWarning, Oddity};
use crate::limits;

/// What the two files say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// The jobs there are, and the tombstones.
    pub profile: Profile,
    /// What is odd, in the order of the files and their lines, at most `limits::PAGE_ROWS`.
    pub warnings: Vec<LineWarning>,
    /// How many more odd lines there are.
    pub warnings_left_off: u64,
    /// Files whose last line has no end: the next append begins with a line break, so that it is not lost with that line.
    pub unended: Vec<File>,
}

/// A file in which nothing is an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} holds {lines} lines, none of them an event; keep it, and look at it first: {first}", first.file.name())]
pub struct Unreadable {
    /// How many lines it holds.
    pub lines: u64,
    /// What is odd about the first one.
    pub first: LineWarning,
}

/// Reads both files, jobs first. A file that does not exist is an empty text.
///
/// # Errors
/// [`Unreadable`] for the first file that holds lines of which none is an event.
pub fn replay(jobs: &[u8], runs: &[u8]) -> Result<Replayed, Unreadable> {
    let mut replayed = Replayed::default();
    replayed.add(File::Jobs, jobs, |line, profile| {
        read::job_line(line).map(|line: JobLine| profile.add_job_event(&line))
    })?;
    replayed.add(File::Runs, runs, |line, profile| {
        read::run_line(line).map(|line: RunLine| profile.add_run_event(&line))
    })?;
    Ok(replayed)
}

impl Replayed {
    /// `add_line` fails with what is odd about a line that is no event.
    fn add(
        &mut self,
        file: File,
        text: &[u8],
        add_line: impl Fn(&Line<'_>, &mut Profile) -> Result<Option<Oddity>, Oddity>,
    ) -> Result<(), Unreadable> {
        let (mut count, mut events, mut first) = (0, 0_u64, None);
        for line in lines(text) {
            count += 1;
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
                self.warn(warning);
            }
        }
        if !text.is_empty() && !text.ends_with(b"\n") {
            self.unended.push(file);
        }
        match first {
            Some(first) if events == 0 => Err(Unreadable { lines: count, first }),
            Some(_) | None => Ok(()),
        }
    }

    fn warn(&mut self, warning: LineWarning) {
        if (self.warnings.len() as u64) < limits::PAGE_ROWS.value {
            self.warnings.push(warning);
        } else {
            self.warnings_left_off += 1;
        }
    }
}
