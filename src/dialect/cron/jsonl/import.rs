//! The jobs of the two files as schedules for the engine.
//!
//! Does not live here: reading files and calling the engine (`app`). Invariant: nothing runs that has run already. What the
//! engine cannot take over is said: revisions begin anew, and so does the history of runs.

use super::fold::{Kept, Profile};
use crate::dialect::cron::call::Draft;
use crate::dialect::cron::policy::MissedRun;
use crate::dialect::cron::schedule::Schedule;
use crate::dialect::cron::target::Target;
use crate::domain::{Moment, SessionId, When};
use crate::engine::NewSchedule;

/// What is to be made of the two files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Import {
    /// Schedules to be created, under the ids that they had.
    pub schedules: Vec<Imported>,
    /// What is not taken over, one line each.
    pub left_out: Vec<String>,
}

/// One job that is taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// What is asked of the engine.
    pub new: NewSchedule,
    /// Whether it is paused at once.
    pub paused: bool,
}

/// What is to be made of the jobs of a profile. Jobs for a channel belong to `owner`, the others to the session they go to.
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

fn imported(kept: &Kept, owner: Option<&SessionId>, now: Moment) -> Result<Imported, &'static str> {
    let Kept { job, state, .. } = kept;
    if let Schedule::Once { at } = job.schedule {
        if state.last_scheduled_for >= Some(at) {
            return Err("it has run");
        }
        if at < now && (!job.enabled || job.policy.missed_run == MissedRun::Skip) {
            return Err("its instant has passed");
        }
    }
    let owner = match &job.target {
        Target::Session(session) => Some(session),
        Target::Gateway { .. } => owner,
    };
    let owner = owner.ok_or("it goes to a channel, and no session was named to own it")?.clone();
    let draft = Draft {
        name: job.name.clone(),
        description: job.description.clone(),
        schedule: job.schedule.clone(),
        prompt: job.prompt.clone(),
        target: job.target.clone(),
        policy: job.policy,
    };
    // Periods go on counting from where they counted.
    let when = When::By(job.schedule.trigger(job.created_at));
    let new = NewSchedule { when, ..draft.into_new(job.id.clone(), owner, now) };
    Ok(Imported { new, paused: !job.enabled })
}
