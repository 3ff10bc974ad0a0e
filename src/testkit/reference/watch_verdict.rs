//! Whether a check of a watch has to be told: a second reading of `docs/WATCHES.md`, from the list of its checks.
//!
//! What lives elsewhere: the list (`watch_model.rs`), and conditions (`watch_condition.rs`). Invariant: it asks no code of the
//! engine.

use crate::domain::{Edge, Filter, Gaps, Lasted, Moment, NotifyWhen, Span, Streak, Why};
use crate::testkit::reference::watch_model::{Past, PastCheck, WatchModel, in_row};
use crate::testkit::reference::watch_standing::{Standing, Verdict};

/// Judges a check that ends now, of a watch that was made at `since`.
pub(in crate::testkit) fn verdict(
    watch: &WatchModel,
    filter: &Filter,
    since: Moment,
    check: &PastCheck,
) -> Verdict {
    let mut judge = Judge { watch, filter, check, newest: Past::Check(check.clone()), standing: check.after };
    if judge.is_by_change() && judge.has_changed() {
        judge.standing.open.silence = false;
    }
    let found = match filter.when {
        NotifyWhen::Always => Some(Why::Every),
        NotifyWhen::OnChange => judge.change(),
        NotifyWhen::OnError => judge.error(),
        NotifyWhen::OnThreshold => judge.threshold(),
        NotifyWhen::Summary => judge.batch(),
    };
    let found = found.or_else(|| judge.silence(since));
    let may_tell = !check.is_refused && judge.is_long_since_told(filter.cooldown);
    Verdict { told: found.filter(|_| may_tell), untold: judge.standing }
}

struct Judge<'m> {
    watch: &'m WatchModel,
    filter: &'m Filter,
    check: &'m PastCheck,
    newest: Past,
    standing: Standing,
}

impl Judge<'_> {
    fn is_by_change(&self) -> bool {
        self.filter.when == NotifyWhen::OnChange
    }

    /// Whether the check before came to something else, or there was none.
    fn has_changed(&self) -> bool {
        self.watch.newest_first().next().is_none_or(|before| before.text != self.check.text)
    }

    fn row(&self, counts: impl Fn(&PastCheck) -> Option<bool>) -> Streak {
        in_row(std::iter::once(&self.newest).chain(self.watch.past().iter().rev()), counts)
    }

    /// What is said of how long something has lasted, if that is long enough.
    fn lasted(&self, row: Streak) -> Option<Option<Lasted>> {
        let lasting = self.filter.lasting;
        let span = row.since.map_or(Span::ZERO, |since| self.check.at.since(since));
        let is_enough = row.checks >= u32::from(lasting.checks) && span >= lasting.span;
        let is_asked = lasting.checks > 1 || lasting.span > Span::ZERO;
        let lasted = Lasted { checks: row.checks, span, unseen: row.unseen };
        is_enough.then_some(is_asked.then_some(lasted))
    }

    fn is_long_since_told(&self, span: Span) -> bool {
        let told = self.watch.newest_first().find(|check| check.told.is_some());
        told.is_none_or(|told| self.check.at.since(told.at) >= span)
    }

    /// A state that goes on is told again after a time, or at each check.
    fn is_due_again(&self) -> bool {
        self.filter.again.is_none_or(|again| self.is_long_since_told(again))
    }

    /// The result is another one than was told last, for long enough, and was not told lately.
    fn change(&self) -> Option<Why> {
        if self.check.is_plain {
            return None;
        }
        let row = if self.check.ok { self.row(|check| self.is_on_trial(check)) } else { self.errors() };
        let lasted = self.lasted(row)?;
        let first = self.watch.newest_first().filter(|check| !check.is_refused).last();
        let mut shown: Vec<&str> = Vec::new();
        for check in self.watch.newest_first() {
            let was_shown = check.told.is_some() || first.is_some_and(|first| std::ptr::eq(first, check));
            if was_shown && !shown.contains(&&*check.text) {
                shown.push(&check.text);
            }
        }
        shown.truncate(usize::from(self.filter.recall));
        (!shown.contains(&&*self.check.text)).then_some(Why::Changed(lasted))
    }

    /// Whether a check has shown the result that is now to last; nothing is known of that if it failed.
    fn is_on_trial(&self, check: &PastCheck) -> Option<bool> {
        if matches!(check.told, Some(Why::Changed(_))) {
            return Some(false);
        }
        if !check.ok {
            return if self.filter.gaps == Gaps::Reset { Some(false) } else { None };
        }
        Some(!check.is_plain && check.text == self.check.text)
    }

    fn errors(&self) -> Streak {
        self.row(|check| Some(!check.ok))
    }

    /// Checks fail, or work again after that was told.
    fn error(&self) -> Option<Why> {
        let is_open = self.standing.open.error;
        if !self.check.ok {
            let lasted = self.lasted(self.errors())?;
            return (!is_open || self.is_due_again()).then_some(Why::Failed(lasted));
        }
        let lasted = self.lasted(self.row(|check| Some(check.ok)))?;
        is_open.then(|| Why::Recovered { errors: self.failed(), lasted })
    }

    /// The checks that have failed since checks last worked, as far as is told.
    fn failed(&self) -> u32 {
        let since = self.watch.newest_first().take_while(|check| !check.ok || check.after.open.error);
        u32::try_from(since.filter(|check| !check.ok).count()).unwrap_or(u32::MAX)
    }

    /// Whether every check is told of which the condition holds, and nothing has to last.
    fn is_each(&self) -> bool {
        let lasting = self.filter.lasting;
        self.filter.edge == Edge::Level && lasting.checks <= 1 && lasting.span == Span::ZERO
    }

    /// Whether a check answers the condition with `yes`; `None` if it says nothing about it and breaks nothing.
    fn answers(&self, check: &PastCheck, yes: bool) -> Option<bool> {
        if !self.is_gap(check) {
            return Some(check.holds == yes);
        }
        if self.filter.gaps == Gaps::Reset { Some(false) } else { None }
    }

    fn is_gap(&self, check: &PastCheck) -> bool {
        let condition = self.filter.condition.as_deref();
        let is_about_errors = condition.is_some_and(|it| {
            let text = it.as_str();
            text.contains("error") || text.contains("streak")
        });
        let is_unknown = self.filter.edge != Edge::Level && !check.is_known;
        !self.is_each() && (!check.ok && !is_about_errors || is_unknown)
    }

    /// The condition holds, or has begun or ceased to.
    fn threshold(&mut self) -> Option<Why> {
        let (check, edge) = (self.check, self.filter.edge);
        if self.is_gap(check) {
            return None;
        }
        let row = self.row(|other| self.answers(other, check.holds));
        if edge == Edge::Level {
            if !check.holds {
                self.standing.open.state = false;
                return None;
            }
            let lasted = self.lasted(row)?;
            return (!self.standing.open.state || self.is_due_again()).then_some(Why::Holds(lasted));
        }
        let lasted = self.lasted(row)?;
        let is_asked = match edge {
            Edge::Rising => check.holds,
            Edge::Falling => !check.holds,
            Edge::Both | Edge::Level => true,
        };
        let why = if check.holds { Why::Holds(lasted) } else { Why::Ceased(lasted) };
        if self.standing.signal == Some(check.holds) {
            let goes_on = self.standing.open.state && is_asked && self.filter.again.is_some();
            return (goes_on && self.is_due_again()).then_some(why);
        }
        if self.standing.signal.is_some() && is_asked {
            return Some(why);
        }
        self.standing.signal = Some(check.holds);
        self.standing.open.state = false;
        None
    }

    /// So many checks have been made since something was told.
    fn batch(&self) -> Option<Why> {
        let collected = self.watch.newest_first().take_while(|check| check.told.is_none()).count() + 1;
        (collected >= usize::from(self.filter.batch)).then_some(Why::Batch)
    }

    /// Nothing has changed, or worked, for too long; or something works again after that was told.
    fn silence(&self, since: Moment) -> Option<Why> {
        let most = self.filter.silence?;
        let heard = if self.is_by_change() { self.changed_at() } else { self.worked_at() };
        let length = self.check.at.since(heard.unwrap_or(since));
        let is_open = self.standing.open.silence;
        if length >= most {
            return (!is_open).then_some(Why::Silent(length));
        }
        (is_open && !self.is_by_change()).then_some(Why::Heard)
    }

    fn changed_at(&self) -> Option<Moment> {
        let mut newer = self.check;
        for check in self.watch.newest_first() {
            if check.text != newer.text {
                break;
            }
            newer = check;
        }
        Some(newer.at)
    }

    fn worked_at(&self) -> Option<Moment> {
        let past = std::iter::once(self.check).chain(self.watch.newest_first());
        past.into_iter().find(|check| check.ok).map(|check| check.at)
    }
}
