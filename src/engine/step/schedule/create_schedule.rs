//! Transition: a schedule is created, with its first slot.

use crate::domain::{
    Call, Creation, Descent, Dialect, Fact, Moment, Next, Payload, Reason, Refusal, Schedule, ScheduleFact,
    ScheduleId, Settings, Span, Target, Trigger, When,
};
use crate::engine::new_schedule::NewSchedule;
use crate::engine::record::{ScheduleRecord, SessionRecord};
use crate::engine::slab::Key;
use crate::engine::state::{Mode, State};
use crate::engine::step::schedule::next_slot::{first_slot, within_lifetime};
use crate::engine::step_builder::StepBuilder;
use crate::limits::{self, Limit};

pub(in crate::engine) fn create_schedule(
    step: &mut StepBuilder<'_>,
    new: NewSchedule,
) -> Result<(), Refusal> {
    create(step, new, OnKnown::Same)
}

/// Creates a schedule, and cancels the one with the same idempotency key in the same step. A run of that one that
/// is with a host goes on to its own end.
pub(in crate::engine) fn replace_schedule(
    step: &mut StepBuilder<'_>,
    new: NewSchedule,
) -> Result<(), Refusal> {
    create(step, new, OnKnown::Replace)
}

/// What happens if the idempotency key is in use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OnKnown {
    /// The request is a repetition if it asks for the same, and refused otherwise.
    Same,
    /// The earlier schedule is replaced.
    Replace,
}

fn create(step: &mut StepBuilder<'_>, new: NewSchedule, on_known: OnKnown) -> Result<(), Refusal> {
    let (state, now) = (step.state, step.now);
    if state.mode != Mode::Running {
        return Err(Refusal::Stopping);
    }
    let Some(session) = state.session(&new.owner) else {
        return Err(Refusal::UnknownSession { session: new.owner });
    };
    let max = most_of(new.session_live_max);
    // Computed here, because `scheduled` takes the request apart.
    let is_full = is_full(step, session, new.dialect, max);
    let delay = if let When::After(span) = new.when { Some(span) } else { None };
    let known = state.known(&new);
    if let Some(known) = known.filter(|_| on_known == OnKnown::Same) {
        // A repeated request succeeds without a second schedule.
        if is_same_request(&known.schedule, &new) {
            return Ok(());
        }
        check_key(known)?;
    }
    let replaced = known.filter(|known| !known.status.is_terminal());
    let mut schedule = scheduled(step, new)?;
    // A replacement takes the place of the schedule that it cancels.
    if is_full && replaced.is_none() {
        return Err(Refusal::SessionFull { max });
    }
    join_chain(step, session, &mut schedule)?;
    check_payload(&schedule)?;
    check_settings(&schedule)?;
    check_bytes(step, session, schedule.bytes())?;
    state.check_slots(&schedule, replaced.map_or(0, |it| it.schedule.slots_per_minute()))?;
    if state.live_count() >= limits::SCHEDULES.value {
        return Err(Refusal::LimitReached { limit: limits::SCHEDULES });
    }
    // A creation that was taken back may be on disk, and no volatile schedule may take its id (`StoreFailures::may_have`).
    let may_be_stored = !schedule.is_durable() && state.store_failures.may_have(&schedule.id);
    if state.schedule_key(&schedule.id).is_some() || may_be_stored {
        return Err(Refusal::ScheduleExists { schedule: schedule.id });
    }
    let next = first_slot_in(step, session, &schedule, now.wall);
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
        let by = schedule.created_by().cloned().map(Box::new);
        step.schedule_fact(&replaced.schedule.id, ScheduleFact::Cancelled { reason, by });
    }
    step.fact(Fact::Created { schedule, next });
    Ok(())
}

/// Returns the definition of a new schedule, as of now.
pub(in crate::engine::step) fn scheduled(
    step: &mut StepBuilder<'_>,
    new: NewSchedule,
) -> Result<Schedule, Refusal> {
    let now = step.now;
    let trigger = new.when.resolve(now.wall).ok_or(Refusal::BeyondCalendar)?;
    let id = new.id.unwrap_or_else(|| ScheduleId::fresh(new.durability, || now.wall, step.draw()));
    let mut schedule = Schedule {
        id,
        dialect: new.dialect,
        durability: new.durability,
        label: new.label,
        owner: new.owner,
        trigger,
        payload: new.payload,
        created_at: now.wall,
        creation: new.made_by.and_then(|by| Creation { by: Some(*by), ..Creation::default() }.recorded()),
        settings: new.settings.filter(|settings| **settings != Settings::PLAIN),
    };
    let hands = schedule.created_by().and_then(|by| by.scope.session()).into_iter().chain([&schedule.owner]);
    let descents: Vec<Descent> = hands.filter_map(|hand| step.state.descent(hand)).collect();
    descents.into_iter().for_each(|descent| schedule.note_descent(descent));
    Ok(schedule)
}

/// Returns the first slot of a new definition that starts to count at `from`. A job that was recently reported as ready, before
/// its agent asked to be woken, makes the slot due now.
pub(in crate::engine::step) fn first_slot_in(
    step: &StepBuilder<'_>,
    session: &SessionRecord,
    schedule: &Schedule,
    from: Moment,
) -> Next {
    let now = step.now.wall;
    match &schedule.trigger {
        Trigger::Event(event) if session.ready_jobs.has(&event.job, now) => {
            within_lifetime(step, schedule, Some(now))
        }
        Trigger::Event(_) | Trigger::At(_) | Trigger::Every(_) | Trigger::Calendar(_) | Trigger::Cron(..) => {
            first_slot(step, schedule, from)
        }
    }
}

/// Adds the schedule to the line of the turn that makes it, if a schedule began that turn.
pub(in crate::engine::step) fn join_chain(
    step: &StepBuilder<'_>,
    session: &SessionRecord,
    schedule: &mut Schedule,
) -> Result<(), Refusal> {
    // A call that is due now is no waking in the future. How often what it comes to may begin a turn is bounded by itself.
    let is_due = matches!(schedule.trigger, Trigger::At(at) if at <= step.now.wall);
    if schedule.payload.call().is_some() && is_due {
        return Ok(());
    }
    let Some(lineage) = step.state.chain_of_caller(schedule.created_by(), session)? else {
        return Ok(());
    };
    step.state.check_chain(&lineage)?;
    schedule.enter_chain(lineage);
    Ok(())
}

/// Returns how many unfinished schedules a session may have, if a dialect allows it this many.
pub(in crate::engine::step) fn most_of(dialects: u32) -> u32 {
    dialects.min(u32::try_from(limits::SESSION_SCHEDULES.value).unwrap_or(u32::MAX))
}

/// Returns whether a session is full, with the sessions that it shares a budget with: over all dialects together, or for a
/// dialect that allows fewer. Asked of whatever is one more that has not ended: created, superseded, or live again.
pub(in crate::engine::step) fn is_full(
    step: &StepBuilder<'_>,
    session: &SessionRecord,
    dialect: Dialect,
    max: u32,
) -> bool {
    let family = || step.state.family_of(session);
    // The common case: no session has fresh ones.
    let has_families = !step.state.families.is_empty();
    let count =
        if !has_families { session.live.len() } else { family().map(|member| member.live.len()).sum() };
    if count < max as usize {
        return false;
    }
    // Counting one dialect's schedules needs a look at each; the check above avoids it in the common case.
    let own = |key: &&Key| {
        let record = step.state.schedules.get(**key);
        record.is_some_and(|record| record.schedule.dialect == dialect)
    };
    count as u64 >= limits::SESSION_SCHEDULES.value
        || family().flat_map(|member| &member.live).filter(own).count() >= max as usize
}

impl State {
    /// Returns the schedule that has the idempotency key of a request.
    fn known(&self, new: &NewSchedule) -> Option<&ScheduleRecord> {
        self.schedule_by_key(&new.owner, new.dialect, new.key()?)
    }

    /// Returns the schedule of which the request is a repetition: it has the same idempotency key, and was asked for in the
    /// same way.
    pub fn repeated(&self, new: &NewSchedule) -> Option<&ScheduleId> {
        let known = &self.known(new)?.schedule;
        is_same_request(known, new).then_some(&known.id)
    }
}

/// Refuses another request under the key of a schedule. A key ends with its schedule.
fn check_key(known: &ScheduleRecord) -> Result<(), Refusal> {
    if known.status.is_terminal() {
        return Ok(());
    }
    Err(Refusal::KeyTaken { schedule: known.schedule.id.clone() })
}

/// Returns whether two requests with one key ask for the same. A delay counts from the first request.
fn is_same_request(known: &Schedule, asked: &NewSchedule) -> bool {
    let trigger = asked.when.clone().resolve(known.created_at);
    trigger.is_some_and(|trigger| is_same_trigger(&known.trigger, &trigger))
        && known.durability == asked.durability
        && known.label == asked.label
        && known.payload == asked.payload
        && known.settings() == asked.settings.as_deref().unwrap_or(&Settings::PLAIN)
}

/// Returns whether two triggers are the same. An interval without an explicit anchor counts from its creation, so
/// only its period can be compared.
fn is_same_trigger(known: &Trigger, asked: &Trigger) -> bool {
    match (known, asked) {
        (Trigger::Every(one), Trigger::Every(two)) => {
            one.period() == two.period() && one.from() == two.from()
        }
        (one, two) => one == two,
    }
}

/// Refuses more text than a session may have in its schedules, with the sessions that it shares a budget with.
pub(in crate::engine::step) fn check_bytes(
    step: &StepBuilder<'_>,
    session: &SessionRecord,
    more: u64,
) -> Result<(), Refusal> {
    let is_alone = step.state.families.is_empty();
    let family = || step.state.family_of(session).map(SessionRecord::bytes).sum();
    let bytes = if is_alone { session.bytes } else { family() };
    if bytes.saturating_add(more) > limits::SESSION_BYTES.value {
        return Err(Refusal::LimitReached { limit: limits::SESSION_BYTES });
    }
    Ok(())
}

/// Refuses texts over their bounds. Applies to every caller and every dialect.
pub(in crate::engine::step) fn check_payload(schedule: &Schedule) -> Result<(), Refusal> {
    within(limits::TEXT_BYTES, schedule.payload.text().len())?;
    within(limits::CALL_ARGS_BYTES, schedule.payload.call().map_or(0, Call::bytes))?;
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

/// Refuses settings over their bounds.
pub(in crate::engine::step) fn check_settings(schedule: &Schedule) -> Result<(), Refusal> {
    let settings = schedule.settings();
    within(limits::TEXT_BYTES, settings.description.as_ref().map_or(0, |text| text.len()))?;
    within(limits::LABEL_BYTES, settings.key.as_ref().map_or(0, |key| key.len()))?;
    if let Target::Route(route) = &settings.target {
        let thread = route.thread.as_ref().map_or(0, |thread| thread.len());
        within(limits::LABEL_BYTES, route.channel.len().max(route.conversation.len()).max(thread))?;
    }
    let mut instants = schedule.trigger.instant().into_iter().chain(schedule.lifetime().expires_at);
    if !instants.all(Moment::is_within_years) {
        return Err(Refusal::LimitReached { limit: limits::YEAR_MAX });
    }
    let waits = &settings.policy.backoff;
    let too_long = |span: &Span| span.millis() > limits::PERIOD_MS_MAX.value;
    // The first attempt has no wait before it, so n waits make n + 1 attempts.
    if waits.len() as u64 >= limits::ATTEMPTS.value {
        return Err(Refusal::LimitReached { limit: limits::ATTEMPTS });
    }
    let spans = waits.iter().chain(&settings.policy.timeout).chain(&settings.policy.max_late);
    if spans.into_iter().any(too_long) {
        return Err(Refusal::LimitReached { limit: limits::PERIOD_MS_MAX });
    }
    debug_assert!(
        !matches!(schedule.payload, Payload::NewSession(_)) || *schedule.target() == Target::Fresh,
        "a payload that opens a session goes there"
    );
    Ok(())
}

pub(in crate::engine::step) fn within(limit: Limit, bytes: usize) -> Result<(), Refusal> {
    if bytes as u64 > limit.value { Err(Refusal::LimitReached { limit }) } else { Ok(()) }
}
