//! What a watch remembers from check to check.
//!
//! What lives elsewhere: what it decides by that (`engine/watching.rs`). Invariant: each part has a bound; what grows with the
//! outcomes is kept once, behind a pointer.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::domain::{Collected, Digest, Downtime, Glimpse, Lasted, Lasting, Moment, Outcome, Span};
use crate::limits;

/// What a watch remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    /// What is counted.
    pub tally: Tally,
    /// The digest of the newest check.
    pub latest: Option<Digest>,
    /// The digest that a change is told against: of the first check, then of what was told last.
    pub baseline: Option<Digest>,
    /// Digests that were told, the newest last, with the first baseline: at most as many as the filter recalls.
    pub seen: Vec<Digest>,
    /// A result that may become a change if it lasts.
    pub trial: Option<Trial>,
    /// The newest outcome.
    pub last: Option<Arc<Outcome>>,
    /// The outcome that the model was shown last: the first one, then what was told and has arrived.
    pub shown: Option<Arc<Outcome>>,
    /// The outcome that was told last and has not arrived.
    pub under_way: Option<Told>,
    /// The outcome that the bulletin told of which went out last, if that has not arrived: a later one may wait meanwhile.
    pub out: Option<Told>,
    /// The checks of a summary that is not complete.
    pub batch: Collected,
    /// The checks of summaries that were told and have not arrived: the next one has them as well.
    pub batch_under_way: Collected,
    /// Since when nobody has looked, if no process was there after the newest check.
    pub(crate) unseen_from: Option<Moment>,
    /// The end of the newest downtime that the streaks account for; `None` before the first.
    pub(crate) unseen_until: Option<Moment>,
    /// The newest checks.
    pub ring: Ring,
}

/// An outcome that was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The number of its check.
    pub check: u64,
    /// The outcome.
    pub outcome: Arc<Outcome>,
}

/// What a watch counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Checks made.
    pub checks: u64,
    /// Checks told.
    pub told: u64,
    /// Checks in a row that have failed.
    pub errors: Streak,
    /// Checks in a row that have not failed.
    pub oks: Streak,
    /// Checks in a row in which the condition has held.
    pub yes: Streak,
    /// Checks in a row in which it has not.
    pub no: Streak,
    /// Checks that have failed since they last worked, as far as is told.
    pub failed: u32,
    /// Whether the condition held when that was last settled; `None` before.
    pub signal: Option<bool>,
    /// What has been told and is not over.
    pub open: Open,
    /// When something was told last.
    pub told_at: Option<Moment>,
    /// When the result last differed from that of the check before; the first check counts.
    pub changed_at: Option<Moment>,
    /// When a check last worked.
    pub ok_at: Option<Moment>,
    /// When the newest check was; `None` before the first, and in what was stored before this was.
    pub checked_at: Option<Moment>,
}

/// What has been told and is not over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Open {
    /// That checks fail.
    pub error: bool,
    /// That the condition holds.
    pub state: bool,
    /// That nothing was heard.
    pub silence: bool,
}

/// Checks in a row of which something is true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streak {
    /// How many.
    pub checks: u32,
    /// When the first of them was.
    pub since: Option<Moment>,
    /// For how long nobody looked since then.
    pub unseen: Span,
}

/// A result that may become a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Its digest.
    pub digest: Digest,
    /// The checks in a row that have shown it.
    pub streak: Streak,
}

/// One check of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// The number of the check, from 1.
    pub check: u64,
    /// When it ended, to the hundredth of a second.
    pub at: Moment,
    /// Whether it was told.
    pub was_told: bool,
    /// What it came to.
    pub glimpse: Arc<Glimpse>,
}

/// The newest checks, in four bytes each; what several in a row came to is kept once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ring {
    /// From where the instants are counted.
    base: Option<Moment>,
    /// The newest check.
    newest: u64,
    /// Of each check, the oldest first: hundredths of a second since the base, and in the lowest bit whether it was told.
    marks: VecDeque<u32>,
    /// What the checks came to, each with the first check that did.
    glimpses: VecDeque<(u64, Arc<Glimpse>)>,
}

impl Watch {
    /// What a watch remembers that has not made a check.
    pub const FRESH: Watch = Watch {
        tally: Tally::NONE,
        latest: None,
        baseline: None,
        seen: Vec::new(),
        trial: None,
        last: None,
        shown: None,
        under_way: None,
        out: None,
        batch: Collected::NONE,
        batch_under_way: Collected::NONE,
        unseen_from: None,
        unseen_until: None,
        ring: Ring { base: None, newest: 0, marks: VecDeque::new(), glimpses: VecDeque::new() },
    };

    /// Notes that a bulletin goes out that tells of this check, and of those before it that have not arrived.
    pub fn goes_out(&mut self, check: u64) {
        if let Some(told) = self.under_way.take_if(|told| told.check <= check) {
            self.out = Some(told);
        }
    }

    /// Notes that what was told up to this check has arrived: from now on, a difference is shown against that. What a later
    /// bulletin tells of has not arrived.
    pub fn has_arrived(&mut self, check: u64) {
        for under_way in [&mut self.out, &mut self.under_way] {
            if let Some(told) = under_way.take_if(|told| told.check <= check) {
                self.shown = Some(told.outcome);
            }
        }
        self.batch_under_way.forget_until(check);
    }

    /// Returns the error of the newest check; `None` if that worked, and before the first. Of a check before a restart it is
    /// only known that it failed.
    pub(crate) fn last_error(&self) -> Option<&str> {
        let Tally { checked_at, ok_at, .. } = self.tally;
        match &self.last {
            Some(last) => last.error.as_deref(),
            None => (checked_at.is_some() && checked_at != ok_at).then_some(ERROR_NOT_KEPT),
        }
    }

    /// Notes when no process was there. What the watch remembers is stored with its next check, so a process that ended before
    /// that has counted nothing: these are all downtimes that are known. `made_at` is when the watch was made.
    pub(crate) fn was_down(&mut self, downs: &[Downtime], made_at: Moment, interval: Span) {
        let Tally { errors, told_at, changed_at, ok_at, .. } = self.tally;
        // A check that ended later has counted it. In a row from before `unseen_until` was stored, these instants stand for it,
        // though a check within a row of errors moves none of them.
        let counted =
            [self.unseen_until, errors.since, told_at, changed_at, ok_at].into_iter().max().flatten();
        let counted = counted.map_or(made_at, |counted| counted.max(made_at));
        for down in downs.iter().filter(|down| down.until > counted) {
            self.was_unseen(down, interval);
        }
    }

    /// Notes that nobody looked in this time. Once no check was made for more than two intervals, what has lasted until then
    /// counts for nothing.
    pub fn was_unseen(&mut self, down: &Downtime, interval: Span) {
        // Several downtimes may follow each other without a check between them.
        let from = *self.unseen_from.get_or_insert(down.from);
        self.unseen_until = Some(down.until);
        let is_long = down.until.since(from).nanos() > interval.nanos().saturating_mul(2);
        let span = down.until.since(down.from);
        let Tally { errors, oks, yes, no, .. } = &mut self.tally;
        let trial = self.trial.as_mut().map(|trial| &mut trial.streak);
        for streak in [errors, oks, yes, no].into_iter().chain(trial) {
            if is_long {
                *streak = Streak::default();
            } else if streak.since.is_some() {
                streak.unseen = Span::from_nanos(streak.unseen.nanos().saturating_add(span.nanos()));
            }
        }
    }
}

impl Tally {
    /// Nothing was counted.
    pub(crate) const NONE: Tally = Tally {
        checks: 0,
        told: 0,
        errors: Streak::NONE,
        oks: Streak::NONE,
        yes: Streak::NONE,
        no: Streak::NONE,
        failed: 0,
        signal: None,
        open: Open { error: false, state: false, silence: false },
        told_at: None,
        changed_at: None,
        ok_at: None,
        checked_at: None,
    };
}

impl Streak {
    const NONE: Streak = Streak { checks: 0, since: None, unseen: Span::ZERO };

    /// The streak with one more check.
    #[must_use]
    pub fn with(self, at: Moment) -> Streak {
        Streak { checks: self.checks.saturating_add(1), since: self.since.or(Some(at)), unseen: self.unseen }
    }

    /// Whether it has lasted so long, as of its newest check.
    pub(crate) fn has_lasted(&self, lasting: Lasting, at: Moment) -> bool {
        self.checks >= u32::from(lasting.checks) && self.lasted(at).span >= lasting.span
    }

    /// How long it has lasted, as of its newest check.
    pub fn lasted(&self, at: Moment) -> Lasted {
        let span = self.since.map_or(Span::ZERO, |since| at.since(since));
        Lasted { checks: self.checks, span, unseen: self.unseen }
    }
}

impl Ring {
    /// The history of a watch whose checks so far are known no more.
    pub fn after(newest: u64) -> Ring {
        Ring { newest, ..Ring::default() }
    }

    /// Adds the next check. `glimpse` is `None` if it came to what the one before did.
    pub fn push(&mut self, at: Moment, was_told: bool, glimpse: Option<Arc<Glimpse>>) {
        self.newest += 1;
        let most = usize::try_from(limits::WATCH_HISTORY.value).unwrap_or(usize::MAX);
        if self.marks.len() >= most {
            self.marks.pop_front();
        } else if self.marks.len() == self.marks.capacity() {
            // Doubled, but never beyond what it can hold at most. A copy may be full at any length.
            self.marks.reserve_exact(self.marks.len().max(4).min(most - self.marks.len()));
        }
        let offset = self.offset(at).unwrap_or_else(|| self.rebased(at));
        self.marks.push_back(offset << 1 | u32::from(was_told));
        if let Some(glimpse) = glimpse {
            self.glimpses.push_back((self.newest, glimpse));
        }
        let oldest = self.oldest();
        // The first one is not needed once the second covers the oldest check that is kept.
        while self.glimpses.get(1).is_some_and(|(check, _)| *check <= oldest) {
            self.glimpses.pop_front();
        }
    }

    /// Returns whether it has as many of the checks that were made as it can hold. After a restart it has none of them.
    pub fn is_complete(&self) -> bool {
        self.marks.len() as u64 >= self.newest.min(limits::WATCH_HISTORY.value)
    }

    /// Returns whether it has no check.
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// The newest checks, the oldest of them first; at most so many.
    pub fn latest(&self, count: usize) -> Vec<Past> {
        let skipped = self.marks.len().saturating_sub(count);
        let checks = (self.oldest()..).zip(&self.marks).skip(skipped);
        let past = |(check, mark): (u64, &u32)| {
            // The check came to what the last glimpse at or before it says.
            let (_, glimpse) = self.glimpses.iter().rev().find(|(first, _)| *first <= check)?;
            let at = self.base?.checked_add(Span::from_millis(u64::from(mark >> 1) * CENTISECOND_MS))?;
            Some(Past { check, at, was_told: mark & 1 == 1, glimpse: Arc::clone(glimpse) })
        };
        checks.filter_map(past).collect()
    }

    /// The oldest check that is kept.
    fn oldest(&self) -> u64 {
        self.newest + 1 - self.marks.len() as u64
    }

    fn offset(&self, at: Moment) -> Option<u32> {
        let offset = at.millis_since(self.base?) / CENTISECOND_MS;
        u32::try_from(offset).ok().filter(|offset| *offset <= u32::MAX >> 1)
    }

    /// Counts from the oldest check that is kept, or from this one; what is older than can be counted is dropped.
    fn rebased(&mut self, at: Moment) -> u32 {
        let first = self.marks.front().map_or(0, |mark| mark >> 1);
        let elapsed = Span::from_millis(u64::from(first) * CENTISECOND_MS);
        // The base moves to the oldest mark that is kept, and all marks move by its offset. The lowest bit of each stays.
        self.base = self.base.and_then(|base| base.checked_add(elapsed));
        self.marks.iter_mut().for_each(|mark| *mark = mark.saturating_sub(first << 1));
        if let Some(offset) = self.offset(at) {
            return offset;
        }
        self.marks.clear();
        self.base = Some(at);
        0
    }
}

const CENTISECOND_MS: u64 = 10;
const ERROR_NOT_KEPT: &str = "the check failed; its error is not kept over a restart";
