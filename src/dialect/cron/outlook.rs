//! What whoever made or changed a job should see at once: when it will run, and what was understood differently.
//!
//! Does not live here: the state of a job, which the engine knows. Source: the seed's `timezone`, which takes any name and
//! reads those that it does not know as local time.

use super::job::Job;
use super::schedule::Schedule;
use super::view::View;
use crate::calendar::{Slots, Warning, Zones};
use crate::domain::{Moment, Span};

/// What lies ahead of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    /// Its next slots, at most [`Outlook::RUNS`]; none if it is disabled.
    pub next_runs: Vec<Moment>,
    /// What its maker should know.
    pub warning: Option<Warning>,
}

impl Outlook {
    /// How many runs are shown.
    pub const RUNS: usize = 3;

    /// What lies ahead of a job as it stands at that moment.
    pub fn of(view: &View, now: Moment, zones: &Zones) -> Outlook {
        match view.state.next_run_at {
            // A slot that has come and is still to be consumed stands for all that came with it.
            Some(next) => Outlook::from(&view.job, next.max(now), zones),
            None => Outlook { next_runs: vec![], warning: warning(&view.job.schedule, zones) },
        }
    }

    /// What the schedule of a job has from that moment on, the moment itself included.
    pub fn from(job: &Job, from: Moment, zones: &Zones) -> Outlook {
        let trigger = job.schedule.trigger(job.created_at);
        let from = from.checked_sub(Span::from_nanos(1)).unwrap_or(from);
        let next_runs =
            if job.enabled { Slots::new(&trigger, zones).upcoming(from, Outlook::RUNS) } else { vec![] };
        Outlook { next_runs, warning: warning(&job.schedule, zones) }
    }
}

/// What one should know about the zone of a schedule.
pub(super) fn warning(schedule: &Schedule, zones: &Zones) -> Option<Warning> {
    schedule.zone().and_then(|zone| zones.warning(zone))
}
