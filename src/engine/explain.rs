//! Why something happened, why it did not, and when it will: one causal record for the slot at or near an instant.
//!
//! Three things are asked, in this order: what is kept of runs and skips (the state, and the decisions that somebody hands
//! in), what will come (the forecast), and where neither knows of a slot there, the calendar: whether there should be one.
//! Cost: the decisions about one schedule, at most `limits::DECISIONS_EXPLAINED`, and one forecast of that schedule.

use super::forecast::{Ask, Coming, Fate};
use super::record::{RunRecord, ScheduleRecord};
use super::state::State;
use super::story::{History, Skipped, Story, Told, Withdrawn};
use super::verdict::{Explanation, Obstacle, Verdict};
use crate::calendar::{Slots, Zones};
use crate::domain::{
    Actor, Awaits, CountFrom, Moment, Now, Reason, RunState, ScheduleId, Scope, Span, Status, Trigger,
};

impl State {
    /// Explains the slot of a schedule at an instant, or near it; without an instant, what matters now: the run that has not
    /// ended, else the slot that comes next, else how it ended. Whether the schedule exists for whoever asks is the caller's
    /// affair, and so is whose decisions are handed in.
    pub fn explain(
        &self,
        zones: &Zones,
        now: Now,
        asked: (&ScheduleId, Option<Moment>),
        history: &dyn History,
    ) -> Explanation {
        let (schedule, at) = asked;
        let record = self.schedule(schedule);
        let since = record.map_or(Moment::EPOCH, |record| record.schedule.created_at);
        let story = Story::read(history, schedule, since);
        let asking = Asking { state: self, zones, now, record, story, schedule, at: at.unwrap_or(now.wall) };
        let found = if at.is_some() { asking.there() } else { asking.presently() };
        let mut answer = found.unwrap_or_else(|| asking.nothing_there());
        answer.next = asking.next_slot();
        answer
    }
}

struct Asking<'a> {
    state: &'a State,
    zones: &'a Zones,
    now: Now,
    record: Option<&'a ScheduleRecord>,
    story: Story,
    schedule: &'a ScheduleId,
    at: Moment,
}

/// Something that is known of a slot.
enum Known<'k> {
    Run(&'k RunRecord),
    Told(&'k Told),
    Skip(Skipped),
    Withdrawn(&'k Withdrawn),
    Coming(Coming),
}

impl Asking<'_> {
    /// What is known at the instant or near it.
    fn there(&self) -> Option<Explanation> {
        let known = self.known().into_iter();
        let near =
            known.map(|known| (self.distance(&known), known)).filter(|(distance, _)| *distance <= NEAR);
        // Of two that are as near, the one that is listed first: what happened, before what is to come.
        let nearest = near.min_by_key(|(distance, _)| *distance).map(|(_, known)| self.tell(&known));
        nearest.or_else(|| self.folded())
    }

    /// What matters now.
    fn presently(&self) -> Option<Explanation> {
        let Some(record) = self.record else {
            return self.last_known();
        };
        let live = self.state.runs_of(record).filter(|(_, run)| run.is_live()).last();
        if let Some((_, run)) = live {
            return Some(self.tell(&Known::Run(run)));
        }
        match self.coming(record, self.now.wall, None).into_iter().next() {
            Some(coming) => Some(self.tell(&Known::Coming(coming))),
            None if record.status == Status::Finished => None,
            None => self.last_known(),
        }
    }

    /// The last thing that is known of it.
    fn last_known(&self) -> Option<Explanation> {
        let known = self.known().into_iter();
        known.max_by_key(Known::slot).map(|known| self.tell(&known))
    }

    /// What is known of slots: what happened first, then what is to come.
    fn known(&self) -> Vec<Known<'_>> {
        let mut known = Vec::new();
        let mut kept: Vec<(Moment, u32)> = Vec::new();
        if let Some(record) = self.record {
            for (_, run) in self.state.runs_of(record) {
                kept.push((run.run.slot, run.run.incarnation));
                known.push(Known::Run(run));
            }
        }
        known.extend(
            self.story.runs.iter().filter(|(id, _)| !kept.contains(id)).map(|(_, told)| Known::Told(told)),
        );
        known.extend(self.story.skips.iter().map(|skip| Known::Skip(*skip)));
        if let Some((slot, reason)) = self.record.and_then(|record| record.course().last_skip)
            && self.story.skips.is_empty()
        {
            let slots = crate::domain::Dealt { from: None, until: slot, count: 1 };
            known.push(Known::Skip(Skipped { slots, reason, at: slot }));
        }
        let withdrawn = self.story.withdrawn.iter();
        known.extend(withdrawn.map(Known::Withdrawn));
        if let Some(record) = self.record {
            known.extend(self.coming(record, self.at, Some(NEAR)).into_iter().map(Known::Coming));
        }
        known
    }

    /// What is to come near an instant, or from there on.
    fn coming(&self, record: &ScheduleRecord, at: Moment, within: Option<Span>) -> Vec<Coming> {
        let near = within.unwrap_or_default();
        let from = at.checked_sub(near).unwrap_or(at).max(self.now.wall);
        let far = Span::from_millis(crate::limits::PERIOD_MS_MAX.value).nanos() * 2;
        let wide = within.map_or(Span::from_nanos(far), |near| Span::from_nanos(near.nanos() + 1));
        let to = at.max(self.now.wall).checked_add(wide).unwrap_or(at);
        let first = if within.is_some() { NEAR_MOST } else { 1 };
        let ask = Ask { scope: &Scope::Operator, only: Some(&record.schedule.id), from, to, first };
        self.state.forecast(self.zones, self.now, &ask).slots
    }

    /// How far from the instant it is.
    fn distance(&self, known: &Known<'_>) -> Span {
        let apart = |slot: Moment| self.at.since(slot).max(slot.since(self.at));
        match known {
            Known::Skip(Skipped { slots, .. }) => match slots.from {
                Some(from) if from <= self.at && self.at <= slots.until => {
                    self.scheduled().map_or_else(|| apart(from).min(apart(slots.until)), apart)
                }
                from => apart(slots.until).min(apart(from.unwrap_or(slots.until))),
            },
            Known::Coming(coming) if coming.since <= self.at && self.at <= coming.slot => {
                self.scheduled().map_or_else(|| apart(coming.since).min(apart(coming.slot)), apart)
            }
            Known::Coming(coming) => apart(coming.slot).min(apart(coming.since)),
            Known::Run(_) | Known::Told(_) | Known::Withdrawn(..) => apart(known.slot()),
        }
    }

    /// The slot that the present trigger has near the instant.
    fn scheduled(&self) -> Option<Moment> {
        let record = self.record?;
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
        both.min_by_key(|slot| self.at.since(*slot).max(slot.since(self.at)))
    }

    /// A slot that was folded into the run of a later one.
    fn folded(&self) -> Option<Explanation> {
        let slot = self.scheduled()?;
        let known = self.known();
        let later = known.iter().filter(|known| known.slot() >= slot && !matches!(known, Known::Coming(_)));
        let into = later.min_by_key(|known| known.slot())?;
        let before = known.iter().map(Known::slot).filter(|at| *at < slot).max();
        let begin = self.record.map(|record| record.schedule.created_at);
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

    fn tell(&self, known: &Known<'_>) -> Explanation {
        match known {
            Known::Run(run) => self.of_run(run),
            Known::Told(told) => self.of_told(told),
            Known::Skip(skip) => {
                let slot = self.scheduled().filter(|slot| skip.slots.from.is_some_and(|from| from <= *slot));
                let slot = slot.filter(|slot| *slot <= skip.slots.until).unwrap_or(skip.slots.until);
                Explanation {
                    at: Some(skip.at),
                    ..self.answer(Verdict::Skipped, Some(skip.reason), Some(slot))
                }
            }
            Known::Withdrawn(it) => Explanation {
                at: Some(it.at),
                by: it.by.clone(),
                ..self.answer(Verdict::Cancelled, Some(it.reason), Some(it.slot))
            },
            Known::Coming(coming) => self.of_coming(coming),
        }
    }

    fn of_run(&self, record: &RunRecord) -> Explanation {
        let run = &record.run;
        let id = self.state.run_id(record);
        let told = id.as_ref().and_then(|id| self.story.runs.get(&(id.slot, id.incarnation)));
        let asked = self.record.and_then(|record| record.course().paused.as_ref());
        let waits = self.state.run_waits_for(record).or_else(|| asked.map(|_| Reason::Paused));
        let (verdict, at) = match run.state {
            RunState::Queued => (Verdict::Waiting, Some(run.claimed_at)),
            RunState::InFlight | RunState::Running => (Verdict::Running, run.started_at),
            RunState::Delivered => (Verdict::Delivered, run.delivered_at),
            RunState::Cancelled => (Verdict::Cancelled, run.ended_at),
            RunState::Failed => (Verdict::Failed, run.ended_at),
        };
        let reason = if run.state == RunState::Queued { waits } else { run.reason };
        let hold = run.checks.as_ref().and_then(|checks| checks.waits.as_ref());
        let held = hold.filter(|hold| hold.awaits == Awaits::Operator);
        let held = held.map(|hold| format!("rule {}, until {}", hold.detail(), hold.until));
        let error = run.failure.as_ref().filter(|_| run.state != RunState::Delivered);
        Explanation {
            run: id,
            at,
            late: Some(run.started_at.unwrap_or(self.now.wall).since(run.slot)),
            obstacles: told.map(|told| told.obstacles.clone()).unwrap_or_default(),
            detail: held.or_else(|| error.map(|failure| failure.message.to_string())),
            by: told.and_then(|told| told.by.clone()).or_else(|| self.called_off_by(reason)),
            ..self.answer(verdict, reason, Some(run.slot))
        }
    }

    fn of_told(&self, told: &Told) -> Explanation {
        let verdict = match told.state {
            RunState::Queued => Verdict::Waiting,
            RunState::InFlight | RunState::Running => Verdict::Running,
            RunState::Delivered => Verdict::Delivered,
            RunState::Cancelled => Verdict::Cancelled,
            RunState::Failed => Verdict::Failed,
        };
        Explanation {
            run: Some(told.id.clone()),
            at: Some(told.at),
            late: told.started_at.map(|started| started.since(told.id.slot)),
            obstacles: told.obstacles.clone(),
            detail: told.detail.clone(),
            by: told.by.clone().or_else(|| self.called_off_by(told.reason)),
            ..self.answer(verdict, told.reason, Some(told.id.slot))
        }
    }

    /// Who called the schedule off, and with it a run that says no more than that.
    fn called_off_by(&self, reason: Option<Reason>) -> Option<Actor> {
        self.story.ended_by.clone().filter(|_| reason == Some(Reason::Cancelled))
    }

    fn of_coming(&self, coming: &Coming) -> Explanation {
        let verdict = match coming.will {
            Fate::Fires => Verdict::WillFire,
            Fate::Waits => Verdict::WillWait,
            Fate::Fails => Verdict::WillFail,
            Fate::Refused => Verdict::WillBeRefused,
            Fate::NeedsApproval => Verdict::WillNeedApproval,
            Fate::Skipped | Fate::Lost | Fate::Gone => Verdict::WillBeSkipped,
            Fate::Paused => Verdict::Paused,
            Fate::Held => Verdict::Held,
        };
        let paused = self.record.and_then(|record| record.course().paused.as_ref());
        let pause = match coming.will {
            Fate::Paused => paused,
            Fate::Held => self.state.held(),
            Fate::Fires | Fate::Waits | Fate::Fails | Fate::Refused | Fate::NeedsApproval => None,
            Fate::Skipped | Fate::Lost | Fate::Gone => None,
        };
        let late = coming.at.since(coming.slot);
        let covered = self.scheduled().filter(|slot| coming.since <= *slot && *slot <= coming.slot);
        let slot = covered.unwrap_or(coming.slot);
        let is_part = slot < coming.slot && coming.run().is_some();
        let words = pause.and_then(|pause| pause.reason.as_deref());
        Explanation {
            run: coming.run(),
            at: if pause.is_none() { Some(coming.at) } else { None },
            late: (late > Span::ZERO).then_some(late),
            obstacles: pause
                .map(|pause| obstacle(pause.since, coming.reason, words))
                .into_iter()
                .flatten()
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

    /// Why there is no slot at the instant.
    fn nothing_there(&self) -> Explanation {
        let Some(record) = self.record else {
            return self.nothing_told();
        };
        let created = record.schedule.created_at;
        let nearest = self.known().into_iter().min_by_key(|known| self.distance(known));
        let nearest = nearest.map(|known| known.slot());
        if self.at < created {
            let before = self.answer(Verdict::BeforeCreation, None, None);
            return Explanation { at: None, ..before };
        }
        let scheduled = self.scheduled();
        if let Some(reason) = self.ended_by(record, scheduled) {
            return Explanation { slot: nearest, ..self.answer(Verdict::AfterEnd, Some(reason), None) };
        }
        // Before a change of trigger, the present one says nothing.
        let is_untold = self.story.told_since.is_some_and(|since| self.at < since);
        let was_other = record.course().incarnation > 1 && is_untold;
        match scheduled.filter(|_| self.at <= self.now.wall) {
            Some(slot) => self.answer(Verdict::BeyondHistory, None, Some(slot)),
            None if was_other => self.answer(Verdict::BeyondHistory, None, None),
            None => self.answer(Verdict::NotASlot, None, nearest),
        }
    }

    fn nothing_told(&self) -> Explanation {
        if self.story.is_empty() {
            return self.answer(Verdict::UnknownSchedule, None, None);
        }
        match (self.story.created, self.story.ended) {
            (Some(created), _) if self.at < created => self.answer(Verdict::BeforeCreation, None, None),
            (_, Some((end, reason))) if self.at >= end => self.answer(Verdict::AfterEnd, Some(reason), None),
            (None, _) => self.answer(Verdict::BeyondHistory, None, None),
            (Some(_), _) => self.answer(Verdict::NotASlot, None, None),
        }
    }

    /// Why the schedule has no slots any more by then, if that is so.
    fn ended_by(&self, record: &ScheduleRecord, scheduled: Option<Moment>) -> Option<Reason> {
        let last = self.known().iter().map(Known::slot).max();
        let beyond = last.is_none_or(|last| self.at > last);
        let once = matches!(record.schedule.trigger, Trigger::At(slot) if self.at > slot);
        let end = record.schedule.lifetime().expires_at;
        if end.is_some_and(|end| self.at >= end) {
            return Some(Reason::Expired);
        }
        if once {
            return Some(Reason::NoMoreSlots);
        }
        if record.status.is_terminal() && beyond {
            return Some(record.ended_for().or(record.course().never).unwrap_or(Reason::NoMoreSlots));
        }
        // The trigger has a slot there, the forecast has none: so many runs were to be.
        let foreseen = scheduled.is_some() && self.at > self.now.wall;
        (foreseen && record.schedule.lifetime().max_runs.is_some()).then_some(Reason::MaxRuns)
    }

    fn next_slot(&self) -> Option<Moment> {
        let record = self.record.filter(|record| !record.status.is_terminal())?;
        record.next.or_else(|| self.coming(record, self.now.wall, None).first().map(|coming| coming.slot))
    }

    fn answer(&self, verdict: Verdict, reason: Option<Reason>, slot: Option<Moment>) -> Explanation {
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
            next: None,
            detail: None,
            by: None,
        }
    }
}

impl Known<'_> {
    fn slot(&self) -> Moment {
        match self {
            Known::Run(run) => run.run.slot,
            Known::Told(told) => told.id.slot,
            Known::Skip(skip) => skip.slots.until,
            Known::Withdrawn(it) => it.slot,
            Known::Coming(coming) => coming.slot,
        }
    }

    /// How many slots it stands for.
    fn count(&self) -> u64 {
        match self {
            Known::Run(run) => run.run.folded + 1,
            Known::Told(told) => told.count,
            Known::Skip(skip) => skip.slots.count,
            Known::Withdrawn(..) => 1,
            Known::Coming(coming) => coming.count,
        }
    }
}

fn obstacle(at: Moment, reason: Option<Reason>, words: Option<&str>) -> Option<Obstacle> {
    Some(Obstacle { at, reason: reason?, detail: words.map(str::to_owned) })
}

/// How near is near: people say minutes.
const NEAR: Span = Span::from_millis(60_000);
/// Slots that one look near an instant lists: of a trigger of every second, all of both minutes.
const NEAR_MOST: usize = 130;
