//! Slots have come: they are consumed, by a run that is handed over or waits, or by being skipped with a reason.
//!
//! Of several slots that have come, only the latest gets a run, unless the policy is to make up for all.

use super::hand_over::hand_over;
use super::next_slot::{Passed, nth_after, passed, slot_after};
use super::occurrence::Occurrence;
use crate::domain::{
    Cause, Claim, Missed, Moment, Next, Overlap, Policy, Reason, RunFact, RunState, Schedule, ScheduleFact,
    Skip, Span, WhenBusy,
};
use crate::engine::draft::Draft;
use crate::engine::record::ScheduleRecord;
use crate::engine::state::State;
use crate::limits;

/// Consumes the slots of a schedule that have come. The one that was to come is among them.
pub(super) fn fire(draft: &mut Draft<'_>, record: &ScheduleRecord) {
    let Some(armed) = record.next else { return };
    let schedule = &record.schedule;
    let passed = passed(draft, schedule, armed);
    debug_assert!(
        armed <= passed.latest && passed.count >= 1,
        "{}: of the slots from {armed} on {passed:?} have passed",
        schedule.id
    );
    let unseen = is_unseen(draft.state, record, passed.latest);
    let make_up = unseen && schedule.policy().missed == Missed::All;
    // Whoever makes up for all goes one by one: the others are due at once.
    let this = if make_up { Passed { latest: armed, count: 1 } } else { passed };
    if let Some(reason) = reason_to_skip(draft, record, &passed, unseen) {
        skip(draft, record, passed, reason);
    } else if make_up && passed.count > limits::CATCH_UP.value {
        skip_oldest(draft, record, &passed);
    } else if let Some(reason) = make_up.then(|| reason_to_skip(draft, record, &this, unseen)).flatten() {
        // The latest is in time, and this one is not.
        skip(draft, record, this, reason);
    } else {
        claim(draft, record, this, if unseen { Cause::Missed } else { Cause::Slot });
    }
}

/// Whether a slot came while nobody was there: before a restart, a resume, a release, or a change that brought it about.
fn is_unseen(state: &State, record: &ScheduleRecord, slot: Moment) -> bool {
    let slot = slot.max(record.schedule.created_at);
    state.armed_since(record).is_some_and(|since| slot < since)
}

fn reason_to_skip(
    draft: &Draft<'_>,
    record: &ScheduleRecord,
    passed: &Passed,
    unseen: bool,
) -> Option<Reason> {
    let (state, schedule) = (draft.state, &record.schedule);
    let policy = schedule.policy();
    let live = |state_of_run: fn(RunState) -> bool| {
        state.runs_of(record).any(|(_, run)| state_of_run(run.run.state))
    };
    // Nobody else asks where it goes: that is a search.
    let asks_lane = policy.when_busy == WhenBusy::Skip;
    let sight = Sight {
        unseen,
        late: draft.now.wall.since(passed.latest),
        waiting: live(|state| state == RunState::Queued),
        live: live(|state| !state.is_terminal()),
        lane: if asks_lane { state.place(schedule, record.owner).blocks() } else { None },
    };
    sight.reason_to_skip(policy)
}

/// What a slot finds when it comes.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Sight {
    /// Nobody was there when it came.
    pub(in crate::engine) unseen: bool,
    /// How late it is looked at.
    pub(in crate::engine) late: Span,
    /// A run of the same schedule waits.
    pub(in crate::engine) waiting: bool,
    /// A run of the same schedule has not ended.
    pub(in crate::engine) live: bool,
    /// Why the session that it goes to cannot take it right now.
    pub(in crate::engine) lane: Option<Reason>,
}

impl Sight {
    /// Why the slot passes without a run, if it does. A forecast asks the same.
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
        let makes_up = self.unseen && policy.missed == Missed::All;
        if policy.overlap == Overlap::Skip && !makes_up && self.live {
            return Some(Reason::Overlap);
        }
        self.lane.filter(|reason| policy.when_busy == WhenBusy::Skip && *reason != Reason::HostGone)
    }
}

fn skip(draft: &mut Draft<'_>, record: &ScheduleRecord, passed: Passed, reason: Reason) {
    let next = match slot_after(draft, &record.schedule, passed.latest, record.course().runs) {
        // Nothing will end from which it could count.
        Next::AfterFinish => super::next_slot::slot_after_finish(draft, &record.schedule, passed.latest),
        next @ (Next::Slot { .. } | Next::AtEvent | Next::Never { .. }) => next,
    };
    let from = record.next.unwrap_or(passed.latest);
    let skip = Skip { from, until: passed.latest, count: passed.count, reason, next, by: None };
    draft.schedule_fact(&record.schedule.id, ScheduleFact::Skipped(skip));
}

/// Of more missed slots than are made up for, the oldest are skipped; the others are due at once.
fn skip_oldest(draft: &mut Draft<'_>, record: &ScheduleRecord, passed: &Passed) {
    let (schedule, count) = (&record.schedule, passed.count - limits::CATCH_UP.value);
    let Some(from) = record.next else { return };
    let until = nth_after(draft, schedule, from, count - 1).unwrap_or(from);
    let next = slot_after(draft, schedule, until, record.course().runs);
    let skip = Skip { from, until, count, reason: Reason::CatchUpLimit, next, by: None };
    draft.schedule_fact(&schedule.id, ScheduleFact::Skipped(skip));
}

fn claim(draft: &mut Draft<'_>, record: &ScheduleRecord, passed: Passed, cause: Cause) {
    let slot = passed.latest;
    let next = slot_after(draft, &record.schedule, slot, record.course().runs + 1);
    let claim = Claim {
        cause,
        folded: passed.count - 1,
        next: Some(next),
        time_up: time_up(draft, &record.schedule),
        by: None,
    };
    let occurrence = Occurrence {
        id: record.run_id(slot),
        schedule: &record.schedule,
        record,
        owner: record.owner,
        slot,
        cause,
        folded: claim.folded,
        attempt: 1,
        revision: record.course().revision,
        checks: None,
        arms: next == Next::AfterFinish,
    };
    begin(draft, &occurrence, claim);
}

/// Claims a run, and hands it over or lets it wait.
pub(super) fn begin(draft: &mut Draft<'_>, occurrence: &Occurrence<'_>, claim: Claim) {
    let known = draft.state.run(&occurrence.id);
    debug_assert!(known.is_none(), "{} is claimed a second time: {known:?}", occurrence.id);
    draft.run_fact(&occurrence.id, RunFact::Claimed(claim));
    match occurrence.blocked(draft) {
        Some(reason) => draft.run_fact(&occurrence.id, RunFact::Queued { reason }),
        None => _ = hand_over(draft, occurrence),
    }
}

/// When the time of a run that is claimed now is up.
pub(super) fn time_up(draft: &Draft<'_>, schedule: &Schedule) -> Option<crate::domain::BootTime> {
    schedule.policy().timeout.map(|timeout| draft.now.boot.after(timeout))
}
