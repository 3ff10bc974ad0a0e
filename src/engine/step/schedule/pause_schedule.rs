//! Transitions: a schedule is paused, and resumed. Slots that were due before the pause have been
//! consumed before it; slots that pass during the pause count as missed.

use std::collections::BTreeSet;

use crate::domain::{Next, Reason, Refusal, RunState, Schedule, ScheduleFact};
use crate::engine::destination::Destination;
use crate::engine::input::Which;
use crate::engine::record::ScheduleRecord;
use crate::engine::step::lookup::lookup_changeable;
use crate::engine::step::run::check::tell_of_end;
use crate::engine::step::run::dispatch::{cancel_stale, dispatch};
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step::schedule::check_slot::slot_after_pause;
use crate::engine::step::schedule::next_slot::due;
use crate::engine::step::schedule::slot_time::deadline;
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn pause_schedule(
    step: &mut StepBuilder<'_>,
    which: Which,
    reason: Option<Box<str>>,
) -> Result<(), Refusal> {
    // A schedule that has ended can be paused as well, if a change can still revive it.
    lookup_changeable(step.state, &which)?;
    step.schedule_fact(&which.schedule, ScheduleFact::Paused { by: which.by, reason });
    Ok(())
}

pub(in crate::engine) fn resume_schedule(step: &mut StepBuilder<'_>, which: Which) -> Result<(), Refusal> {
    let (_, record) = lookup_changeable(step.state, &which)?;
    let (next, by_session) = (resumed(step, record, &record.schedule), which.by.is_of_session());
    if let Some(slot) = record.next {
        tell_of_end(step, &Occurrence::of_slot(record, slot), next);
    }
    step.schedule_fact(&which.schedule, ScheduleFact::Resumed { by: which.by, next });
    if record.progress().paused.is_some() {
        hand_over_what_waited(step, record, by_session);
    }
    Ok(())
}

/// Returns the next slot of a schedule that is resumed: the one before the pause, even if it has
/// passed meanwhile. `schedule` is its definition from now on.
pub(in crate::engine::step) fn resumed(
    step: &StepBuilder<'_>,
    record: &ScheduleRecord,
    schedule: &Schedule,
) -> Next {
    let progress = record.progress();
    let is_paused = progress.paused.is_some();
    match record.next {
        // Nothing is to be resumed, and its deadline stays.
        Some(slot) if !is_paused => Next::Slot { slot, due: deadline(step, record) },
        Some(slot) if record.watch().is_some() && slot <= step.now.wall => {
            slot_after_pause(step, schedule, slot)
        }
        Some(slot) => Next::Slot { slot, due: due(step, schedule, slot) },
        None if progress.awaits_finish => Next::AfterFinish,
        None if progress.awaits_event => Next::AtEvent,
        None => Next::Never { reason: progress.never.unwrap_or(Reason::NoMoreSlots) },
    }
}

/// Hands over the runs that waited for the end of the pause, unless something else is in their way:
/// one run per lane, and every run for a fresh session. `by_session` says whether a session ended the pause.
pub(in crate::engine::step) fn hand_over_what_waited(
    step: &mut StepBuilder<'_>,
    record: &ScheduleRecord,
    by_session: bool,
) {
    let state = step.state;
    // A run that waits for its next attempt keeps that time, and one that waits for a verdict is in no queue.
    let waiting = state.runs_of(record).filter(|(key, run)| {
        run.run.state == RunState::Queued && run.run.retry_at.is_none() && state.is_waiting(*key)
    });
    let mut waiting: Vec<_> = waiting.filter_map(|(_, run)| Occurrence::of(state, run)).collect();
    waiting.sort_by_key(|occurrence| occurrence.slot);
    // Lanes taken by this step, which the state does not show yet.
    let mut taken = BTreeSet::new();
    for mut occurrence in waiting {
        // Resuming makes a revision, which voids what was approved or allowed before it.
        occurrence.revision += 1;
        occurrence.by_session |= by_session && !occurrence.cause.is_beside_slots();
        let place = occurrence.destination(state);
        if !step.held && !matches!(place, Destination::Unreachable(_)) && cancel_stale(step, &occurrence) {
            continue;
        }
        let lane = place.lane();
        let free = place.blocks().is_none() && lane.is_none_or(|lane| !taken.contains(&lane));
        if free && !step.held && dispatch(step, &occurrence) {
            taken.extend(lane);
        }
    }
}
