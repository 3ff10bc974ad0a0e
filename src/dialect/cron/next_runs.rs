//! What the caller sees at once after creating or changing a job: the next runs, and warnings about its zone and its target.
//!
//! The state of a job comes from the engine. Source: the seed's `timezone`, which accepts any name and reads unknown
//! ones as local time.

use super::job::Job;
use super::schedule::JobSchedule;
use super::view::JobView;
use crate::calendar::{Slots, Warning, Zones};
use crate::domain::{Moment, Span, Zone};
use crate::edn::Value;
use crate::engine::ScheduleRecord;

/// The next runs of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NextRuns {
    /// The next slots, at most `NextRuns::RUNS`; empty if the job is disabled.
    pub next_runs: Vec<Moment>,
    /// The zone that the label `local` stands for; `None` if the schedule has another one.
    pub(crate) zone: Option<Zone>,
    /// The slot that is due already, and is handled at once.
    pub(crate) overdue: Option<Moment>,
    /// Whether an earlier run has not ended.
    pub(crate) is_running: bool,
    /// A warning about the zone of the schedule.
    pub(crate) warning: Option<Warning>,
    /// Why its runs would reach nobody, as things are.
    pub(crate) unreachable: Option<String>,
}

impl NextRuns {
    /// What may surprise the caller.
    pub(super) fn warnings(&self) -> Option<Vec<Value>> {
        let zone = self.warning.as_ref().map(|warning| Value::from(warning.to_string()));
        let all: Vec<Value> = zone.into_iter().chain(self.unreachable.as_deref().map(Value::from)).collect();
        (!all.is_empty()).then_some(all)
    }

    /// The number of runs shown.
    pub(crate) const RUNS: usize = 3;

    /// The outlook of a job in its present state.
    pub fn of(view: &JobView, record: &ScheduleRecord, now: Moment, zones: &Zones) -> NextRuns {
        // An overdue slot is told apart, because the list starts at now.
        // One slot more than is shown, because the filter may drop an overdue one.
        let slots = record.upcoming(zones, now, NextRuns::RUNS + 1).into_iter();
        let next_runs = slots.filter(|slot| *slot >= now).take(NextRuns::RUNS).collect();
        let overdue = view.state.next_run_at.filter(|next| *next < now);
        let is_running = view.state.running_run_id.is_some();
        NextRuns { overdue, is_running, ..NextRuns::with(next_runs, &view.job.schedule, zones) }
    }

    /// The slots of a job's schedule from an instant on, inclusive.
    pub fn from(job: &Job, from: Moment, zones: &Zones) -> NextRuns {
        let trigger = job.schedule.trigger(job.created_at);
        // `upcoming` excludes its start, and this list includes it.
        let from = from.checked_sub(Span::from_nanos(1)).unwrap_or(from);
        let next_runs =
            if job.enabled { Slots::new(&trigger, zones).upcoming(from, NextRuns::RUNS) } else { vec![] };
        NextRuns::with(next_runs, &job.schedule, zones)
    }

    fn with(next_runs: Vec<Moment>, schedule: &JobSchedule, zones: &Zones) -> NextRuns {
        let is_local = schedule.zone() == Some(&Zone::Local);
        let zone = is_local.then(|| zones.local().clone());
        NextRuns { next_runs, zone, warning: warning(schedule, zones), ..NextRuns::default() }
    }
}

/// The warning about the zone of a schedule, if there is one.
pub(super) fn warning(schedule: &JobSchedule, zones: &Zones) -> Option<Warning> {
    schedule.zone().and_then(|zone| zones.warning(zone))
}
