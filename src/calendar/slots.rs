//! The slots of one trigger.
//!
//! There is one search, forwards: [`Slots::first_after`]. The latest slot of a stretch is found by halving with it, so
//! that both directions agree by construction. Does not live here: which slots were consumed (`engine`).

use super::clock::{Change, Clock};
use super::pattern::Pattern;
use super::zones::{Warning, Zones};
use crate::domain::{Every, Moment, Trigger, Zone};
use crate::limits;

/// A trigger, with its zone looked up: cheap to make, so it is made anew for every question.
#[derive(Clone, Debug)]
pub struct Slots {
    kind: Kind,
    warning: Option<Warning>,
}

#[derive(Clone, Debug)]
enum Kind {
    /// None where it is not known when it comes.
    Once(Option<Moment>),
    Every(Every),
    Shown(Pattern, Clock),
}

/// How many slots there are in a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// That many.
    Exactly(u64),
    /// At least that many; the count stopped there.
    AtLeast(u64),
}

/// The slots of a stretch, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The slots.
    pub slots: Vec<Moment>,
    /// Whether the list stopped at its limit, and there are more.
    pub more: bool,
}

impl Slots {
    /// The slots of a trigger, by the zones given.
    pub fn new(trigger: &Trigger, zones: &Zones) -> Slots {
        let shown = |pattern: Pattern, zone: &Zone| Slots {
            kind: Kind::Shown(pattern, zones.clock(zone)),
            warning: zones.warning(zone),
        };
        match trigger {
            Trigger::At(slot) => Slots { kind: Kind::Once(Some(*slot)), warning: None },
            Trigger::Event(event) => Slots { kind: Kind::Once(event.latest), warning: None },
            Trigger::Every(every) => Slots { kind: Kind::Every(**every), warning: None },
            Trigger::Calendar(calendar) => shown(Pattern::of_calendar(calendar), &calendar.zone),
            Trigger::Cron(cron, zone) => shown(Pattern::of_cron(cron), zone),
        }
    }

    /// What whoever made the trigger should know about it.
    pub fn warning(&self) -> Option<&Warning> {
        self.warning.as_ref()
    }

    /// The first slot later than `t`. Calendar triggers have slots from the year 1 to the year 9999.
    ///
    /// For [`CountFrom::Finish`](crate::domain::CountFrom::Finish) it is the nominal one, as if no run took any
    /// time; after a run, [`Every::after_finish`] counts.
    pub fn first_after(&self, t: Moment) -> Option<Moment> {
        match &self.kind {
            Kind::Once(slot) => slot.filter(|slot| *slot > t),
            Kind::Every(every) => first_of(*every, t),
            Kind::Shown(pattern, clock) => {
                let t = t.seconds().max(YEAR_1);
                let slot =
                    if pattern.repeats() { running(pattern, clock, t) } else { fixed(pattern, clock, t) };
                Moment::new(slot?, 0)
            }
        }
    }

    /// The latest slot later than `a` and not later than `b`.
    pub fn latest_in(&self, a: Moment, b: Moment) -> Option<Moment> {
        let (mut after, mut until) = (a, b);
        let mut latest = None;
        while after < until {
            let middle = if latest.is_none() { after } else { between(after, until) };
            match self.first_after(middle) {
                Some(slot) if slot <= b => {
                    latest = Some(slot);
                    after = slot;
                }
                // Nothing lies in (middle, b].
                Some(_) | None if middle > after => until = middle,
                Some(_) | None => break,
            }
        }
        latest
    }

    /// How many slots are later than `a` and not later than `b`, counted up to `max`, at most
    /// `limits::SLOTS_LISTED`.
    pub fn count_in(&self, a: Moment, b: Moment, max: u64) -> Count {
        let max = max.min(limits::SLOTS_LISTED.value);
        let mut count = 0;
        let mut t = a;
        while let Some(slot) = self.first_after(t).filter(|slot| *slot <= b) {
            if count == max {
                return Count::AtLeast(max);
            }
            count += 1;
            t = slot;
        }
        Count::Exactly(count)
    }

    /// The next `n` slots later than `t`, at most `limits::SLOTS_LISTED`.
    pub fn upcoming(&self, t: Moment, n: usize) -> Vec<Moment> {
        self.after(t).take(n.min(most())).collect()
    }

    /// The slots later than `a` and not later than `b`, at most `max` and `limits::SLOTS_LISTED`: the pure half of
    /// a forecast.
    pub fn between(&self, a: Moment, b: Moment, max: usize) -> Window {
        let mut rest = self.after(a).take_while(|slot| *slot <= b);
        let slots = rest.by_ref().take(max.min(most())).collect();
        Window { slots, more: rest.next().is_some() }
    }

    /// All slots later than `t`, in order, one by one.
    pub fn after(&self, t: Moment) -> impl Iterator<Item = Moment> {
        std::iter::successors(self.first_after(t), |slot| self.first_after(*slot))
    }
}

impl Count {
    /// The number counted.
    pub const fn counted(self) -> u64 {
        match self {
            Count::Exactly(count) | Count::AtLeast(count) => count,
        }
    }
}

/// A trigger that runs once for each reading that matches: in a gap at its end, in an overlap at the first instant.
fn fixed(pattern: &Pattern, clock: &Clock, t: i64) -> Option<i64> {
    let mut reading = pattern.next(t + clock.offset_at(t) + 1)?;
    // What the clock shows for the second time has had its slot: the loop ends with the overlap.
    loop {
        let slot = clock.first_showing(reading)?;
        if slot > t {
            return Some(slot);
        }
        reading = pattern.next(reading + 1)?;
    }
}

/// A trigger that runs whenever the clock shows a match: stretch by stretch of one offset.
fn running(pattern: &Pattern, clock: &Clock, t: i64) -> Option<i64> {
    let (mut from, mut last_change) = (t + 1, t);
    let mut offset = clock.offset_at(t);
    loop {
        let slot = pattern.next(from + offset)? - offset;
        let Some(change) = clock.next_change(last_change).filter(|change| change.at <= slot) else {
            return Some(slot);
        };
        if is_left_out(pattern, change, offset) {
            return Some(change.at);
        }
        (from, last_change, offset) = (change.at, change.at, change.offset);
    }
}

/// Whether a change of the clock leaves out a match that will not come again in the next hour.
fn is_left_out(pattern: &Pattern, change: Change, offset: i64) -> bool {
    let (before, after) = (change.at + offset, change.at + change.offset);
    !pattern.is_hourly() && after > before && pattern.next(before).is_some_and(|reading| reading < after)
}

fn first_of(every: Every, t: Moment) -> Option<Moment> {
    if t < every.anchor() {
        return Some(every.anchor());
    }
    let nanos = |moment: Moment| i128::from(moment.seconds()) * NANOS_PER_SECOND + i128::from(moment.nanos());
    let period = i128::from(every.period().nanos());
    let anchor = nanos(every.anchor());
    let slot = anchor + ((nanos(t) - anchor) / period + 1) * period;
    let seconds = i64::try_from(slot.div_euclid(NANOS_PER_SECOND)).ok()?;
    Moment::new(seconds, u32::try_from(slot.rem_euclid(NANOS_PER_SECOND)).ok()?)
}

/// The instant half-way between two, at least a nanosecond after the first and before the second, where there is one.
fn between(a: Moment, b: Moment) -> Moment {
    let nanos = |moment: Moment| i128::from(moment.seconds()) * NANOS_PER_SECOND + i128::from(moment.nanos());
    // Not `midpoint`, which rounds towards zero: before 1970 that is the second of the two, and a search never ends.
    let middle = nanos(a) + (nanos(b) - nanos(a)) / 2;
    let seconds = i64::try_from(middle.div_euclid(NANOS_PER_SECOND)).unwrap_or_default();
    let part = u32::try_from(middle.rem_euclid(NANOS_PER_SECOND)).unwrap_or_default();
    Moment::new(seconds, part).unwrap_or(a)
}

fn most() -> usize {
    usize::try_from(limits::SLOTS_LISTED.value).unwrap_or(usize::MAX)
}

const NANOS_PER_SECOND: i128 = 1_000_000_000;
/// 0001-01-01T00:00:00Z: no clock's offset leads out of the calendar from there.
const YEAR_1: i64 = -62_135_596_800;
