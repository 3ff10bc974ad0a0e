//! Converts the jobs of the two files to schedules for the engine.
//!
//! Reading the files and calling the engine is up to `app`. Invariant: a job that has run does not run again. What
//! the engine cannot import is reported; revisions and the history of runs start anew.

use super::fold::{FoldedJob, Profile};
use crate::dialect::cron::call::JobDraft;
use crate::dialect::cron::policy::MissedRun;
use crate::dialect::cron::schedule::JobSchedule;
use crate::dialect::cron::target::JobTarget;
use crate::domain::{Moment, SessionId, When};
use crate::engine::NewSchedule;

/// The result of converting the two files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Import {
    /// The schedules to create, under their old ids.
    pub schedules: Vec<Imported>,
    /// What cannot be imported, one line each.
    pub left_out: Vec<String>,
}

/// A job to import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The schedule to create.
    pub new: NewSchedule,
    /// True if the job is disabled and the schedule has to be paused.
    pub paused: bool,
}

/// Converts the jobs of a profile. A job for a channel gets `owner`; the others belong to their target session.
pub fn import(profile: &Profile, owner: Option<&SessionId>, now: Moment) -> Import {
    let mut import = Import::default();
    for (id, kept) in &profile.jobs {
        match imported(kept, owner, now) {
            Ok(imported) => import.schedules.push(imported),
            Err(why) => import.left_out.push(format!("{id}: {why}")),
        }
    }
    import
}

fn imported(kept: &FoldedJob, owner: Option<&SessionId>, now: Moment) -> Result<Imported, &'static str> {
    let FoldedJob { job, state, .. } = kept;
    if let JobSchedule::Once { at } = job.schedule {
        // The only slot was run or skipped.
        // `None` is less than any instant, so a job without a run passes.
        if state.last_scheduled_for >= Some(at) {
            return Err("it has run");
        }
        // It was missed, and would never run: it is disabled, or its policy skips missed slots.
        if at < now && (!job.enabled || job.policy.missed_run == MissedRun::Skip) {
            return Err("its instant has passed");
        }
    }
    // The seed's jobs have no owner. The session that gets the prompts comes nearest to one.
    let owner = match &job.target {
        JobTarget::Session(session) => Some(session),
        JobTarget::Gateway { .. } => owner,
    };
    let owner = owner.ok_or("it goes to a channel, and --owner names no session to own it")?.clone();
    let draft = JobDraft {
        name: job.name.clone(),
        description: job.description.clone(),
        schedule: job.schedule.clone(),
        prompt: job.prompt.clone(),
        target: job.target.clone(),
        policy: job.policy,
    };
    // Intervals continue from their old anchor.
    let when = When::By(job.schedule.trigger(job.created_at));
    let new = NewSchedule { when, ..draft.into_new(job.id.clone(), owner, now) };
    Ok(Imported { new, paused: !job.enabled })
}
