//! A schedule is given another definition: a new revision, and with another trigger other slots.
//!
//! What was due by the old definition has been settled by it before. Runs that have not ended go on as they were asked for.

use super::create_schedule::{check_payload, check_terms};
use super::find::find_live;
use super::next_slot::first_slot;
use super::pause_schedule::{hand_over_what_waited, resumed};
use crate::domain::{Change, Next, Payload, Refusal, Schedule, ScheduleFact, Terms};
use crate::engine::draft::Draft;
use crate::engine::input::{ScheduleChange, Which};

pub(in crate::engine) fn change_schedule(
    draft: &mut Draft<'_>,
    which: Which,
    change: ScheduleChange,
) -> Result<(), Refusal> {
    let (_, record) = find_live(draft.state, &which)?;
    let paused = change.paused;
    let schedule = changed(draft, &record.schedule, change)?;
    check_payload(&schedule)?;
    check_terms(&schedule)?;
    let is_paused = record.course().paused.is_some();
    let other_slots =
        schedule.trigger != record.schedule.trigger || schedule.lifetime() != record.schedule.lifetime();
    let retriggered = other_slots.then(|| first_slot(draft, &schedule, from(draft, &schedule)));
    if let Some(Next::Never { reason }) = retriggered {
        return Err(Refusal::NoSlot { reason });
    }
    let runs = record.course().runs;
    if other_slots && schedule.lifetime().max_runs.is_some_and(|max| runs >= u64::from(max.get())) {
        return Err(Refusal::NoSlot { reason: crate::domain::Reason::MaxRuns });
    }
    let by = which.scope;
    let fact = Change { schedule, by: by.clone(), retriggered };
    draft.schedule_fact(&which.schedule, ScheduleFact::Changed(Box::new(fact)));
    match paused {
        Some(true) if !is_paused => {
            draft.schedule_fact(&which.schedule, ScheduleFact::Paused { by, reason: None });
        }
        Some(false) if is_paused => {
            let next = retriggered.unwrap_or_else(|| resumed(draft, record));
            draft.schedule_fact(&which.schedule, ScheduleFact::Resumed { by, next });
            hand_over_what_waited(draft, record);
        }
        Some(_) | None => {}
    }
    Ok(())
}

/// From when on slots count: those of a recurring trigger from this moment, for they did not exist before; a single one
/// from the creation, so that it may be moved to what has just passed.
fn from(draft: &Draft<'_>, schedule: &Schedule) -> crate::domain::Moment {
    if schedule.recurs() { draft.now.wall } else { schedule.created_at }
}

fn changed(draft: &Draft<'_>, old: &Schedule, change: ScheduleChange) -> Result<Schedule, Refusal> {
    let mut new = old.clone();
    if let Some(label) = change.label {
        new.label = label;
    }
    if let Some(when) = change.when {
        new.trigger = when.resolve(draft.now.wall).ok_or(Refusal::BeyondCalendar)?;
    }
    if let Some(text) = change.text {
        new.payload = match new.payload {
            Payload::Turn { .. } => Payload::Turn { text },
            Payload::NewSession { config, .. } => Payload::NewSession { text, config },
        };
    }
    let mut terms = old.terms().clone();
    if let Some(description) = change.description {
        terms.description = description;
    }
    terms.target = change.target.unwrap_or(terms.target);
    terms.policy = change.policy.unwrap_or(terms.policy);
    terms.lifetime = change.lifetime.unwrap_or(terms.lifetime);
    new.terms = (terms != Terms::PLAIN).then(|| Box::new(terms));
    Ok(new)
}
