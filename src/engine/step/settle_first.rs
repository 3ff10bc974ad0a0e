//! What is due of one schedule is dealt with, because somebody is about to change it: an edit or a pause must neither drop a
//! slot that has come nor give it another meaning.

use super::fire::fire;
use crate::domain::ScheduleId;
use crate::engine::draft::Draft;
use crate::engine::state::Mode;

pub(in crate::engine) fn settle_first(draft: &mut Draft<'_>, schedule: &ScheduleId) {
    let state = draft.state;
    if state.mode != Mode::Running || state.held.is_some() {
        return;
    }
    let due = state.schedule_key(schedule).filter(|key| state.timers.is_due(*key, draft.now));
    if let Some(record) = due.and_then(|key| state.schedules.get(key)) {
        fire(draft, record);
    }
}
