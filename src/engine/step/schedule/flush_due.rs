//! Transition: consumes the due slots of a schedule that is about to be changed. An edit or a pause
//! must neither drop a slot that is due nor change its meaning.

use crate::domain::ScheduleId;
use crate::engine::state::Mode;
use crate::engine::step::run::fire::fire;
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn flush_due(step: &mut StepBuilder<'_>, schedule: &ScheduleId) {
    let state = step.state;
    if state.mode != Mode::Running || state.held().is_some() {
        return;
    }
    let due = state.schedule_key(schedule).filter(|key| state.timers.is_due(*key, step.now));
    if let Some(record) = due.and_then(|key| state.schedules.get(key)) {
        fire(step, record);
    }
}
