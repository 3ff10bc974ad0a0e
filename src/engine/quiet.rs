//! Facts of checks that tell nobody anything.
//!
//! A watch makes thousands of checks for each that is told. Their facts are applied and counted as all others are, and take
//! cursors, but the feed does not show them; and of a watch that is bound, most are in memory only: the first of each minute is
//! stored, and so are those that matter, and what a summary collects, at its family's pace.

use super::state::State;
use crate::domain::{
    Durability, Fact, NotifyWhen, Phase, RunFact, Schedule, ScheduleFact, ScheduleId, Watch, WatchCheck,
};
#[cfg(feature = "embed")]
use crate::{domain::BootTime, limits};

/// What a fact is worth, if it is one of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quiet {
    /// Whether the feed shows it.
    pub(crate) is_shown: bool,
    /// Whether it is stored.
    pub(crate) is_kept: bool,
}

impl State {
    /// Returns what a fact is worth that is about to be applied, if it is one of a check of a watch; `None` for any other.
    pub fn quiet_check(&self, fact: &Fact) -> Option<Quiet> {
        // The common case: there is no watch.
        if self.watches == 0 {
            return None;
        }
        let (id, is_shown, is_due) = match fact {
            Fact::Run(run, RunFact::Claimed(claim), _) if claim.telling.is_none() => {
                (&run.schedule, false, false)
            }
            Fact::Run(run, RunFact::Dispatched(to), _) if to.phase == Phase::Call => {
                (&run.schedule, false, false)
            }
            Fact::Run(run, RunFact::Returned { check: Some(check), .. }, _) => {
                let record = self.schedule(&run.schedule)?;
                let watch = record.watch()?;
                let matters = matters(watch, check);
                let is_due = matters || is_collected(record.schedule()) || is_first_of_minute(watch, check);
                (&run.schedule, matters, is_due)
            }
            // A slot that somebody brought forward is shown: that was asked for.
            Fact::Schedule(id, ScheduleFact::Armed { by: None, .. }) => (id, false, false),
            Fact::Run(..)
            | Fact::Schedule(..)
            | Fact::Session(..)
            | Fact::Created { .. }
            | Fact::Host(..)
            | Fact::Channel(..)
            | Fact::Engine(_) => return None,
        };
        let schedule = self.schedule(id)?.schedule();
        schedule
            .is_watch()
            .then(|| Quiet { is_shown, is_kept: is_due || schedule.durability != Durability::Bound })
    }

    /// Returns whether a fact may be stored now, as far as that is a matter of pace, and counts what it writes. A check that is
    /// stored because a summary collects it waits for its family's pace: the next one that is stored has it.
    #[cfg(feature = "embed")]
    pub(crate) fn may_store(&mut self, fact: &Fact, now: BootTime) -> bool {
        let Fact::Run(run, RunFact::Returned { outcome, check: Some(check) }, _) = fact else { return true };
        let Some(record) = self.schedule(&run.schedule) else { return true };
        let schedule = record.schedule();
        let is_bound = schedule.durability == Durability::Bound;
        let is_due =
            record.watch().is_none_or(|watch| matters(watch, check) || is_first_of_minute(watch, check));
        if is_due || !is_bound || !is_collected(schedule) {
            return true;
        }
        // Its outcome, and the row with all that is collected.
        let bytes = outcome.bytes.min(limits::OUTCOME_KEPT_BYTES.value) + COLLECTED_BYTES;
        let root = self.root_in(schedule).clone();
        self.take_pace(root, bytes, now)
    }

    /// Returns the number of bound watches whose first check was due by an instant.
    #[cfg(feature = "embed")]
    pub(crate) fn bound_watches(&self, at: crate::domain::Moment) -> u64 {
        if self.watches == 0 {
            return 0;
        }
        let begun = self.schedules.iter().filter(|(_, record)| {
            let is_bound = record.schedule.durability == Durability::Bound && record.schedule.is_watch();
            is_bound && (record.progress().runs > 0 || record.next.is_none_or(|slot| slot <= at))
        });
        begun.count() as u64
    }

    /// Returns whether a call that goes out waits for the disk: that of a bound watch does not, as nothing is stored of it.
    pub fn is_bound(&self, id: &ScheduleId) -> bool {
        self.schedule(id).is_some_and(|record| {
            record.schedule().durability == Durability::Bound && record.schedule().is_watch()
        })
    }
}

/// What the row of a watch with a full summary takes on disk, about.
#[cfg(feature = "embed")]
const COLLECTED_BYTES: u64 = 512 * limits::WATCH_BATCH_LISTED.value;

/// Returns whether a check changes something that is worth telling: it is told, or checks begin or cease to fail.
fn matters(before: &Watch, check: &WatchCheck) -> bool {
    let (before, after) = (&before.tally, &check.weighed.tally);
    let fails = |tally: &crate::domain::Tally| tally.errors.checks > 0;
    check.weighed.told.is_some()
        || after.checks == 1
        || fails(before) != fails(after)
        || before.open != after.open
        || before.signal != after.signal
}

/// Returns whether a check is collected for a summary. It is a part of what will be told, so it must not be lost.
fn is_collected(schedule: &Schedule) -> bool {
    let filter = schedule.payload.call().and_then(|call| call.filter.as_deref());
    filter.is_some_and(|filter| filter.when == NotifyWhen::Summary)
}

/// Returns whether a check is the first one that ended in its minute, as far as is known.
fn is_first_of_minute(before: &Watch, check: &WatchCheck) -> bool {
    let minute = |tally: &crate::domain::Tally| {
        let newest = tally.ok_at.max(tally.errors.since).max(tally.told_at);
        newest.map(|at| at.seconds().div_euclid(60))
    };
    // A check that fails as the one before leaves no instant behind: it is stored.
    let (before, after) = (minute(&before.tally), minute(&check.weighed.tally));
    before != after || check.weighed.tally.errors.checks > 1
}
