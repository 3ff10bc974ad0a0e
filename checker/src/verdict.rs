//! Judges every slot of a schedule: those that were received, and those that were not.
//!
//! A slot that was not received had to be delivered, or reported, or neither: [`Duty`]. In doubt (a
//! crash or a cancel while a delivery may have been under way) there is no finding.

use super::course::{Course, Road};
use super::event::{Busy, Missed, Overlap, Recovery};
use super::finding::{Figures, Finding};
use super::moment::{Moment, Span};
use super::receipts::Slot;
use super::story::{Life, Receipt};
use super::stretch::{Stretch, Way, later};

/// What the scheduler owed for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duty {
    /// Nothing.
    None,
    /// Unknown: the observation ended too early.
    Open,
    /// To deliver it, or to report why not.
    Account,
    /// To deliver it by this time.
    Deliver(Moment),
}

/// One schedule with everything needed to judge it.
pub(super) struct Case<'a> {
    pub(super) name: &'a str,
    pub(super) life: &'a Life,
    pub(super) grid: &'a [Slot],
    pub(super) road: &'a Road,
    pub(super) prompt: Span,
    pub(super) end: Moment,
}

/// The consequences of earlier slots.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wake {
    /// The number of received slots.
    runs: u64,
    /// The end of the last run of this schedule.
    occupied_until: Option<Moment>,
    /// The time until which a slot waited for its session.
    waited_until: Option<Moment>,
}

impl Case<'_> {
    /// Judges every slot.
    pub(super) fn judge(&self, figures: &mut Figures) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut duties = vec![Duty::None; self.grid.len()];
        let mut wake = Wake::default();
        for (place, slot) in self.grid.iter().enumerate() {
            let course = self.course(place);
            let Some(number) = slot.receipt else {
                duties[place] = self.duty(place, &course, wake);
                continue;
            };
            let receipt = &self.life.receipts[number];
            let fault = self.fault(place, &course, receipt, wake).filter(|_| receipt.is_clean);
            wake.runs += 1;
            wake.waited_until = wake.waited_until.max(Some(receipt.at));
            // A run that should not have happened does not excuse slots that it kept from running.
            if !matches!(fault, Some(Finding::CaughtUp { .. })) {
                wake.occupied_until = wake.occupied_until.max(Some(receipt.finish));
            }
            findings.extend(fault);
        }
        let covered = self.skips(&mut duties, &mut findings);
        for ((slot, duty), covered) in self.grid.iter().zip(&duties).zip(covered) {
            self.count(*slot, *duty, figures);
            let (schedule, slot) = (self.name.to_owned(), slot.at);
            match duty {
                Duty::Deliver(_) if !covered => findings.push(Finding::Missing { schedule, slot }),
                Duty::Account if !covered => findings.push(Finding::Unaccounted { schedule, slot }),
                Duty::Deliver(_) | Duty::Account | Duty::Open | Duty::None => {}
            }
        }
        findings
    }

    fn count(&self, slot: Slot, duty: Duty, figures: &mut Figures) {
        if slot.at >= self.end && slot.receipt.is_none() {
            return;
        }
        figures.slots += 1;
        figures.received += u64::from(slot.receipt.is_some());
        figures.open += u64::from(duty == Duty::Open);
        figures.excused += u64::from(slot.receipt.is_none() && duty == Duty::None);
    }

    /// How the slot at this place of the grid fared.
    pub(super) fn course(&self, place: usize) -> Course {
        let slot = self.grid[place];
        self.road.course(slot.at, &self.life.eras[slot.era])
    }

    /// The first slot that a delivery at the end of a block stands for.
    pub(super) fn stands_for(&self, place: usize, since: Moment) -> Moment {
        let is_folded = |place: &usize| {
            let course = self.course(*place);
            let lay_in_it = course.block.is_some() && course.first == Some(since);
            // The process may have crashed before it could record that the slot had come.
            let died_over_it = || {
                let down = self.road.met(self.grid[*place].at).filter(|_| course.is_in_doubt);
                down.and_then(|down| down.until) == Some(since)
            };
            self.grid[*place].receipt.is_none() && (lay_in_it || died_over_it())
        };
        let first =
            (0..place).rev().take_while(is_folded).last().filter(|_| self.course(place).block.is_some());
        self.grid[first.unwrap_or(place)].at
    }

    fn next(&self, place: usize) -> Option<Moment> {
        self.grid.get(place + 1).map(|slot| slot.at)
    }

    /// What the scheduler owed for a slot that was not received.
    pub(super) fn duty(&self, place: usize, course: &Course, wake: Wake) -> Duty {
        let slot = self.grid[place];
        let lifetime = self.life.lifetime(slot.at);
        let is_over = lifetime.max_runs.is_some_and(|max| wake.runs >= max)
            || lifetime.expires_at.is_some_and(|end| slot.at >= end);
        if slot.is_optional || is_over {
            return Duty::None;
        }
        let is_gone = |by: Moment| {
            let replaced = self.life.eras[slot.era].until;
            [self.life.cancelled, replaced].iter().flatten().any(|gone| *gone < by)
        };
        let Some(ready) = course.ready else {
            return if is_gone(self.end) { Duty::None } else { Duty::Open };
        };
        let deadline = later(ready, self.prompt);
        // Cancelled or replaced before it had to arrive: a delivery may or may not have been under
        // way.
        if is_gone(deadline) {
            return Duty::None;
        }
        if slot.at >= self.end || deadline > self.end {
            return Duty::Open;
        }
        let policy = self.life.policy(ready);
        let is_folded = match policy.missed {
            Missed::Skip => course.is_touched,
            // The latest missed slot stands for all, and a slot within the tolerance may already be
            // that one.
            Missed::RunOnce => course.is_touched && self.next(place).is_some_and(|next| next <= deadline),
            Missed::All => {
                let jumped = course.block.is_some_and(|block| block.way == Way::Jump);
                jumped && self.next(place).is_some_and(|next| next <= deadline)
            }
        };
        if is_folded {
            return Duty::None;
        }
        // If one of the following holds, the slot need not be delivered, but must be reported.
        let is_late = policy.max_late_ms.is_some_and(|max| later(slot.at, Span::from_millis(max)) < ready);
        let may_be_lost = course.is_in_doubt && policy.recovery == Recovery::Fail;
        let is_expired = lifetime.expires_at.is_some_and(|end| end < deadline) && course.is_touched;
        let first = course.first.unwrap_or(ready);
        let found_busy = match self.life.policy(first).busy {
            Busy::Queue => false,
            Busy::Skip => course.is_delayed || self.road.work_just_ended(first) || self.road.is_taken(first),
            Busy::Coalesce => {
                let waited_until = wake.waited_until.map(|until| later(until, Span::from_millis(WORD_MS)));
                waited_until.is_some_and(|until| first < until)
            }
        };
        let is_overlapped = self.is_overlapped(course, wake, policy.overlap);
        if is_late || may_be_lost || is_expired || is_overlapped || found_busy {
            return Duty::Account;
        }
        Duty::Deliver(deadline)
    }

    /// Whether a run of this schedule was unfinished when the slot came.
    fn is_overlapped(&self, course: &Course, wake: Wake, overlap: Overlap) -> bool {
        let word = Span::from_millis(WORD_MS);
        let occupied = wake.occupied_until.map(|until| later(until, word));
        overlap == Overlap::Skip && course.first.zip(occupied).is_some_and(|(first, until)| first < until)
    }

    /// The fault of a received slot, if it has one.
    fn fault(&self, place: usize, course: &Course, receipt: &Receipt, wake: Wake) -> Option<Finding> {
        let (slot, schedule) = (self.grid[place], self.name.to_owned());
        let (policy, lifetime) = (self.life.policy(receipt.at), self.life.lifetime(slot.at));
        let slot = slot.at;
        if lifetime.expires_at.is_some_and(|end| slot >= end) {
            return Some(Finding::Expired { schedule, slot });
        }
        if lifetime.max_runs.is_some_and(|max| wake.runs >= max) {
            return Some(Finding::BeyondMaxRuns { schedule, slot });
        }
        if let Some(max_late_ms) = policy.max_late_ms
            && later(slot, Span::from_millis(max_late_ms)) < receipt.at
        {
            return Some(Finding::TooLate { schedule, slot, by: receipt.at.since(slot), max_late_ms });
        }
        if self.is_folded(place, course, policy.missed) {
            return Some(Finding::CaughtUp { schedule, slot, missed: policy.missed });
        }
        // With `all`, missed slots are delivered one after the other, so overlap does not apply to
        // them.
        let made_up =
            policy.missed == Missed::All && course.block.is_some_and(|block| block.way != Way::Jump);
        let occupied = policy.overlap == Overlap::Skip && !self.grid[place].is_optional && !made_up;
        let dispatched = course.first.map(|first| later(first, self.prompt));
        if occupied && dispatched.zip(wake.occupied_until).is_some_and(|(at, until)| at < until) {
            return Some(Finding::Overlapped { schedule, slot });
        }
        let first = course.first.filter(|first| self.life.policy(*first).busy == Busy::Skip);
        let work = first.and_then(|first| Some((first, self.road.work(first)?)));
        let waited = |(first, work): (Moment, &Stretch)| {
            let began_before = later(work.from, Span::from_millis(WORD_MS)) < first;
            began_before && work.until.is_some_and(|until| until <= receipt.at)
        };
        if work.is_some_and(waited) {
            return Some(Finding::Waited { schedule, slot });
        }
        let ready = course.ready?;
        let is_late = receipt.at > later(ready, self.prompt);
        is_late.then(|| Finding::Late { schedule, slot, by: receipt.at.since(ready) })
    }

    /// Whether a received slot lay in a block from which, by its policy, it must not be delivered.
    fn is_folded(&self, place: usize, course: &Course, missed: Missed) -> bool {
        let Some((block, until)) = course.block.and_then(|block| Some((block, block.until?))) else {
            return false;
        };
        let is_latest = self.next(place).is_none_or(|next| next >= until);
        match missed {
            // The process was running during a jump, so it may count the latest slot as on time.
            Missed::Skip => !(is_latest && block.way == Way::Jump),
            Missed::RunOnce => !is_latest,
            // As above: slots in a jump are not missed, and the latest stands for all.
            Missed::All => !is_latest && block.way == Way::Jump,
        }
    }

    /// Checks the skips that the scheduler reported; returns which slots they cover.
    fn skips(&self, duties: &mut [Duty], findings: &mut Vec<Finding>) -> Vec<bool> {
        let mut covered = vec![false; self.grid.len()];
        for skip in self.life.skips.iter().filter(|skip| !skip.reason.trim().is_empty()) {
            let first = self.grid.partition_point(|slot| slot.at < skip.from);
            let last = self.grid.partition_point(|slot| slot.at <= skip.until).max(first);
            let schedule = || self.name.to_owned();
            let said: Vec<usize> = (first..last).collect();
            let received = |place: &&usize| self.grid[**place].receipt.is_some();
            let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
            let (all, in_vain) = (number(said.len()), number(said.iter().filter(received).count()));
            // A report may count every slot of its stretch, or only those that were not received.
            if skip.count == all {
                let both = said.iter().filter(received).map(|place| self.grid[*place].at);
                findings.extend(both.map(|slot| Finding::Contradicted { schedule: schedule(), slot }));
            } else if skip.count != all - in_vain {
                let (from, until) = (skip.from, skip.until);
                let (said, found) = (skip.count, all - in_vain);
                findings.push(Finding::WrongCount { schedule: schedule(), from, until, said, found });
            }
            let owed = |place: &&usize| matches!(duties[**place], Duty::Deliver(_)) && !covered[**place];
            let without_cause: Vec<usize> = said.iter().filter(owed).copied().collect();
            if let Some(place) = without_cause.first() {
                findings.push(Finding::SkipWithoutCause {
                    schedule: schedule(),
                    slot: self.grid[*place].at,
                    more: number(without_cause.len() - 1),
                    reason: skip.reason.clone(),
                });
            }
            said.iter().for_each(|place| covered[*place] = true);
        }
        covered
    }
}

/// The delay in milliseconds until the scheduler learns of a run's end. For so long a run may seem
/// unfinished.
const WORD_MS: u64 = 100;
