//! Why a schedule has no slot at an instant, or nothing is known of it.

use super::candidate::{Candidate, NEAR};
use super::explain::Explainer;
use super::verdict::{Explanation, Verdict};
use crate::calendar;
use crate::domain::{CountFrom, Moment, Reason, Trigger};
use crate::engine::record::ScheduleRecord;

impl Explainer<'_> {
    /// Explains why there is no slot at the instant.
    pub(super) fn nothing_there(&self) -> Explanation {
        let Some(record) = self.record else {
            return self.nothing_told();
        };
        let created = record.schedule.created_at;
        let nearest = self.candidates().into_iter().min_by_key(|known| self.distance(known));
        let nearest = nearest.map(|known| known.slot());
        if self.at < created {
            let before = self.answer(Verdict::BeforeCreation, None, None);
            return Explanation { at: None, ..before };
        }
        let scheduled = self.scheduled();
        let is_unforeseen = self.is_beyond_forecast(record);
        // Only what is foreseen can run out of runs.
        if let Some(reason) = self.ended_by(record, scheduled.filter(|_| !is_unforeseen)) {
            return Explanation { slot: nearest, ..self.answer(Verdict::AfterEnd, Some(reason), None) };
        }
        // The current trigger says nothing about the time before it was set.
        let is_untold = self.history.complete_since.is_some_and(|since| self.at < since);
        let was_other = record.progress().incarnation > 1 && is_untold;
        match scheduled.filter(|_| self.at <= self.now.wall) {
            Some(slot) => self.answer(Verdict::BeyondHistory, None, Some(slot)),
            None if was_other => self.answer(Verdict::BeyondHistory, None, None),
            // The calendar alone says whether there is a slot; of one that counts from the end of a run, nothing does.
            None if is_unforeseen && (scheduled.is_some() || !self.is_on_calendar(record)) => {
                self.answer(Verdict::NotForeseen, None, scheduled)
            }
            None => {
                let trigger = &record.schedule.trigger;
                // It has no slot before the event.
                let is_event = matches!(trigger, Trigger::Event(_));
                let detail = is_event.then(|| format!("it is due {}", calendar::print(trigger)));
                Explanation { detail, ..self.answer(Verdict::NotASlot, None, nearest) }
            }
        }
    }

    fn nothing_told(&self) -> Explanation {
        if let Some((at, lost)) = self.state.lost(self.schedule).filter(|_| self.history.is_empty()) {
            let told = self.answer(Verdict::Lost, Some(Reason::Lost), lost.due);
            return Explanation { at: Some(at), detail: lost.words(), ..told };
        }
        if self.history.is_empty() {
            return self.answer(Verdict::UnknownSchedule, None, None);
        }
        match (self.history.created, self.history.ended) {
            (Some(created), _) if self.at < created => self.answer(Verdict::BeforeCreation, None, None),
            (_, Some((end, reason))) if self.at >= end => self.answer(Verdict::AfterEnd, Some(reason), None),
            (None, _) => self.answer(Verdict::BeyondHistory, None, None),
            (Some(_), _) => self.answer(Verdict::NotASlot, None, None),
        }
    }

    /// Returns whether the forecast gives up before the instant, because there are too many slots on the way.
    fn is_beyond_forecast(&self, record: &ScheduleRecord) -> bool {
        let forecast = self.forecast(record, self.at, Some(NEAR));
        forecast.cut && forecast.slots.is_empty()
    }

    /// Returns whether the calendar knows its slots.
    fn is_on_calendar(&self, record: &ScheduleRecord) -> bool {
        match &record.schedule.trigger {
            Trigger::Every(every) => every.from() == CountFrom::Slot,
            Trigger::At(_) | Trigger::Calendar(_) | Trigger::Cron(..) | Trigger::Event(_) => true,
        }
    }

    /// Returns why the schedule has no slots any more by then; `None` if it may have some.
    fn ended_by(&self, record: &ScheduleRecord, scheduled: Option<Moment>) -> Option<Reason> {
        let last = self.candidates().iter().map(Candidate::slot).max();
        let beyond = last.is_none_or(|last| self.at > last);
        let once = matches!(record.schedule.trigger, Trigger::At(slot) if self.at > slot);
        let end = record.schedule.lifetime().expires_at;
        // The definition answers before the status does: it holds for any instant, the status only for now.
        if end.is_some_and(|end| self.at >= end) {
            return Some(Reason::Expired);
        }
        if once {
            return Some(Reason::NoMoreSlots);
        }
        if record.status.is_terminal() && beyond {
            return Some(record.ended_for().or(record.progress().never).unwrap_or(Reason::NoMoreSlots));
        }
        // The trigger has a slot there that the forecast does not list: the number of runs is limited.
        let foreseen = scheduled.is_some() && self.at > self.now.wall;
        (foreseen && record.schedule.lifetime().max_runs.is_some()).then_some(Reason::MaxRuns)
    }
}
