//! The slots of one schedule that are to come, one by one, and what becomes of each if nobody does anything more.
//!
//! The rules are the steps' own (`step::next_slot`, `step::fire`), asked at the moment of each slot. Assumed are a host that
//! answers at once and turns that take no time: whatever is under way now has ended by the next slot. A host that is gone
//! stays away, a pause or a hold stays.

use std::borrow::Cow;

use super::draft::{Draft, Given, Step};
use super::forecast::{Coming, Fate, Outage};
use super::guard::Said;
use super::place::Place;
use super::record::ScheduleRecord;
use super::state::{Mode, State};
use super::step::fire::Sight;
use super::step::next_slot::{Passed, nth_after, passed, slot_after, slot_after_finish, within_lifetime};
use super::timers::Timer;
use crate::calendar::{Slots, Zones};
use crate::domain::{
    BootTime, Cause, CountFrom, Entropy, Missed, Moment, Next, Now, Policy, Reason, Run, RunState, Schedule,
    Span, Trigger,
};
use crate::limits;

/// One schedule on its way into the future.
pub(super) struct Outlook<'a> {
    state: &'a State,
    zones: &'a Zones,
    record: &'a ScheduleRecord,
    schedule: Cow<'a, Schedule>,
    incarnation: u32,
    next: Option<Moment>,
    /// When the run ends that the next slot counts from, if it counts from one that goes on now.
    finish: Option<Moment>,
    runs: u64,
    /// Slots before this were missed.
    armed_since: Option<Moment>,
    /// Nothing happens earlier.
    now: Moment,
    /// What keeps its slots from being claimed.
    frozen: Option<(Fate, Reason)>,
    stuck: Option<Stuck>,
    outage: Option<Outage>,
}

/// A run that waits for a host that stays away.
#[derive(Clone, Copy, Debug)]
struct Stuck {
    /// It waits in a queue, and is not between two attempts.
    queued: bool,
    /// When its time is up; `None` for never.
    until: Option<Moment>,
}

/// A schedule as somebody would have it.
pub(super) struct Otherwise {
    pub(super) schedule: Schedule,
    pub(super) retriggered: Option<Next>,
    pub(super) paused: Option<bool>,
}

impl<'a> Outlook<'a> {
    /// The schedule as it stands at `now`.
    pub(super) fn new(
        state: &'a State,
        zones: &'a Zones,
        record: &'a ScheduleRecord,
        now: Now,
    ) -> Outlook<'a> {
        let course = record.course();
        let paused = course.paused.is_some();
        let mut outlook = Outlook {
            state,
            zones,
            record,
            schedule: Cow::Borrowed(&record.schedule),
            incarnation: course.incarnation,
            next: record.next,
            finish: None,
            runs: course.runs,
            armed_since: state.armed_since(record),
            now: now.wall,
            frozen: frozen(state, paused),
            stuck: stuck(state, record, now, |_| true),
            outage: None,
        };
        // The next slot does not count from the end of a run by hand.
        let arms = stuck(state, record, now, |run| run.cause != Cause::Manual);
        outlook.finish = arms.map_or(Some(now.wall), |stuck| stuck.until).filter(|_| course.awaits_finish);
        outlook.count_from_finish();
        outlook
    }

    /// The slot that counts from the end of a run that goes on now.
    fn count_from_finish(&mut self) {
        let Some(finish) = self.finish.map(|finish| self.noticed(finish)) else { return };
        let consumed = self.record.course().consumed.unwrap_or(self.now);
        self.next = slot_after_finish(&self.draft(finish), &self.schedule, consumed).slot();
    }

    /// When an end is noticed: not while the process is down.
    fn noticed(&self, end: Moment) -> Moment {
        let outage = self.outage.filter(|outage| outage.from <= end);
        outage.map_or(end, |outage| end.max(outage.until))
    }

    /// The same after a change.
    pub(super) fn otherwise(mut self, change: Otherwise) -> Outlook<'a> {
        let was_paused = self.record.course().paused.is_some();
        let paused = change.paused.unwrap_or(was_paused);
        self.schedule = Cow::Owned(change.schedule);
        if let Some(next) = change.retriggered {
            self.incarnation += 1;
            self.next = next.slot();
            self.armed_since = Some(self.now);
        }
        if was_paused && !paused {
            self.armed_since = Some(self.now);
        }
        self.frozen = frozen(self.state, paused);
        self
    }

    /// The same with the process down for a while.
    pub(super) fn with_outage(mut self, outage: Outage) -> Outlook<'a> {
        self.outage = Some(outage);
        self.count_from_finish();
        self
    }

    /// When something comes of its next slot, and which that is.
    pub(super) fn peek(&self) -> Option<(Moment, Moment)> {
        let slot = self.next?;
        let at = slot.max(self.now);
        let at = match self.outage.filter(|outage| outage.from <= at) {
            Some(outage) if !self.schedule.is_durable() => outage.from.max(self.now),
            Some(outage) => at.max(outage.until),
            None => at,
        };
        Some((at, slot))
    }

    /// Goes on until nothing is left that comes before `from`; `false` where that is too far to go.
    pub(super) fn skip_to(&mut self, from: Moment) -> bool {
        let mut steps = 0;
        while self.peek().is_some_and(|(at, _)| at < from) {
            if steps == limits::SLOTS_LISTED.value {
                return false;
            }
            steps += 1;
            self.step();
            self.jump(from);
        }
        true
    }

    /// The next slot, and what becomes of it.
    pub(super) fn step(&mut self) -> Option<Coming> {
        let (at, first) = self.peek()?;
        if let Some(outage) = self.outage.filter(|outage| outage.from <= at) {
            if !self.schedule.is_durable() {
                self.next = None;
                let lost = Passed { latest: first, count: 1 };
                return Some(self.coming(first, lost, at, (Fate::Lost, Some(Reason::Lost))));
            }
            self.armed_since = self.armed_since.max(Some(outage.until));
        }
        // By deadlines, as timers are dealt with: of two that are overdue, the earlier comes first.
        if self.stuck.is_some_and(|stuck| stuck.until.is_some_and(|until| until <= first)) {
            self.stuck = None;
        }
        let (schedule, draft) = (self.schedule.clone(), self.draft(at));
        let only = Passed { latest: first, count: 1 };
        let seen = if at == first { only } else { passed(&draft, &schedule, first) };
        if let Some((fate, reason)) = self.frozen {
            self.next = slot_after(&draft, &schedule, seen.latest, self.runs).slot();
            return Some(self.coming(first, seen, at, (fate, Some(reason))));
        }
        let policy = schedule.policy();
        let unseen = self.is_unseen(seen.latest);
        let make_up = unseen && policy.missed == Missed::All;
        let sight = Sight {
            unseen,
            late: at.since(seen.latest),
            waiting: self.stuck.is_some_and(|stuck| stuck.queued),
            live: self.stuck.is_some(),
            lane: None,
        };
        if let Some(reason) = sight.reason_to_skip(policy) {
            let next = slot_after(&draft, &schedule, seen.latest, self.runs);
            self.next = after_finish(next, &draft, &schedule, seen.latest);
            return Some(self.coming(first, seen, at, (Fate::Skipped, Some(reason))));
        }
        if make_up && seen.count > limits::CATCH_UP.value {
            let count = seen.count - limits::CATCH_UP.value;
            let until = nth_after(&draft, &schedule, first, count - 1).unwrap_or(first);
            self.next = slot_after(&draft, &schedule, until, self.runs).slot();
            let oldest = Passed { latest: until, count };
            return Some(self.coming(first, oldest, at, (Fate::Skipped, Some(Reason::CatchUpLimit))));
        }
        let this = if make_up { only } else { seen };
        // The latest may be in time, and the one whose turn it is not.
        let sight = Sight { late: at.since(this.latest), ..sight };
        if let Some(reason) = sight.reason_to_skip(policy) {
            let next = slot_after(&draft, &schedule, this.latest, self.runs);
            self.next = after_finish(next, &draft, &schedule, this.latest);
            return Some(self.coming(first, this, at, (Fate::Skipped, Some(reason))));
        }
        Some(self.claim(&draft, first, this, at))
    }

    fn claim(&mut self, draft: &Draft<'_>, first: Moment, this: Passed, at: Moment) -> Coming {
        let schedule = self.schedule.clone();
        let policy = schedule.policy();
        self.runs += 1;
        let next = slot_after(draft, &schedule, this.latest, self.runs);
        let time_up = policy.timeout.and_then(|timeout| at.checked_add(timeout));
        let place = self.state.place(&schedule, self.record.owner);
        let said = self.state.guard_says(self.zones, &schedule, at);
        let (fate, reason) = match (place, place.blocks()) {
            (Place::Nowhere(reason), _) => (Fate::Fails, Some(reason)),
            (_, Some(Reason::HostGone)) => (Fate::Waits, Some(Reason::HostGone)),
            (Place::Lane(..) | Place::Fresh(..) | Place::Outside(_), _) => match said {
                Said::Allowed => (Fate::Fires, None),
                Said::Held(_) => (Fate::NeedsApproval, Some(Reason::AwaitingApproval)),
                Said::Refused(reason, _) => (Fate::Refused, Some(reason)),
            },
        };
        let ends = match fate {
            Fate::Waits => time_up,
            Fate::Fails => Some(attempts_end(policy, at)),
            Fate::NeedsApproval => self.unapproved_until(this.latest, at, time_up),
            Fate::Refused
            | Fate::Fires
            | Fate::Skipped
            | Fate::Paused
            | Fate::Held
            | Fate::Lost
            | Fate::Gone => Some(at),
        };
        let ends = ends.map(|ends| self.noticed(ends));
        if ends.is_none_or(|ends| ends > at) {
            self.stuck = Some(Stuck { queued: true, until: ends });
        }
        self.next = match (next, ends) {
            // It is counted from an end that does not come.
            (Next::AfterFinish, None) => None,
            (next, ends) => after_finish(next, &self.draft(ends.unwrap_or(at)), &schedule, this.latest),
        };
        let rule = match (said, fate) {
            (Said::Held(rule) | Said::Refused(_, Some(rule)), Fate::NeedsApproval | Fate::Refused) => {
                Some(rule.name.clone())
            }
            (Said::Allowed | Said::Held(_) | Said::Refused(..), _) => None,
        };
        Coming { rule, ..self.coming(first, this, at, (fate, reason)) }
    }

    /// Until when a run waits that has to be approved, as nobody does.
    fn unapproved_until(&self, slot: Moment, at: Moment, time_up: Option<Moment>) -> Option<Moment> {
        let patience = self.state.guard().and_then(|policy| policy.approval)?;
        let too_late = self.schedule.policy().max_late.and_then(|most| slot.checked_add(most));
        let ends = [at.checked_add(patience), too_late, self.schedule.lifetime().expires_at, time_up];
        ends.into_iter().flatten().min()
    }

    /// Leaves out what nobody asked for: slots that can be reckoned without going through those before them.
    fn jump(&mut self, from: Moment) {
        let Some(next) = self.next.filter(|next| *next < from) else { return };
        let passes_outage = self.outage.is_some_and(|outage| next < outage.until);
        let has_end = self.stuck.is_some_and(|stuck| stuck.until.is_some());
        if passes_outage || has_end || self.schedule.lifetime().max_runs.is_some() {
            return;
        }
        let there = match &self.schedule.trigger {
            Trigger::At(_) | Trigger::Event(_) => return,
            Trigger::Every(every) if every.from() == CountFrom::Finish => {
                let periods = from.since(next).nanos().div_ceil(every.period().nanos());
                next.checked_add(Span::from_nanos(periods.saturating_mul(every.period().nanos())))
            }
            trigger @ (Trigger::Every(_) | Trigger::Calendar(_) | Trigger::Cron(..)) => {
                let before = from.checked_sub(Span::from_nanos(1)).unwrap_or(from);
                Slots::new(trigger, self.zones).first_after(before)
            }
        };
        self.next = within_lifetime(&self.draft(from), &self.schedule, there).slot();
    }

    fn is_unseen(&self, slot: Moment) -> bool {
        let slot = slot.max(self.schedule.created_at);
        self.armed_since.is_some_and(|since| slot < since)
    }

    fn coming(&self, first: Moment, slots: Passed, at: Moment, what: (Fate, Option<Reason>)) -> Coming {
        Coming {
            schedule: self.schedule.id.clone(),
            incarnation: self.incarnation,
            since: first,
            slot: slots.latest,
            count: slots.count,
            at,
            will: what.0,
            reason: what.1,
            rule: None,
        }
    }

    /// What a step would be given at that moment; the boot clock stands still, for only the wall clock is asked.
    fn draft(&self, at: Moment) -> Draft<'a> {
        let now = Now { wall: at, boot: BootTime::ZERO };
        Draft::new(Step::default(), self.state, Given { now, entropy: Entropy([0; 16]), zones: self.zones })
    }
}

fn frozen(state: &State, paused: bool) -> Option<(Fate, Reason)> {
    if paused {
        Some((Fate::Paused, Reason::Paused))
    } else if state.mode != Mode::Running {
        Some((Fate::Held, Reason::Shutdown))
    } else {
        state.held.as_ref().map(|_| (Fate::Held, Reason::Held))
    }
}

/// The run that will not have ended at once, if there is one among those that are meant: the last to end.
fn stuck(state: &State, record: &ScheduleRecord, now: Now, is_meant: fn(&Run) -> bool) -> Option<Stuck> {
    let live =
        state.runs_of(record).filter(|(_, run)| run.run.state == RunState::Queued && is_meant(&run.run));
    let stuck = live.filter_map(|(key, run)| {
        let time_up = state.timers.deadline(Timer::TimeUp(key));
        let time_up = time_up.and_then(|due| now.wall.checked_add(due.since(now.boot)));
        let asked = state.asked(run)?;
        let place = state.place(asked, record.owner);
        if let Some(hold) = run.run.checks.as_ref().and_then(|checks| checks.waits.as_ref()) {
            let until = [Some(hold.until), time_up].into_iter().flatten().min();
            return Some(Stuck { queued: true, until });
        }
        let Some(retry) = run.run.retry_at else {
            // Whatever else it waits for now.
            let waits = place.blocks() == Some(Reason::HostGone);
            return waits.then_some(Stuck { queued: true, until: time_up });
        };
        let until = match (place, place.blocks()) {
            (Place::Nowhere(_), _) => {
                let tried = usize::from(run.run.attempt).saturating_sub(1);
                let left = asked.policy().backoff.get(tried..).unwrap_or_default();
                // One that is overdue is tried now, and the waits after it count from now.
                let from = if left.is_empty() { retry } else { retry.max(now.wall) };
                Some(from.checked_add(sum(left)).unwrap_or(from))
            }
            (Place::Lane(..) | Place::Fresh(..) | Place::Outside(_), Some(Reason::HostGone)) => None,
            (Place::Lane(..) | Place::Fresh(..) | Place::Outside(_), _) => Some(retry),
        };
        let until = [until, time_up].into_iter().flatten().min();
        Some(Stuck { queued: true, until })
    });
    stuck.max_by_key(|stuck| (stuck.until.is_none(), stuck.until))
}

fn sum(spans: &[Span]) -> Span {
    Span::from_nanos(spans.iter().fold(0, |sum, span| sum.saturating_add(span.nanos())))
}

/// When the last attempt at a run that finds nobody has failed.
fn attempts_end(policy: &Policy, at: Moment) -> Moment {
    let waits = sum(&policy.backoff);
    at.checked_add(policy.timeout.map_or(waits, |timeout| waits.min(timeout))).unwrap_or(at)
}

fn after_finish(next: Next, draft: &Draft<'_>, schedule: &Schedule, consumed: Moment) -> Option<Moment> {
    match next {
        Next::AfterFinish => slot_after_finish(draft, schedule, consumed).slot(),
        Next::Slot { .. } | Next::AtEvent | Next::Never { .. } => next.slot(),
    }
}
