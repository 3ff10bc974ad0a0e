//! Transition: a schedule is redefined, which makes a new revision, and with another trigger new
//! slots. With another lifetime the slots stay, as far as they lie within it.
//!
//! Slots that were due by the old definition have been consumed by it before. Runs that have not
//! ended go on by the old definition. A durable schedule can be changed after its last slot, and
//! becomes live again if the new definition has one.

use crate::domain::{
    Actor, Moment, Next, Notice, Payload, Reason, Redefinition, Refusal, Schedule, ScheduleFact, Settings,
};
use crate::engine::input::{ScheduleChange, Which};
use crate::engine::record::{RunRecord, ScheduleRecord};
use crate::engine::state::Mode;
use crate::engine::step::lookup::lookup_changeable;
use crate::engine::step::schedule::create_schedule::{
    check_bytes, check_payload, check_settings, first_slot_in, is_full, most_of,
};
use crate::engine::step::schedule::next_slot::{first_slot, slot_after, slot_after_finish, within_lifetime};
use crate::engine::step::schedule::pause_schedule::{hand_over_what_waited, resumed};
use crate::engine::step_builder::StepBuilder;
use crate::limits;

pub(in crate::engine) fn change_schedule(
    step: &mut StepBuilder<'_>,
    which: Which,
    change: ScheduleChange,
) -> Result<(), Refusal> {
    let (_, record) = lookup_changeable(step.state, &which)?;
    let toggled = change.paused.filter(|paused| *paused != record.progress().paused.is_some());
    let Edited { schedule, retriggered } = edited(step, record, change, Some(&which.by))?;
    // Within the changed lifetime.
    let next = resumed(step, record, &schedule);
    let by = which.by;
    // A change that only pauses or resumes is recorded as that alone, so that it makes one
    // revision.
    if toggled.is_none() || schedule != record.schedule {
        let fact = Redefinition { schedule, by: by.clone(), retriggered, revises: toggled.is_none() };
        step.schedule_fact(&which.schedule, ScheduleFact::Changed(Box::new(fact)));
    }
    match toggled {
        Some(true) => {
            step.schedule_fact(&which.schedule, ScheduleFact::Paused { by, reason: None });
        }
        Some(false) => {
            // A new trigger has its own first slot. Otherwise the slot from before the pause stays.
            let next = retriggered.unwrap_or(next);
            let by_session = by.is_of_session();
            step.schedule_fact(&which.schedule, ScheduleFact::Resumed { by, next });
            hand_over_what_waited(step, record, by_session);
        }
        None => {}
    }
    Ok(())
}

/// Returns the next slot of a changed schedule; `None` if the slots stay as they are. They do unless the trigger changes, or a
/// longer lifetime gives a recurring schedule slots again.
fn retriggered(
    step: &StepBuilder<'_>,
    record: &ScheduleRecord,
    schedule: &Schedule,
) -> Result<Option<Next>, Refusal> {
    let is_new = schedule.trigger != record.schedule.trigger;
    // What else a lifetime has says what ends the schedule, and not which slots it has.
    let bounds = |it: &Schedule| (it.lifetime().max_runs, it.lifetime().expires_at);
    if !is_new && bounds(schedule) == bounds(&record.schedule) {
        return Ok(None);
    }
    let next =
        if is_new { Some(first_of_new(step, record, schedule)) } else { next_within(step, record, schedule) };
    let Some(next) = next else { return Ok(None) };
    if let Next::Never { reason } = next {
        return Err(Refusal::NoSlot { reason });
    }
    // Otherwise the change would be accepted, and the schedule would never fire.
    let runs = record.progress().runs;
    if schedule.lifetime().max_runs.is_some_and(|max| runs >= u64::from(max.get())) {
        return Err(Refusal::NoSlot { reason: Reason::MaxRuns });
    }
    if !is_new && has_slot(record) {
        return Ok(None);
    }
    if record.status.is_terminal() {
        check_room(step, record)?;
    }
    Ok(Some(next))
}

/// Returns the first slot of another trigger.
fn first_of_new(step: &StepBuilder<'_>, record: &ScheduleRecord, schedule: &Schedule) -> Next {
    let from = from(step, schedule);
    match step.state.session(&record.schedule.owner) {
        Some(session) => first_slot_in(step, session, schedule, from),
        // Without its session nothing is known of jobs.
        None => first_slot(step, schedule, from),
    }
}

/// Returns whether a slot is armed, or will be when a run ends or an event happens.
fn has_slot(record: &ScheduleRecord) -> bool {
    record.next.is_some() || record.progress().awaits()
}

/// Returns the next slot within the changed lifetime of a schedule whose trigger stays; `None` if it has had its only slot. What
/// was consumed stays consumed, and a slot that passed during a pause is still to be handled.
fn next_within(step: &StepBuilder<'_>, record: &ScheduleRecord, schedule: &Schedule) -> Option<Next> {
    let (progress, now) = (record.progress(), step.now.wall);
    if has_slot(record) {
        // A slot that is not known yet comes now at the earliest.
        return Some(within_lifetime(step, schedule, record.next.or(Some(now))));
    }
    if !schedule.recurs() {
        return None;
    }
    let after = progress.consumed.map_or(now, |consumed| consumed.max(now));
    let next = slot_after(step, schedule, after, progress.runs);
    let counts =
        |run: &RunRecord| run.is_live() && !run.run.cause.is_beside_slots() && record.is_own(&run.run);
    let is_out = || step.state.runs_of(record).any(|(_, run)| counts(run));
    if next == Next::AfterFinish && !is_out() {
        return Some(slot_after_finish(step, schedule, after));
    }
    Some(next)
}

/// Checks that a schedule that becomes live again fits: it counts like a new one.
fn check_room(step: &StepBuilder<'_>, record: &ScheduleRecord) -> Result<(), Refusal> {
    let state = step.state;
    if state.mode != Mode::Running {
        return Err(Refusal::Stopping);
    }
    if state.live_count() >= limits::SCHEDULES.value {
        return Err(Refusal::LimitReached { limit: limits::SCHEDULES });
    }
    let (session, max) = (state.session(&record.schedule.owner), most_of(u32::MAX));
    if session.is_some_and(|session| is_full(step, session, record.schedule.dialect, max)) {
        return Err(Refusal::SessionFull { max });
    }
    Ok(())
}

/// The result of a change.
pub(in crate::engine) struct Edited {
    /// The new definition.
    pub(in crate::engine) schedule: Schedule,
    /// The next slot, if the trigger changed or a longer lifetime has slots again.
    pub(in crate::engine) retriggered: Option<Next>,
}

/// Returns what a change would make of a schedule, or why it is refused.
pub(in crate::engine) fn edited(
    step: &StepBuilder<'_>,
    record: &ScheduleRecord,
    change: ScheduleChange,
    by: Option<&Actor>,
) -> Result<Edited, Refusal> {
    // Another lifetime gives it other slots as well, and makes one that has ended live again.
    let lives_on = change.lifetime.as_ref().is_some_and(|it| it != record.schedule.lifetime());
    let is_anew = is_anew(&record.schedule, &change);
    let moves = change.when.is_some() || lives_on;
    let mut schedule = changed(step, &record.schedule, change)?;
    // Rescheduling within a turn that a schedule began counts as scheduling one more. Only ever
    // deeper: a change cannot move a schedule up its line.
    if let Some(session) = step.state.session(&record.schedule.owner).filter(|_| moves)
        && let Some(lineage) = step.state.chain_of_caller(by, session)?
    {
        let depth = schedule.lineage().map_or(0, |lineage| lineage.depth);
        if lineage.depth > depth {
            // One that is in the chain already is counted there.
            if schedule.lineage().is_none_or(|own| own.root != lineage.root) {
                step.state.check_chain(&lineage)?;
            }
            schedule.enter_chain(lineage);
        }
    }
    if let Some(by) = by.filter(|_| schedule != record.schedule) {
        if is_anew {
            schedule.forget_editors();
        }
        schedule.note_editor(by);
        check_editors(&schedule)?;
        let hands = by.scope.session().into_iter().chain([&record.schedule.owner]);
        hands.filter_map(|hand| step.state.descent(hand)).for_each(|descent| schedule.note_descent(descent));
    }
    check_payload(&schedule)?;
    check_settings(&schedule)?;
    let more = schedule.bytes().saturating_sub(record.schedule.bytes());
    if let Some(session) = step.state.session(&schedule.owner).filter(|_| more > 0) {
        check_bytes(step, session, more)?;
    }
    let before = if record.status.is_terminal() { 0 } else { record.schedule.slots_per_minute() };
    step.state.check_slots(&schedule, before)?;
    let retriggered = retriggered(step, record, &schedule)?;
    Ok(Edited { schedule, retriggered })
}

/// Returns whether a change leaves no word of an earlier one: it gives text and target, and whatever else the schedule says.
fn is_anew(old: &Schedule, change: &ScheduleChange) -> bool {
    // A call has no text, so nothing is given in its place.
    let is_said = change.text.is_some() && old.payload.call().is_none();
    let is_named = change.label.is_some() || old.label.is_none();
    let is_described = change.description.is_some() || old.settings().description.is_none();
    is_said && change.target.is_some() && is_named && is_described
}

/// Refuses a change by one more session than can be asked about at each run.
fn check_editors(schedule: &Schedule) -> Result<(), Refusal> {
    let sessions = schedule.editors().filter(|editor| editor.is_of_session()).count();
    if sessions as u64 > limits::EDITORS.value {
        return Err(Refusal::LimitReached { limit: limits::EDITORS });
    }
    Ok(())
}

/// Returns the moment from which slots count. For a recurring trigger this is now, because its
/// slots did not exist before; for a single slot the creation, so that it can be moved to a moment
/// that has just passed.
fn from(step: &StepBuilder<'_>, schedule: &Schedule) -> Moment {
    if schedule.recurs() { step.now.wall } else { schedule.created_at }
}

fn changed(step: &StepBuilder<'_>, old: &Schedule, change: ScheduleChange) -> Result<Schedule, Refusal> {
    let mut new = old.clone();
    if let Some(label) = change.label {
        new.label = label;
    }
    if let Some(when) = change.when {
        new.trigger = when.resolve(step.now.wall).ok_or(Refusal::BeyondCalendar)?;
    }
    if let Some(text) = change.text {
        new.payload = match new.payload {
            Payload::Turn { .. } => Payload::Turn { text },
            Payload::NewSession(session) => Payload::new_session(text, session.config),
            Payload::Notice(notice) => Payload::Notice(Box::new(Notice { text, ..*notice })),
            // It has no text. Its tool and arguments stay as they are.
            call @ Payload::Call(_) => call,
        };
    }
    let mut settings = old.settings().clone();
    if let Some(description) = change.description {
        settings.description = description;
    }
    settings.target = change.target.unwrap_or(settings.target);
    settings.policy = change.policy.unwrap_or(settings.policy);
    settings.lifetime = change.lifetime.unwrap_or(settings.lifetime);
    // Plain settings are stored as `None`, so that equal definitions compare equal.
    new.settings = (settings != Settings::PLAIN).then(|| Box::new(settings));
    Ok(new)
}
