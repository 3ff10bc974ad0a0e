//! Transition: a job of a session is ready. The schedules that wait for it are due now.
//!
//! A schedule created shortly after the report is due at once; see `engine/ready_jobs.rs`.

use crate::domain::{Actor, JobId, Refusal, ScheduleFact, SessionFact, SessionId, Trigger};
use crate::engine::record::ScheduleRecord;
use crate::engine::step::schedule::next_slot::{slot_now, within_lifetime};
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn job_ready(
    step: &mut StepBuilder<'_>,
    session: &SessionId,
    job: JobId,
    by: Option<Actor>,
) -> Result<(), Refusal> {
    let state = step.state;
    let record = state.session_at_work(session)?;
    let live = record.live.iter().filter_map(|key| state.schedules.get(*key));
    let mut waiting: Vec<&ScheduleRecord> = live.filter(|record| waits_for(step, record, &job)).collect();
    // `live` is unordered, and the order of the facts must be total.
    waiting.sort_unstable_by(|one, two| one.order().cmp(&two.order()));
    step.session_fact_by(session, SessionFact::JobReady { job }, by.clone());
    let by = by.map(Box::new);
    for record in waiting {
        let next = within_lifetime(step, &record.schedule, slot_now(step, record));
        step.schedule_fact(&record.schedule.id, ScheduleFact::Armed { next, by: by.clone() });
    }
    Ok(())
}

/// Returns whether a schedule still waits for this job. Once its latest time has come it does not.
fn waits_for(step: &StepBuilder<'_>, record: &ScheduleRecord, job: &JobId) -> bool {
    let Trigger::Event(event) = &record.schedule.trigger else { return false };
    let latest_is_to_come = record.next == event.latest && event.latest > Some(step.now.wall);
    event.job == *job && (record.progress().awaits_event || latest_is_to_come)
}
