//! The future slots of one schedule, one by one, and what becomes of each if nobody intervenes.
//!
//! The rules are those of the steps (`step::next_slot`, `step::fire`), evaluated at the moment of each slot.
//! Hosts are assumed to answer at once and turns to take no time: a run that is under way now has ended by
//! the next slot. A host that is gone stays away, and a pause or a hold stays in force.

use std::borrow::Cow;

use super::forecast_slot::{ForecastSlot, SlotOutcome};
use crate::calendar::{Slots, Zones};
use crate::domain::{
    BootTime, Cause, CountFrom, Entropy, HostId, Moment, Next, Now, Reason, Run, RunState, Schedule, Span,
    Target, Trigger,
};
use crate::engine::destination::Destination;
use crate::engine::guard::PolicyDecision;
use crate::engine::record::ScheduleRecord;
use crate::engine::state::{Mode, State};
use crate::engine::step::run::due_slots::DueSlots;
use crate::engine::step::run::fire::{SlotContext, live_max};
use crate::engine::step::schedule::check_slot::{slot_after_pause, slot_after_run, slot_after_skip};
use crate::engine::step::schedule::next_slot::{
    Passed, counted, latest_passed, nth_after, slot_after, within_lifetime,
};
use crate::engine::step_builder::{Env, Step, StepBuilder};
use crate::engine::timers::Timer;
use crate::limits;

/// A simulation of one schedule's future.
pub(in crate::engine) struct ScheduleSim<'a> {
    state: &'a State,
    zones: &'a Zones,
    record: &'a ScheduleRecord,
    schedule: Cow<'a, Schedule>,
    incarnation: u32,
    next: Option<Moment>,
    /// When the current run ends, if the next slot counts from that.
    finish: Option<Moment>,
    runs: u64,
    /// Of a watch: how many checks in a row have failed.
    errors: u32,
    /// Slots before this moment count as missed.
    armed_since: Option<Moment>,
    /// Nothing happens before this moment.
    now: Moment,
    /// Why no slot is claimed, if none is: a pause, a hold or a shutdown.
    frozen: Option<(SlotOutcome, Reason)>,
    /// When each of the runs ends that do not end at once; `None` for never.
    open: Vec<Option<Moment>>,
    outage: Option<Outage>,
}

/// A time during which the process is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When the process stops.
    pub from: Moment,
    /// When it starts again.
    pub until: Moment,
}

/// A hypothetical definition of the schedule.
#[derive(Clone)]
pub(in crate::engine) struct ChangedDefinition {
    pub(in crate::engine) schedule: Schedule,
    pub(in crate::engine) retriggered: Option<Next>,
    pub(in crate::engine) paused: Option<bool>,
}

impl<'a> ScheduleSim<'a> {
    /// Starts at the schedule's state at `now`.
    pub(in crate::engine) fn new(
        state: &'a State,
        zones: &'a Zones,
        record: &'a ScheduleRecord,
        now: Now,
    ) -> ScheduleSim<'a> {
        let progress = record.progress();
        let paused = progress.paused.is_some();
        let mut sim = ScheduleSim {
            state,
            zones,
            record,
            schedule: Cow::Borrowed(&record.schedule),
            incarnation: progress.incarnation,
            next: record.next,
            finish: None,
            runs: progress.runs,
            errors: record.watch().map_or(0, |watch| watch.tally.errors.checks),
            armed_since: state.armed_since(record),
            now: now.wall,
            frozen: frozen(state, record, paused),
            // No slot waits for a bulletin, which tells of an earlier run.
            open: open_runs(state, record, now, |run| run.cause != Cause::Bulletin).collect(),
            outage: None,
        };
        // The next slot does not count from the end of a manual run.
        let arms = open_runs(state, record, now, |run| !run.cause.is_beside_slots());
        // A run without an end counts as the last one.
        let last = arms.max_by_key(|until| (until.is_none(), *until));
        // An overdue attempt is made now, and what it comes to counts from then.
        let finish = last.map_or(Some(now.wall), |until| Some(until?.max(now.wall)));
        sim.finish = finish.filter(|_| progress.awaits_finish);
        sim.count_from_finish();
        sim
    }

    /// Computes the slot that counts from the end of the current run.
    fn count_from_finish(&mut self) {
        let Some(finish) = self.finish.map(|finish| self.noticed(finish)) else { return };
        let consumed = self.record.progress().consumed.unwrap_or(self.now);
        // What is called now is assumed to work, so no check has failed by then.
        self.next = slot_after_run(&self.step_at(finish), &self.schedule, consumed, 0).slot();
    }

    /// Returns when the end of a run takes effect: not before the process is up again.
    fn noticed(&self, end: Moment) -> Moment {
        let outage = self.outage.filter(|outage| outage.from <= end);
        outage.map_or(end, |outage| end.max(outage.until))
    }

    /// Applies a hypothetical change.
    pub(in crate::engine) fn with_change(mut self, change: ChangedDefinition) -> ScheduleSim<'a> {
        let was_paused = self.record.progress().paused.is_some();
        let paused = change.paused.unwrap_or(was_paused);
        self.schedule = Cow::Owned(change.schedule);
        if let Some(next) = change.retriggered {
            self.incarnation += 1;
            self.next = next.slot();
            self.armed_since = Some(self.now);
        } else {
            // The changed lifetime bounds that slot too.
            self.count_from_finish();
        }
        // As for a real resume: slots that passed during the pause count as missed, but for those of a watch.
        if was_paused && !paused {
            self.armed_since = Some(self.now);
            if let Some(slot) = self.next.filter(|slot| self.schedule.is_watch() && *slot <= self.now) {
                self.next = slot_after_pause(&self.step_at(self.now), &self.schedule, slot).slot();
            }
        }
        self.frozen = frozen(self.state, self.record, paused);
        self
    }

    /// Applies a hypothetical outage of the process.
    pub(in crate::engine) fn with_outage(mut self, outage: Outage) -> ScheduleSim<'a> {
        self.outage = Some(outage);
        self.count_from_finish();
        self
    }

    /// Returns when the next slot is handled, and the slot.
    pub(in crate::engine) fn peek(&self) -> Option<(Moment, Moment)> {
        let slot = self.next?;
        let at = slot.max(self.now);
        let at = match self.outage.filter(|outage| outage.from <= at) {
            // A volatile slot after the crash is lost at the crash.
            Some(outage) if !self.schedule.is_durable() => outage.from.max(self.now),
            Some(outage) => at.max(outage.until),
            None => at,
        };
        Some((at, slot))
    }

    /// Returns whether another simulation, of the same schedule after an outage, has the same future as this one from here on.
    pub(in crate::engine) fn goes_on_like(&self, other: &ScheduleSim<'_>) -> bool {
        // What is volatile is lost at its next slot.
        let is_over =
            |outage: Outage| self.schedule.is_durable() && other.next.is_none_or(|next| next >= outage.until);
        other.outage.is_some_and(is_over)
            && (self.next, self.errors) == (other.next, other.errors)
            && self.open == other.open
            && (self.runs == other.runs || self.schedule.lifetime().max_runs.is_none())
    }

    /// Advances past everything before `from`; returns `false` if that takes too many steps.
    pub(in crate::engine) fn skip_to(&mut self, from: Moment) -> bool {
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

    /// Handles the next slot, and returns what becomes of it.
    pub(in crate::engine) fn step(&mut self) -> Option<ForecastSlot> {
        let (at, first) = self.peek()?;
        if let Some(outage) = self.outage.filter(|outage| outage.from <= at) {
            if !self.schedule.is_durable() {
                self.next = None;
                let lost = Passed { latest: first, count: 1 };
                return Some(self.slot(first, lost, at, (SlotOutcome::Lost, Some(Reason::Lost))));
            }
            // The restart is the moment from which slots count as seen.
            self.armed_since = self.armed_since.max(Some(outage.until));
        }
        // Timers run in the order of their deadlines: of two that are overdue, the earlier comes first.
        self.open.retain(|until| until.is_none_or(|until| until > first));
        // Copies a pointer, unless a changed definition is supposed.
        let (schedule, step) = (self.schedule.clone(), self.step_at(at));
        // Nothing is claimed, so the slots are listed as they would come.
        if let Some((fate, reason)) = self.frozen {
            let seen = counted(&step, &schedule, first, latest_passed(&step, &schedule, first, at));
            self.next = slot_after(&step, &schedule, seen.latest, self.runs).slot();
            return Some(self.slot(first, seen, at, (fate, Some(reason))));
        }
        let policy = schedule.policy();
        let due = DueSlots::of(&step, &schedule, first, at, self.armed_since);
        // From here on as in `step::run::fire::fire`, branch by branch.
        let sight = SlotContext {
            unseen: due.unseen,
            late: at.since(due.latest),
            waiting: !self.open.is_empty(),
            live: self.open.len(),
            lane: None,
        };
        if let Some(reason) = sight.reason_to_skip(policy) {
            let next = slot_after(&step, &schedule, due.latest, self.runs);
            self.next = or_else(next, || slot_after_skip(&step, &schedule, due.latest, reason));
            let all = due.all(&step, &schedule);
            return Some(self.slot(first, all, at, (SlotOutcome::Skipped, Some(reason))));
        }
        if let count @ 1.. = due.too_many(&step, &schedule) {
            let until = nth_after(&step, &schedule, first, count - 1).unwrap_or(first);
            self.next = slot_after(&step, &schedule, until, self.runs).slot();
            let oldest = Passed { latest: until, count };
            return Some(self.slot(first, oldest, at, (SlotOutcome::Skipped, Some(Reason::CatchUpLimit))));
        }
        let this = due.of_next_run(&step, &schedule);
        // The latest slot may be in time although this one is too late.
        let sight = SlotContext { late: at.since(this.latest), ..sight };
        if let Some(reason) = sight.reason_to_skip(policy) {
            let next = slot_after(&step, &schedule, this.latest, self.runs);
            self.next = or_else(next, || slot_after_skip(&step, &schedule, this.latest, reason));
            return Some(self.slot(first, this, at, (SlotOutcome::Skipped, Some(reason))));
        }
        Some(self.claim(&step, first, this, at))
    }

    fn claim(&mut self, step: &StepBuilder<'_>, first: Moment, this: Passed, at: Moment) -> ForecastSlot {
        let schedule = self.schedule.clone();
        let policy = schedule.policy();
        self.runs += 1;
        let next = slot_after(step, &schedule, this.latest, self.runs);
        let time_up = policy.timeout.and_then(|timeout| at.checked_add(timeout));
        let place = self.state.destination(&schedule, self.record.owner);
        let said = self.state.guard_decision(self.zones, &schedule, at);
        // In the order in which a hand-over asks: the place, its host, then the guard.
        let away = place.session().filter(|session| !session.hosted);
        let (fate, reason) = match (place, away.map(|session| session.away.unwrap_or(Reason::HostGone))) {
            (Destination::Unreachable(reason), _) => (SlotOutcome::Fails, Some(reason)),
            (_, Some(reason)) => (SlotOutcome::Waits, Some(reason)),
            (Destination::Channel(_, Some(_)), None) => (SlotOutcome::Waits, Some(Reason::ChannelPaused)),
            (
                Destination::Session(..)
                | Destination::Fresh(..)
                | Destination::Channel(..)
                | Destination::Tool(_),
                _,
            ) => match said {
                PolicyDecision::Allowed
                    if schedule.payload.call().is_none()
                        && place.session().is_some_and(|it| it.host == HostId::INBOX) =>
                {
                    (SlotOutcome::Left, Some(Reason::NobodyListens))
                }
                PolicyDecision::Allowed => (SlotOutcome::Fires, None),
                PolicyDecision::NeedsApproval(_) => {
                    (SlotOutcome::NeedsApproval, Some(Reason::AwaitingApproval))
                }
                PolicyDecision::Refused(reason, _) => (SlotOutcome::Refused, Some(reason)),
            },
        };
        let ends = match fate {
            SlotOutcome::Waits => time_up,
            SlotOutcome::Fails => Some(attempts_end(&schedule, at)),
            SlotOutcome::NeedsApproval => self.unapproved_until(this.latest, at, time_up),
            SlotOutcome::Refused
            | SlotOutcome::Fires
            | SlotOutcome::Left
            | SlotOutcome::Skipped
            | SlotOutcome::Paused
            | SlotOutcome::AllHeld
            | SlotOutcome::Lost
            | SlotOutcome::Gone => Some(at),
        };
        let ends = ends.map(|ends| self.noticed(ends));
        if ends.is_none_or(|ends| ends > at) {
            self.open.push(ends);
        }
        // A tool is assumed to do what it is called for, if it is called.
        self.errors = if fate == SlotOutcome::Fires { 0 } else { self.errors.saturating_add(1) };
        self.next = match (next, ends) {
            // The next slot counts from an end that never comes.
            (Next::AfterFinish, None) => None,
            (next, ends) => {
                let end = self.step_at(ends.unwrap_or(at));
                or_else(next, || slot_after_run(&end, &schedule, this.latest, self.errors))
            }
        };
        ForecastSlot { rule: rule_of(&said, fate), ..self.slot(first, this, at, (fate, reason)) }
    }

    /// Returns until when a run waits for an approval that nobody gives.
    fn unapproved_until(&self, slot: Moment, at: Moment, time_up: Option<Moment>) -> Option<Moment> {
        let patience = self.state.guard().and_then(|policy| policy.approval)?;
        let too_late = self.schedule.policy().max_late.and_then(|most| slot.checked_add(most));
        // The time of a call begins with its approval.
        let time_up = time_up.filter(|_| self.schedule.payload.call().is_none());
        let ends = [at.checked_add(patience), too_late, self.schedule.lifetime().expires_at, time_up];
        ends.into_iter().flatten().min()
    }

    /// Skips slots before `from` where the next slot can be computed without simulating those in between.
    fn jump(&mut self, from: Moment) {
        let Some(next) = self.next.filter(|next| *next < from) else { return };
        // An outage, the end of a waiting run and a limit on runs each depend on what becomes of every slot
        // on the way.
        let passes_outage = self.outage.is_some_and(|outage| outage.from < from && next < outage.until);
        let has_end = self.open.iter().any(Option::is_some);
        // So does the interval of a watch, by chance or after errors.
        let filter = self.schedule.payload.call().and_then(|call| call.filter.as_deref());
        let varies = filter.is_some_and(|filter| filter.jitter > 0 || filter.backoff.is_some());
        if passes_outage || has_end || varies || self.schedule.lifetime().max_runs.is_some() {
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
        // Slots are passed over only while a run never ends or every run ends at once.
        if !self.open.is_empty() {
            self.open.resize(live_max(self.schedule.policy()).max(self.open.len()), None);
        }
        self.next = within_lifetime(&self.step_at(from), &self.schedule, there).slot();
    }

    fn slot(
        &self,
        first: Moment,
        slots: Passed,
        at: Moment,
        what: (SlotOutcome, Option<Reason>),
    ) -> ForecastSlot {
        ForecastSlot {
            schedule: self.schedule.id.clone(),
            incarnation: self.incarnation,
            since: first,
            slot: slots.latest,
            count: slots.count,
            at,
            outcome: what.0,
            reason: what.1,
            rule: None,
        }
    }

    /// Creates the step that a step would have at that moment. The boot clock stands still: forecasts use
    /// the wall clock only.
    fn step_at(&self, at: Moment) -> StepBuilder<'a> {
        let now = Now { wall: at, boot: BootTime::ZERO };
        StepBuilder::new(
            Step::default(),
            self.state,
            Env { now, entropy: Entropy([0; 16]), zones: self.zones, awaited: None },
        )
    }
}

/// Returns the name of the rule by which a run does not go out, if that is what keeps it.
fn rule_of(said: &PolicyDecision<'_>, fate: SlotOutcome) -> Option<Box<str>> {
    match (said, fate) {
        (
            PolicyDecision::NeedsApproval(rule) | PolicyDecision::Refused(_, Some(rule)),
            SlotOutcome::NeedsApproval | SlotOutcome::Refused,
        ) => Some(rule.name.clone()),
        (PolicyDecision::Allowed | PolicyDecision::NeedsApproval(_) | PolicyDecision::Refused(..), _) => None,
    }
}

fn frozen(state: &State, record: &ScheduleRecord, paused: bool) -> Option<(SlotOutcome, Reason)> {
    if paused {
        Some((SlotOutcome::Paused, Reason::Paused))
    } else if state.mode != Mode::Running {
        Some((SlotOutcome::AllHeld, Reason::Shutdown))
    } else if state.held().is_some() {
        Some((SlotOutcome::AllHeld, Reason::Held))
    } else {
        let is_unstored = state.is_frozen() && record.schedule.is_durable();
        is_unstored.then_some((SlotOutcome::Waits, Reason::StoreUnavailable))
    }
}

/// Returns when each of the selected runs ends that do not end at once.
fn open_runs<'a>(
    state: &'a State,
    record: &'a ScheduleRecord,
    now: Now,
    is_meant: fn(&Run) -> bool,
) -> impl Iterator<Item = Option<Moment>> + 'a {
    let queued = move |run: &Run| run.state == RunState::Queued && is_meant(run);
    // What a replaced definition began delays no slot.
    let own = |run: &Run| record.progress().is_since_anew(run);
    let live = state.runs_of(record).filter(move |(_, run)| queued(&run.run) && own(&run.run));
    live.filter_map(move |(key, run)| {
        let time_up = state.timers.deadline_on_wall(Timer::TimeUp(key), now);
        let asked = state.definition_of(run)?;
        let place = state.destination(asked, record.owner);
        if let Some(hold) = run.run.checks.as_ref().and_then(|checks| checks.waits.as_ref()) {
            let until = [Some(hold.until), time_up].into_iter().flatten().min();
            return Some(until);
        }
        let Some(retry) = run.run.retry_at else {
            // Whatever else the run waits for has ended by the next slot.
            let waits = matches!(place.blocks(), Some(Reason::HostGone | Reason::ChannelPaused));
            return waits.then_some(time_up);
        };
        let until = match (place, place.blocks()) {
            (Destination::Unreachable(_), _) => {
                let tried = usize::from(run.run.attempt).saturating_sub(1);
                let left = waits_if_missing(asked).get(tried..).unwrap_or_default();
                // An overdue attempt is made now, and the waits after it count from now.
                let from = if left.is_empty() { retry } else { retry.max(now.wall) };
                Some(from.checked_add(sum(left)).unwrap_or(from))
            }
            (
                Destination::Session(..)
                | Destination::Fresh(..)
                | Destination::Channel(..)
                | Destination::Tool(_),
                Some(Reason::HostGone | Reason::ChannelPaused),
            ) => None,
            (
                Destination::Session(..)
                | Destination::Fresh(..)
                | Destination::Channel(..)
                | Destination::Tool(_),
                _,
            ) => Some(retry),
        };
        Some([until, time_up].into_iter().flatten().min())
    })
}

fn sum(spans: &[Span]) -> Span {
    Span::from_nanos(spans.iter().fold(0, |sum, span| sum.saturating_add(span.nanos())))
}

/// Returns the waits before further attempts at a run whose target is missing.
fn waits_if_missing(schedule: &Schedule) -> &[Span] {
    match schedule.target() {
        // A session may be opened meanwhile. A channel that is not configured, or whose receiver wants nothing more, is not tried
        // again (`step::run::retry`).
        Target::Route(_) if schedule.payload.call().is_none() => &[],
        Target::Route(_) | Target::Owner | Target::Session(_) | Target::Fresh => &schedule.policy().backoff,
    }
}

/// Returns when the last attempt at a run whose target is missing has failed.
fn attempts_end(schedule: &Schedule, at: Moment) -> Moment {
    let waits = sum(waits_if_missing(schedule));
    let timeout = schedule.policy().timeout;
    at.checked_add(timeout.map_or(waits, |timeout| waits.min(timeout))).unwrap_or(at)
}

/// Returns the next slot; the other one, if it counts from the end of a run.
fn or_else(next: Next, after_finish: impl FnOnce() -> Next) -> Option<Moment> {
    match next {
        Next::AfterFinish => after_finish().slot(),
        Next::Slot { .. } | Next::AtEvent | Next::Never { .. } => next.slot(),
    }
}
