//! Transition: a person wrote in a session. Schedules that are only for an idle user are cancelled.
//!
//! Work that is due by now runs all the same. The message is never refused because of a schedule,
//! and never waits for a store that cannot be written: durable schedules stay as they are then.

use crate::domain::{Actor, Message, Reason, Refusal, RunState, ScheduleFact, SessionFact, SessionId};
use crate::engine::effect::Effect;
use crate::engine::record::{ScheduleRecord, SessionRecord};
use crate::engine::slab::Key;
use crate::engine::step::schedule::create_schedule::within;
use crate::engine::step_builder::StepBuilder;
use crate::engine::timers::Timer;
use crate::limits;

pub(in crate::engine) fn user_message(
    step: &mut StepBuilder<'_>,
    session: SessionId,
    text: Box<str>,
    by: Option<Actor>,
) -> Result<(), Refusal> {
    let Some(record) = step.state.session(&session) else {
        return Err(Refusal::UnknownSession { session });
    };
    within(limits::TEXT_BYTES, text.len())?;
    step.session_fact_by(&session, SessionFact::UserMessage, by);
    cancel_moot(step, record);
    let message = Message::user(text, step.now.wall);
    step.effect(Effect::RecordMessage { host: record.host, session, message });
    Ok(())
}

/// Cancels the schedules of a session that the message makes obsolete.
fn cancel_moot(step: &mut StepBuilder<'_>, session: &SessionRecord) {
    let state = step.state;
    let live = session.live.iter().filter_map(|key| Some((*key, state.schedules.get(*key)?)));
    let mut moot: Vec<&ScheduleRecord> =
        live.filter(|(key, record)| is_moot(step, *key, record)).map(|(_, record)| record).collect();
    moot.sort_unstable_by(|one, two| one.order().cmp(&two.order()));
    for record in moot {
        let reason = Reason::UserActivity;
        step.schedule_fact(&record.schedule.id, ScheduleFact::Cancelled { reason, by: None });
    }
}

/// Returns whether a message cancels this schedule: its settings say so, and nothing of it is due by
/// now.
fn is_moot(step: &StepBuilder<'_>, key: Key, record: &ScheduleRecord) -> bool {
    let (state, now) = (step.state, step.now);
    let schedule = &record.schedule;
    if !schedule.lifetime().cancel_on_user_activity || state.is_frozen() && schedule.is_durable() {
        return false;
    }
    let mut retries = false;
    for (run, _) in state.runs_of(record).filter(|(_, run)| run.run.state == RunState::Queued) {
        // A queued run without a retry in the future has been due: it waits for its turn.
        if state.timers.deadline(Timer::Retry(run)).is_none_or(|due| due <= now.boot) {
            return false;
        }
        retries = true;
    }
    let progress = record.progress();
    let slot_to_come = match record.next {
        // A paused schedule has no deadline, so its slot is compared with the clock.
        Some(slot) if progress.paused.is_some() => slot > now.wall,
        Some(_) => !state.timers.is_due(key, now),
        None => progress.awaits(),
    };
    // Something has to be left to cancel: a future slot, or the next attempt at a run.
    slot_to_come || retries && record.next.is_none()
}
