//! Explanations: why a slot fired, why it did not, or when it will. One causal record for the slot at or near an instant.
//!
//! Three sources are consulted, in this order: recorded runs and skips (the state, and the decisions that the caller passes
//! in), the forecast, and, if neither knows a slot there, the calendar, which says whether there should be one. Cost: the
//! decisions about one schedule, at most `limits::DECISIONS_EXPLAINED`, and one forecast of that schedule.

use super::candidate::{Candidate, NEAR, NEAR_MOST};
use super::forecast::{Forecast, ForecastQuery};
use super::forecast_slot::{ForecastSlot, SlotOutcome};
use super::schedule_history::{DecisionSource, RunSummary, ScheduleHistory, SkippedSlots};
use super::verdict::{Explanation, Obstacle, Verdict};
use crate::calendar::{Slots, Zones};
use crate::domain::{
    Actor, Awaits, Cause, CountFrom, Downtime, Moment, Now, Reason, RunState, ScheduleId, Scope, Span,
    Status, Trigger,
};
use crate::engine::destination::Destination;
use crate::engine::record::{RunRecord, ScheduleRecord};
use crate::engine::state::State;
use crate::engine::store_failure::StoreFailure;

impl State {
    /// Explains the slot of a schedule at or near an instant. Without an instant, explains what matters now:
    /// the live run, else the next slot, else how the schedule ended.
    ///
    /// The caller of this function checks permissions: that the schedule may be seen, and that `history`
    /// contains only decisions that may be seen.
    pub fn explain(
        &self,
        zones: &Zones,
        now: Now,
        asked: (&ScheduleId, Option<Moment>),
        history: &dyn DecisionSource,
    ) -> Explanation {
        let (schedule, at) = asked;
        let record = self.schedule(schedule);
        let since = record.map_or(Moment::EPOCH, |record| record.schedule.created_at);
        let story = ScheduleHistory::read(history, schedule, since);
        let asking = Explainer {
            state: self,
            zones,
            now,
            record,
            history: story,
            schedule,
            at: at.unwrap_or(now.wall),
        };
        let found = if at.is_some() { asking.there() } else { asking.presently() };
        let mut answer = found.unwrap_or_else(|| asking.nothing_there());
        // Under a hold the slot that was armed stays, and is no next one any more.
        answer.next = asking.next_slot().filter(|next| *next > now.wall);
        // The last sign of life is some seconds older than the end. What was claimed in time, or done before, was not missed.
        let run = answer.run.as_ref().and_then(|run| self.run(run)).map(|run| &run.run);
        let was_left = self.lost(schedule).is_some_and(|(_, lost)| lost.left_at.is_some());
        let is_missed = run.map_or(!was_left, |run| run.cause != Cause::Slot || run.folded > 0);
        let down = answer.slot.filter(|_| is_missed).and_then(|slot| self.down_at(slot));
        answer.down = down.filter(|down| answer.at.is_none_or(|at| at >= down.until));
        if let Some(slot) = answer.slot.filter(|_| is_missed) {
            answer.obstacles.splice(0..0, asking.history.standstills_at(&self.holds, slot, answer.at));
        }
        self.add_store_failures(record, now, &mut answer);
        // A run that waited for the release knows since when, and the holds know until when.
        for obstacle in answer.obstacles.iter_mut().filter(|it| it.reason == Reason::Held) {
            let ended = || {
                self.holds.past.iter().find(|(hold, until)| hold.since <= obstacle.at && obstacle.at < *until)
            };
            obstacle.until = obstacle.until.or_else(|| ended().map(|(_, until)| *until));
        }
        answer
    }

    /// Adds the times in which the store could not be written to what is said of a durable schedule.
    fn add_store_failures(&self, record: Option<&ScheduleRecord>, now: Now, answer: &mut Explanation) {
        let Some(slot) = answer.slot.filter(|_| record.is_some_and(|it| it.schedule.is_durable())) else {
            return;
        };
        if let Some(failure) =
            self.store_failure().filter(|_| answer.reason == Some(Reason::StoreUnavailable))
        {
            answer.detail.get_or_insert_with(|| format!("since {}: {}", failure.since.brief(), failure.why));
            // When the store can be written again is not known, so neither is when the slot is handled.
            answer.at = answer.at.filter(|_| answer.verdict != Verdict::WillWait);
        }
        // A slot that was due meanwhile, up to when something became of it.
        let handled = answer.at.unwrap_or(now.wall);
        let met = |(failure, until): &(&StoreFailure, Moment)| failure.since <= handled && slot < *until;
        let over = self.store_failures.over().filter(met).map(|(failure, until)| Obstacle {
            at: failure.since,
            until: Some(until),
            reason: Reason::StoreUnavailable,
            detail: Some(failure.why.to_string()),
        });
        let over: Vec<Obstacle> = over.collect();
        if !over.is_empty() {
            // The decisions about the run say since when it waited for the store, and these say until when as well.
            answer.obstacles.retain(|obstacle| obstacle.reason != Reason::StoreUnavailable);
            answer.obstacles.extend(over);
        }
    }

    /// Returns the time without a process into which an instant falls.
    fn down_at(&self, at: Moment) -> Option<Downtime> {
        self.downs.iter().find(|down| down.from <= at && at < down.until).copied()
    }
}

pub(super) struct Explainer<'a> {
    pub(super) state: &'a State,
    zones: &'a Zones,
    pub(super) now: Now,
    pub(super) record: Option<&'a ScheduleRecord>,
    pub(super) history: ScheduleHistory,
    pub(super) schedule: &'a ScheduleId,
    pub(super) at: Moment,
}

impl Explainer<'_> {
    /// Explains the nearest recorded or expected slot at the instant.
    fn there(&self) -> Option<Explanation> {
        let known = self.candidates().into_iter();
        let near =
            known.map(|known| (self.distance(&known), known)).filter(|(distance, _)| *distance <= NEAR);
        // At equal distance the first in the list wins: what happened, before what is to come.
        let nearest = near.min_by_key(|(distance, _)| *distance);
        // A folded slot has no record of its own. If it is nearer than any record, it is the one that is meant.
        let folded = self.folded().filter(|folded| {
            let apart = folded.slot.map(|slot| self.apart(slot));
            nearest.as_ref().zip(apart).is_none_or(|((distance, _), apart)| apart < *distance)
        });
        folded.or_else(|| nearest.map(|(_, known)| self.tell(&known)))
    }

    /// Explains what matters now.
    fn presently(&self) -> Option<Explanation> {
        let Some(record) = self.record else {
            return self.last();
        };
        // The oldest live run: the list has the newest first.
        let is_meant = |run: &RunRecord| run.is_live() && !self.only_tells(&run.run);
        let live = self.state.runs_of(record).filter(|(_, run)| is_meant(run)).last();
        if let Some((_, run)) = live {
            return Some(self.tell(&Candidate::Run(run)));
        }
        match self.forecast(record, self.now.wall, None).slots.into_iter().next() {
            Some(coming) => Some(self.tell(&Candidate::Forecast(coming))),
            // A recurring schedule without further slots: `nothing_there` says why it ended.
            None if record.status == Status::Finished => None,
            None => self.last(),
        }
    }

    /// Explains what came last of all that is on record.
    fn last(&self) -> Option<Explanation> {
        let known = self.candidates().into_iter();
        // A slot that was withdrawn long ago may have been further ahead than the one that the schedule ended with.
        known.max_by_key(|known| (known.at(), known.slot())).map(|known| self.tell(&known))
    }

    /// Returns all records of slots: what happened first, then what is to come.
    pub(super) fn candidates(&self) -> Vec<Candidate<'_>> {
        let mut known = Vec::new();
        let mut kept: Vec<(Moment, u32)> = Vec::new();
        if let Some(record) = self.record {
            for (_, run) in self.state.runs_of(record) {
                // The record of a run knows more than the decisions about it, so it replaces them below.
                kept.push((run.run.slot, run.run.incarnation));
                known.push(Candidate::Run(run));
            }
        }
        known.extend(
            self.history
                .runs
                .iter()
                .filter(|(id, _)| !kept.contains(id))
                .map(|(_, told)| Candidate::Summary(told)),
        );
        known.extend(self.history.skips.iter().map(|skip| Candidate::Skip(*skip)));
        // The history may be too short to contain the last skip, which the schedule itself remembers.
        if let Some((slot, reason)) = self.record.and_then(|record| record.progress().last_skip)
            && self.history.skips.is_empty()
        {
            let slots = crate::domain::SlotRange { from: None, until: slot, count: 1 };
            known.push(Candidate::Skip(SkippedSlots { slots, reason, at: slot }));
        }
        let withdrawn = self.history.withdrawn.iter();
        known.extend(withdrawn.map(Candidate::Withdrawn));
        // A bulletin is no slot, unless the schedule has nothing else: then it was made for that bulletin.
        let is_beside = |known: &Candidate<'_>| match known {
            Candidate::Run(run) => self.only_tells(&run.run),
            Candidate::Summary(told) => told.is_bulletin && self.record.is_none_or(|it| it.watch().is_none()),
            Candidate::Skip(_) | Candidate::Withdrawn(_) | Candidate::Check(_) | Candidate::Forecast(_) => {
                false
            }
        };
        if known.iter().any(|known| !is_beside(known)) {
            known.retain(|known| !is_beside(known));
        }
        if let Some(record) = self.record {
            let ring = record.watch().map(|watch| watch.ring.latest(usize::MAX)).unwrap_or_default();
            // A check that was told has its bulletin on record, which knows more.
            known.extend(ring.into_iter().filter(|check| !check.was_told).map(Candidate::Check));
            known.extend(
                self.forecast(record, self.at, Some(NEAR)).slots.into_iter().map(Candidate::Forecast),
            );
        }
        known
    }

    /// Returns the forecast within a span of the instant, or without a span from the instant on.
    pub(super) fn forecast(&self, record: &ScheduleRecord, at: Moment, within: Option<Span>) -> Forecast {
        let near = within.unwrap_or_default();
        let from = at.checked_sub(near).unwrap_or(at).max(self.now.wall);
        // Twice the longest period, so that the next slot is in range.
        let far = Span::from_millis(crate::limits::PERIOD_MS_MAX.value).nanos() * 2;
        let wide = within.map_or(Span::from_nanos(far), |near| Span::from_nanos(near.nanos() + 1));
        let to = at.max(self.now.wall).checked_add(wide).unwrap_or(at);
        let first = if within.is_some() { NEAR_MOST } else { 1 };
        let only = Some(&record.schedule.id);
        let ask = ForecastQuery { scope: &Scope::Operator, only, among: None, from, to, first, each: first };
        self.state.forecast(self.zones, self.now, &ask)
    }

    fn apart(&self, slot: Moment) -> Span {
        self.at.since(slot).max(slot.since(self.at))
    }

    /// Returns how far a record is from the instant.
    pub(super) fn distance(&self, known: &Candidate<'_>) -> Span {
        let apart = |slot: Moment| self.apart(slot);
        match known {
            Candidate::Skip(SkippedSlots { slots, .. }) => match slots.from {
                // Within a range, one of its slots is meant: the one nearest to the instant, by the calendar.
                Some(from) if from <= self.at && self.at <= slots.until => {
                    self.scheduled().map_or_else(|| apart(from).min(apart(slots.until)), apart)
                }
                from => apart(slots.until).min(apart(from.unwrap_or(slots.until))),
            },
            Candidate::Forecast(coming) if coming.since <= self.at && self.at <= coming.slot => {
                self.scheduled().map_or_else(|| apart(coming.since).min(apart(coming.slot)), apart)
            }
            Candidate::Forecast(coming) => apart(coming.slot).min(apart(coming.since)),
            Candidate::Run(_) | Candidate::Summary(_) | Candidate::Withdrawn(..) | Candidate::Check(..) => {
                apart(known.slot())
            }
        }
    }

    /// Returns the slot of the current trigger nearest to the instant, if one is near.
    pub(super) fn scheduled(&self) -> Option<Moment> {
        let record = self.record?;
        // Its slots depend on when runs end, and those of the next check on an event: the calendar knows
        // neither.
        if let Trigger::Every(every) = &record.schedule.trigger
            && every.from() == CountFrom::Finish
        {
            return None;
        }
        if matches!(record.schedule.trigger, Trigger::Event(_)) {
            return None;
        }
        let slots = Slots::new(&record.schedule.trigger, self.zones);
        let before = self.at.checked_sub(NEAR).and_then(|from| slots.latest_in(from, self.at));
        let after = slots.first_after(self.at).filter(|slot| slot.since(self.at) <= NEAR);
        let both = [before, after].into_iter().flatten();
        both.min_by_key(|slot| self.apart(*slot))
    }

    /// Explains a slot that was folded into a later one.
    fn folded(&self) -> Option<Explanation> {
        let slot = self.scheduled()?;
        let known = self.candidates();
        let later = known.iter().filter(|known| {
            known.slot() >= slot && !matches!(known, Candidate::Forecast(_) | Candidate::Check(_))
        });
        let into = later.min_by_key(|known| known.slot())?;
        let before = known.iter().map(Candidate::slot).filter(|at| *at < slot).max();
        let begin = self.record.map(|record| record.schedule.created_at);
        // Folded slots lie between the previous record, or the creation, and the record that they were folded
        // into.
        if into.count() < 2 || before.max(begin).is_none_or(|begin| begin > slot) {
            return None;
        }
        let told = self.tell(into);
        Some(Explanation {
            verdict: Verdict::Skipped,
            reason: Some(Reason::Coalesced),
            slot: Some(slot),
            ..told
        })
    }

    fn tell(&self, known: &Candidate<'_>) -> Explanation {
        match known {
            Candidate::Run(run) => self.of_run(run),
            Candidate::Summary(told) => self.of_summary(told),
            Candidate::Skip(skip) => {
                // Of a range of skipped slots, the one that was asked about.
                let slot = self.scheduled().filter(|slot| skip.slots.from.is_some_and(|from| from <= *slot));
                let slot = slot.filter(|slot| *slot <= skip.slots.until).unwrap_or(skip.slots.until);
                Explanation {
                    at: Some(skip.at),
                    ..self.answer(Verdict::Skipped, Some(skip.reason), Some(slot))
                }
            }
            Candidate::Withdrawn(it) => Explanation {
                at: Some(it.at),
                by: it.by.clone(),
                ..self.answer(Verdict::Cancelled, Some(it.reason), Some(it.slot))
            },
            Candidate::Check(check) => Explanation {
                at: Some(check.at),
                detail: Some(format!("check {}: there was nothing to tell", check.check)),
                ..self.answer(Verdict::Delivered, None, None)
            },
            Candidate::Forecast(coming) => self.of_coming(coming),
        }
    }

    fn of_run(&self, record: &RunRecord) -> Explanation {
        let run = &record.run;
        let id = self.state.run_id(record);
        let told = id.as_ref().and_then(|id| self.history.runs.get(&(id.slot, id.incarnation)));
        let asked = self.record.and_then(|record| record.progress().paused.as_ref());
        let waits = self.state.run_waits_for(record).or_else(|| asked.map(|_| Reason::Paused));
        let (verdict, at) = match run.state {
            RunState::Queued => (Verdict::Waiting, Some(run.claimed_at)),
            RunState::InFlight | RunState::Running => (Verdict::Running, run.started_at),
            RunState::Left => (Verdict::Left, run.ended_at),
            RunState::Delivered => (Verdict::Delivered, run.delivered_at),
            RunState::Cancelled => (Verdict::Cancelled, run.ended_at),
            RunState::Failed => (Verdict::Failed, run.ended_at),
        };
        // The inbox went with the session.
        let is_gone = run.state == RunState::Left && !self.state.is_in_inbox(record);
        let reason = if run.state == RunState::Queued { waits } else { run.reason };
        let reason = if is_gone { Some(Reason::SessionClosed) } else { reason };
        let hold = run.checks.as_ref().and_then(|checks| checks.waits.as_ref());
        let held = hold.filter(|hold| hold.awaits == Awaits::Operator);
        let held = held.map(|hold| format!("rule {}, until {}", hold.detail(), hold.until.brief()));
        let gone = is_gone.then(|| NOBODY_CAN.to_owned());
        let error = run.failure.as_ref().filter(|_| run.state != RunState::Delivered);
        let error = error.map(|failure| match run.retry_at {
            Some(at) => format!("{}; attempt {} is due at {}", failure.message, run.attempt, at.brief()),
            None => failure.message.to_string(),
        });
        // A run that waits again was handed over before, and that came to nothing.
        let handed = run.handed_at().filter(|_| run.state != RunState::Queued);
        Explanation {
            run: id,
            slots: run.folded + 1,
            at,
            late: Some(handed.unwrap_or(self.now.wall).since(run.slot)),
            obstacles: told.map(|told| told.obstacles.clone()).unwrap_or_default(),
            detail: gone.or(held).or(error).or_else(|| told?.detail.clone()),
            told: self.told_of(record),
            by: told
                .and_then(|told| told.by.clone())
                .or_else(|| self.cancelled_by(reason))
                .or_else(|| self.paused_by(record)),
            ..self.answer(verdict, reason, Some(run.slot))
        }
    }

    fn of_summary(&self, told: &RunSummary) -> Explanation {
        let verdict = match told.state {
            RunState::Queued => Verdict::Waiting,
            RunState::InFlight | RunState::Running => Verdict::Running,
            RunState::Left => Verdict::Left,
            RunState::Delivered => Verdict::Delivered,
            RunState::Cancelled => Verdict::Cancelled,
            RunState::Failed => Verdict::Failed,
        };
        // A schedule is forgotten with its session, and the inbox as well.
        let is_gone = told.state == RunState::Left && self.record.is_none();
        let reason = if is_gone { Some(Reason::SessionClosed) } else { told.reason };
        Explanation {
            run: Some(told.id.clone()),
            slots: told.count,
            at: Some(told.at),
            late: told.started_at.map(|started| started.since(told.id.slot)),
            obstacles: told.obstacles.clone(),
            detail: if is_gone { Some(NOBODY_CAN.to_owned()) } else { told.detail.clone() },
            by: told.by.clone().or_else(|| self.cancelled_by(told.reason)),
            ..self.answer(verdict, reason, Some(told.id.slot))
        }
    }

    /// Returns who paused the channel that a run waits for.
    fn paused_by(&self, record: &RunRecord) -> Option<Actor> {
        let place = self.state.destination_of(record).filter(|_| record.run.state == RunState::Queued);
        let Some(Destination::Channel(_, pause)) = place else { return None };
        pause.map(|pause| pause.by.clone())
    }

    /// Returns who cancelled the schedule, for a run that was cancelled with it and names nobody.
    fn cancelled_by(&self, reason: Option<Reason>) -> Option<Actor> {
        self.history.ended_by.clone().filter(|_| reason == Some(Reason::Cancelled))
    }

    fn of_coming(&self, coming: &ForecastSlot) -> Explanation {
        let verdict = match coming.outcome {
            SlotOutcome::Fires => Verdict::WillFire,
            SlotOutcome::Waits => Verdict::WillWait,
            SlotOutcome::Left => Verdict::WillBeLeft,
            SlotOutcome::Fails => Verdict::WillFail,
            SlotOutcome::Refused => Verdict::WillBeRefused,
            SlotOutcome::NeedsApproval => Verdict::WillNeedApproval,
            SlotOutcome::Skipped | SlotOutcome::Lost | SlotOutcome::Gone => Verdict::WillBeSkipped,
            SlotOutcome::Paused => Verdict::Paused,
            SlotOutcome::AllHeld => Verdict::Held,
        };
        let paused = self.record.and_then(|record| record.progress().paused.as_deref());
        let pause = match coming.outcome {
            SlotOutcome::Paused => paused,
            SlotOutcome::AllHeld => self.state.held(),
            SlotOutcome::Fires
            | SlotOutcome::Waits
            | SlotOutcome::Left
            | SlotOutcome::Fails
            | SlotOutcome::Refused
            | SlotOutcome::NeedsApproval => None,
            SlotOutcome::Skipped | SlotOutcome::Lost | SlotOutcome::Gone => None,
        };
        let late = coming.at.since(coming.slot);
        // Of several slots that are handled together, the one asked about. If it is not the last, it is folded into that.
        let covered = self.scheduled().filter(|slot| coming.since <= *slot && *slot <= coming.slot);
        let slot = covered.unwrap_or(coming.slot);
        let is_part = slot < coming.slot && coming.run().is_some();
        let words = pause.and_then(|pause| pause.reason.as_deref());
        Explanation {
            run: coming.run(),
            at: if pause.is_none() { Some(coming.at) } else { None },
            late: (late > Span::ZERO).then_some(late),
            obstacles: pause
                .and_then(|pause| obstacle(pause.since, coming.reason, words))
                .into_iter()
                // Resuming the schedule is not enough while everything is held.
                .chain(pause.and(self.hold_beside(coming)))
                .collect(),
            detail: words
                .map(str::to_owned)
                .or_else(|| coming.rule.as_ref().map(|rule| format!("rule {rule}"))),
            by: pause.map(|pause| pause.by.clone()),
            ..match is_part {
                true => self.answer(Verdict::WillBeSkipped, Some(Reason::Coalesced), Some(slot)),
                false => self.answer(verdict, coming.reason, Some(slot)),
            }
        }
    }

    /// Returns the hold of everything, for a slot that a pause of its own keeps from running.
    fn hold_beside(&self, coming: &ForecastSlot) -> Option<Obstacle> {
        let hold = self.state.held().filter(|_| coming.outcome == SlotOutcome::Paused)?;
        obstacle(hold.since, Some(Reason::Held), hold.reason.as_deref())
    }

    fn next_slot(&self) -> Option<Moment> {
        let is_live =
            |record: &&ScheduleRecord| !record.status.is_terminal() && record.progress().paused.is_none();
        let record = self.record.filter(is_live)?;
        record
            .next
            .or_else(|| self.forecast(record, self.now.wall, None).slots.first().map(|coming| coming.slot))
    }

    pub(super) fn answer(
        &self,
        verdict: Verdict,
        reason: Option<Reason>,
        slot: Option<Moment>,
    ) -> Explanation {
        Explanation {
            schedule: self.schedule.clone(),
            asked: self.at,
            verdict,
            reason,
            slot,
            run: None,
            at: None,
            late: None,
            obstacles: Vec::new(),
            down: None,
            slots: 0,
            next: None,
            detail: None,
            told: None,
            by: None,
        }
    }
}

fn obstacle(at: Moment, reason: Option<Reason>, words: Option<&str>) -> Option<Obstacle> {
    Some(Obstacle { at, until: None, reason: reason?, detail: words.map(str::to_owned) })
}

/// What became of a message whose inbox is gone.
const NOBODY_CAN: &str = "nobody can take the message any more";
