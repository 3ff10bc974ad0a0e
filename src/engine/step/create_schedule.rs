//! A schedule is created: with its first slot to come.

use super::next_slot::{first_slot, within_lifetime};
use crate::domain::{
    Fact, Making, Moment, Next, Payload, Reason, Refusal, Schedule, ScheduleFact, ScheduleId, Span, Target,
    Terms, Trigger, When,
};
use crate::engine::apply::request_key;
use crate::engine::draft::Draft;
use crate::engine::input::NewSchedule;
use crate::engine::record::{ScheduleRecord, SessionRecord};
use crate::engine::slab::Key;
use crate::engine::state::Mode;
use crate::limits::{self, Limit};

pub(in crate::engine) fn create_schedule(draft: &mut Draft<'_>, new: NewSchedule) -> Result<(), Refusal> {
    create(draft, new, OnKnown::Same)
}

/// Creates a schedule in the place of the one that has its key, which is called off in the same step. A run of it that is
/// with a host goes on to its own end.
pub(in crate::engine) fn replace_schedule(draft: &mut Draft<'_>, new: NewSchedule) -> Result<(), Refusal> {
    create(draft, new, OnKnown::Replace)
}

/// What becomes of a schedule that has the same key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OnKnown {
    /// It is what was asked for.
    Same,
    /// It makes room.
    Replace,
}

fn create(draft: &mut Draft<'_>, new: NewSchedule, on_known: OnKnown) -> Result<(), Refusal> {
    let (state, now) = (draft.state, draft.now);
    if state.mode != Mode::Running {
        return Err(Refusal::Stopping);
    }
    let Some(session) = state.session(&new.owner) else {
        return Err(Refusal::UnknownSession { session: new.owner });
    };
    let most = u32::try_from(limits::SESSION_SCHEDULES.value).unwrap_or(u32::MAX);
    let max = new.session_live_max.min(most);
    let is_full = is_full(draft, session, &new, max);
    let delay = if let When::After(span) = new.when { Some(span) } else { None };
    let trigger = new.when.resolve(now.wall).ok_or(Refusal::BeyondCalendar)?;
    let id = new.id.unwrap_or_else(|| ScheduleId::fresh(new.durability, || now.wall, draft.draw()));
    let mut schedule = Schedule {
        id,
        dialect: new.dialect,
        durability: new.durability,
        label: new.label,
        owner: session.id.clone(),
        trigger,
        payload: new.payload,
        created_at: now.wall,
        making: Making::of(new.made_by.map(|by| *by), None),
        terms: new.terms.filter(|terms| **terms != Terms::PLAIN),
    };
    let known = known(draft, &schedule);
    if let Some(known) = known.filter(|_| on_known == OnKnown::Same) {
        // Asked for twice is asked for once.
        return if is_same_request(&known.schedule, &schedule, delay) {
            Ok(())
        } else {
            Err(Refusal::KeyTaken { schedule: known.schedule.id.clone() })
        };
    }
    let replaced = known.filter(|known| !known.status.is_terminal());
    if is_full && replaced.is_none() {
        return Err(Refusal::SessionFull { max });
    }
    put_in_line(draft, &mut schedule)?;
    check_payload(&schedule)?;
    check_terms(&schedule)?;
    if state.live_count() >= limits::SCHEDULES.value {
        return Err(Refusal::LimitReached { limit: limits::SCHEDULES });
    }
    if state.schedule_key(&schedule.id).is_some() {
        return Err(Refusal::ScheduleExists { schedule: schedule.id });
    }
    let next = if is_ready(session, &schedule, now.wall) {
        within_lifetime(draft, &schedule, Some(now.wall))
    } else {
        first_slot(draft, &schedule, now.wall)
    };
    let next = match (next, delay) {
        (Next::Never { reason }, _) => return Err(Refusal::NoSlot { reason }),
        // The delay runs on the boot clock, to the nanosecond: never early, and suspended time counts.
        (Next::Slot { slot, due: Some(_) }, Some(delay)) => {
            Next::Slot { slot, due: Some(now.boot.after(delay)) }
        }
        (next @ (Next::Slot { .. } | Next::AfterFinish | Next::AtEvent), _) => next,
    };
    if let Some(replaced) = replaced {
        let reason = Reason::Replaced;
        let by = schedule.made_by().cloned().map(Box::new);
        draft.schedule_fact(&replaced.schedule.id, ScheduleFact::Cancelled { reason, by });
    }
    draft.fact(Fact::Created { schedule, next });
    Ok(())
}

/// Whether it waits for a job that was ready before anybody waited for it.
fn is_ready(session: &SessionRecord, schedule: &Schedule, now: Moment) -> bool {
    matches!(&schedule.trigger, Trigger::Event(event) if session.ready_jobs.has(&event.job, now))
}

/// Puts a schedule in the line of the turn in which it is made, if a schedule began that.
fn put_in_line(draft: &Draft<'_>, schedule: &mut Schedule) -> Result<(), Refusal> {
    let Some(line) = draft.state.line_by(schedule.made_by(), &schedule.owner)? else {
        return Ok(());
    };
    draft.state.check_line(&line)?;
    schedule.enter_line(line);
    Ok(())
}

/// Whether a session has as many unfinished schedules as it may: of all dialects, or of one that allows fewer.
fn is_full(draft: &Draft<'_>, session: &SessionRecord, new: &NewSchedule, max: u32) -> bool {
    if session.live.len() < max as usize {
        return false;
    }
    let own = |key: &&Key| {
        let record = draft.state.schedules.get(**key);
        record.is_some_and(|record| record.schedule.dialect == new.dialect)
    };
    session.live.len() as u64 >= limits::SESSION_SCHEDULES.value
        || session.live.iter().filter(own).count() >= max as usize
}

/// The schedule that has the same key already.
fn known<'a>(draft: &Draft<'a>, schedule: &Schedule) -> Option<&'a ScheduleRecord> {
    let key = draft.state.keys.get(&request_key(schedule)?)?;
    draft.state.schedules.get(*key)
}

/// Whether two requests under one key ask for the same. A delay counts from the first of them.
fn is_same_request(known: &Schedule, asked: &Schedule, delay: Option<Span>) -> bool {
    let same_slots = match delay {
        Some(delay) => When::After(delay).resolve(known.created_at).as_ref() == Some(&known.trigger),
        None => is_same_trigger(known, asked),
    };
    same_slots
        && known.durability == asked.durability
        && known.label == asked.label
        && known.payload == asked.payload
        && known.terms == asked.terms
}

/// An interval without an anchor of its own counts from its creation: only the period can be compared.
fn is_same_trigger(known: &Schedule, asked: &Schedule) -> bool {
    match (&known.trigger, &asked.trigger) {
        (Trigger::Every(one), Trigger::Every(two)) => {
            one.period() == two.period() && one.from() == two.from()
        }
        (one, two) => one == two,
    }
}

/// Whoever asks, and in whatever dialect: a text over its bound is refused.
pub(super) fn check_payload(schedule: &Schedule) -> Result<(), Refusal> {
    within(limits::TEXT_BYTES, schedule.payload.text().len())?;
    let file = schedule.payload.file();
    within(limits::PATH_BYTES, file.map_or(0, |file| file.path.len()))?;
    let name = file.and_then(|file| file.name.as_ref());
    within(limits::LABEL_BYTES, name.map_or(0, |name| name.len()))?;
    within(limits::LABEL_BYTES, schedule.label.as_ref().map_or(0, |label| label.len()))?;
    if let Some(limit) = schedule.payload.config().and_then(|config| config.exceeds()) {
        return Err(Refusal::LimitReached { limit });
    }
    Ok(())
}

/// The same for what it has beyond when and what.
pub(super) fn check_terms(schedule: &Schedule) -> Result<(), Refusal> {
    let terms = schedule.terms();
    within(limits::TEXT_BYTES, terms.description.as_ref().map_or(0, |text| text.len()))?;
    within(limits::LABEL_BYTES, terms.key.as_ref().map_or(0, |key| key.len()))?;
    if let Target::Route(route) = &terms.target {
        let thread = route.thread.as_ref().map_or(0, |thread| thread.len());
        within(limits::LABEL_BYTES, route.channel.len().max(route.conversation.len()).max(thread))?;
    }
    let waits = &terms.policy.backoff;
    let too_long = |span: &Span| span.millis() > limits::PERIOD_MS_MAX.value;
    if waits.len() as u64 >= limits::ATTEMPTS.value {
        return Err(Refusal::LimitReached { limit: limits::ATTEMPTS });
    }
    let spans = waits.iter().chain(&terms.policy.timeout).chain(&terms.policy.max_late);
    if spans.into_iter().any(too_long) {
        return Err(Refusal::LimitReached { limit: limits::PERIOD_MS_MAX });
    }
    debug_assert!(
        !matches!(schedule.payload, Payload::NewSession(_)) || *schedule.target() == Target::Fresh,
        "a payload that opens a session goes there"
    );
    Ok(())
}

pub(super) fn within(limit: Limit, bytes: usize) -> Result<(), Refusal> {
    if bytes as u64 > limit.value { Err(Refusal::LimitReached { limit }) } else { Ok(()) }
}
