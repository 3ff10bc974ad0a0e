//! Transition: slots of a schedule are due. They are consumed: by a run that is handed over or
//! queued, or by a skip with a reason.
//!
//! Of several due slots only the latest gets a run, unless the policy is to make up for all.

use crate::domain::{
    Actor, Cause, Claim, Missed, Moment, Next, Overlap, Policy, Reason, RunFact, RunState, Schedule,
    ScheduleFact, Skip, Span, WhenBusy,
};
use crate::engine::record::ScheduleRecord;
use crate::engine::step::run::check::tell_of_end;
use crate::engine::step::run::dispatch::dispatch;
use crate::engine::step::run::due_slots::DueSlots;
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step::schedule::check_slot::slot_after_skip;
use crate::engine::step::schedule::next_slot::{Passed, nth_after, slot_after};
use crate::engine::step::schedule::slot_time::{SlotTime, timed};
use crate::engine::step_builder::StepBuilder;
use crate::limits;

/// Consumes the due slots of a schedule, the armed one first.
pub(in crate::engine::step) fn fire(step: &mut StepBuilder<'_>, record: &ScheduleRecord) {
    let Some(armed) = record.next else { return };
    let schedule = &record.schedule;
    let time = SlotTime::of(step, record);
    let due = DueSlots::of(step, schedule, armed, time.passed_until(step, record), time.since);
    let late = |slot: Moment| time.now.since(slot);
    if let Some(reason) = reason_to_skip(step, record, late(due.latest), due.unseen) {
        skip(step, record, due.all(step, schedule), reason);
    } else if let count @ 1.. = due.too_many(step, schedule) {
        skip_oldest(step, record, count);
    } else if let Some(reason) =
        due.make_up.then(|| reason_to_skip(step, record, late(armed), true)).flatten()
    {
        // The latest is not too late, but this one is.
        skip(step, record, due.of_next_run(step, schedule), reason);
    } else {
        let this = due.of_next_run(step, schedule);
        claim(step, record, this, if due.unseen { Cause::Missed } else { Cause::Slot }, None);
    }
}

fn reason_to_skip(
    step: &StepBuilder<'_>,
    record: &ScheduleRecord,
    late: Span,
    unseen: bool,
) -> Option<Reason> {
    let (state, schedule) = (step.state, &record.schedule);
    let policy = schedule.policy();
    // A bulletin tells of an earlier run, and what a replaced definition began ends by itself: no slot waits for either.
    let own = || state.runs_of(record).map(|(_, run)| &run.run).filter(|run| record.is_own(run));
    // Resolving the place is a look-up, and only this policy needs it.
    let asks_lane = policy.when_busy == WhenBusy::Skip;
    let sight = SlotContext {
        unseen,
        late,
        waiting: own().any(|run| run.state == RunState::Queued),
        live: own().filter(|run| !run.state.is_terminal()).take(live_max(policy)).count(),
        lane: if asks_lane { state.destination(schedule, record.owner).blocks() } else { None },
    };
    sight.reason_to_skip(policy)
}

/// The circumstances of a due slot, as far as policies depend on them.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct SlotContext {
    /// The slot passed while it could not be claimed.
    pub(in crate::engine) unseen: bool,
    /// How long after the slot this is.
    pub(in crate::engine) late: Span,
    /// A run of the same schedule is queued.
    pub(in crate::engine) waiting: bool,
    /// How many runs of the same schedule have not ended, as far as the policy asks.
    pub(in crate::engine) live: usize,
    /// Why its session cannot take a prompt now; `None` if it can.
    pub(in crate::engine) lane: Option<Reason>,
}

impl SlotContext {
    /// Returns why the slot passes without a run; `None` if it gets one. Shared with the forecast.
    pub(in crate::engine) fn reason_to_skip(&self, policy: &Policy) -> Option<Reason> {
        if self.unseen && policy.missed == Missed::Skip {
            return Some(Reason::Missed);
        }
        if policy.max_late.is_some_and(|most| self.late > most) {
            return Some(Reason::TooLate);
        }
        if policy.when_busy == WhenBusy::Coalesce && self.waiting {
            return Some(Reason::Coalesced);
        }
        // Slots that are made up for come in quick succession: all but the first would be skipped as
        // overlapping.
        let makes_up = self.unseen && policy.missed == Missed::All;
        if !makes_up && self.live >= live_max(policy) {
            return Some(Reason::Overlap);
        }
        // A session without a host is not busy: its runs wait for the host.
        self.lane.filter(|reason| policy.when_busy == WhenBusy::Skip && *reason != Reason::HostGone)
    }
}

/// Returns how many runs of a schedule may be live before a further slot is skipped.
pub(in crate::engine) fn live_max(policy: &Policy) -> usize {
    match policy.overlap {
        Overlap::Skip => 1,
        // Each is in the schedule's row, which is written again for each.
        Overlap::Parallel => usize::try_from(limits::RUNS_LIVE.value).unwrap_or(usize::MAX),
    }
}

fn skip(step: &mut StepBuilder<'_>, record: &ScheduleRecord, passed: Passed, reason: Reason) {
    let next = match slot_after(step, &record.schedule, passed.latest, record.progress().runs) {
        Next::AfterFinish => slot_after_skip(step, &record.schedule, passed.latest, reason),
        next @ (Next::Slot { .. } | Next::AtEvent | Next::Never { .. }) => next,
    };
    let next = timed(step, record, passed.latest, next);
    tell_of_end(step, &Occurrence::of_slot(record, passed.latest), next);
    let from = record.next.unwrap_or(passed.latest);
    let skip = Skip { from, until: passed.latest, count: passed.count, reason, next, by: None };
    step.schedule_fact(&record.schedule.id, ScheduleFact::Skipped(skip));
}

/// Skips the oldest missed slots, because there are so many more than are made up for. The others stay due.
fn skip_oldest(step: &mut StepBuilder<'_>, record: &ScheduleRecord, count: u64) {
    let schedule = &record.schedule;
    let Some(from) = record.next else { return };
    let until = nth_after(step, schedule, from, count - 1).unwrap_or(from);
    let next = timed(step, record, until, slot_after(step, schedule, until, record.progress().runs));
    let skip = Skip { from, until, count, reason: Reason::CatchUpLimit, next, by: None };
    step.schedule_fact(&schedule.id, ScheduleFact::Skipped(skip));
}

/// Begins the run of a due slot.
pub(in crate::engine::step) fn claim(
    step: &mut StepBuilder<'_>,
    record: &ScheduleRecord,
    passed: Passed,
    cause: Cause,
    by: Option<Box<Actor>>,
) {
    let slot = passed.latest;
    let next = slot_after(step, &record.schedule, slot, record.progress().runs + 1);
    let next = timed(step, record, slot, next);
    let by_session = by.as_deref().map_or(record.progress().by_session, Actor::is_of_session);
    let claim = Claim {
        cause,
        folded: passed.count - 1,
        next: Some(next),
        time_up: time_up(step, &record.schedule),
        by,
        telling: None,
    };
    let occurrence = Occurrence {
        cause,
        by_session,
        folded: claim.folded,
        // The run may end in this very step, before the state says what its end arms.
        arms: next == Next::AfterFinish,
        ..Occurrence::of_slot(record, slot)
    };
    begin(step, &occurrence, claim);
}

/// Claims a run, and hands it over or queues it.
pub(in crate::engine::step) fn begin(step: &mut StepBuilder<'_>, occurrence: &Occurrence<'_>, claim: Claim) {
    let known = step.state.run(&occurrence.id);
    debug_assert!(known.is_none(), "{} is claimed a second time: {known:?}", occurrence.id);
    step.run_fact(&occurrence.id, RunFact::Claimed(claim));
    match occurrence.blocked(step) {
        Some(reason) => step.run_fact(&occurrence.id, RunFact::Queued { reason }),
        None => _ = dispatch(step, occurrence),
    }
}

/// Returns the timeout of a run that is claimed now.
pub(in crate::engine::step) fn time_up(
    step: &StepBuilder<'_>,
    schedule: &Schedule,
) -> Option<crate::domain::BootTime> {
    schedule.policy().timeout.map(|timeout| step.now.boot.after(timeout))
}
