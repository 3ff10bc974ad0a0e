//! Watches in the model: every check of one, and the times in which nobody looked, as a list.
//!
//! What lives elsewhere: what follows from the list (`watch_verdict.rs`). Invariant: nothing is counted from check to check, so
//! that what the engine counts and stores is judged by what happened, also after a restart.

use crate::domain::{
    Digest, Downtime, Filter, Moment, Outcome, Reading, Reason, Span, Streak, WatchCheck, Why,
};
use crate::testkit::reference::watch_condition::{Sight, condition_of};
use crate::testkit::reference::watch_standing::{Standing, Verdict};

/// What happened to a watch.
#[derive(Clone, Debug, Default)]
pub(in crate::testkit) struct WatchModel {
    past: Vec<Past>,
    /// What the newest check came to, as far as this process knows: it is not stored.
    last: Option<Outcome>,
    /// The watch was loaded during a call, which knows what its process knew when it began.
    is_loaded_in_call: bool,
    /// The end of the last time in which no process was there.
    unseen_until: Option<Moment>,
    /// Since when nobody has looked, if no process was there after the newest check.
    unseen_from: Option<Moment>,
    /// Checks may have overlapped, so no law judges any more.
    has_overlapped: bool,
}

/// What happened to a watch at one time.
#[derive(Clone, Debug)]
pub(in crate::testkit) enum Past {
    /// A check ended.
    Check(PastCheck),
    /// Nobody looked for a time; whether that was so long that nothing has lasted through it.
    Unseen(Span, bool),
}

/// A check.
#[derive(Clone, Debug)]
pub(in crate::testkit) struct PastCheck {
    pub(in crate::testkit) at: Moment,
    pub(in crate::testkit) ok: bool,
    /// It was not made, because its session may use no watches.
    pub(in crate::testkit) is_refused: bool,
    /// What is compared of it.
    pub(in crate::testkit) text: Box<str>,
    /// The engine's digest of that.
    pub(in crate::testkit) digest: Option<Digest>,
    /// Whether the condition held.
    pub(in crate::testkit) holds: bool,
    /// Whether every path of the condition led to a value.
    pub(in crate::testkit) is_known: bool,
    /// Whether it came to what changes were told against, or was the first.
    pub(in crate::testkit) is_plain: bool,
    pub(in crate::testkit) told: Option<Why>,
    /// What was settled and open after it.
    pub(in crate::testkit) after: Standing,
}

impl WatchModel {
    /// Notes that no process was there for a time, unless that is noted. Without a check nothing could have lasted through it.
    pub(in crate::testkit) fn was_down(&mut self, down: &Downtime, interval: Span) {
        if self.unseen_until.is_some_and(|until| down.until <= until) {
            return;
        }
        self.unseen_until = Some(down.until);
        let span = down.until.since(down.from);
        // Downtimes that follow each other without a check count as one.
        let from = *self.unseen_from.get_or_insert(down.from);
        let is_long = u128::from(down.until.since(from).nanos()) > 2 * u128::from(interval.nanos());
        if !self.past.is_empty() {
            self.past.push(Past::Unseen(span, is_long));
        }
    }

    /// Notes that the watch was loaded from the store.
    pub(in crate::testkit) fn was_loaded(&mut self) {
        self.last = None;
        self.is_loaded_in_call = true;
    }

    /// Notes that the call of a check begins.
    pub(in crate::testkit) fn was_called(&mut self) {
        self.is_loaded_in_call = false;
    }

    /// Notes that checks may overlap from now on.
    pub(in crate::testkit) fn may_overlap(&mut self) {
        self.has_overlapped = true;
    }

    /// Whether checks have been made one by one so far.
    pub(in crate::testkit) fn is_one_by_one(&self) -> bool {
        !self.has_overlapped
    }

    /// Whether nobody looked since the newest check: that may be in memory only until the next one.
    pub(in crate::testkit) fn has_unseen_end(&self) -> bool {
        matches!(self.past.last(), Some(Past::Unseen(..)))
    }

    /// The checks, the newest first.
    pub(in crate::testkit) fn newest_first(&self) -> impl Iterator<Item = &PastCheck> {
        self.past.iter().rev().filter_map(|past| match past {
            Past::Check(check) => Some(check),
            Past::Unseen(..) => None,
        })
    }

    /// What happened, oldest first.
    pub(in crate::testkit) fn past(&self) -> &[Past] {
        &self.past
    }

    /// The check whose result changes are told against: the one told last, or the first that was made.
    pub(in crate::testkit) fn baseline(&self) -> Option<&PastCheck> {
        let told = self.newest_first().find(|check| check.told.is_some());
        told.or_else(|| self.newest_first().filter(|check| !check.is_refused).last())
    }

    /// A check that ends now, before anything is decided.
    pub(in crate::testkit) fn check(&self, filter: &Filter, reading: &Reading, at: Moment) -> PastCheck {
        let outcome = &*reading.outcome;
        let row = in_row(self.past.iter().rev(), |check| Some(!check.ok));
        let streak = if outcome.ok { 0 } else { row.checks + 1 };
        let sight = Sight { now: outcome, before: self.last.as_ref(), streak };
        let judged = filter.condition.as_deref().and_then(condition_of).map(|it| (it.judge)(&sight));
        let (holds, is_known) = match self.is_loaded_in_call {
            true => (reading.holds, reading.is_known),
            false => judged.unwrap_or((false, true)),
        };
        let text = compared(filter, outcome);
        PastCheck {
            at,
            ok: outcome.ok,
            is_refused: outcome.reason == Some(Reason::NotGranted),
            is_plain: self.baseline().is_none_or(|baseline| baseline.text == text),
            text,
            digest: None,
            holds,
            is_known,
            told: None,
            after: self.newest_first().next().map(|check| check.after).unwrap_or_default(),
        }
    }

    /// Adds a check that has ended, and about which the engine has decided this.
    pub(in crate::testkit) fn enter(&mut self, mut check: PastCheck, verdict: &Verdict, of: &WatchCheck) {
        let tally = of.weighed.tally;
        check.digest = Some(of.reading.digest);
        check.told = of.weighed.told;
        check.after = verdict.after(of.weighed.told);
        if self.has_overlapped {
            check.after = Standing { signal: tally.signal, open: tally.open };
        }
        self.last = Some((*of.reading.outcome).clone());
        self.unseen_from = None;
        self.past.push(Past::Check(check));
    }

    /// How many checks were made.
    pub(in crate::testkit) fn count(&self) -> u64 {
        self.newest_first().count() as u64
    }

    /// Whether a check is worth a line in the feed: it is told, is the first one, is the first that fails or works again, or
    /// something begins or ceases.
    pub(in crate::testkit) fn is_news(&self, check: &PastCheck, verdict: &Verdict, of: &WatchCheck) -> bool {
        let fails = in_row(self.past.iter().rev(), |check| Some(!check.ok)).checks > 0;
        let tally = of.weighed.tally;
        // Of two that end in one step, each is weighed as if the other had not been made.
        let (is_first, after) = match self.has_overlapped {
            true => (tally.checks == 1, Standing { signal: tally.signal, open: tally.open }),
            false => (self.past.is_empty(), verdict.after(of.weighed.told)),
        };
        of.weighed.told.is_some() || is_first || fails == check.ok || check.after != after
    }
}

/// The checks in a row, the newest first, of which something is true. A check of which nothing is known is passed over.
pub(in crate::testkit) fn in_row<'p>(
    past: impl Iterator<Item = &'p Past>,
    counts: impl Fn(&PastCheck) -> Option<bool>,
) -> Streak {
    let (mut row, mut unseen) = (Streak::default(), 0);
    for past in past {
        let check = match past {
            Past::Unseen(_, true) => break,
            Past::Unseen(span, false) => {
                unseen += span.nanos();
                continue;
            }
            Past::Check(check) => check,
        };
        match counts(check) {
            Some(false) => break,
            Some(true) => {
                // What nobody saw came after this check.
                let so_far = row.unseen.nanos() + std::mem::take(&mut unseen);
                let (since, unseen) = (Some(check.at), Span::from_nanos(so_far));
                row = Streak { checks: row.checks + 1, since, unseen };
            }
            None => {}
        }
    }
    row
}

/// What is compared of an outcome. Watches of worlds leave out keys of the result only.
fn compared(filter: &Filter, outcome: &Outcome) -> Box<str> {
    if !outcome.ok {
        return format!("error {}", outcome.error.as_deref().unwrap_or_default()).into();
    }
    let Some(value) = &outcome.value else { return "nothing".into() };
    let Some(map) = value.as_map() else { return value.to_string().into() };
    let is_left_out = |key: &str| filter.ignore.iter().any(|path| path.to_string() == key);
    let named = map.iter().map(|(key, value)| (key.to_string().replace([':', '"'], ""), value));
    let kept = named.filter(|(key, _)| !is_left_out(key));
    kept.map(|(key, value)| format!("{key} {value};")).collect::<String>().into()
}
