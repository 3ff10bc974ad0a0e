//! Prints the history of a store as text files: cron jobs in the words of their seed, everything else in a file of our own.
//!
//! What lives elsewhere: the lines of cron jobs (`dialect::cron::jsonl`), writing files and what is told on stderr (`app`).
//!
//! Invariants: every line comes from a fact of the log or from a row, with its own time and an id derived from it, so two
//! exports of one store are equal to the byte. What was pruned, and what the files have no place for, is said. Source:
//! SEED-004, "Storage": created, updated, paused, resumed and deleted are recorded, and old records stay.

mod restore;
mod schedule_lines;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

pub use self::restore::{Restored, restore};
pub use self::schedule_lines::{SCHEDULES, ScheduleLog};
use crate::dialect::cron::jsonl::{File, Lines, Logged, has_words};
use crate::domain::{Cursor, DecisionKind, Dialect, Fact, Moment, RunId, ScheduleId};
use crate::engine::{Chronicle, Known, Learned, ScheduleRow};
use crate::port::{FactRecord, LostHistory, RowRecord, StoreFault};
use crate::runtime::codec::{self, Form};
use crate::runtime::{Row, for_each_row_of};

/// What a store holds, as of one moment.
pub struct Stored<'a> {
    /// The current rows.
    pub rows: &'a [RowRecord],
    /// Reads a chunk of the log after a cursor; an empty chunk is the end.
    pub facts_after: &'a dyn Fn(Cursor) -> Result<Vec<FactRecord>, StoreFault>,
    /// What was pruned of the log.
    pub lost: LostHistory,
}

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreFault),
    /// A row cannot be understood.
    #[error("{0}")]
    Row(Box<str>),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Writes whole lines to the file of a name.
pub(crate) type Write<'a> = dyn FnMut(&'static str, &str) -> io::Result<()> + 'a;

/// Writes all lines. Returns what is left out or was pruned, one line each.
///
/// # Errors
/// [`ExportError`]; some lines may have been written then.
pub fn export(stored: &Stored<'_>, write: &mut Write<'_>) -> Result<Vec<String>, ExportError> {
    let mut present = Present::default();
    let read = for_each_row_of(stored.rows, |row| present.add(row));
    read.map_err(|error| ExportError::Row(error.to_string().into()))?;
    // The log is walked twice: only its last revision shows whether a job can be said in the seed's words.
    let survey = Survey::of(stored, &present)?;
    let mut out = Out { lines: Lines::default(), schedules: String::new(), write };
    // Rows without a fact that would make them known come first: whatever the log has of them comes later.
    for row in present.schedules.values().filter(|row| survey.rows_only.contains(&row.schedule.id)) {
        let known = Known::of_row(row);
        // The instant of its last change is the earliest from which on all of it is known.
        let since = known.updated_at;
        if survey.is_job(&known) {
            out.lines.add_row(row, since);
        } else {
            schedule_lines::print_row(row, since, &mut out.schedules);
        }
        // Line by line, so that an export takes no more memory than one fact.
        out.flush()?;
    }
    walk(stored, |chronicle, record, fact, row, learned| {
        // `walk` passes no fact without a schedule but holds and releases of everything.
        let Some(id) = fact.schedule() else {
            schedule_lines::print_hold(record, &mut out.schedules);
            return out.flush();
        };
        // Nothing that is left says what the schedule was. The notes count it.
        let Some((known, learned)) = chronicle.known(id).zip(learned) else { return Ok(()) };
        if !survey.is_job(known) {
            schedule_lines::print_fact(record, known, &mut out.schedules);
        } else if let Some(row) = row {
            out.lines.add_row(row, record.at);
        } else {
            out.lines.add(Logged { cursor: record.cursor, at: record.at, fact }, learned, known);
        }
        out.flush()
    })?;
    Ok(survey.notes(stored, &present))
}

/// Passes every fact about a schedule, and every hold and release of everything, to `see`: with the row by which its schedule
/// became known, if that is this fact. Returns the schedules of which facts were passed over, because others are missing around
/// them.
fn walk(
    stored: &Stored<'_>,
    mut see: impl FnMut(
        &Chronicle,
        &FactRecord,
        &Fact,
        Option<&ScheduleRow>,
        Option<Learned>,
    ) -> Result<(), ExportError>,
) -> Result<BTreeSet<ScheduleId>, ExportError> {
    let (mut chronicle, mut after) = (Chronicle::default(), Cursor::START);
    let mut patchy = BTreeSet::new();
    loop {
        let chunk = (stored.facts_after)(after)?;
        let Some(newest) = chunk.last() else { return Ok(patchy) };
        after = newest.cursor;
        for record in &chunk {
            // Facts about sessions, hosts and grants have no place in the files.
            if record.schedule.is_none() && !is_hold(record) || is_patchy(stored, record) {
                patchy.extend(record.schedule.as_deref().and_then(|id| ScheduleId::new(id).ok()));
                continue;
            }
            let (fact, row) = parsed(record, |id| chronicle.known(id).is_none())?;
            let learned = chronicle.take(record.at, &fact, row.as_ref());
            see(&chronicle, record, &fact, row.as_ref(), learned)?;
        }
    }
}

/// Whether a fact is a hold of everything, or a release.
fn is_hold(record: &FactRecord) -> bool {
    [DecisionKind::EngineHeld, DecisionKind::EngineReleased].iter().any(|kind| *record.kind == *kind.name())
}

/// Whether other facts about this fact's schedule may be missing around it: its session was over its share of the log, or it had
/// too many facts itself.
fn is_patchy(stored: &Stored<'_>, record: &FactRecord) -> bool {
    let of_session = record.session.as_ref().and_then(|session| stored.lost.sessions.get(session));
    let of_schedule = record.schedule.as_ref().and_then(|schedule| stored.lost.schedules.get(schedule));
    of_session.max(of_schedule).is_some_and(|lost| record.cursor <= *lost)
}

/// Parses a fact, and the row that it carries if that is wanted.
fn parsed(
    record: &FactRecord,
    wants_row: impl Fn(&ScheduleId) -> bool,
) -> Result<(Fact, Option<ScheduleRow>), ExportError> {
    let parse = |form: &Form<'_>| {
        let fact = codec::parse_form(form).map_err(|error| error.to_string())?;
        let (Fact::Schedule(id, _) | Fact::Run(RunId { schedule: id, .. }, _, _)) = &fact else {
            return Ok((fact, None));
        };
        let row = form.part(codec::ROW);
        // A row is long, and is used only where it makes a schedule known.
        if !row.is_map() || !wants_row(id) {
            return Ok((fact, None));
        }
        let row = codec::parse_schedule(row).map_err(|error| error.to_string())?;
        Ok((fact, Some(row)))
    };
    codec::show(&record.payload, parse).map_err(|why: String| {
        let what = format!("fact {} cannot be understood: {why}", record.cursor);
        StoreFault::Damaged { what: what.into() }.into()
    })
}

/// The rows of the store.
#[derive(Default)]
struct Present {
    schedules: BTreeMap<ScheduleId, ScheduleRow>,
    sessions: u64,
    messages: u64,
    grants: u64,
    has_policy: bool,
}

impl Present {
    fn add(&mut self, row: Row) {
        match row {
            Row::Schedule(row) => _ = self.schedules.insert(row.schedule.id.clone(), *row),
            Row::Session(..) => self.sessions += 1,
            Row::Message(_) => self.messages += 1,
            Row::Guard(policy, grants) => {
                (self.has_policy, self.grants) = (policy.is_some(), grants.len() as u64);
            }
            Row::Holds(_) | Row::ChannelPauses(_) => {}
        }
    }
}

/// What has to be known before the first line is written.
#[derive(Default)]
struct Survey {
    /// Cron jobs of which a revision cannot be said in the seed's words: all of their history is in our own file.
    wordless: BTreeSet<ScheduleId>,
    /// Schedules that have a row, and no fact that has all of them.
    rows_only: BTreeSet<ScheduleId>,
    /// Schedules whose history begins later than they do.
    begun_late: BTreeSet<ScheduleId>,
    /// Schedules of which facts are left, and nothing that says what they were.
    unknown: BTreeSet<ScheduleId>,
    /// The time of the first fact.
    first: Option<Moment>,
}

impl Survey {
    fn of(stored: &Stored<'_>, present: &Present) -> Result<Survey, ExportError> {
        let mut survey = Survey::default();
        let mut known_ids = BTreeSet::new();
        let patchy = walk(stored, |chronicle, record, fact, _, learned| {
            // The log is in order, so the first fact is the oldest that is left.
            survey.first.get_or_insert(record.at);
            let Some((id, learned)) = fact.schedule().zip(learned) else { return Ok(()) };
            match learned {
                Learned::Unknown => _ = survey.unknown.insert(id.clone()),
                Learned::Found => _ = survey.begun_late.insert(id.clone()),
                Learned::Created | Learned::Revised | Learned::Cancelled | Learned::Went => {}
            }
            if let Some(known) = chronicle.known(id) {
                known_ids.insert(id.clone());
                survey.note_words(known);
            }
            Ok(())
        })?;
        for (id, row) in present.schedules.iter().filter(|(id, _)| !known_ids.contains(*id)) {
            survey.rows_only.insert(id.clone());
            survey.begun_late.insert(id.clone());
            survey.note_words(&Known::of_row(row));
        }
        survey.unknown.extend(patchy);
        // A later fact, or the row, may have made it known.
        let is_told = |id: &ScheduleId| known_ids.contains(id) || present.schedules.contains_key(id);
        survey.unknown.retain(|id| !is_told(id));
        Ok(survey)
    }

    fn note_words(&mut self, known: &Known) {
        if known.schedule.dialect == Dialect::Cron && !has_words(known) {
            self.wordless.insert(known.schedule.id.clone());
        }
    }

    /// Whether a schedule is printed in the seed's words.
    fn is_job(&self, known: &Known) -> bool {
        known.schedule.dialect == Dialect::Cron && !self.wordless.contains(&known.schedule.id)
    }

    fn notes(&self, stored: &Stored<'_>, present: &Present) -> Vec<String> {
        let mut notes = Vec::new();
        for id in &self.wordless {
            let files = format!("{} and {}", File::Jobs.name(), File::Runs.name());
            notes.push(format!(
                "{id}: {files} have no words for when it runs or where it goes; it is in {SCHEDULES}"
            ));
        }
        if !self.begun_late.is_empty() {
            let count = self.begun_late.len();
            notes.push(format!(
                "the history of {count} schedules was pruned in part: their first line has history_since"
            ));
        }
        if !self.unknown.is_empty() {
            let count = self.unknown.len();
            notes.push(format!(
                "{count} deleted schedules are left out: what is left of their history does not say what they were"
            ));
        }
        if let Some(first) = self.first.filter(|_| stored.lost.beginning) {
            notes.push(format!(
                "facts before {first} were pruned: schedules that were deleted before are not in the files"
            ));
        }
        notes.extend(present.left_out());
        notes
    }
}

impl Present {
    /// What the files have no place for.
    fn left_out(&self) -> Option<String> {
        let counted = |count: u64, what: &str| (count > 0).then(|| format!("{what} ({count})"));
        let parts = [
            counted(self.sessions, "sessions"),
            counted(self.messages, "messages of transcripts"),
            counted(self.grants, "grants"),
            self.has_policy.then(|| "the guard's rules".to_owned()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let parts = parts.join(", ");
        (!parts.is_empty()).then(|| format!("left out, because the files have no place for them: {parts}"))
    }
}

/// Lines on their way to the files.
struct Out<'a, 'b> {
    lines: Lines,
    schedules: String,
    write: &'a mut Write<'b>,
}

impl Out<'_, '_> {
    fn flush(&mut self) -> Result<(), ExportError> {
        let texts = [
            (File::Jobs.name(), &mut self.lines.jobs),
            (File::Runs.name(), &mut self.lines.runs),
            (SCHEDULES, &mut self.schedules),
        ];
        for (file, text) in texts {
            if !text.is_empty() {
                (self.write)(file, text)?;
                text.clear();
            }
        }
        Ok(())
    }
}
