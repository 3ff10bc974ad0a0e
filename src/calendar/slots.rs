//! Computes the slots of one trigger.
//!
//! There is one search, forwards: [`Slots::first_after`]. The latest slot of a range is found by
//! bisection with it, so that both directions agree by construction. Does not live here: which
//! slots were consumed (`engine`).

use super::clock::{Change, Clock};
use super::pattern::Pattern;
use super::zones::Zones;
use crate::domain::{Every, Moment, Trigger, Zone};
use crate::limits;

/// A trigger with its zone looked up. It is cheap to make, so that each query makes its own.
#[derive(Clone, Debug)]
pub struct Slots {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// `None` if the instant is not known yet.
    Once(Option<Moment>),
    Every(Every),
    Shown(Pattern, Clock),
}

/// The number of slots in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Exactly this many.
    Exactly(u64),
    /// At least this many; the count stopped there.
    AtLeast(u64),
}

/// The slots of a range, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The slots.
    pub slots: Vec<Moment>,
    /// Whether the list stopped at its limit although there are more slots.
    pub more: bool,
}

impl Slots {
    /// Prepares the slots of a trigger, with the given time zone database.
    pub fn new(trigger: &Trigger, zones: &Zones) -> Slots {
        let shown = |pattern: Pattern, zone: &Zone| Kind::Shown(pattern, zones.clock(zone));
        let kind = match trigger {
            Trigger::At(slot) => Kind::Once(Some(*slot)),
            Trigger::Event(event) => Kind::Once(event.latest),
            Trigger::Every(every) => Kind::Every(**every),
            Trigger::Calendar(calendar) => shown(Pattern::of_calendar(calendar), &calendar.zone),
            Trigger::Cron(cron, zone) => shown(Pattern::of_cron(cron), zone),
        };
        Slots { kind }
    }

    /// Returns the first slot later than `t`. Calendar triggers have slots from the year 1 to the
    /// year 9999.
    ///
    /// For [`CountFrom::Finish`](crate::domain::CountFrom::Finish) this is the nominal slot, as if
    /// runs took no time; after a run, the period counts from its end.
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

    /// Returns the latest slot later than `a` and not later than `b`.
    pub fn latest_in(&self, a: Moment, b: Moment) -> Option<Moment> {
        let (mut after, mut until) = (a, b);
        let mut latest = None;
        // Invariant: `latest` is `after` once a slot is found, and there is no slot in (until, b].
        while after < until {
            let middle = if latest.is_none() { after } else { between(after, until) };
            match self.first_after(middle) {
                Some(slot) if slot <= b => {
                    latest = Some(slot);
                    after = slot;
                }
                // There is no slot in (middle, b].
                Some(_) | None if middle > after => until = middle,
                Some(_) | None => break,
            }
        }
        latest
    }

    /// Counts the slots later than `a` and not later than `b`, up to `max`, at most
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

    /// Returns the next `n` slots later than `t`, at most `limits::SLOTS_LISTED`.
    pub fn upcoming(&self, t: Moment, n: usize) -> Vec<Moment> {
        self.after(t).take(n.min(most())).collect()
    }

    /// Returns the slots later than `a` and not later than `b`, at most `max` and
    /// `limits::SLOTS_LISTED`. A forecast is made of these.
    pub fn between(&self, a: Moment, b: Moment, max: usize) -> Window {
        let mut rest = self.after(a).take_while(|slot| *slot <= b);
        let slots = rest.by_ref().take(max.min(most())).collect();
        Window { slots, more: rest.next().is_some() }
    }

    /// Returns all slots later than `t`, in order, computed one by one.
    pub(crate) fn after(&self, t: Moment) -> impl Iterator<Item = Moment> {
        std::iter::successors(self.first_after(t), |slot| self.first_after(*slot))
    }
}

impl Count {
    /// Returns the number, exact or not.
    pub(crate) const fn counted(self) -> u64 {
        match self {
            Count::Exactly(count) | Count::AtLeast(count) => count,
        }
    }
}

/// Searches for a trigger that runs once per matching reading: in a gap at its end, in an overlap
/// at the first instant.
fn fixed(pattern: &Pattern, clock: &Clock, t: i64) -> Option<i64> {
    // One second later, because `next` includes its start and a slot lies strictly after `t`.
    let mut reading = pattern.next(t + clock.offset_at(t) + 1)?;
    // In the second pass of an overlap, the readings have had their slots in the first: skip them.
    loop {
        let slot = clock.first_showing(reading)?;
        if slot > t {
            return Some(slot);
        }
        reading = pattern.next(reading + 1)?;
    }
}

/// Searches for a trigger that runs whenever the clock shows a match: one period of constant offset
/// after another.
fn running(pattern: &Pattern, clock: &Clock, t: i64) -> Option<i64> {
    let (mut from, mut last_change) = (t + 1, t);
    let mut offset = clock.offset_at(t);
    loop {
        let slot = pattern.next(from + offset)? - offset;
        // The slot is right only if the offset still holds then.
        let Some(change) = clock.next_change(last_change).filter(|change| change.at <= slot) else {
            return Some(slot);
        };
        if is_left_out(pattern, change, offset) {
            return Some(change.at);
        }
        (from, last_change, offset) = (change.at, change.at, change.offset);
    }
}

/// Returns whether a change of the clock skips a match that does not recur within the next hour.
fn is_left_out(pattern: &Pattern, change: Change, offset: i64) -> bool {
    let (before, after) = (change.at + offset, change.at + change.offset);
    !pattern.is_hourly() && after > before && pattern.next(before).is_some_and(|reading| reading < after)
}

fn first_of(every: Every, t: Moment) -> Option<Moment> {
    if t < every.anchor() {
        return Some(every.anchor());
    }
    let nanos = |moment: Moment| i128::from(moment.seconds()) * NANOS_PER_SECOND + i128::from(moment.nanos());
    // In 128 bits, because anchor and `t` may be as far apart as the calendar is long.
    let period = i128::from(every.period().nanos());
    let anchor = nanos(every.anchor());
    let slot = anchor + ((nanos(t) - anchor) / period + 1) * period;
    let seconds = i64::try_from(slot.div_euclid(NANOS_PER_SECOND)).ok()?;
    Moment::new(seconds, u32::try_from(slot.rem_euclid(NANOS_PER_SECOND)).ok()?)
}

/// Returns the instant half-way between two: later than the first by at least a nanosecond if there
/// is one between, and earlier than the second.
fn between(a: Moment, b: Moment) -> Moment {
    let nanos = |moment: Moment| i128::from(moment.seconds()) * NANOS_PER_SECOND + i128::from(moment.nanos());
    // Not `midpoint`: it rounds towards zero, which before 1970 is the second of two adjacent
    // instants, and the bisection would never end.
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
