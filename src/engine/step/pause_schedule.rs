//! A schedule is paused, and resumed. What was due before the pause has been settled before;
//! what passes during it has been missed.

use std::collections::BTreeSet;

use super::find::find_changeable;
use super::hand_over::{call_off_stale, hand_over};
use super::next_slot::due;
use super::occurrence::Occurrence;
use crate::domain::{Next, Reason, Refusal, RunState, ScheduleFact};
use crate::engine::draft::Draft;
use crate::engine::input::Which;
use crate::engine::place::Place;
use crate::engine::record::ScheduleRecord;

pub(in crate::engine) fn pause_schedule(
    draft: &mut Draft<'_>,
    which: Which,
    reason: Option<Box<str>>,
) -> Result<(), Refusal> {
    find_changeable(draft.state, &which)?;
    draft.schedule_fact(&which.schedule, ScheduleFact::Paused { by: which.by, reason });
    Ok(())
}

pub(in crate::engine) fn resume_schedule(draft: &mut Draft<'_>, which: Which) -> Result<(), Refusal> {
    let (_, record) = find_changeable(draft.state, &which)?;
    let next = resumed(draft, record);
    draft.schedule_fact(&which.schedule, ScheduleFact::Resumed { by: which.by, next });
    if record.course().paused.is_some() {
        hand_over_what_waited(draft, record);
    }
    Ok(())
}

/// The slot that comes next once a schedule is resumed: the one that was to come, even if it has passed meanwhile.
pub(super) fn resumed(draft: &Draft<'_>, record: &ScheduleRecord) -> Next {
    let course = record.course();
    match record.next {
        Some(slot) => Next::Slot { slot, due: due(draft, &record.schedule, slot) },
        None if course.awaits_finish => Next::AfterFinish,
        None if course.awaits_event => Next::AtEvent,
        None => Next::Never { reason: course.never.unwrap_or(Reason::NoMoreSlots) },
    }
}

/// What waited for the end of the pause goes out, if nothing else stands in its way: one run to each lane, and every run for
/// a fresh session.
pub(super) fn hand_over_what_waited(draft: &mut Draft<'_>, record: &ScheduleRecord) {
    let state = draft.state;
    let waiting = state.runs_of(record).filter(|(key, run)| {
        run.run.state == RunState::Queued && run.run.retry_at.is_none() && state.is_waiting(*key)
    });
    let mut waiting: Vec<_> = waiting.filter_map(|(_, run)| Occurrence::of(state, run)).collect();
    waiting.sort_by_key(|occurrence| occurrence.slot);
    let mut taken = BTreeSet::new();
    for mut occurrence in waiting {
        // The resume is a revision, and voids what was said of the run before it.
        occurrence.revision += 1;
        let place = occurrence.place(state);
        if !draft.held && !matches!(place, Place::Nowhere(_)) && call_off_stale(draft, &occurrence) {
            continue;
        }
        let lane = match place {
            Place::Lane(lane, _) => Some(lane),
            Place::Fresh(..) | Place::Outside(_) | Place::Nowhere(_) => None,
        };
        let free = place.blocks().is_none() && lane.is_none_or(|lane| !taken.contains(&lane));
        if free && !draft.held && hand_over(draft, &occurrence) {
            taken.extend(lane);
        }
    }
}
