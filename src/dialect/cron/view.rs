//! The engine's records and runs as jobs, in the seed's words.
//!
//! The other direction is in `command.rs`. Invariant: nothing is cached here; two views of one state are equal. The
//! seed's run ids are `run_` and a UUID; ours are the engine's, `JOB~INCARNATION~SLOT`, which every restart computes
//! alike.

use super::job::{Job, JobState, RunStatus};
use super::policy::JobPolicy;
use super::schedule::JobSchedule;
use super::target::JobTarget;
use crate::domain::{Dialect, Failure, Moment, Reason, Run, RunState, Schedule, ScheduleId, Scope};
use crate::engine::{Progress, RunRecord, ScheduleRecord, State};

/// A job and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobView {
    /// The job.
    pub job: Job,
    /// The job's state.
    pub state: JobState,
}

impl JobView {
    /// Converts a schedule to a job; `None` if the seed cannot express it, because it was changed through another
    /// interface.
    pub(crate) fn of(state: &State, record: &ScheduleRecord) -> Option<JobView> {
        let job = Job::of(record)?;
        Some(JobView { job, state: JobState::of(state, record) })
    }
}

/// The job with this id, if it exists for the caller. Deleted jobs do not exist.
pub fn find<'a>(state: &'a State, scope: &Scope, id: &ScheduleId) -> Option<&'a ScheduleRecord> {
    state.schedule(id).filter(|record| is_job(record) && record.is_for(scope))
}

/// All jobs that exist for the caller, in no particular order, and a warning for each job that cannot be shown.
pub fn views(state: &State, scope: &Scope) -> (Vec<JobView>, Vec<String>) {
    let mut warnings = Vec::new();
    let records = state.schedule_keys().filter_map(|key| state.schedule_at(key));
    let jobs = records.filter(|record| is_job(record) && record.is_for(scope));
    let views = jobs.filter_map(|record| {
        let view = JobView::of(state, record);
        if view.is_none() {
            let id = &record.schedule().id;
            warnings.push(format!("{id}: it was changed by other means, to what these tools cannot say"));
        }
        view
    });
    let views: Vec<JobView> = views.collect();
    let session = scope.session().filter(|session| views.is_empty() && state.session(session).is_none());
    warnings.extend(session.map(|session| format!("there is no session {session}")));
    (views, warnings)
}

/// True for jobs that are not deleted.
fn is_job(record: &ScheduleRecord) -> bool {
    record.schedule().dialect == Dialect::Cron && !record.is_cancelled()
}

impl Job {
    /// Converts a schedule to a job; `None` if the seed cannot express it.
    fn of(record: &ScheduleRecord) -> Option<Job> {
        let (schedule, progress) = (record.schedule(), record.progress());
        let updated_at = progress.updated_at.unwrap_or(schedule.created_at);
        Job::of_definition(schedule, progress.revision, progress.paused.is_none(), updated_at)
    }

    /// Converts one revision of a schedule to a job; `None` if the seed cannot express it.
    pub(super) fn of_definition(
        schedule: &Schedule,
        revision: u32,
        enabled: bool,
        updated_at: Moment,
    ) -> Option<Job> {
        // `?` below hides a job that the seed cannot express. Showing an approximation would invite an update that destroys it.
        let settings = schedule.settings();
        Some(Job {
            id: schedule.id.clone(),
            revision: u64::from(revision),
            name: schedule.label.clone().unwrap_or_default(),
            description: settings.description.clone(),
            enabled,
            created_at: schedule.created_at,
            updated_at,
            schedule: JobSchedule::from_trigger(&schedule.trigger, schedule.created_at)?,
            prompt: schedule.payload.text().into(),
            target: JobTarget::of_engine(schedule.target(), &schedule.owner)?,
            // Unlike the schedule and the target, a policy always has an approximation, so the job can be shown.
            policy: JobPolicy::of_engine(&settings.policy),
        })
    }
}

impl JobState {
    /// Derives the state of a job from its retained runs.
    fn of(state: &State, record: &ScheduleRecord) -> JobState {
        let progress = record.progress();
        let runs = || state.runs_of(record).map(|(_, run)| run);
        let is_live = |run: &&RunRecord| !run.run().state.is_terminal();
        // Runs may overlap, so the newest one need not be the one that ended last.
        let ended = runs().map(RunRecord::run).filter(|run| run.ended_at.is_some());
        let last_ended = ended.max_by_key(|run| run.ended_at);
        let running = runs().find(is_live).and_then(|run| state.run_id(run));
        // The engine counts failures only for schedules with several slots, so the failed runs are counted here as
        // well.
        let in_row = runs().filter(|run| !is_live(run)).take_while(|run| !is_ok(run.run().state));
        let in_row = in_row.count() as u64;
        // A manual run has no slot of the schedule.
        let last_run = runs().map(RunRecord::run).find(|run| !run.cause.is_beside_slots());
        let last_skip = progress.last_skip.map(|(slot, _)| slot);
        JobState {
            // A paused job may have a next slot in the engine, but that one will not run.
            next_run_at: record.next_run(),
            last_scheduled_for: progress.consumed.or_else(|| last_run.map(|run| run.slot).max(last_skip)),
            // As in the seed, a run starts when its slot is claimed; waiting for the session is part of it.
            last_started_at: runs().next().map(|run| run.run().claimed_at),
            last_finished_at: last_ended.and_then(|run| run.ended_at),
            last_status: last_status(last_ended, progress),
            last_error: last_ended.and_then(error),
            consecutive_failures: progress.failures_in_row.max(in_row),
            running_run_id: running.map(|run| run.to_string().into()),
        }
    }
}

/// The outcome of the latest run, or of a slot that was skipped after it.
fn last_status(last_ended: Option<&Run>, progress: &Progress) -> Option<RunStatus> {
    let status = |run: &Run| match (run.state, is_ok(run.state)) {
        (RunState::Left, _) => RunStatus::Left,
        (_, true) => RunStatus::Ok,
        (_, false) => RunStatus::Error,
    };
    let Some((slot, reason)) = progress.last_skip else { return last_ended.map(status) };
    let is_later = |run: &&Run| {
        let consumed_last = progress.consumed == Some(slot);
        // The run that blocked a slot ends later than the slot. For other reasons, a skip of the last consumed slot
        // is the newest event.
        run.ended_at >= Some(slot) && (reason == Reason::Overlap || !consumed_last)
    };
    Some(last_ended.filter(is_later).map_or(RunStatus::Skipped, status))
}

/// Returns whether a run has not failed. Of a message that waits in an inbox no error came.
fn is_ok(state: RunState) -> bool {
    matches!(state, RunState::Left | RunState::Delivered)
}

/// Why a run did not succeed; `None` if it did.
pub(super) fn error(run: &Run) -> Option<Box<str>> {
    if is_ok(run.state) {
        return None;
    }
    run.reason.map(|reason| error_text(run.failure.as_deref(), reason))
}

/// Why a run did not succeed, in words.
pub(super) fn error_text(failure: Option<&Failure>, reason: Reason) -> Box<str> {
    match (failure, reason) {
        (Some(failure), _) => failure.message.clone(),
        (None, Reason::SessionClosed) => "the session was closed while the run waited for it".into(),
        (None, reason) => reason.doc().into(),
    }
}
