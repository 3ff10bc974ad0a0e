//! Whether a check of a watch is told, by what the watch remembers. The work does not depend on the size of the outcome.
//!
//! `weigh` decides, and changes nothing; `apply` takes the verdict with `remember_check`. What something told is about stays
//! open until its end was told as well, so whatever a cooldown holds back is told after it if it is still so.

use std::sync::Arc;

use super::reading::{Look, read_outcome};
use crate::domain::{
    Collected, Digest, Edge, Entry, Filter, Gaps, Glimpse, Lasted, Moment, NotifyWhen, Outcome, Reading,
    Reason, Span, Streak, Tally, Told, Trial, Watch, Weighed, Why,
};

/// When a check ended, and whether it was the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// When the watch was made.
    pub since: Moment,
    /// When it ended.
    pub at: Moment,
    /// Whether no check follows.
    pub is_last: bool,
}

/// Decides whether a check is told.
pub fn weigh(watch: &Watch, filter: &Filter, reading: &Reading, check: Checked) -> Weighed {
    let mut weighing = Weighing { watch, filter, reading, check, tally: watch.tally, trial: watch.trial };
    weighing.count();
    let found = match filter.when {
        NotifyWhen::Always => Some(Why::Every),
        NotifyWhen::OnChange => weighing.change(),
        NotifyWhen::OnError => weighing.error(),
        NotifyWhen::OnThreshold => weighing.threshold(),
        NotifyWhen::Summary => weighing.batch(check.is_last),
    };
    let found = found.or_else(|| weighing.silence());
    // The last summary does not wait for the cooldown, because no later check could tell it.
    let is_flush = found == Some(Why::Batch) && check.is_last;
    let may_tell = !is_refused(reading) && (is_flush || weighing.is_cool());
    let told = found.filter(|_| may_tell);
    if let Some(why) = told {
        weighing.settle(why);
    }
    Weighed { told, tally: weighing.tally, trial: weighing.trial }
}

/// Returns whether the check was not made because its session may use no watches at present, or nobody may. It is counted as a
/// failed one and tells nothing: what would be told is refused for the same reason.
fn is_refused(reading: &Reading) -> bool {
    reading.outcome.reason == Some(Reason::NotGranted)
}

/// Lets a watch remember a check, about which this was decided.
pub fn remember_check(watch: &mut Watch, filter: &Filter, reading: &Reading, verdict: &Weighed, at: Moment) {
    let is_told = verdict.told.is_some();
    let is_same = watch.latest == Some(reading.digest);
    watch.unseen_from = None;
    // The first check after a restart is the first of its history, though it came to what the one before did.
    let is_known = is_same && !watch.ring.is_empty();
    watch.ring.push(at, is_told, Some(Arc::clone(&reading.glimpse)).filter(|_| !is_known));
    if filter.when == NotifyWhen::Summary {
        watch.batch.push(entry(verdict.tally.checks, &reading.glimpse));
        if is_told {
            let told = std::mem::take(&mut watch.batch);
            watch.batch_under_way.extend(told);
        }
    }
    (watch.tally, watch.trial, watch.latest) = (verdict.tally, verdict.trial, Some(reading.digest));
    let is_first = watch.baseline.is_none() && !is_refused(reading);
    // After a restart nothing but the digest is known of what the session has seen.
    let is_as_shown = watch.shown.is_none() && watch.baseline == Some(reading.digest);
    if is_first || is_told {
        watch.baseline = Some(reading.digest);
        remember(&mut watch.seen, reading.digest, usize::from(filter.recall));
    }
    if is_first || is_as_shown && !is_told {
        watch.shown = Some(Arc::clone(&reading.outcome));
    }
    if is_told {
        let (check, outcome) = (verdict.tally.checks, Arc::clone(&reading.outcome));
        watch.under_way = Some(Told { check, outcome });
    }
    watch.last = Some(Arc::clone(&reading.outcome));
}

/// What the outcome of the next check is evaluated against.
pub(super) fn look_of(watch: &Watch, filter: &Arc<Filter>) -> Look {
    Look::of(watch, Arc::clone(filter))
}

/// Evaluates an outcome that was not evaluated outside the lock: an error, whose text is short.
pub(super) fn evaluate(watch: &Watch, filter: &Arc<Filter>, outcome: Arc<Outcome>) -> Reading {
    read_outcome(&Look::of(watch, Arc::clone(filter)), outcome)
}

/// The checks of a summary that have not arrived in the session.
pub(super) fn unread_checks(watch: &Watch) -> Collected {
    let mut all = watch.batch_under_way.clone();
    all.extend(watch.batch.clone());
    all
}

/// The checks of a summary that is told with this one.
pub fn summed_up(watch: &Watch, reading: &Reading) -> Collected {
    let mut all = unread_checks(watch);
    all.push(entry(watch.tally.checks + 1, &reading.glimpse));
    all
}

/// How long it is waited before the next check, after so many that failed in a row. `draw` is any number: it decides how much
/// of the jitter is added.
pub fn next_wait(filter: &Filter, interval: Span, errors: u32, draw: u64) -> Span {
    let doubled = 1_u64.checked_shl(errors).unwrap_or(u64::MAX);
    let wait = match filter.backoff {
        // A bound below the interval does not make checks more frequent.
        Some(most) => interval.nanos().saturating_mul(doubled).min(most.max(interval).nanos()),
        None => interval.nanos(),
    };
    let most = u128::from(wait) * u128::from(filter.jitter) / u128::from(THOUSANDTHS);
    let added = most * u128::from(draw >> 32) / (1 << 32);
    Span::from_nanos(wait.saturating_add(u64::try_from(added).unwrap_or(u64::MAX)))
}

fn entry(check: u64, glimpse: &Arc<Glimpse>) -> Entry {
    Entry { check, glimpse: Arc::clone(glimpse) }
}

fn remember(seen: &mut Vec<Digest>, digest: Digest, most: usize) {
    // An empty list takes no memory of its own.
    if most == 0 {
        *seen = Vec::new();
        return;
    }
    seen.retain(|known| *known != digest);
    seen.push(digest);
    let surplus = seen.len().saturating_sub(most);
    seen.drain(..surplus);
}

struct Weighing<'w> {
    watch: &'w Watch,
    filter: &'w Filter,
    reading: &'w Reading,
    check: Checked,
    tally: Tally,
    trial: Option<Trial>,
}

impl Weighing<'_> {
    /// Counts the check, before anything is decided.
    fn count(&mut self) {
        let (at, is_ok) = (self.check.at, self.reading.outcome.ok);
        let tally = &mut self.tally;
        tally.checks += 1;
        tally.checked_at = Some(at);
        if is_ok {
            (tally.oks, tally.errors, tally.ok_at) = (tally.oks.with(at), Streak::default(), Some(at));
            if !tally.open.error {
                tally.failed = 0;
            }
        } else {
            (tally.errors, tally.oks) = (tally.errors.with(at), Streak::default());
            tally.failed = tally.failed.saturating_add(1);
        }
        if self.watch.latest != Some(self.reading.digest) {
            tally.changed_at = Some(at);
            // By this strategy the change itself is the news.
            tally.open.silence &= self.filter.when != NotifyWhen::OnChange;
        }
    }

    fn change(&mut self) -> Option<Why> {
        let digest = self.reading.digest;
        // The first check is what the others are compared with.
        let baseline = self.watch.baseline?;
        if digest == baseline {
            // The result is back at the baseline, which ends a trial. A failed check ends one only if gaps reset it.
            if self.reading.outcome.ok || self.filter.gaps == Gaps::Reset {
                self.trial = None;
            }
            return None;
        }
        let lasted = if self.filter.lasting.is_none() { None } else { Some(self.trial_of(digest)?) };
        let is_recalled = self.filter.recall > 0 && self.watch.seen.contains(&digest);
        (!is_recalled).then_some(Why::Changed(lasted))
    }

    /// How long this result has lasted, if that is long enough.
    fn trial_of(&mut self, digest: Digest) -> Option<Lasted> {
        let (lasting, at) = (self.filter.lasting, self.check.at);
        if !self.reading.outcome.ok {
            // Errors count together, whatever their texts, and beside a result that is on trial.
            if self.filter.gaps == Gaps::Reset {
                self.trial = None;
            }
            let errors = self.tally.errors;
            return errors.has_lasted(lasting, at).then(|| errors.lasted(at));
        }
        let before = self.trial.filter(|trial| trial.digest == digest).map(|trial| trial.streak);
        let streak = before.unwrap_or_default().with(at);
        self.trial = Some(Trial { digest, streak });
        streak.has_lasted(lasting, at).then(|| streak.lasted(at))
    }

    fn error(&mut self) -> Option<Why> {
        let Tally { errors, oks, failed, open, .. } = self.tally;
        if !self.reading.outcome.ok {
            let lasted = self.has_lasted(errors)?;
            return (!open.error || self.is_due_again()).then_some(Why::Failed(lasted));
        }
        if !open.error {
            return None;
        }
        self.has_lasted(oks).map(|lasted| Why::Recovered { errors: failed, lasted })
    }

    fn threshold(&mut self) -> Option<Why> {
        let Filter { edge, gaps, lasting, .. } = *self.filter;
        let reading = self.reading;
        // Told at each check that shows it, a condition has no state that a gap could disturb.
        let is_plain = edge == Edge::Level && lasting.is_none();
        let is_about_errors =
            self.filter.condition.as_ref().is_some_and(|condition| condition.is_about_errors());
        // A check that failed says nothing about a condition on results, and a path that leads nowhere is no crossing.
        let is_gap = !reading.outcome.ok && !is_about_errors || edge != Edge::Level && !reading.is_known;
        if is_gap && !is_plain {
            if gaps == Gaps::Reset {
                (self.tally.yes, self.tally.no) = (Streak::default(), Streak::default());
            }
            return None;
        }
        if reading.holds {
            (self.tally.yes, self.tally.no) = (self.tally.yes.with(self.check.at), Streak::default());
        } else {
            (self.tally.no, self.tally.yes) = (self.tally.no.with(self.check.at), Streak::default());
        }
        if edge == Edge::Level { self.level() } else { self.crossing() }
    }

    fn level(&mut self) -> Option<Why> {
        if !self.reading.holds {
            self.tally.open.state = false;
            return None;
        }
        let lasted = self.has_lasted(self.tally.yes)?;
        (!self.tally.open.state || self.is_due_again()).then_some(Why::Holds(lasted))
    }

    fn crossing(&mut self) -> Option<Why> {
        let holds = self.reading.holds;
        let lasted = self.has_lasted(if holds { self.tally.yes } else { self.tally.no })?;
        let is_told = match self.filter.edge {
            Edge::Rising => holds,
            Edge::Falling => !holds,
            Edge::Both | Edge::Level => true,
        };
        match self.tally.signal {
            Some(signal) if signal == holds => {
                let goes_on = is_told && self.tally.open.state && self.filter.again.is_some();
                (goes_on && self.is_due_again()).then(|| self.state(lasted))
            }
            Some(_) if is_told => Some(self.state(lasted)),
            // A crossing in the other direction, or the first time that something is known.
            Some(_) | None => {
                (self.tally.signal, self.tally.open.state) = (Some(holds), false);
                None
            }
        }
    }

    fn state(&self, lasted: Option<Lasted>) -> Why {
        if self.reading.holds { Why::Holds(lasted) } else { Why::Ceased(lasted) }
    }

    fn batch(&mut self, is_last: bool) -> Option<Why> {
        let collected = self.watch.batch.checks.saturating_add(1);
        (collected >= u64::from(self.filter.batch) || is_last).then_some(Why::Batch)
    }

    fn silence(&mut self) -> Option<Why> {
        let most = self.filter.silence?;
        let is_by_change = self.filter.when == NotifyWhen::OnChange;
        // Before anything was heard, the silence counts from the creation of the watch.
        let heard = if is_by_change { self.tally.changed_at } else { self.tally.ok_at };
        let length = self.check.at.since(heard.unwrap_or(self.check.since));
        if length >= most {
            return (!self.tally.open.silence).then_some(Why::Silent(length));
        }
        (self.tally.open.silence && !is_by_change).then_some(Why::Heard)
    }

    /// How long a streak has lasted, if that is long enough; nothing of it if nothing has to last.
    fn has_lasted(&self, streak: Streak) -> Option<Option<Lasted>> {
        let lasting = self.filter.lasting;
        let lasted = || Some(streak.lasted(self.check.at)).filter(|_| !lasting.is_none());
        streak.has_lasted(lasting, self.check.at).then(lasted)
    }

    /// Whether a state that goes on may be told again.
    fn is_due_again(&self) -> bool {
        self.filter.again.is_none_or(|again| self.has_passed(again))
    }

    fn is_cool(&self) -> bool {
        self.has_passed(self.filter.cooldown)
    }

    /// Whether it is so long since something was told.
    fn has_passed(&self, span: Span) -> bool {
        self.tally.told_at.is_none_or(|told| self.check.at.since(told) >= span)
    }

    /// Counts that the check is told, and what is open from then on.
    fn settle(&mut self, why: Why) {
        let tally = &mut self.tally;
        (tally.told, tally.told_at) = (tally.told + 1, Some(self.check.at));
        match why {
            Why::Every | Why::Batch => {}
            Why::Changed(_) => self.trial = None,
            Why::Failed(_) => tally.open.error = true,
            Why::Recovered { .. } => (tally.open.error, tally.failed) = (false, 0),
            Why::Holds(_) => (tally.open.state, tally.signal) = (true, Some(true)),
            Why::Ceased(_) => (tally.open.state, tally.signal) = (true, Some(false)),
            Why::Silent(_) => tally.open.silence = true,
            Why::Heard => tally.open.silence = false,
        }
    }
}

const THOUSANDTHS: u64 = 1_000;
