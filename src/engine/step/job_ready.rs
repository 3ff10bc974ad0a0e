//! A job of a session is ready: what waits for it has its slot, which is this moment.
//!
//! What is created for it a little later has its slot at once, see `ready_jobs.rs`.

use super::next_slot::{slot_now, within_lifetime};
use crate::domain::{JobId, Refusal, ScheduleFact, SessionFact, SessionId, Trigger};
use crate::engine::draft::Draft;
use crate::engine::record::ScheduleRecord;
use crate::engine::state::Mode;

pub(in crate::engine) fn job_ready(
    draft: &mut Draft<'_>,
    session: SessionId,
    job: JobId,
) -> Result<(), Refusal> {
    let state = draft.state;
    if state.mode != Mode::Running {
        return Err(Refusal::Stopping);
    }
    let Some(record) = state.session(&session) else {
        return Err(Refusal::UnknownSession { session });
    };
    let live = record.live.iter().filter_map(|key| state.schedules.get(*key));
    let mut waiting: Vec<&ScheduleRecord> = live.filter(|record| waits_for(draft, record, &job)).collect();
    waiting.sort_unstable_by(|one, two| one.order().cmp(&two.order()));
    draft.session_fact(&session, SessionFact::JobReady { job });
    for record in waiting {
        let next = within_lifetime(draft, &record.schedule, slot_now(draft, record));
        draft.schedule_fact(&record.schedule.id, ScheduleFact::Armed { next, by: None });
    }
    Ok(())
}

/// Whether a schedule still waits for this job: one whose latest time has come waits no longer.
fn waits_for(draft: &Draft<'_>, record: &ScheduleRecord, job: &JobId) -> bool {
    let Trigger::Event(event) = &record.schedule.trigger else { return false };
    let latest_is_to_come = record.next == event.latest && event.latest > Some(draft.now.wall);
    event.job == *job && (record.course().awaits_event || latest_is_to_come)
}
