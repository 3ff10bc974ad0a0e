//! A run by hand: the same way as any other, and the schedule's slots stay as they are.

use super::find::find_live;
use super::fire::{begin, time_up};
use super::occurrence::Occurrence;
use crate::domain::{Cause, Claim, Overlap, Refusal, Span};
use crate::engine::draft::Draft;
use crate::engine::input::Which;
use crate::engine::state::Mode;

pub(in crate::engine) fn run_now(draft: &mut Draft<'_>, which: Which) -> Result<(), Refusal> {
    let state = draft.state;
    if state.mode != Mode::Running {
        return Err(Refusal::Stopping);
    }
    let (_, record) = find_live(state, &which)?;
    state.check_by_hand(&which.by)?;
    let schedule = &record.schedule;
    let live = state.runs_of(record).find(|(_, run)| run.is_live());
    if let Some((_, run)) = live.filter(|_| schedule.policy().overlap == Overlap::Skip) {
        let run = state.run_id(run).unwrap_or_else(|| record.run_id(run.run.slot));
        return Err(Refusal::Overlapping { run });
    }
    // A run's id is made of its slot, and no two runs have the same.
    let mut slot = draft.now.wall;
    while state.run(&record.run_id(slot)).is_some() || record.next == Some(slot) {
        slot = slot.checked_add(Span::from_nanos(1)).ok_or(Refusal::BeyondCalendar)?;
    }
    let occurrence = Occurrence {
        id: record.run_id(slot),
        schedule,
        record,
        owner: record.owner,
        slot,
        cause: Cause::Manual,
        folded: 0,
        attempt: 1,
        revision: record.course().revision,
        checks: None,
        arms: false,
    };
    let time_up = time_up(draft, schedule);
    let by = Some(Box::new(which.by));
    begin(draft, &occurrence, Claim { cause: Cause::Manual, folded: 0, next: None, time_up, by });
    Ok(())
}
