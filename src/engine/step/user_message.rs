//! A person speaks in a session: what was to come only if nobody did is called off.
//!
//! What is due by now runs all the same. Nothing here can refuse the message, or make it wait for a disk that cannot be
//! written: what is on such a disk stays as it is.

use super::create_schedule::within;
use crate::domain::{Message, Reason, Refusal, RunState, ScheduleFact, SessionFact, SessionId};
use crate::engine::draft::Draft;
use crate::engine::effect::Effect;
use crate::engine::record::{ScheduleRecord, SessionRecord};
use crate::engine::slab::Key;
use crate::engine::timers::Timer;
use crate::limits;

pub(in crate::engine) fn user_message(
    draft: &mut Draft<'_>,
    session: SessionId,
    text: Box<str>,
) -> Result<(), Refusal> {
    let Some(record) = draft.state.session(&session) else {
        return Err(Refusal::UnknownSession { session });
    };
    within(limits::TEXT_BYTES, text.len())?;
    draft.session_fact(&session, SessionFact::UserSpoke);
    call_off_moot(draft, record);
    let message = Message::user(text, draft.now.wall);
    draft.effect(Effect::RecordMessage { host: record.host, session, message });
    Ok(())
}

/// Calls off the schedules of a session that a person's word makes moot.
fn call_off_moot(draft: &mut Draft<'_>, session: &SessionRecord) {
    let state = draft.state;
    let live = session.live.iter().filter_map(|key| Some((*key, state.schedules.get(*key)?)));
    let mut moot: Vec<&ScheduleRecord> =
        live.filter(|(key, record)| is_moot(draft, *key, record)).map(|(_, record)| record).collect();
    moot.sort_unstable_by(|one, two| one.order().cmp(&two.order()));
    for record in moot {
        let reason = Reason::UserActivity;
        draft.schedule_fact(&record.schedule.id, ScheduleFact::Cancelled { reason, by: None });
    }
}

/// Whether a schedule is to be called off by a person's word, and has nothing due by now.
fn is_moot(draft: &Draft<'_>, key: Key, record: &ScheduleRecord) -> bool {
    let (state, now) = (draft.state, draft.now);
    let schedule = &record.schedule;
    if !schedule.lifetime().cancel_on_user_activity || state.frozen && schedule.is_durable() {
        return false;
    }
    let mut retries = false;
    for (run, _) in state.runs_of(record).filter(|(_, run)| run.run.state == RunState::Queued) {
        // One that waits for no further attempt waits for its turn: it has been due.
        if state.timers.deadline(Timer::Retry(run)).is_none_or(|due| due <= now.boot) {
            return false;
        }
        retries = true;
    }
    let course = record.course();
    let slot_to_come = match record.next {
        // A paused schedule has no deadline.
        Some(slot) if course.paused.is_some() => slot > now.wall,
        Some(_) => !state.timers.is_due(key, now),
        None => course.awaits(),
    };
    slot_to_come || retries && record.next.is_none()
}
