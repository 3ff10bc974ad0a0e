//! A schedule is created: pending, with its deadline set.

use crate::domain::{Fact, Refusal, Schedule, ScheduleId, Trigger, When};
use crate::engine::draft::Draft;
use crate::engine::input::NewSchedule;
use crate::engine::state::Mode;
use crate::limits::{self, Limit};

pub(in crate::engine) fn create_schedule(draft: &mut Draft<'_>, new: NewSchedule) -> Result<(), Refusal> {
    let (state, now) = (draft.state, draft.now);
    if state.mode != Mode::Running {
        return Err(Refusal::Stopping);
    }
    let Some(session) = state.session(&new.owner) else {
        return Err(Refusal::UnknownSession { session: new.owner });
    };
    let most = u32::try_from(limits::SESSION_SCHEDULES.value).unwrap_or(u32::MAX);
    let max = new.session_live_max.min(most);
    if session.live.len() >= max as usize {
        return Err(Refusal::SessionFull { max });
    }
    within(limits::TEXT_BYTES, new.payload.text().len())?;
    within(limits::LABEL_BYTES, new.label.as_ref().map_or(0, |label| label.len()))?;
    if let Some(limit) = new.payload.config().and_then(|config| config.exceeds()) {
        return Err(Refusal::LimitReached { limit });
    }
    if state.live_count() >= limits::SCHEDULES.value {
        return Err(Refusal::LimitReached { limit: limits::SCHEDULES });
    }
    let id = new.id.unwrap_or_else(|| ScheduleId::random(draft.draw()));
    if state.schedule_key(&id).is_some() {
        return Err(Refusal::ScheduleExists { schedule: id });
    }
    let slot = new.when.resolve(now.wall).ok_or(Refusal::BeyondCalendar)?;
    // The delay runs on the boot clock, to the nanosecond: never early, and suspended time counts.
    let delay = match new.when {
        When::After(span) => span,
        When::At(_) => slot.since(now.wall),
    };
    let schedule = Schedule {
        id,
        dialect: new.dialect,
        durability: new.durability,
        label: new.label,
        owner: session.id.clone(),
        trigger: Trigger::At(slot),
        payload: new.payload,
        created_at: now.wall,
    };
    draft.fact(Fact::Created { schedule, due: now.boot.after(delay) });
    Ok(())
}

/// Whoever asks, and in whatever dialect: a text over its bound is refused.
pub(super) fn within(limit: Limit, bytes: usize) -> Result<(), Refusal> {
    if bytes as u64 > limit.value { Err(Refusal::LimitReached { limit }) } else { Ok(()) }
}
