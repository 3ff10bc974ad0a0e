//! A schedule is given another definition: a new revision, and with another trigger other slots.
//!
//! What was due by the old definition has been settled by it before. Runs that have not ended go on as they were asked for.
//! A schedule on disk can be changed after its last slot; with a slot to come it lives again.

use super::create_schedule::{check_payload, check_terms};
use super::find::find_changeable;
use super::next_slot::first_slot;
use super::pause_schedule::{hand_over_what_waited, resumed};
use crate::domain::{
    Actor, Change, Moment, Next, Notice, Payload, Reason, Refusal, Schedule, ScheduleFact, Terms,
};
use crate::engine::draft::Draft;
use crate::engine::input::{ScheduleChange, Which};
use crate::engine::record::{ScheduleRecord, SessionRecord};
use crate::engine::state::Mode;
use crate::limits;

pub(in crate::engine) fn change_schedule(
    draft: &mut Draft<'_>,
    which: Which,
    change: ScheduleChange,
) -> Result<(), Refusal> {
    let (_, record) = find_changeable(draft.state, &which)?;
    let toggled = change.paused.filter(|paused| *paused != record.course().paused.is_some());
    let Edited { schedule, retriggered } = edited(draft, record, change, Some(&which.by))?;
    let by = which.by;
    // A pause that is all there is to it is a pause, and one revision.
    if toggled.is_none() || schedule != record.schedule {
        let fact = Change { schedule, by: by.clone(), retriggered, revises: toggled.is_none() };
        draft.schedule_fact(&which.schedule, ScheduleFact::Changed(Box::new(fact)));
    }
    match toggled {
        Some(true) => {
            draft.schedule_fact(&which.schedule, ScheduleFact::Paused { by, reason: None });
        }
        Some(false) => {
            let next = retriggered.unwrap_or_else(|| resumed(draft, record));
            draft.schedule_fact(&which.schedule, ScheduleFact::Resumed { by, next });
            hand_over_what_waited(draft, record);
        }
        None => {}
    }
    Ok(())
}

/// The first slot by another trigger or lifetime than before; `None` where the slots stay as they are.
fn retriggered(
    draft: &Draft<'_>,
    record: &ScheduleRecord,
    schedule: &Schedule,
) -> Result<Option<Next>, Refusal> {
    let former = &record.schedule;
    if schedule.trigger == former.trigger && schedule.lifetime() == former.lifetime() {
        return Ok(None);
    }
    let next = first_slot(draft, schedule, from(draft, schedule));
    if let Next::Never { reason } = next {
        return Err(Refusal::NoSlot { reason });
    }
    let runs = record.course().runs;
    if schedule.lifetime().max_runs.is_some_and(|max| runs >= u64::from(max.get())) {
        return Err(Refusal::NoSlot { reason: Reason::MaxRuns });
    }
    if record.status.is_terminal() {
        check_room(draft, record)?;
    }
    Ok(Some(next))
}

/// One that has ended and is to live again takes as much room as a new one.
fn check_room(draft: &Draft<'_>, record: &ScheduleRecord) -> Result<(), Refusal> {
    let state = draft.state;
    if state.mode != Mode::Running {
        return Err(Refusal::Stopping);
    }
    if state.live_count() >= limits::SCHEDULES.value {
        return Err(Refusal::LimitReached { limit: limits::SCHEDULES });
    }
    let live = state.session(&record.schedule.owner).map_or(0, SessionRecord::live_count);
    let max = limits::SESSION_SCHEDULES.value;
    if live as u64 >= max {
        return Err(Refusal::SessionFull { max: u32::try_from(max).unwrap_or(u32::MAX) });
    }
    Ok(())
}

/// What a change makes of a schedule.
pub(in crate::engine) struct Edited {
    /// What is asked for from here on.
    pub(in crate::engine) schedule: Schedule,
    /// Its next slot, where it has others than before.
    pub(in crate::engine) retriggered: Option<Next>,
}

/// What a change would make of a schedule, or why it cannot be.
pub(in crate::engine) fn edited(
    draft: &Draft<'_>,
    record: &ScheduleRecord,
    change: ScheduleChange,
    by: Option<&Actor>,
) -> Result<Edited, Refusal> {
    let moves = change.when.is_some();
    let mut schedule = changed(draft, &record.schedule, change)?;
    // Another time in a turn that a schedule began is a schedule more.
    if moves && let Some(line) = draft.state.line_by(by, &record.schedule.owner)? {
        let depth = schedule.lineage().map_or(0, |line| line.depth);
        if line.depth > depth {
            schedule.enter_line(line);
        }
    }
    check_payload(&schedule)?;
    check_terms(&schedule)?;
    let retriggered = retriggered(draft, record, &schedule)?;
    Ok(Edited { schedule, retriggered })
}

/// From when on slots count: those of a recurring trigger from this moment, for they did not exist before; a single one
/// from the creation, so that it may be moved to what has just passed.
fn from(draft: &Draft<'_>, schedule: &Schedule) -> Moment {
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
            Payload::NewSession(session) => Payload::new_session(text, session.config),
            Payload::Say(notice) => Payload::Say(Box::new(Notice { text, ..*notice })),
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
