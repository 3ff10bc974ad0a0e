//! Jobs as the engine has them: its records and runs, in the seed's words.
//!
//! What lives elsewhere: the way there (`command.rs`). Invariant: nothing is kept here; two looks at one state are equal. The
//! seed's run ids are `run_` and a UUID; ours are the engine's, `JOB~INCARNATION~SLOT`, because every restart agrees on them.

use super::job::{Job, JobState, RunStatus};
use super::policy::Policy;
use super::schedule::Schedule;
use super::target::Target;
use crate::domain::{Cause, Dialect, Reason, Run, RunState, ScheduleId, Scope};
use crate::engine::{Course, RunRecord, ScheduleRecord, State};

/// A job and how it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The job.
    pub job: Job,
    /// How it stands.
    pub state: JobState,
}

impl View {
    /// A schedule as a job; `None` where the seed has no words for it, because it was changed by other means.
    pub fn of(state: &State, record: &ScheduleRecord) -> Option<View> {
        let job = Job::of(record)?;
        Some(View { job, state: JobState::of(state, record) })
    }
}

/// The job of this id, if it exists for the caller: one that is deleted does not.
pub fn find<'a>(state: &'a State, scope: &Scope, id: &ScheduleId) -> Option<&'a ScheduleRecord> {
    state.schedule(id).filter(|record| is_job(record) && scope.reaches(record.schedule()))
}

/// All jobs that exist for the caller, in no order that means anything, and what cannot be shown, in words.
pub fn views(state: &State, scope: &Scope) -> (Vec<View>, Vec<String>) {
    let mut warnings = Vec::new();
    let records = state.schedule_keys().filter_map(|key| state.schedule_at(key));
    let jobs = records.filter(|record| is_job(record) && scope.reaches(record.schedule()));
    let views = jobs.filter_map(|record| {
        let view = View::of(state, record);
        if view.is_none() {
            let id = &record.schedule().id;
            warnings.push(format!("{id}: it was changed by other means, to what these tools cannot say"));
        }
        view
    });
    (views.collect(), warnings)
}

fn is_job(record: &ScheduleRecord) -> bool {
    record.schedule().dialect == Dialect::Cron && !record.is_called_off()
}

impl Job {
    /// A schedule as a job.
    fn of(record: &ScheduleRecord) -> Option<Job> {
        let (schedule, course) = (record.schedule(), record.course());
        let terms = schedule.terms();
        Some(Job {
            id: schedule.id.clone(),
            revision: u64::from(course.revision),
            name: schedule.label.clone().unwrap_or_default(),
            description: terms.description.clone(),
            enabled: course.paused.is_none(),
            created_at: schedule.created_at,
            updated_at: course.updated_at.unwrap_or(schedule.created_at),
            schedule: Schedule::from_trigger(&schedule.trigger, schedule.created_at)?,
            prompt: schedule.payload.text().into(),
            target: Target::of_engine(schedule.target(), &schedule.owner)?,
            policy: Policy::of_engine(&terms.policy),
        })
    }
}

impl JobState {
    /// How a schedule stands, by its runs that are kept.
    fn of(state: &State, record: &ScheduleRecord) -> JobState {
        let course = record.course();
        let runs = || state.runs_of(record).map(|(_, run)| run);
        let is_live = |run: &&RunRecord| !run.run().state.is_terminal();
        let ended = runs().map(RunRecord::run).filter(|run| run.ended_at.is_some());
        let last_ended = ended.max_by_key(|run| run.ended_at);
        let running = runs().find(is_live).and_then(|run| state.run_id(run));
        // A schedule with one slot keeps no count.
        let in_row =
            runs().filter(|run| !is_live(run)).take_while(|run| run.run().state != RunState::Delivered);
        let in_row = in_row.count() as u64;
        let last_run = runs().map(RunRecord::run).find(|run| run.cause != Cause::Manual);
        let last_skip = course.last_skip.map(|(slot, _)| slot);
        JobState {
            next_run_at: record.next_slot().filter(|_| course.paused.is_none()),
            last_scheduled_for: course.consumed.or_else(|| last_run.map(|run| run.slot).max(last_skip)),
            // As in the seed, the time that a run waits for its session belongs to it.
            last_started_at: runs().next().map(|run| run.run().claimed_at),
            last_finished_at: last_ended.and_then(|run| run.ended_at),
            last_status: last_status(last_ended, course),
            last_error: last_ended.and_then(error),
            consecutive_failures: course.failures_in_row.max(in_row),
            running_run_id: running.map(|run| run.to_string().into()),
        }
    }
}

/// What became of the latest run, or of a slot that was skipped after it.
fn last_status(last_ended: Option<&Run>, course: &Course) -> Option<RunStatus> {
    let status = |run: &Run| match run.state {
        RunState::Delivered => RunStatus::Ok,
        RunState::Queued
        | RunState::InFlight
        | RunState::Running
        | RunState::Cancelled
        | RunState::Failed => RunStatus::Error,
    };
    let Some((slot, reason)) = course.last_skip else { return last_ended.map(status) };
    let is_later = |run: &&Run| {
        let consumed_last = course.consumed == Some(slot);
        // A run that was in the way of a slot ends after it.
        run.ended_at >= Some(slot) && (reason == Reason::Overlap || !consumed_last)
    };
    Some(last_ended.filter(is_later).map_or(RunStatus::Skipped, status))
}

/// Why a run did not end well.
pub(super) fn error(run: &Run) -> Option<Box<str>> {
    if run.state == RunState::Delivered {
        return None;
    }
    let told = |reason: Reason| match (&run.failure, reason) {
        (Some(failure), _) => failure.message.clone(),
        (None, Reason::SessionClosed) => "the session was closed while the run waited for it".into(),
        (None, reason) => reason.doc().into(),
    };
    run.reason.map(told)
}
