//! Folds a log into what is known of each schedule after each of its facts: its definition, its revision, its next slot.
//!
//! What lives elsewhere: the whole state as of an instant (`service::as_of`), which needs sessions and runs too; what is
//! printed of a history (`dialect::cron::jsonl`, `service::export`).
//!
//! A schedule is known from the first fact that has all of it: its creation, or a fact that carries its row. Facts before
//! that one, which are there if older ones were pruned, are not applied. Invariant: nothing is guessed, so two folds of one
//! log are equal.

use std::collections::{BTreeMap, BTreeSet};

use super::apply::is_anew;
use super::row::ScheduleRow;
use crate::domain::{
    Cause, Fact, Moment, Next, Reason, Run, RunFact, RunId, Schedule, ScheduleFact, ScheduleId, Status,
};

/// What is known of a schedule at one place in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its definition.
    pub(crate) schedule: Schedule,
    /// How often it was defined, paused or resumed, from 1.
    pub(crate) revision: u32,
    /// Which trigger it has, from 1.
    pub(crate) incarnation: u32,
    /// Whether its slots wait for a resume.
    pub(crate) is_paused: bool,
    /// Why it was paused last, in the words of who did it.
    pub(crate) pause_reason: Option<Box<str>>,
    /// Its runs that have not ended, without bulletins, which only tell of a run.
    pub(crate) live: BTreeSet<RunId>,
    /// When it was defined, paused or resumed last.
    pub(crate) updated_at: Moment,
    /// Its next slot.
    pub(crate) next: Next,
    /// The number of runs of its slots.
    pub(crate) runs: u64,
    /// Whether the schedule itself was cancelled.
    pub(crate) is_cancelled: bool,
}

/// What a fact did to a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learned {
    /// The schedule was created.
    Created,
    /// The schedule became known by the row that the fact carries. The row is the state after the fact.
    Found,
    /// The schedule has a new revision.
    Revised,
    /// The schedule was cancelled.
    Cancelled,
    /// Something else happened, without a new revision.
    Went,
    /// Nothing is known of the schedule at this fact.
    Unknown,
}

/// The schedules of a log, as they are after the facts that were taken so far.
#[derive(Clone, Debug, Default)]
pub struct Chronicle {
    known: BTreeMap<ScheduleId, Known>,
}

impl Chronicle {
    /// Takes the next fact, and the row that it carries. `None` if the fact is not about a schedule or one of its runs.
    pub fn take(&mut self, at: Moment, fact: &Fact, row: Option<&ScheduleRow>) -> Option<Learned> {
        if let Fact::Created { schedule, next } = fact {
            self.known.insert(schedule.id.clone(), Known::created(schedule.clone(), *next));
            return Some(Learned::Created);
        }
        let (Fact::Schedule(id, _) | Fact::Run(RunId { schedule: id, .. }, _, _)) = fact else { return None };
        if let Some(known) = self.known.get_mut(id) {
            return Some(known.take(at, fact));
        }
        // The log begins with this fact for the schedule, and the fact carries no row.
        let Some(row) = row else { return Some(Learned::Unknown) };
        self.known.insert(id.clone(), Known::of_row(row));
        Some(Learned::Found)
    }

    /// Returns what is known of a schedule.
    pub fn known(&self, id: &ScheduleId) -> Option<&Known> {
        self.known.get(id)
    }

    /// Takes what a row says, of a schedule that no fact has made known.
    pub fn enter(&mut self, row: &ScheduleRow) {
        self.known.entry(row.schedule.id.clone()).or_insert_with(|| Known::of_row(row));
    }

    /// Returns everything that is known, by id.
    pub fn into_known(self) -> impl Iterator<Item = Known> {
        self.known.into_values()
    }
}

impl Known {
    fn created(schedule: Schedule, next: Next) -> Known {
        let updated_at = schedule.created_at;
        let (revision, incarnation, runs) = (1, 1, 0);
        Known {
            schedule,
            revision,
            incarnation,
            is_paused: false,
            pause_reason: None,
            live: BTreeSet::new(),
            updated_at,
            next,
            runs,
            is_cancelled: false,
        }
    }

    /// Returns what a stored row says.
    pub(crate) fn of_row(row: &ScheduleRow) -> Known {
        let progress = row.progress.as_deref().cloned().unwrap_or_default();
        let live = row.runs.iter().filter(|run| !run.state.is_terminal() && run.cause != Cause::Bulletin);
        // Of a schedule that had its id before.
        let live = live.filter(|run| progress.is_since_anew(run));
        let schedule = &row.schedule.id;
        let id =
            |run: &Run| RunId { schedule: schedule.clone(), incarnation: run.incarnation, slot: run.slot };
        let live = live.map(id).collect();
        let never = Next::Never { reason: progress.never.unwrap_or(Reason::NoMoreSlots) };
        let next = match row.next {
            Some(slot) => Next::Slot { slot, due: None },
            None if progress.awaits_finish => Next::AfterFinish,
            None if progress.awaits_event => Next::AtEvent,
            None => never,
        };
        Known {
            schedule: row.schedule.clone(),
            revision: progress.revision,
            incarnation: progress.incarnation,
            is_paused: progress.paused.is_some(),
            pause_reason: progress.paused.as_ref().and_then(|pause| pause.reason.clone()),
            live,
            updated_at: progress.updated_at.unwrap_or(row.schedule.created_at),
            next,
            runs: progress.runs,
            is_cancelled: row.status == Status::Cancelled && progress.is_called_off(),
        }
    }

    fn take(&mut self, at: Moment, fact: &Fact) -> Learned {
        if let Some(next) = fact.next() {
            self.next = next;
        }
        if let Fact::Run(run, fact, _) = fact {
            self.take_of_run(run, fact);
        }
        let Fact::Schedule(_, fact) = fact else { return Learned::Went };
        match fact {
            ScheduleFact::Changed(change) => {
                let is_anew = is_anew(&self.schedule, &change.schedule);
                self.schedule = change.schedule.clone();
                self.incarnation += u32::from(change.retriggered.is_some());
                if is_anew {
                    // It begins again: what it had of the former definition is none of its own. One that was cancelled is not
                    // changed in another way.
                    self.runs = 0;
                    self.live.clear();
                    (self.is_cancelled, self.is_paused, self.pause_reason) = (false, false, None);
                }
                // Otherwise the pause or resume of the same request makes the revision.
                if change.revises { self.revise(at) } else { Learned::Went }
            }
            ScheduleFact::Paused { reason, .. } => {
                self.is_paused = true;
                self.pause_reason.clone_from(reason);
                self.revise(at)
            }
            ScheduleFact::Resumed { .. } => {
                self.is_paused = false;
                self.revise(at)
            }
            ScheduleFact::Cancelled { reason, .. } => {
                self.is_cancelled = true;
                self.next = Next::Never { reason: *reason };
                Learned::Cancelled
            }
            ScheduleFact::Skipped(_) | ScheduleFact::Armed { .. } => Learned::Went,
        }
    }

    fn take_of_run(&mut self, run: &RunId, fact: &RunFact) {
        match fact {
            RunFact::Claimed(claim) => {
                // A manual run leaves the slots as they were, and does not count.
                self.runs += u64::from(claim.next.is_some());
                if claim.cause != Cause::Bulletin {
                    self.live.insert(run.clone());
                }
            }
            RunFact::Delivered
            | RunFact::Left
            | RunFact::Returned { .. }
            | RunFact::Failed(_)
            | RunFact::Cancelled { .. } => _ = self.live.remove(run),
            RunFact::Queued { .. }
            | RunFact::Guard(_)
            | RunFact::Dispatched(_)
            | RunFact::Accepted
            | RunFact::Folded(_)
            | RunFact::Joined { .. }
            | RunFact::Postponed { .. }
            | RunFact::Taken { .. }
            | RunFact::Retrying { .. } => {}
        }
    }

    fn revise(&mut self, at: Moment) -> Learned {
        self.revision += 1;
        self.updated_at = at;
        Learned::Revised
    }
}
