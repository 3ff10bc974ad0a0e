//! Turns: which of the parcels that wait for a channel's pace goes first.
//!
//! A parcel that waits is told a time, at which its run comes again. Parcels of operators go before those of sessions, and the
//! families of sessions take turns. What lives elsewhere: how many may go (`pace`). Invariant: a run that has ended is not
//! waited for, whatever time it was told.

use std::collections::BTreeMap;

use crate::domain::{Moment, RunId, SessionId, Span};

/// The parcels that wait for one channel.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Those of each family of sessions, by its root, and those of operators.
    lines: BTreeMap<Option<SessionId>, Line>,
    /// How many turns there have been.
    count: u64,
}

/// The parcels of one family, or of operators.
#[derive(Debug, Default)]
struct Line {
    /// The number of its last turn. The family with the lowest number is next.
    turn: u64,
    by_time: BTreeMap<Moment, RunId>,
    by_run: BTreeMap<RunId, Moment>,
}

/// A parcel that asks for a place.
pub(super) struct Asks<'a> {
    /// Its run.
    pub(super) run: &'a RunId,
    /// The root of its family; `None` if it is an operator's.
    pub(super) family: Option<&'a SessionId>,
    /// When it asks.
    pub(super) now: Moment,
}

/// How many parcels go before one.
pub(super) struct Before {
    /// Those whose time is here.
    pub(super) due: u64,
    /// All of them, as far as they are known.
    pub(super) all: u64,
}

impl Turns {
    /// Takes a run that has come again out of its line, and with it the runs that will not come. Returns the time that it was
    /// told.
    pub(super) fn comes(&mut self, asks: &Asks<'_>, is_coming: &dyn Fn(&RunId) -> bool) -> Option<Moment> {
        self.lines.retain(|_, line| {
            line.prune(asks.now, is_coming);
            !line.by_time.is_empty()
        });
        // In any line: an operator's schedule may have become a session's meanwhile. A line that is empty now keeps its turn
        // for this parcel.
        self.lines.values_mut().find_map(|line| line.remove(asks.run))
    }

    /// Counts the parcels that go before one that was told this time.
    pub(super) fn before(&self, asks: &Asks<'_>, told: Option<Moment>) -> Before {
        let (family, now) = (asks.family.cloned(), asks.now);
        let own = self.lines.get(&family);
        // What was told no time comes after those of its line whose time is here.
        let older = own.map_or(0, |own| own.due(told.unwrap_or(now).min(now)));
        let mut before = Before { due: older, all: older };
        if family.is_none() {
            return before;
        }
        let turn = own.map_or(u64::MAX, |own| own.turn);
        for (other, line) in &self.lines {
            match other {
                None => {
                    before.due += line.due(now);
                    before.all += line.by_time.len() as u64;
                }
                Some(_) if line.turn < turn => {
                    // After one of its parcels it is another family's turn.
                    before.due += line.due(now).min(1);
                    before.all += 1;
                }
                Some(_) => {}
            }
        }
        before
    }

    /// Notes that a parcel of this family, or of operators, has gone.
    pub(super) fn has_gone(&mut self, family: Option<&SessionId>) {
        self.count += 1;
        if let Some(line) = self.lines.get_mut(&family.cloned()) {
            line.turn = self.count;
        }
    }

    /// Lets a parcel wait, which was told a time before or not. Returns the time that it is told now: this one at the earliest.
    pub(super) fn wait(
        &mut self,
        asks: &Asks<'_>,
        before: Option<Moment>,
        earliest: Moment,
        every: Span,
    ) -> Moment {
        self.count += 1;
        let fresh = Line { turn: self.count, ..Line::default() };
        self.lines.entry(asks.family.cloned()).or_insert(fresh);
        // Between two parcels of a line the other lines have their turns. Operators wait for no session.
        let lines = if asks.family.is_some() { self.lines.len() as u64 } else { 1 };
        let step = Span::from_nanos(every.nanos().saturating_mul(lines));
        let Some(line) = self.lines.get_mut(&asks.family.cloned()) else { return earliest };
        // One that has waited in vain comes before what follows it, if its line has a gap there. Otherwise each that follows
        // would have to move up, which costs one more attempt of each.
        let has_gap = before.is_some() && line.is_free(earliest, every);
        let after_last = || line.by_time.last_key_value()?.0.checked_add(step);
        let told = if has_gap { earliest } else { after_last().map_or(earliest, |next| next.max(earliest)) };
        line.by_time.insert(told, asks.run.clone());
        line.by_run.insert(asks.run.clone(), told);
        told
    }
}

impl Line {
    /// Counts the parcels whose time is here.
    fn due(&self, now: Moment) -> u64 {
        self.by_time.range(..=now).count() as u64
    }

    /// Returns whether no parcel of this line was told a time from this one on for so long.
    fn is_free(&self, from: Moment, long: Span) -> bool {
        from.checked_add(long).is_some_and(|until| self.by_time.range(from..until).next().is_none())
    }

    fn remove(&mut self, run: &RunId) -> Option<Moment> {
        let told = self.by_run.remove(run)?;
        self.by_time.remove(&told);
        Some(told)
    }

    /// Takes out runs that will not come: the last ones, after which the next one would have to wait, and those whose time is
    /// here, for which others would. Any other one leaves a gap, which is free when its time is here.
    fn prune(&mut self, now: Moment, is_coming: &dyn Fn(&RunId) -> bool) {
        while let Some(last) = self.by_time.last_entry()
            && !is_coming(last.get())
        {
            self.by_run.remove(&last.remove());
        }
        while let Some(first) = self.by_time.first_entry()
            && *first.key() <= now
            && !is_coming(first.get())
        {
            self.by_run.remove(&first.remove());
        }
    }
}
