//! Prints the history of the engine's jobs as the lines of the two files, for other programs that read this format.
//!
//! Reading the log is up to `service`, writing the files to `app`. Invariants: each line is of one fact, with the time and
//! the revision of that fact, and an id that is the same in each export. The lines replay to the jobs as they are. A job
//! whose first facts were pruned begins with what is known first, and its line says since when the history is known.

use std::collections::{BTreeMap, BTreeSet};

use super::event::{JobEvent, JobLine, RunEvent, RunLine};
use crate::dialect::cron::call::Patch;
use crate::dialect::cron::id::event_id_of;
use crate::dialect::cron::job::{Job, RunStatus};
use crate::dialect::cron::view::{error, error_text};
use crate::domain::{Cursor, Fact, Moment, Run, RunFact, RunId, RunState, ScheduleFact, ScheduleId, Skip};
use crate::engine::{Known, Learned, ScheduleRow};

/// The lines of the two files that were printed and not taken yet.
#[derive(Debug, Default)]
pub struct Lines {
    /// Lines of `jobs.jsonl`.
    pub jobs: String,
    /// Lines of `runs.jsonl`.
    pub runs: String,
    /// Each job as its last line has it.
    printed: BTreeMap<ScheduleId, Job>,
    /// The sessions of runs that have not ended.
    sessions: BTreeMap<RunId, Box<str>>,
    /// Runs that ended as left, whose later delivery is no second end.
    left: BTreeSet<RunId>,
}

/// A fact of the log.
#[derive(Clone, Copy, Debug)]
pub struct Logged<'a> {
    /// Its position.
    pub(crate) cursor: Cursor,
    /// When it was decided.
    pub(crate) at: Moment,
    /// The fact.
    pub(crate) fact: &'a Fact,
}

/// Returns whether the files have words for this revision of a schedule.
pub fn has_words(known: &Known) -> bool {
    job(known).is_some()
}

fn job(known: &Known) -> Option<Job> {
    Job::of_definition(&known.schedule, known.revision, !known.is_paused, known.updated_at)
}

impl Lines {
    /// Prints what a fact did to a job, which is known as it is after the fact.
    pub(crate) fn add(&mut self, logged: Logged<'_>, learned: Learned, known: &Known) {
        match learned {
            Learned::Created | Learned::Revised => self.revise(logged, known),
            Learned::Cancelled => self.delete(event_id(logged, known), logged.at, known),
            Learned::Went => {}
            // The caller prints the row that the fact carries, and no fact before it.
            Learned::Found | Learned::Unknown => return,
        }
        if let Fact::Run(run, fact, _) = logged.fact {
            self.run(logged, known, run, fact);
        } else if let Fact::Schedule(_, ScheduleFact::Skipped(skip)) = logged.fact {
            self.skip(logged, known, skip);
        }
    }

    /// Prints a job as a row has it, with the runs of the row: what came before was pruned. `since` is when the history begins.
    pub fn add_row(&mut self, row: &ScheduleRow, since: Moment) {
        let known = Known::of_row(row);
        let Some(job) = job(&known) else { return };
        let id = job.id.to_string();
        let revision = known.revision.to_string();
        let derived = |at: Moment, what: &[&str]| {
            let parts: Vec<&str> = [id.as_str()].into_iter().chain(what.iter().copied()).collect();
            Box::<str>::from(event_id_of(at, &parts))
        };
        let created_at = job.created_at;
        // A row has the latest definition only, so the creation shows that one.
        let created = JobEvent::Created(Box::new(job.clone()));
        let event_id = derived(created_at, &["row", &revision]);
        // Without this mark the first line would pass for the beginning of the history.
        let history_since = Some(since).filter(|since| *since > created_at || known.revision > 1);
        JobLine { event_id, timestamp: created_at, event: created, history_since }.print(&mut self.jobs);
        self.printed.insert(job.id.clone(), job);
        let mut lines = Vec::new();
        for run in &row.runs {
            let run_id = run_id(run, &known).to_string();
            let started = RunEvent::Started { scheduled_for: run.slot };
            lines.push((
                run.claimed_at,
                derived(run.claimed_at, &[&run_id, "started"]),
                run_id.clone(),
                started,
            ));
            if let Some(ended_at) = run.ended_at {
                // Its end is printed now, and its delivery may come later.
                if run.state == RunState::Left {
                    self.left.insert(self::run_id(run, &known));
                }
                lines.push((ended_at, derived(ended_at, &[&run_id, "finished"]), run_id, end_of(run)));
            } else if let Some(session) = &run.session {
                self.sessions.insert(self::run_id(run, &known), session.as_str().into());
            }
        }
        // A row does not say when a slot was skipped. The slot itself is the earliest possible time.
        if let Some((slot, reason)) = row.progress.as_ref().and_then(|progress| progress.last_skip) {
            let skipped = RunEvent::Skipped { scheduled_for: slot, reason: reason.doc().into() };
            let run = slot_id(&known, slot).to_string();
            lines.push((slot, derived(slot, &[&run, "skipped"]), run, skipped));
        }
        // The sort is stable, so a run that began and ended at one instant still begins first.
        lines.sort_by_key(|(timestamp, ..)| *timestamp);
        for (timestamp, event_id, run_id, event) in lines {
            let (run_id, job_id) = (run_id.into(), known.schedule.id.clone());
            RunLine { event_id, timestamp, run_id, job_id, event }.print(&mut self.runs);
        }
        if known.is_cancelled {
            let cancelled_at = row.progress.as_ref().and_then(|progress| progress.cancelled_at);
            let at = cancelled_at.unwrap_or(known.updated_at);
            self.delete(derived(at, &["deleted"]), at, &known);
        }
    }

    fn revise(&mut self, logged: Logged<'_>, known: &Known) {
        let Some(job) = job(known) else { return };
        let before = self.printed.insert(job.id.clone(), job.clone());
        let event = match before {
            Some(before) if job.revision > 1 => {
                let toggled = matches!(
                    logged.fact,
                    Fact::Schedule(_, ScheduleFact::Paused { .. } | ScheduleFact::Resumed { .. })
                );
                let patch = patch(&before, &job);
                // Pausing a paused job is a revision as well. Source: SEED-004's code.
                let enabled = patch.enabled.or_else(|| toggled.then_some(job.enabled));
                let patch = Box::new(Patch { enabled, ..patch });
                JobEvent::Updated { base_revision: job.revision - 1, patch, job: Box::new(job) }
            }
            // No line has the job yet, or the files had no words for what it was before: it begins as it is now.
            Some(_) | None => JobEvent::Created(Box::new(job)),
        };
        let (event_id, timestamp) = (event_id(logged, known), logged.at);
        JobLine { event_id, timestamp, event, history_since: None }.print(&mut self.jobs);
    }

    fn delete(&mut self, event_id: Box<str>, timestamp: Moment, known: &Known) {
        let (job_id, base_revision) = (known.schedule.id.clone(), u64::from(known.revision));
        self.printed.remove(&job_id);
        // In the seed's code a deletion is a revision as well.
        let event = JobEvent::Deleted { job_id, base_revision, revision: base_revision + 1 };
        JobLine { event_id, timestamp, event, history_since: None }.print(&mut self.jobs);
    }

    fn run(&mut self, logged: Logged<'_>, known: &Known, run: &RunId, fact: &RunFact) {
        let event = match fact {
            RunFact::Claimed(_) => RunEvent::Started { scheduled_for: run.slot },
            RunFact::Dispatched(to) => {
                self.sessions.insert(run.clone(), to.session.as_str().into());
                return;
            }
            // The seed has no word for it. The message waits and has not failed, so the run ends well.
            RunFact::Left => {
                self.left.insert(run.clone());
                self.end(run, None)
            }
            RunFact::Delivered => self.end(run, None),
            RunFact::Returned { outcome, .. } => {
                let failure = outcome.failure();
                self.end(run, failure.map(|failure| error_text(Some(&failure), failure.reason)))
            }
            RunFact::Failed(failure) => self.end(run, Some(error_text(Some(failure), failure.reason))),
            RunFact::Cancelled { reason } => self.end(run, Some(error_text(None, *reason))),
            RunFact::Taken { .. } => {
                // Its end was printed when it was left.
                self.left.remove(run);
                return;
            }
            RunFact::Queued { .. }
            | RunFact::Guard(_)
            | RunFact::Accepted
            | RunFact::Folded(_)
            | RunFact::Joined { .. }
            | RunFact::Postponed { .. }
            | RunFact::Retrying { .. } => return,
        };
        let is_end = matches!(
            fact,
            RunFact::Delivered | RunFact::Returned { .. } | RunFact::Failed(_) | RunFact::Cancelled { .. }
        );
        // It ended when it was left.
        if is_end && self.left.remove(run) {
            return;
        }
        self.run_line(logged, known, run, event);
    }

    /// The end of a run; without an error it succeeded.
    fn end(&mut self, run: &RunId, error: Option<Box<str>>) -> RunEvent {
        // The seed has no word for a cancelled run, so that is an error too.
        let status = if error.is_none() { RunStatus::Ok } else { RunStatus::Error };
        RunEvent::Finished { status, session_id: self.sessions.remove(run), error }
    }

    fn skip(&mut self, logged: Logged<'_>, known: &Known, skip: &Skip) {
        let doc = skip.reason.doc();
        let reason = match skip.count {
            0 | 1 => doc.into(),
            count => format!("{} {count} slots from {}.", doc, skip.from).into(),
        };
        let event = RunEvent::Skipped { scheduled_for: skip.until, reason };
        self.run_line(logged, known, &slot_id(known, skip.until), event);
    }

    fn run_line(&mut self, logged: Logged<'_>, known: &Known, run: &RunId, event: RunEvent) {
        let (event_id, timestamp) = (event_id(logged, known), logged.at);
        let (run_id, job_id) = (run.to_string().into(), known.schedule.id.clone());
        RunLine { event_id, timestamp, run_id, job_id, event }.print(&mut self.runs);
    }
}

/// The patch that makes one job of another, of what a patch can change.
fn patch(before: &Job, after: &Job) -> Patch {
    fn changed<T: Clone + PartialEq>(before: &T, after: &T) -> Option<T> {
        (before != after).then(|| after.clone())
    }
    Patch {
        name: changed(&before.name, &after.name),
        description: changed(&before.description, &after.description),
        enabled: changed(&before.enabled, &after.enabled),
        schedule: changed(&before.schedule, &after.schedule),
        prompt: changed(&before.prompt, &after.prompt),
        target: changed(&before.target, &after.target),
        policy: changed(&before.policy, &after.policy),
    }
}

/// The id of a fact's event. With the schedule's id, because each store counts its facts from 1.
fn event_id(logged: Logged<'_>, known: &Known) -> Box<str> {
    let (id, cursor) = (known.schedule.id.to_string(), logged.cursor.to_string());
    event_id_of(logged.at, &[&id, "fact", &cursor]).into()
}

fn slot_id(known: &Known, slot: Moment) -> RunId {
    RunId { schedule: known.schedule.id.clone(), incarnation: known.incarnation, slot }
}

fn run_id(run: &Run, known: &Known) -> RunId {
    RunId { schedule: known.schedule.id.clone(), incarnation: run.incarnation, slot: run.slot }
}

fn end_of(run: &Run) -> RunEvent {
    let is_ok = matches!(run.state, RunState::Delivered | RunState::Left);
    let status = if is_ok { RunStatus::Ok } else { RunStatus::Error };
    let session_id = run.session.as_ref().map(|session| session.as_str().into());
    RunEvent::Finished { status, session_id, error: error(run) }
}
