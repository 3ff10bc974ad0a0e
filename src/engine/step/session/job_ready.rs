//! Transition: a job of a session is ready. The schedules that wait for it are due now.
//!
//! A schedule created shortly after the report is due at once; see `engine/ready_jobs.rs`. While the store fails, the report is
//! not refused for durable schedules: they are due when the store works again.

use crate::domain::{Actor, JobId, Refusal, ScheduleFact, Scope, SessionFact, SessionId, Trigger};
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
    let stands_still = |record: &ScheduleRecord| state.is_frozen() && record.schedule.is_durable();
    let live = live.filter(|record| !stands_still(record));
    let mut waiting: Vec<&ScheduleRecord> = live.filter(|record| waits_for(step, record, &job)).collect();
    // `live` is unordered, and the order of the facts must be total.
    waiting.sort_unstable_by(|one, two| one.order().cmp(&two.order()));
    step.session_fact_by(session, SessionFact::JobReady { job }, by.clone());
    arm(step, waiting, by);
    Ok(())
}

/// Arms the durable schedules that wait for a job that was reported as ready during the last failure of the store, which is over.
pub(in crate::engine::step) fn arm_what_stood_still(step: &mut StepBuilder<'_>) {
    let state = step.state;
    let Some((failure, _)) = state.store_failures.over().last() else { return };
    for (_, session) in state.sessions.iter() {
        let is_ready = |record: &ScheduleRecord| {
            let Trigger::Event(event) = &record.schedule.trigger else { return false };
            record.schedule.is_durable()
                && session.ready_jobs.has_since(&event.job, failure.since)
                && waits_for(step, record, &event.job)
        };
        let live = session.live.iter().filter_map(|key| state.schedules.get(*key));
        let mut waiting: Vec<&ScheduleRecord> = live.filter(|record| is_ready(record)).collect();
        waiting.sort_unstable_by(|one, two| one.order().cmp(&two.order()));
        // Nobody remembers who has reported it: it counts as caused by the session, which may do the least.
        let by = Actor::from(Scope::Session(session.id.clone()));
        arm(step, waiting, Some(by));
    }
}

fn arm(step: &mut StepBuilder<'_>, waiting: Vec<&ScheduleRecord>, by: Option<Actor>) {
    let by = by.map(Box::new);
    for record in waiting {
        let next = within_lifetime(step, &record.schedule, slot_now(step, record));
        step.schedule_fact(&record.schedule.id, ScheduleFact::Armed { next, by: by.clone() });
    }
}

/// Returns whether a schedule still waits for this job. Once its latest time has come it does not.
fn waits_for(step: &StepBuilder<'_>, record: &ScheduleRecord, job: &JobId) -> bool {
    let Trigger::Event(event) = &record.schedule.trigger else { return false };
    let latest_is_to_come = record.next == event.latest && event.latest > Some(step.now.wall);
    event.job == *job && (record.progress().awaits_event || latest_is_to_come)
}
