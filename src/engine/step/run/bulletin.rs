//! Bulletins: what a session's model is told of the calls that were made for it.
//!
//! A bulletin is a run of its own, in the lane of the session that owns the schedule. While it waits, what comes after it of
//! that schedule, and goes to the same place, is folded into it. Those that wait go out in one delivery, and share its end. Only
//! so many deliveries an hour may begin a turn in one session.

use std::num::NonZeroU32;

use crate::domain::{
    Call, CallPurpose, Cause, Claim, HostId, NotifyWhen, Reason, RunFact, RunId, RunState, Sink, Span, Tally,
    TaskEnd, Telling, Trigger,
};
use crate::engine::bulletin_text::{Details, Headline, bulletin_text};
use crate::engine::record::{RunRecord, SessionRecord};
use crate::engine::state::State;
use crate::engine::step::run::authorize::authorize;
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step::schedule::next_slot::is_taken_slot;
use crate::engine::step_builder::StepBuilder;
use crate::engine::timers::Timer;
use crate::limits;

/// Tells of a call that ends in this step, unless nobody is to be told. Comes before the fact that ends it, so that the schedule
/// has not ended in between.
pub(in crate::engine::step) fn announce(
    step: &mut StepBuilder<'_>,
    of: &Occurrence<'_>,
    call: &Call,
    end: TaskEnd,
    details: Details<'_>,
) {
    let state = step.state;
    // It was cancelled while the call was out, and the caller that did so knows.
    if of.record.status.is_terminal() {
        return;
    }
    let channel = match &call.sink {
        Sink::Nobody => return,
        Sink::Session => None,
        Sink::Channel(name) => Some(&**name),
    };
    // An operator may have closed it to sessions since it was asked for.
    let open = channel.filter(|name| state.may_tell(&of.record.schedule, name));
    let target = of.record.schedule.bulletin_target(open);
    // A bulletin waits in the queue of its target. The schedule or the channel may have changed since, and then what comes now
    // goes elsewhere: with another target, the bulletin would stay in a queue from which nothing takes it.
    let goes_there =
        |run: &RunRecord| state.definition_of(run).is_some_and(|asked| *asked.target() == target);
    let is_waiting =
        |run: &RunRecord| is_bulletin(run) && run.run.state == RunState::Queued && goes_there(run);
    let waiting = state.runs_of(of.record).map(|(_, run)| run).find(|run| is_waiting(run));
    // A word that says nothing of a call must not replace what one came to.
    let is_word_alone = details.warning.is_some() && details.lines.is_empty() && details.batch.is_none();
    let waiting = waiting.filter(|_| !is_word_alone);
    // What this step has decided on already may not wait any more.
    let waiting = waiting.and_then(|run| Some((run, state.run_id(run)?)));
    let waiting = waiting.filter(|(_, id)| !step.deals_with(id));
    let details = Details {
        folded: waiting.as_ref().map_or(0, |(run, _)| run.run.folded + 1),
        instead_of: channel.filter(|_| open.is_none()),
        ..details
    };
    let id = of.id.schedule.to_string();
    let text = bulletin_text(&headline(step, of, (call, &id), end), &details);
    let (channel, by_session) = (open.map(Into::into), of.by_session);
    let check = details.why.and_then(|_| of.record.watch()).map(|watch| newest_check(of, watch.tally));
    let check = check.and_then(|check| NonZeroU32::new(u32::try_from(check).ok()?));
    let telling = Box::new(Telling { text: text.into(), channel, check, by_session });
    if let Some((_, run)) = waiting {
        step.run_fact(&run, RunFact::Folded(telling));
        return;
    }
    // Only the end of the calendar leaves no id.
    let Some(run) = free_id(step, of) else { return };
    let is_absent = open.is_none() && of.record.owner.is_none();
    let claim = Claim {
        cause: Cause::Bulletin,
        folded: 0,
        next: None,
        time_up: None,
        by: None,
        telling: Some(telling),
    };
    step.run_fact(&run, RunFact::Claimed(claim));
    if is_absent {
        await_session(step, &run);
    }
}

/// Returns what the first line says of a call that ends in this step.
fn headline<'a>(
    step: &StepBuilder<'_>,
    of: &'a Occurrence<'_>,
    (call, id): (&'a Call, &'a str),
    end: TaskEnd,
) -> Headline<'a> {
    let tool = &call.tool;
    let label = of.schedule.label.as_deref().unwrap_or_default();
    // Manual runs are not counted, and the first run may be one.
    let run = of.record.progress().runs.max(1);
    match call.purpose {
        CallPurpose::Job => Headline::Job { id, name: label, run, end },
        CallPurpose::Watch => {
            let tally = of.record.watch().map_or(Tally::NONE, |watch| watch.tally);
            let interval =
                if let Trigger::Every(every) = &of.schedule.trigger { every.period() } else { Span::ZERO };
            let when = call.filter.as_ref().map_or(NotifyWhen::Always, |filter| filter.when);
            // As of this bulletin, which the state does not have yet.
            let (check, told) = (newest_check(of, tally), tally.told + 1);
            Headline::Watch { id, label, tool, check, interval, told, when }
        }
        CallPurpose::Task | CallPurpose::Parallel => {
            // From the launch, as the status of the task counts: an approval that it waited for is a part of it.
            let elapsed = step.now.wall.since(of.schedule.created_at);
            Headline::Task { id, tool, end, elapsed }
        }
    }
}

/// Returns the number of the check that ends in this step, which the state does not have yet. If the slot gets no check, because
/// the watch is over, that of the one before.
fn newest_check(of: &Occurrence<'_>, tally: Tally) -> u64 {
    tally.checks + u64::from(of.record.next != Some(of.slot))
}

/// Returns an id for a bulletin: its slot is now, moved by a nanosecond while a run or a slot has that one.
fn free_id(step: &StepBuilder<'_>, of: &Occurrence<'_>) -> Option<RunId> {
    let mut run = RunId { slot: step.now.wall, ..of.record.run_id(step.now.wall) };
    while run == of.id
        || is_taken_slot(step, of.record, run.slot)
        || step.state.run(&run).is_some()
        || step.has_claimed(&run)
    {
        run.slot = run.slot.checked_add(Span::from_nanos(1))?;
    }
    Some(run)
}

/// Lets a bulletin wait for its session, which is not open.
pub(in crate::engine::step) fn await_session(step: &mut StepBuilder<'_>, run: &RunId) {
    postpone(step, run, Reason::SessionAbsent, Span::from_millis(limits::BULLETIN_MS.value));
}

fn postpone(step: &mut StepBuilder<'_>, run: &RunId, reason: Reason, wait: Span) {
    let at = step.now.wall.checked_add(wait).unwrap_or(step.now.wall);
    step.run_fact(run, RunFact::Postponed { reason, at, due: step.now.boot.after(wait) });
}

/// Returns whether a bulletin may begin a turn in the session now. If not, it waits until it may.
pub(in crate::engine::step) fn may_wake(
    step: &mut StepBuilder<'_>,
    bulletin: &Occurrence<'_>,
    session: &SessionRecord,
) -> bool {
    let now = step.now.boot;
    let free_at = session.wakes.free_at(step.state.primitives.wakes_per_hour, now);
    if free_at <= now {
        return true;
    }
    // It waits already, and what it says of that stays true.
    let waits = step.state.run_key(&bulletin.id);
    if waits.and_then(|key| step.state.timers.deadline(Timer::Retry(key))) != Some(free_at) {
        postpone(step, &bulletin.id, Reason::OverBudget, free_at.since(now));
    }
    false
}

/// Puts further bulletins that wait into the delivery of one that goes out now, in order. A bulletin does not overtake a turn.
/// Returns their runs and their words.
pub(in crate::engine::step) fn join_others(
    step: &mut StepBuilder<'_>,
    lead: &Occurrence<'_>,
    session: &SessionRecord,
    host: HostId,
) -> Vec<(RunId, Box<str>)> {
    // What is left in an inbox is taken from there message by message.
    if lead.cause != Cause::Bulletin || host == HostId::INBOX {
        return Vec::new();
    }
    let state = step.state;
    let (mut joined, mut bytes) = (Vec::new(), lead.schedule.payload.text().len());
    for run in state.waiting(session) {
        if !is_bulletin(run) {
            if state.needs_lane(run) {
                break;
            }
            continue;
        }
        let Some(other) = Occurrence::of(state, run).filter(|other| other.id != lead.id) else { continue };
        // What is on disk and what is in memory only recover in different ways, so they go apart.
        if other.schedule.is_durable() != lead.schedule.is_durable() {
            continue;
        }
        let text = other.schedule.payload.text();
        // The lead counts as well.
        if joined.len() as u64 + 1 >= limits::BULLETINS_PER_DELIVERY.value
            || (bytes + text.len()) as u64 > limits::TEXT_BYTES.value
        {
            break;
        }
        // `authorize` comes last, because it records what becomes of a run that it refuses.
        if other.is_frozen(state) || step.deals_with(&other.id) || !authorize(step, &other) {
            continue;
        }
        bytes += text.len();
        step.run_fact(&other.id, RunFact::Joined { lead: Box::new(lead.id.clone()) });
        joined.push((other.id, text.into()));
    }
    joined
}

fn is_bulletin(run: &RunRecord) -> bool {
    run.run.cause == Cause::Bulletin
}

impl State {
    /// Returns the bulletins that are out in the delivery of this run.
    pub(in crate::engine) fn members(&self, lead: &RunId) -> Vec<&RunRecord> {
        if self.joined.is_empty() {
            return Vec::new();
        }
        self.joined.get(lead).into_iter().flatten().filter_map(|key| self.runs.get(*key)).collect()
    }
}

/// Does with each bulletin in the delivery of this run what becomes of the delivery.
pub(in crate::engine::step) fn with_members(
    step: &mut StepBuilder<'_>,
    lead: &RunId,
    mut then: impl FnMut(&mut StepBuilder<'_>, &Occurrence<'_>),
) {
    for member in step.state.members(lead) {
        if let Some(member) = Occurrence::of(step.state, member) {
            then(step, &member);
        }
    }
}
